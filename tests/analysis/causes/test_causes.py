"""Causes of spikes: mechanisms, and spikes planted with a known cause."""

import dataclasses
import re
from collections.abc import Callable

import numpy as np
import pytest

import dynascope as ds
from dynascope.analysis import thresholds as th
from dynascope.analysis.amplification import Passage, TrainSet
from dynascope.analysis.shapley import members
from dynascope.analysis.spike_causes import mechanisms
from dynascope.analysis.spike_detection import Event
from dynascope.analysis.spike_explanation import Cause, explain
from dynascope.analysis.spike_optimizer import adam
from dynascope.analysis.spike_rise import Rise, find_rise
from dynascope.analysis.spike_text import lines
from dynascope.analysis.spikes import spikes
from dynascope.replay import Replay


# ---- where a rise is ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("losses", "begin", "rise"),
    [
        ([1, 1, 1, 9, 1], 0, (2, 3)),
        ([1, 1, 4, 3.5, 9, 1], 0, (1, 4)),  # over a dip to the peak
        ([1, 1, 4, 1.2, 9, 1], 0, (3, 4)),  # it had been back: another rise
        ([3, 3, 4, 3, 9, 1], 0, (3, 4)),  # never near: from below half way
        ([1, 1, 9, 4, 20, 4, 3], 0, (1, 4)),
        ([1, 0.5, 1, 3, 9, 2], 0, (1, 4)),  # from the low to the high
        ([1, 1.001, 1.002, 1.003, 9, 9.001, 1], 0, (3, 4)),  # no creep, no flat top
        ([9, 1, 1, 9, 1], 0, (2, 3)),  # it begins high
        ([1, 9, 1, 9, 1], 1, (2, 3)),  # only from `begin` on
        ([1, 1.1, 1.2, 9, 1], 2, (1, 3)),  # the low may be before `begin`
        ([1e-6, 1.1e-6, 1e-4, 1e-2, 1], 0, (1, 4)),  # over decades, from where it begins
        ([0, 0, 1e-3, 1, 0], 0, (1, 3)),
        ([9, 8, 8.5, 7], 0, (1, 2)),  # no crossing: the largest step up
        ([9, 5, 4, 1], 0, (1, 2)),  # no step up: the least step down
    ],
)
def test_find_rise(losses, begin, rise):
    assert find_rise(np.array(losses, dtype=float), 1.0, begin) == rise


# ---- a displacement seen through the model ------------------------------------------------------
def test_amplification_and_its_weights(run, train, history):
    """Written out sequence by sequence, from `ds.forward` alone."""
    few = train.chosen(np.arange(0, 2048, 64))
    before, after = history[0].astype(float), history[40].astype(float)
    now = Passage(few, before, after).amplification()
    sums = np.zeros((3, 2))
    for tokens, target in zip(few.tokens, few.targets, strict=True):
        a, b = (
            ds.forward(ds.Parameters.from_flat(w, run.config.shapes), [tokens], run.config)
            for w in (before, after)
        )
        worse = max(0.0, float(np.log(a.probabilities[0, target] / b.probabilities[0, target])))
        held = ds.forward(
            ds.Parameters.from_flat(before, run.config.shapes),
            [tokens],
            run.config,
            patch={"sequence_normalized": b.sequence_normalized},
        )
        ff = (held.feed_forward - a.feed_forward)[0] @ before[:4].reshape(2, 2).T
        for t in range(12):
            weight = worse * max(a.attention[0, t], b.attention[0, t])
            sums[0, 0] += weight * np.linalg.norm(b.normalized[0, t] - a.normalized[0, t]) ** 2
            sums[0, 1] += weight * np.linalg.norm(b.embedding[0, t] - a.embedding[0, t]) ** 2
        turned = np.linalg.norm(b.sequence_normalized - a.sequence_normalized) ** 2
        sums[1] += worse * turned, worse * np.linalg.norm(b.sequence - a.sequence) ** 2
        sums[2] += worse * (ff[0] - ff[1]) ** 2 / 2, worse * turned
    assert list(now) == ["embeddings", "sequences", "feed_forward"]
    assert list(now.values()) == pytest.approx(np.sqrt(sums[:, 0] / sums[:, 1]), rel=1e-9)


