"""Saddles: planted ones are found and left as planted; real runs give numbers that add up."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from small_runs import Array

import dynascope as ds
from dynascope._kernel import CURVE_NAMES
from dynascope.analysis import phases
from dynascope.edits import steps_per_epoch
from dynascope.optimizer_metric import learning_rate
from dynascope.replay import Replay
from dynascope.run import Origin
from dynascope.theory import Plateau, flat_directions, saddles
from dynascope.theory import curvature_thresholds as t
from dynascope.theory.curvature import Follower
from dynascope.theory.escape import bends as bends_at

# ---- a planted saddle ----------------------------------------------------------------------------
# All weights 0 but E, without a norm, on every sequence of the XOR of two of three tokens: the
# gradient is exactly 0, and value and query together bend the loss down.

EPOCHS, DROP, STEPS = 120, 60, 8
PLAN: dict[str, Any] = {
    "task.length": 3,
    "task.relevant": 2,
    "task.train_size": 8,
    "training.batch": 8,
    "training.epochs": EPOCHS,
    "training.optimizer": "sgd",
    "training.lr": 1.0,
    "model.hidden": 2,
    "model.norm": "none",
    "precision": "float64",
}


@cache
def planted(**changes: Any) -> tuple[ds.Run, Array]:
    """A run that has not begun, with room for a way, and its saddle."""
    tokens = np.array(list(product(range(2), repeat=3)))
    data = ds.Data(train=(tokens, tokens[:, 0] ^ tokens[:, 1]))
    config = ds.Config().replace(PLAN | {k.replace("__", "."): v for k, v in changes.items()})
    start = ds.initial_parameters(config, 1)
    for name in start:
        if name != "token_embedding":
            start[name][...] = 0
    run = ds.train(config, [1], data=data, start=start, progress=False)[0]
    return run, start.flat.copy()


def moved(run: ds.Run, start: Array, way: Array) -> ds.Run:
    """The run with other weights and losses: at the start, then along the way, then at its end."""
    part = np.clip((np.arange(EPOCHS + 1) - DROP) / STEPS, 0, 1)
    table = run.table.copy()
    table[:, CURVE_NAMES.index("train_loss")] = np.log(2) * (1 - 0.8 * part)
    return replace(run, weights=start + part[:, None] * way, table=table)


def bends(run: ds.Run, start: Array) -> tuple[Array, Array]:
    p = ds.Parameters.from_flat(start, run.config.shapes)
    assert run.data is not None
    assert ds.loss_and_gradient(p, *run.data.train, run.config)[1].norm() < 1e-15
    values, vectors = np.linalg.eigh(ds.hessian(p, *run.data.train, run.config))
    return values, vectors.T


def test_a_planted_saddle_is_one() -> None:
    run, start = planted()
    values, vectors = bends(run, start)
    first, last = saddles(moved(run, start, 0.7 * vectors[0]), progress=False)
    assert first.verdict == "saddle, escaped along negative directions"
    assert first.confirmed
    assert first.gradient_norm < 1e-15 < first.gradient_scale
    assert first.escape is not None
    assert first.escape.plain.escape.first == pytest.approx(1)
    assert first.escape.distance == pytest.approx(0.7, rel=0.05)
    assert first.escape.metric is None
    assert first.spectrum.lowest == pytest.approx(values[0])
    assert first.spectrum.negative == (values < -1e-9).sum() > 0
    assert first.fold_epochs == pytest.approx(1 / -values[0])  # lr 1, one step an epoch
    assert first.fall > 0
    assert first.loss_along[len(first.along) // 2] == pytest.approx(np.log(2))
    assert first.start == 0
    assert last.drop is last.escape is last.exit is None
    assert not last.confirmed


def test_a_saddle_left_along_other_directions() -> None:
    run, start = planted()
    _, vectors = bends(run, start)
    first = saddles(moved(run, start, 0.7 * vectors[-1]), progress=False)[0]
    assert first.verdict == "saddle, escaped otherwise"
    assert first.escape is not None
    assert first.escape.plain.escape.negative < 1e-9


def test_a_saddle_without_the_time_to_grow() -> None:
    run, start = planted(training__lr=1e-3)
    values, vectors = bends(run, start)
    first = saddles(moved(run, start, 0.7 * vectors[0]), progress=False)[0]
    assert first.growth == pytest.approx((first.end - first.start) * 1e-3 * -values[0])
    assert first.verdict == "flat or minimum"


def test_momentum_makes_it_grow_faster() -> None:
    run, start = planted(training__momentum=0.5)
    values, vectors = bends(run, start)
    first = saddles(moved(run, start, 0.7 * vectors[0]), progress=False)[0]
    assert first.fold_epochs == pytest.approx(0.5 / -values[0])


def test_a_slope_is_no_saddle() -> None:
    run, start = planted()
    _, vectors = bends(run, start)
    off = start + np.random.default_rng(0).standard_normal(len(start))
    first = saddles(moved(run, off, 1e-3 * vectors[0]), progress=False)[0]
    assert first.gradient_ratio > t.SMALL_GRADIENT
    assert first.verdict == "slope"
    assert "slope" in first.describe()


# ---- real runs -----------------------------------------------------------------------------------


@cache
def real(batch: int = 32, epochs: int = 230, seed: int = 402, **more: Any) -> ds.Run:
    changes = {"training.batch": batch, "training.epochs": epochs, **more}
    return ds.train(ds.Config().replace(changes), [seed], progress=False)[0]


@cache
def plateaus() -> tuple[Plateau, ...]:
    return saddles(real(), progress=False)


def test_plateaus_lie_between_the_drops() -> None:
    drops = phases(real()).by_slope
    assert len(drops) == 2
    found = plateaus()
    assert [each.drop for each in found] == [*drops, None]
    assert [each.end for each in found] == [drops[0].start, drops[1].start, 230]
    assert [each.start for each in found[1:]] == [drop.end for drop in drops]
    loss = real().curves["train_loss"]
    assert loss[found[0].start] <= 1.01 * np.log(2) < loss[: found[0].start].min(initial=np.inf)
    assert found[0].start < 5  # the plateau at chance is looked at
    assert all(each.start <= each.epoch <= each.end for each in found)


def test_the_point_is_the_one_of_least_gradient() -> None:
    run, (first, *_) = real(), plateaus()
    data = ds.dataset(run.config.task, run.seed)

    def norm(epoch: int) -> float:
        p = run.parameters(epoch).astype(np.float64)
        return ds.loss_and_gradient(p, *data, run.config)[1].norm()

    norms = [norm(epoch) for epoch in range(first.start, first.end + 1)]  # fewer than 64
    assert first.gradient_norm == pytest.approx(min(norms), rel=1e-12)
    assert first.epoch == first.start + int(np.argmin(norms))
    assert first.drop is not None
    scale = max(norm(epoch) for epoch in range(first.drop.start, first.drop.end + 1))
    assert first.gradient_scale == pytest.approx(scale, rel=1e-12)


@pytest.mark.parametrize("which", ["escape", "exit"])
@pytest.mark.parametrize("index", [0, 1])
def test_shares_of_a_run_by_other_means(which: str, index: int) -> None:
    """Flat directions by least squares, the metric's from a generalised eigenproblem."""
    from scipy.linalg import eigh

    run, plateau = real(), plateaus()[index]
    way = getattr(plateau, which)
    p = run.parameters(way.start).astype(np.float64)
    hessian = ds.hessian(p, *ds.dataset(run.config.task, run.seed), run.config)
    delta = run.parameters(way.end).astype(np.float64).flat - p.flat
    flat = flat_directions(p, run.config.model)
    state, steps = Replay(run).state(way.start).astype(float), 64 * way.start
    root = np.sqrt(state[2] / (1 - 0.999**steps)) + 1e-8
    scale = (1 - 0.9**steps) * root
    update = -state[1] / scale
    assert way.distance == pytest.approx(np.linalg.norm(delta))
    along = flat.T @ np.linalg.lstsq(flat.T, delta, rcond=None)[0]
    assert way.idle == pytest.approx((along @ along) / (delta @ delta), rel=1e-9)
    for found, weigh in ((way.plain, np.ones(196)), (way.metric, scale)):
        # A basis of the complement, at a right angle to the flat directions in this metric.
        rest = np.linalg.svd(flat * weigh)[2][len(flat) :].T
        values, vectors = eigh(rest.T @ hessian @ rest, rest.T @ (weigh[:, None] * rest))
        lowest = rest @ vectors  # unit in the metric
        for shares, vector in ((found.escape, delta), (found.update, update)):
            inside = rest @ np.linalg.solve(
                rest.T @ (weigh[:, None] * rest), rest.T @ (weigh * vector)
            )
            parts = (lowest.T @ (weigh * inside)) ** 2 / (inside @ (weigh * inside))
            wanted = [parts[:k].sum() for k in (1, 5, found.negative)]
            assert shares == pytest.approx(wanted, abs=1e-7)
        assert found.size == 196 - len(flat) == 160
        assert found.lowest == pytest.approx(values[0], rel=1e-8)
        assert found.negative == (values < 0).sum()


