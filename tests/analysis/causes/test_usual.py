"""What is usual: the steps before a rise, without those of other spikes; and the rise's whole."""

from typing import Any

import numpy as np
import pytest

import dynascope as ds
from dynascope.analysis import thresholds as th
from dynascope.analysis.spike_detection import Event
from dynascope.analysis.spike_explanation import explain
from dynascope.analysis.spike_rise import find
from dynascope.analysis.spikes import spikes
from dynascope.replay import Replay
from dynascope.sharpness import relative_sharpness, top_eigenvalue
from dynascope.theory import curvature


def _event(run: ds.Run, epoch: int, duration: int = 1) -> Event:
    losses = run.curves["train_loss"].astype(float)
    before = float(np.median(losses[epoch - 32 : epoch]))
    return Event(epoch, epoch, duration, before, float(losses[epoch]), None)


def _epochs(pieces: Any) -> set[int]:
    """Those whose steps are there."""
    return {int(e) for p in pieces for e in np.arange(p.done, p.end) // 64 + 1}


@pytest.mark.parametrize(
    ("others", "usual"),
    [
        ([], {278, 279, 280}),
        ([(279, 1)], {277, 278, 280}),
        ([(275, 5)], {273, 274, 280}),
        ([(100, 9), (282, 3)], {278, 279, 280}),  # far away, and later
        ([(240, 40)], {280}),  # farther back than one would look
    ],
)
def test_steps_of_other_spikes_are_not_usual(run, train, others, usual):
    losses = run.curves["train_loss"].astype(float)
    events = [_event(run, start, duration) for start, duration in others]
    rise = find(Replay(run), train, _event(run, 280), losses, events)
    assert not isinstance(rise, str)
    assert _epochs(rise.history) in (usual, usual - {280})  # 280: up to the rise
    whole = Replay(run).steps(240, 281)[0]
    for part in rise.history:
        at = part.done - whole.done
        assert (part.weights == whole.weights[at : at + len(part.weights)]).all()
        assert (part.curves == whole.curves[at : at + len(part.curves)]).all()


def test_where_all_before_are_spikes_nothing_is_usual(run, train):
    losses = run.curves["train_loss"].astype(float)
    others = [_event(run, 245, 36)]
    told = explain(run, Replay(run), train, _event(run, 280), losses, others)
    assert (
        told
        == "too few steps before it, outside other spikes, can be replayed to say what is usual"
    )


@pytest.mark.parametrize(("seed", "peak"), [(30226, 189), (30247, 250)])
def test_a_spike_is_explained_to_its_peak(seed, peak):
    """From the level before to the peak, over dips: up to the first local maximum, these were
    explained by less than half of their height."""
    config = ds.Config().replace({"training.epochs": peak + 1})
    run = ds.train(config, seeds=[seed], progress=False)[0]
    (spike,) = [spike for spike in spikes(run).spikes if spike.peak == peak]
    cause = spike.cause
    assert (cause.high - cause.low) / (spike.height - spike.before) > 0.5
    assert cause.low <= th.SPIKE_RECOVERED * spike.before
    assert cause.high > 0.9 * spike.height


# ---- the sharpness -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"training.optimizer": "sgd", "training.lr": 0.1, "training.momentum": 0.5},
        {"training.mlp_lr_discount": 4.0, "training.weight_decay": 0.01},
        {"training.frozen": ["query", "value"]},
    ],
)
def test_the_sharpness_is_that_of_curvature(changes):
    config = ds.Config().replace({"training.epochs": 20, **changes})
    run = ds.train(config, seeds=[2], progress=False)[0]
    state = Replay(run).state(20)
    found = curvature(run, progress=False)
    top = found.preconditioned
    top = found.sharpness if top is None else top
    want = top / found.sharpness_limit
    assert relative_sharpness(run.config, 20 * 64, state, run.examples()) == pytest.approx(
        want, rel=5e-3
    )


@pytest.mark.parametrize(
    "changes",
    [{"training.optimizer": "lion"}, {"training.optimizer": "muon"}, {"training.sam": 0.1}],
    ids=str,
)
def test_steps_without_a_limit_have_no_sharpness(run, changes):
    state = Replay(run).state(10)
    assert relative_sharpness(run.config.replace(changes), 640, state, run.examples()) is None
    assert relative_sharpness(run.config, 0, state, run.examples()) is None  # no step done yet


@pytest.mark.parametrize("size", [1, 3, 8, 40, 300])
def test_the_top_eigenvalue_of_any_matrix(size):
    noise = np.random.default_rng(size).normal(size=(size, size))
    matrix = noise + noise.T
    top = np.linalg.eigvalsh(matrix)[-1]
    assert top_eigenvalue(lambda rows: rows @ matrix, size) == pytest.approx(top, rel=0.02)


# ---- small ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(("height", "small"), [(1.3, True), (1.99, True), (2.0, False), (9, False)])
def test_rises_below_twofold_are_small(height, small):
    assert Event(50, 50, 1, 1.0, height, 1).small == small
    assert th.SPIKE_SMALL == 2