@pytest.mark.parametrize("stage", ["embeddings", "sequences", "feed_forward"])
def test_nothing_is_removed_by_a_bound_that_does_not_bind(train, history, stage):
    way = Passage(train, history[0].astype(float), history[40].astype(float))
    assert way.removed(stage, 1e9) == pytest.approx(0, abs=1e-9)


def test_a_shorter_way_is_weighed_as_the_whole(train, history):
    way = Passage(train, history[0].astype(float), history[40].astype(float))
    half = way.within(np.linalg.norm(history[40].astype(float) - history[0]) / 2)
    assert half.after["sequence"] != pytest.approx(way.after["sequence"], abs=1e-6)
    assert (half.hurt == way.hurt).all()
    assert way.within(1e9) is way


# ---- verdicts on trajectories -------------------------------------------------------------------
def _edited(weights: np.ndarray, run: ds.Run, edit: Callable[[ds.Parameters], None]) -> np.ndarray:
    p = ds.Parameters.from_flat(weights.copy(), run.config.shapes)
    edit(p)
    return p.flat


def _worst_step(train: TrainSet, history: np.ndarray) -> int:
    """The step of the history that raises the loss most."""
    return int(np.argmax(np.diff(train.losses(history))))


def test_what_has_happened_all_the_time_is_exactly_usual(train, history):
    """Now and before are seen by sequences that were chosen in the same way."""
    at = _worst_step(train, history)
    same = [history[at : at + 2]] * 20
    found = mechanisms(train, same, history[at], history[at + 1], 1)
    stages = (found.embeddings, found.sequences, found.feed_forward)
    assert [stage.ratio for stage in stages] == [1, 1, 1]
    assert found.displacement.ratio == pytest.approx(1, rel=1e-12)


def test_an_ordinary_step_is_nobodys_fault(train, history):
    at = _worst_step(train, history)
    assert mechanisms(train, [history], history[at], history[at + 1], 1).causes == ()


def test_one_vector_of_24_pushed_through_the_origin_is_normalisation(run, train, history):
    """A short step that turns one embedding round."""

    def near(side: float) -> Callable[[ds.Parameters], None]:
        def edit(p: ds.Parameters) -> None:
            away = 1e-3 * np.array([p.token_embedding[0, 1], -p.token_embedding[0, 0]])
            p.position_embedding[0] = -p.token_embedding[0] + side * away

        return edit

    ways = [
        (_edited(history[-1], run, near(s)), _edited(history[-1], run, near(-s))) for s in (1, -1)
    ]
    before, after = max(ways, key=lambda way: float(np.diff(train.losses(np.array(way)))[0]))
    found = mechanisms(train, [history], before, after, 1)
    assert found.causes == ("normalisation",)
    assert found.shortest_embedding < 2e-3
    assert found.embeddings.ratio > 10
    assert found.displacement.ratio < 1
    assert max(found.attribution, key=found.attribution.get) == "position_embedding"


def test_an_ordinary_step_before_a_steep_feed_forward_is_feed_forward(run, train, history):
    def steeper(p: ds.Parameters) -> None:
        p.assemblers *= 30
        p.assembler_bias *= 30

    before = _edited(history[-1], run, steeper)
    moved = members(run.config.shapes)[:4].any(axis=0)  # all but the feed-forward
    steps = np.diff(history, axis=0) * moved
    rises = train.losses(before + steps) - train.losses(before[None])
    found = mechanisms(train, [history], before, before + steps[np.argmax(rises)], 1)
    assert found.causes == ("feed-forward",)
    assert found.feed_forward.ratio == pytest.approx(30, rel=0.7)


def test_a_step_of_many_times_the_usual_length_is_the_optimizer(train, history):
    step = history[1] - history[0]
    found = mechanisms(train, [history], history[0], history[0] + 40 * step, 1)
    assert found.causes == ("optimizer",)
    usual = np.median(np.linalg.norm(np.diff(history.astype(float), axis=0), axis=1))
    assert found.displacement.ratio == pytest.approx(40 * np.linalg.norm(step) / usual, rel=1e-3)


