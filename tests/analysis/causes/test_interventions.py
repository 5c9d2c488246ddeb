"""Interventions: an epoch trained again with one thing taken away, against the same in PyTorch."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
import reference
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import dynascope as ds
from dynascope import _kernel
from dynascope.analysis import spike_interventions as si
from dynascope.analysis import thresholds as th
from dynascope.analysis.amplification import TrainSet
from dynascope.analysis.spike_interventions import Orders, Scene
from dynascope.analysis.spikes import Spike, spikes
from dynascope.replay import Replay

State = Callable[[ds.Parameters, ds.Parameters, ds.Parameters], None]


# ---- replay with nothing changed, and with something ---------------------------------------------
@settings(max_examples=12, deadline=None)
@given(epoch=st.integers(0, 297), steps=st.integers(1, 160), hooked=st.booleans())
def test_with_nothing_taken_away_it_is_the_run_bit_for_bit(run, epoch, steps, hooked):
    replay = Replay(run)
    rows = replay.altered(epoch, steps, edit=(lambda *_: None) if hooked else None)
    pieces = replay.steps(epoch, epoch + 3)
    assert (rows == pieces[0].weights[: steps + 1]).all()
    same = replay.altered(epoch, steps, order=epoch, options={}, state=replay.state(epoch))
    assert (same == rows).all()


def test_another_order_has_the_batches_of_another_epoch(run):
    """The first step differs from the run's by its batch alone."""
    replay = Replay(run)
    mine, other = replay.altered(100, 64), replay.altered(100, 64, order=7)
    assert (mine[0] == other[0]).all()
    assert (mine[1] != other[1]).any()
    tokens, targets = run.examples()
    batch = _kernel.shuffled(len(tokens), run.seed, 7)[:32]
    state = replay.state(100).astype(float)
    weights = ds.Parameters.from_flat(state[0], run.config.shapes)
    gradient = ds.loss_and_gradient(weights, tokens[batch], targets[batch], run.config.model)[1]
    wanted = _adam_step(state, gradient.flat, 100 * 64)[0]
    assert other[1] == pytest.approx(wanted, abs=2e-6)


def test_states_of_many_epochs_are_those_of_each(run):
    replay = Replay(run)
    blocks = list(replay.states(45, 130))
    assert sum(map(len, blocks)) == 86
    rows = np.concatenate(blocks)
    for epoch in (45, 49, 50, 51, 99, 130):
        assert (rows[epoch - 45] == Replay(run).state(epoch)).all()


def test_the_same_state_again_is_not_trained_for_again(run, monkeypatch):
    """Ten orders start from one state: the way there is gone once."""
    replay = Replay(run)
    first = replay.state(149)
    monkeypatch.setattr(replay, "_start", None)
    monkeypatch.setattr(
        replay,
        "_run",
        dataclasses.replace(run, states=run.states[:0], state_epochs=run.state_epochs[:0]),
    )
    assert (replay.state(149) == first).all()


# ---- the same in PyTorch, in double precision ----------------------------------------------------
def _adam_step(state: np.ndarray, gradient: np.ndarray, done: int) -> np.ndarray:
    """Adam's next state, from the formulas."""
    weights, first, second = state
    first = 0.9 * first + 0.1 * gradient
    second = 0.999 * second + 0.001 * gradient**2
    root = np.sqrt(second / (1 - 0.999 ** (done + 1))) + 1e-8
    return np.array([weights - 3e-3 * first / (1 - 0.9 ** (done + 1)) / root, first, second])