def test_what_it_says() -> None:
    for plateau in plateaus():
        text = plateau.describe()
        assert text.startswith(f"Epochs {plateau.start} to {plateau.end}: {plateau.verdict}. ")
        assert ("Of the way" in text) == (plateau.drop is not None)


def test_drops_that_are_known_are_taken() -> None:
    found = saddles(real(), phases(real()), threads=1, progress=False)
    for one, other in zip(found, plateaus(), strict=True):
        assert (one.epoch, one.verdict, one.drop) == (other.epoch, other.verdict, other.drop)
        assert np.array_equal(one.spectrum.eigenvalues, other.spectrum.eigenvalues)


def test_a_fitted_run_ends_fitted() -> None:
    last = plateaus()[-1]
    assert (last.verdict == "fitted") == (last.loss < 0.01 * np.log(2))
    later = saddles(real(epochs=400), progress=False)[-1]
    assert later.verdict == "fitted"


def test_lanczos_sees_the_same_saddle(monkeypatch: pytest.MonkeyPatch) -> None:
    run, start = planted(model__hidden=12)
    _, vectors = bends(run, start)
    monkeypatch.setattr(t, "DENSE_WEIGHTS", 10)
    monkeypatch.setattr(t, "LANCZOS_DIRECTIONS", 6)
    first = saddles(moved(run, start, 0.7 * vectors[0]), progress=False)[0]
    assert first.spectrum.method == "lanczos"
    assert first.escape is not None
    assert not first.escape.plain.complete
    assert first.confirmed