def test_without_history_nothing_is_usual(train, history):
    assert mechanisms(train, [history[:5]], history[0], history[1], 1) is None


# ---- verdicts on runs, by replay ----------------------------------------------------------------
def _planted(run: ds.Run, edit: Callable[[ds.Parameters, ds.Parameters, ds.Parameters], None]):
    """The run, trained on after an edit of its weights, first and second moments."""
    states, weights = run.states.copy(), run.weights.copy()
    edit(*(ds.Parameters.from_flat(row, run.config.shapes) for row in states[-1]))
    weights[-1] = states[-1, 0]
    trainer = dataclasses.replace(run, states=states, weights=weights).trainer(run.epochs)
    trainer.advance(3)
    return trainer.run


def _smaller_embeddings(*state: ds.Parameters) -> None:
    """The same function, with embeddings that a step throws through the origin. Gradients change as
    the weights do, inversely: so do the moments, that steps be as long as before."""
    for p, power in zip(state, (1, -1, -2), strict=True):
        for name in ("token_embedding", "position_embedding"):
            p[name][...] *= 0.01**power
        for name in ("value", "assemblers", "assembler_bias"):
            p[name][...] *= 0.01**-power


def _steeper_feed_forward(*state: ds.Parameters) -> None:
    """Gradients grow with the assemblers: so do the moments, that steps be as long as before."""
    state[0].assemblers *= 6
    state[0].assembler_bias *= 6
    state[1].flat[:] *= 6
    state[2].flat[:] *= 36


def _forgetful_optimizer(*state: ds.Parameters) -> None:
    state[2].flat[:] *= 1e-6


@pytest.mark.parametrize(
    ("edit", "verdict"),
    [
        (_smaller_embeddings, "normalisation"),
        (_steeper_feed_forward, "feed-forward"),
        (_forgetful_optimizer, "optimizer"),
    ],
)
def test_planted_spikes_have_the_planted_cause(run, edit, verdict):
    first = spikes(_planted(run, edit)).spikes[-1]
    assert first.start in (run.epochs + 1, run.epochs + 2)
    assert first.cause is not None, first.unexplained
    assert first.cause.verdict == verdict
    assert first.cause.recurs_in_float64
    total = sum(first.cause.mechanisms.attribution.values())
    assert total == pytest.approx(first.cause.high - first.cause.low, rel=1e-10)
    assert f"; cause: {verdict} (" in first.told.headline


@pytest.mark.parametrize(
    ("changes", "seed", "peak", "steps", "recurs"),
    [
        # One or two steps to an epoch: the rise goes on over its end.
        ({"training.batch": 2048, "training.lr": 0.05, "training.epochs": 137}, 7, 136, 3, True),
        ({"training.batch": 1024, "training.lr": 0.02, "training.epochs": 500}, 1, 499, 3, True),
        ({"training.epochs": 457}, 15, 456, 6, False),
    ],
)
def test_whether_a_spike_recurs_in_float64(changes, seed, peak, steps, recurs):
    run = ds.train(ds.Config().replace(changes), seeds=[seed], progress=False)[0]
    (spike,) = [s for s in spikes(run).spikes if s.peak == peak]
    assert (spike.cause.steps, spike.cause.recurs_in_float64) == (steps, recurs)
    assert f"In float64 it {'recurs' if recurs else 'does not recur'}." in spike.describe()


def test_the_usual_gradient_of_a_rise_soon_after_the_start(run):
    """Of the few steps there are."""
    replay = Replay(run)
    (piece,) = replay.steps(0, 1)
    found = adam(run, replay, Rise(piece, 9, 12, np.ones(4), [piece.part(0, 9)]))
    steps = np.linalg.norm(np.diff(piece.weights[:13].astype(float), axis=0), axis=1)
    norms = piece.gradient_norms
    assert found.gradient == pytest.approx(norms[np.argmax(steps)] / np.median(norms[:9]))