def _oracle(run: ds.Run, state: np.ndarray, epoch: int, steps: int, model: ds.ModelConfig, edit):
    """Weights step by step: gradients by PyTorch, the optimizer by NumPy."""
    tokens, targets = run.examples()
    per_epoch, batch = len(tokens) // run.config.training.batch, run.config.training.batch
    state, rows = edit(state[0], state, epoch * per_epoch), []
    rows.append(state[0])
    for step in range(steps):
        done = epoch * per_epoch + step
        order = _kernel.shuffled(len(tokens), run.seed, done // per_epoch)
        chosen = order[done % per_epoch * batch :][:batch]
        p = reference.tensors(ds.Parameters.from_flat(state[0], run.config.shapes), grad=True)
        logits = reference.forward(p, torch.tensor(tokens[chosen], dtype=torch.long), model)[
            "logits"
        ]
        wanted = torch.tensor(targets[chosen], dtype=torch.long)
        torch.nn.functional.cross_entropy(logits, wanted).backward()
        gradient = np.concatenate([p[name].grad.numpy().ravel() for name in run.config.shapes])
        before = state[0]
        state = edit(before, _adam_step(state, gradient, done), done + 1)
        rows.append(state[0])
    return np.array(rows)


@pytest.fixture(scope="module")
def exact() -> ds.Run:
    """Small, in double precision, with a state kept at every epoch."""
    config = ds.Config().replace(
        {
            "precision": "float64",
            "task.train_size": 128,
            "training.batch": 16,
            "training.epochs": 40,
            "record.state_every": 1,
        }
    )
    return ds.train(config, seeds=[3], progress=False)[0]


def _scene(run: ds.Run, epoch: int, steps: int, usual: float = 0.004) -> Scene:
    """Some epochs, as if the loss had risen by 1 in them."""
    return Scene(run, Replay(run), TrainSet.of(run), epoch, steps, 0.0, 1.0, usual)


def _highest(run: ds.Run, rows: np.ndarray, model: ds.ModelConfig) -> float:
    tokens, targets = run.examples()
    losses = [
        ds.loss_and_gradient(
            ds.Parameters.from_flat(row, run.config.shapes), tokens, targets, model
        )[0]
        for row in rows
    ]
    return max(losses)


def test_second_moments_are_held_as_in_pytorch(exact):
    """The largest of all epochs so far, without the bias of their beginning."""
    scene, unbias = _scene(exact, 37, 20), lambda done: 1 - 0.999**done
    at = exact.state_epochs
    kept = exact.states[(at > 0) & (at <= 37), 2]
    ages = np.array([unbias(8 * int(e)) for e in at[(at > 0) & (at <= 37)]])
    largest = (kept / ages[:, None]).max(axis=0)
    assert si.largest_second_moments(scene) == pytest.approx(largest, rel=1e-12)

    def hold(_, state, done):
        return np.array([state[0], state[1], np.maximum(state[2], largest * unbias(done))])

    (state,) = exact.states[at == 37]
    rows = _oracle(exact, state, 37, 20, exact.config.model, hold)
    assert si.second_moments(scene).remains == pytest.approx(
        _highest(exact, rows, exact.config.model), rel=1e-10
    )


def test_steps_are_clipped_as_in_pytorch(exact):
    def shorten(before, state, _):
        step = state[0] - before
        length = np.linalg.norm(step)
        share = min(1, 0.004 / length) if length > 0 else 1
        return np.array([before + share * step, state[1], state[2]])

    (state,) = exact.states[exact.state_epochs == 37]
    rows = _oracle(exact, state, 37, 20, exact.config.model, shorten)
    lengths = np.linalg.norm(np.diff(rows, axis=0), axis=1)
    assert lengths.max() == pytest.approx(0.004)
    want = _highest(exact, rows, exact.config.model)
    assert si.clip(_scene(exact, 37, 20)).remains == pytest.approx(want, rel=1e-10)


def test_the_smooth_norm_is_as_in_pytorch(exact):
    (state,) = exact.states[exact.state_epochs == 37]
    tokens = exact.examples()[0]
    p = reference.tensors(ds.Parameters.from_flat(state[0], exact.config.shapes))
    seen = reference.forward(p, torch.tensor(tokens, dtype=torch.long), exact.config.model)
    tau = min(float(seen[s].norm(dim=-1).min()) for s in ("embedding", "sequence"))
    smooth = exact.config.replace({"model.norm": "smooth", "model.norm_tau": tau}).model
    rows = _oracle(exact, state, 37, 20, smooth, lambda _, state, __: state)
    want = _highest(exact, rows, smooth)
    assert si.smooth_norm(_scene(exact, 37, 20)).remains == pytest.approx(want, rel=1e-9)


# ---- what cannot be made says why ----------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "make", "why"),
    [
        ({"training.optimizer": "sgd"}, si.second_moments, "sgd has no second moments"),
        ({"training.optimizer": "lion"}, si.second_moments, "lion has no second moments"),
        (
            {"training.optimizer": "muon"},
            si.second_moments,
            "muon moves matrices without their second moments",
        ),
        ({"model.norm": "unit"}, si.smooth_norm, "it differs everywhere from the norm unit"),
        ({"model.norm": "none"}, si.smooth_norm, "it differs everywhere from the norm none"),
        # So large an eps that x / (rms(x) + eps) is nowhere near x / rms(x).
        ({"model.norm_eps": 0.5}, si.smooth_norm, "it would change the model at once"),
    ],
)
def test_what_cannot_be_made_says_why(changes, make, why):
    config = ds.Config().replace({"training.epochs": 3, **changes})
    run = ds.train(config, seeds=[0], progress=False)[0]
    made = make(_scene(run, 2, 64))
    assert (made.remains, made.removes, made.why_not) == (None, None, why)


@pytest.mark.parametrize("make", [si.second_moments, si.clip])
def test_epochs_of_too_many_steps_are_not_changed_step_by_step(run, monkeypatch, make):
    monkeypatch.setattr(th, "SPIKE_EDITS", 64 * 2048)
    assert make(_scene(run, 200, 64)).remains is not None
    assert make(_scene(run, 200, 65)).why_not == "its epoch has too many steps"