# ---- odd runs ------------------------------------------------------------------------------------

TINY: dict[str, Any] = {
    "training.epochs": 40,
    "task.length": 4,
    "task.relevant": 2,
    "task.train_size": 32,
    "training.batch": 8,
    "model.hidden": 3,
}


def tiny(**changes: Any) -> ds.Run:
    config = ds.Config().replace(TINY | {k.replace("__", "."): v for k, v in changes.items()})
    return ds.train(config, progress=False)[0]


def branched() -> ds.Run:
    trainer = ds.Trainer(ds.Config().replace(TINY))
    trainer.advance(20)
    trainer.parameters = 1.01 * trainer.parameters
    trainer.advance(20)
    return trainer.run


def with_own_data(targets: Any = (0, 1, 1)) -> ds.Run:
    tokens = np.array([[0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 1, 1]])
    config = ds.Config().replace(TINY | {"task.train_size": 8, "training.batch": 3})
    return ds.train(config, data=ds.Data(train=(tokens, targets)), progress=False)[0]


ODD: dict[str, Callable[[], ds.Run]] = {
    "no epochs": lambda: tiny(training__epochs=0),
    "one epoch": lambda: tiny(training__epochs=1),
    "no weights kept": lambda: tiny(record__weights_every=0, record__state_every=0),
    "few weights kept": lambda: tiny(record__weights_every=25),
    "frozen": lambda: tiny(training__frozen=("token_embedding", "value[0,1]")),
    "sgd": lambda: tiny(training__optimizer="sgd", training__mlp_lr_discount=2.0),
    "relu without biases": lambda: tiny(model__activation="relu", model__bias=False),
    "three dimensions": lambda: tiny(model__dim=3, task__vocab=3),
    "diverged": lambda: tiny(training__optimizer="sgd", training__lr=3e3, model__norm="none"),
    "branch": branched,
    "own data": with_own_data,
    "one class": lambda: with_own_data((1, 1, 1)),
}