def test_shares_are_told_from_0_to_100_percent(run):
    cause = spikes(_planted(run, _forgetful_optimizer)).spikes[-1].cause
    m = cause.mechanisms
    odd = dataclasses.replace(
        cause,
        mechanisms=dataclasses.replace(
            m,
            displacement=dataclasses.replace(m.displacement, removed=1.02),
            sequences=dataclasses.replace(m.sequences, removed=-0.3),
            feed_forward=dataclasses.replace(m.feed_forward, removed=0.44),
        ),
    )
    text = lines(odd)[0]
    assert re.search(r"weights moved \S+ \(0%\); amplified were", text)
    assert re.search(r"sequence embeddings \S+ \(100%\), the feed-forward", text)
    assert re.search(r"the feed-forward's input \S+ \(56%\)\. In brackets", text)
    assert "-" not in text.replace("feed-forward", "")


def test_an_unedited_stretch_has_no_spike(run):
    made = spikes(_planted(run, lambda *state: None), why=False)
    assert not [spike for spike in made.spikes if spike.start > run.epochs]


@pytest.mark.parametrize(
    ("steps", "why"),
    [(0, "changed by hand"), (60, "does not reproduce epoch")],
    ids=["between epochs", "in the middle of one"],
)
def test_an_edit_that_raises_the_loss_by_itself_is_no_step(run, steps, why):
    trainer = run.trainer(run.epochs - 20)
    trainer.advance_steps(steps)
    edited = trainer.parameters
    edited.query *= -1
    trainer.parameters = edited
    trainer.advance(2)
    (spike,) = [s for s in spikes(trainer.run).spikes if s.start > run.epochs - 20]
    assert spike.cause is None
    assert why in spike.unexplained


def test_few_weights_and_states_are_enough(run):
    """Of a run that keeps nothing but its ends, replay begins at the beginning."""
    sparse = run.config.replace({"record.weights_every": 0, "record.state_every": 0})
    bare = ds.train(sparse.replace({"training.epochs": 120}), seeds=[25], progress=False)[0]
    (piece,) = Replay(bare).steps(100, 103)
    assert (piece.weights[::64] == run.weights[100:104]).all()


def _forgotten(batch: int) -> ds.Run:
    """Of a run of 50 epochs, the second moments are lost before one more."""
    config = ds.Config().replace({"training.batch": batch, "training.epochs": 50})
    run = ds.train(config, seeds=[0], progress=False)[0]
    states = run.states.copy()
    states[-1, 2] = 0
    trainer = dataclasses.replace(run, states=states).trainer(50)
    trainer.advance(1)
    return trainer.run


def _told(made: ds.Run) -> Cause | str:
    losses = made.curves["train_loss"]
    event = Event(51, 51, 1, float(losses[50]), 10.0, None)
    return explain(made, Replay(made), TrainSet.of(made), event, losses)


@pytest.mark.parametrize("batch", [2, 2048])
def test_any_batch_size_can_be_explained(batch):
    """2: an epoch has more steps than are looked at one by one; 2048: it has one."""
    cause = _told(_forgotten(batch))
    assert isinstance(cause, Cause)
    assert cause.high > cause.low
    assert cause.epoch == 51


def test_long_epochs_are_explained_within_the_memory_allowed(monkeypatch):
    made = _forgotten(2)  # 1024 steps
    held, steps = [], Replay.steps

    def spy(*arguments):
        pieces = steps(*arguments)
        held.append(sum(len(piece.curves) for piece in pieces))
        return pieces

    monkeypatch.setattr(Replay, "steps", spy)
    whole = _told(made)
    assert held == [1024 + th.SPIKE_HISTORY]
    row = made.weights[0].nbytes
    monkeypatch.setattr(th, "SPIKE_BYTES", (1024 + th.SPIKE_STEPS) * row)
    less = _told(made)
    assert held[1:] == [1024 + th.SPIKE_STEPS]
    assert (less.step, less.steps, less.high) == (whole.step, whole.steps, whole.high)
    monkeypatch.setattr(th, "SPIKE_BYTES", (1024 + th.SPIKE_STEPS) * row - 1)
    assert _told(made) == "the steps of epoch 51 take more than 0 MB"
    assert len(held) == 2