# ---- spikes planted with a known cause -----------------------------------------------------------
def _spike(run: ds.Run, edit: State) -> Spike:
    """The first spike after the end of a run, trained on after an edit of its state."""
    states, weights = run.states.copy(), run.weights.copy()
    edit(*(ds.Parameters.from_flat(row, run.config.shapes) for row in states[-1]))
    weights[-1] = states[-1, 0]
    trainer = dataclasses.replace(run, states=states, weights=weights).trainer(run.epochs)
    trainer.advance(2)
    return next(spike for spike in spikes(trainer.run).spikes if spike.start > run.epochs)


def _remains(spike: Spike) -> dict[str, float | None]:
    return {made.name: made.remains for made in spike.cause.interventions}


def test_lost_second_moments_are_the_optimizer_confirmed(run):
    def lose(_, __, second):
        second.flat[:] = 0

    spike = _spike(run, lose)
    assert (spike.cause.verdict, spike.cause.confirmed) == ("optimizer", True)
    remains = _remains(spike)
    assert remains["second moments"] < 0.05
    assert remains["nudge"] > th.SPIKE_REMAINS
    assert "cause: optimizer (confirmed)." in spike.told.headline


def test_vectors_carried_to_the_origin_are_normalisation_confirmed():
    """First moments that carry all sequence embeddings towards the origin within some ten steps.
    Steps are long as well, and without either there is no spike."""
    config = ds.Config().replace({"training.epochs": 300})
    run = ds.train(config, seeds=[14], progress=False)[0]

    def carry(weights, first, second):
        first.value[...] = 0.9 * weights.value * np.sqrt(second.value) / 3e-3 / 10

    spike = _spike(run, carry)
    assert (spike.cause.verdict, spike.cause.confirmed) == ("normalisation+optimizer", True)
    remains = _remains(spike)
    assert remains["smooth norm"] < th.SPIKE_REMAINS
    assert remains["second moments"] < th.SPIKE_REMAINS
    assert remains["nudge"] > th.SPIKE_REMAINS
    assert spike.cause.mechanisms.shortest_sequence < 0.1


def test_batches_sorted_by_class_spike_in_no_other_order():
    """Of one epoch, the first half of the batches has one class and the second the other.

    All its steps go the same way, so that the weights move far as well: the screen calls it the
    optimizer. That it is the order is seen from the other ones.
    """
    config = ds.Config().replace({"training.epochs": 61})
    (tokens, targets), seed = ds.dataset(config.task, 1, "train"), 1
    order = _kernel.shuffled(len(tokens), seed, 59)
    by_class = np.argsort(targets, kind="stable")
    mine = np.empty_like(tokens), np.empty_like(targets)
    mine[0][order], mine[1][order] = tokens[by_class], targets[by_class]
    data = ds.Data(train=mine, test=ds.dataset(config.task, seed, "test"))
    run = ds.train(config, seeds=[seed], data=data, progress=False)[0]
    (spike,) = [spike for spike in spikes(run).spikes if spike.peak == 60]
    assert spike.cause.orders == Orders(th.SPIKE_ORDERS, 0, None)
    assert spike.cause.orders.verdict == "batch order"


@pytest.mark.parametrize(
    ("seed", "peak", "verdict"), [(30012, 178, "batch order"), (30029, 247, "unstable state")]
)
def test_spikes_in_which_nothing_stands_out_are_named_by_other_orders(seed, peak, verdict):
    config = ds.Config().replace({"training.epochs": peak + 1})
    run = ds.train(config, seeds=[seed], progress=False)[0]
    (spike,) = [spike for spike in spikes(run).spikes if spike.peak == peak]
    cause = spike.cause
    assert cause.mechanisms.causes == ()
    assert (cause.verdict, cause.confirmed) == (verdict, True)
    assert (2 * cause.orders.spiking < cause.orders.tried) == (verdict == "batch order")


# ---- orders --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("spiking", "earlier", "verdict", "confirmed"),
    [
        (0, None, "batch order", True),
        (4, None, "batch order", True),
        (5, 0, "unstable state", True),
        (5, 4, "unstable state", True),
        (6, 5, "unstable state", False),  # half of them did so before
        (7, 7, "batch order", False),  # as many as before
        (5, 8, "batch order", False),
        (10, 0, "unstable state", True),
        (10, None, "unstable state", False),  # there was no earlier state to try
    ],
)
def test_what_other_orders_say(spiking, earlier, verdict, confirmed):
    orders = Orders(10, spiking, earlier)
    assert (orders.verdict, orders.confirmed) == (verdict, confirmed)