@pytest.mark.parametrize("which", ODD)
def test_odd_runs(which: str) -> None:
    run = ODD[which]()
    last = run.epochs if run.diverged is None else run.diverged - 1
    if run.diverged == 0:
        pytest.fail("choose another learning rate")
    found = saddles(run, progress=False)
    assert found[-1].end == last
    for plateau in found:
        assert plateau.verdict in plateau.describe()
        assert np.isfinite([plateau.loss, plateau.gradient_norm, plateau.fall]).all()
        assert np.isfinite(plateau.spectrum.eigenvalues).all()
        assert (plateau.growth is None) == (which == "no epochs")


def test_weight_decay_that_is_in_the_gradient_bends_up() -> None:
    """What Adam descends is the loss with its decay: a bend of -0.1 with a decay of 1 is up."""
    plain, held = (
        saddles(tiny(training__weight_decay=decay), progress=False)[0] for decay in (0.0, 10.0)
    )
    assert plain.spectrum.negative > 0
    assert held.spectrum.negative == 0
    apart = saddles(tiny(training__weight_decay=10.0, training__optimizer="adamw"), progress=False)
    assert apart[0].spectrum.negative > 0


def test_a_plateau_of_one_epoch_has_a_length() -> None:
    whole = saddles(tiny(), progress=False)[0]
    one = replace(whole, start=whole.epoch, end=whole.epoch)
    assert one.fold_epochs is not None
    assert one.growth == 1 / one.fold_epochs


def test_a_schedule_counts_by_its_mean() -> None:
    """At the end of a cosine nothing moves any more, but along the plateau it did."""
    run = tiny(training__schedule="cosine")
    found = saddles(run, progress=False)[0]
    follower = Follower(run)
    place = follower.place(found.epoch)
    lowest = bends_at(place, follower.metric(found.epoch, place)).deciding.lowest
    steps = steps_per_epoch(run.config)
    epochs = range(found.start, found.end + 1)
    rates = [learning_rate(run.config, epoch * steps) for epoch in epochs]
    assert found.fold_epochs == pytest.approx(-1 / (np.mean(rates) * lowest * steps))


def test_weights_that_were_not_kept_are_computed_again() -> None:
    kept, again = tiny(), tiny(record__weights_every=0, record__state_every=0)
    for one, other in zip(*(saddles(run, progress=False) for run in (kept, again)), strict=True):
        assert (one.start, one.end) == (other.start, other.end)
        spread = np.linspace(max(other.start, 1), other.end, t.REPLAYED_EPOCHS).round()
        assert other.epoch in spread
        assert other.gradient_norm >= one.gradient_norm  # fewer were compared


BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: saddles("run"), "run: expected a ds.Run"),
    (lambda: saddles(tiny(), "drops"), "found: expected what analysis.phases"),
    (lambda: saddles(tiny(), threads=0), "threads: expected a whole number"),
    (
        lambda: saddles(replace(tiny(), origin=Origin("import", "0"))),
        "it was imported without data;",
    ),
    (lambda: saddles(replace(tiny(), diverged=0)), "it diverged at epoch 0"),
]


@pytest.mark.parametrize(("call", "says"), BAD, ids=[says for _, says in BAD])
def test_bad_input(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(ds.DynascopeError, match=says):
        call()


@pytest.mark.slow
def test_full_batch_runs_leave_saddles_more_along_negative_directions_than_chance() -> None:
    """Of drops, with the Hessian where they start: the five lowest directions have several times
    the share that a random direction would have, in the median of a dozen runs."""
    shares = []
    for seed in range(402, 414):
        for plateau in saddles(real(batch=2048, epochs=1000, seed=seed), progress=False):
            if plateau.exit is not None:
                shares.append(plateau.exit.deciding.escape.five / plateau.exit.deciding.chance.five)
    assert len(shares) >= 5
    assert np.median(shares) > 3
