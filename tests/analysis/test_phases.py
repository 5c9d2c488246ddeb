"""Phases of a run: planted ones are found and told; which methods see a drop."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from planted_curves import Array, curve, passage_by_definition, sigmoid

import dynascope as ds
from dynascope._kernel import CURVE_NAMES
from dynascope.analysis import run_epochs
from dynascope.analysis.drop_votes import SeenDrop, drop_pairs, with_votes
from dynascope.analysis.drops import Drop
from dynascope.analysis.phases import (
    Counts,
    Phases,
    phases,
    phases_by_multisets,
    phases_from,
)


def sharp(epochs: list[int]) -> list[Drop]:
    return [Drop(epoch, epoch - 2, epoch + 2, 1.0) for epoch in epochs]


@pytest.mark.parametrize(
    ("first", "second", "pairs"),
    [
        ([], [], 0),
        ([100], [], 0),
        ([100], [110], 1),
        ([100], [111], 0),
        ([100, 300], [95, 305], 2),
        ([100, 300], [200, 301], 1),
        ([100, 105], [103], 1),
        ([90, 100], [100, 110], 2),
    ],
)
def test_pairs_of_drops(first: list[int], second: list[int], pairs: int) -> None:
    there, back = drop_pairs(sharp(first), sharp(second)), drop_pairs(sharp(second), sharp(first))
    assert there == [(i, j) for j, i in back]
    assert len(there) == pairs


def test_wide_drops_match_when_each_lies_within_the_other() -> None:
    wide = [Drop(200, 150, 250, 1.0)]
    assert drop_pairs(wide, [Drop(240, 190, 290, 1.0)]) == [(0, 0)]
    assert drop_pairs(wide, [Drop(240, 230, 290, 1.0)]) == []


def test_votes() -> None:
    drops = with_votes(sharp([100, 200, 300]), {"change": sharp([102]), "slope": sharp([95, 205])})
    assert [drop.seen_by for drop in drops] == [("change", "slope"), ("slope",), ()]
    assert [drop.votes for drop in drops] == [3, 2, 1]
    assert (drops[0].epoch, drops[0].start, drops[0].end) == (100, 98, 102)


# ---- runs ----------------------------------------------------------------------------------------

TINY = {"task.train_size": 32, "task.test_size": 32, "task.length": 4, "task.relevant": 2}


@cache
def tiny(epochs: int = 1000, weights_every: int = 1) -> ds.Run:
    changes = {"training.epochs": epochs, "record.weights_every": weights_every}
    return ds.train(ds.Config().replace({**TINY, **changes}), progress=False)[0]


def with_curves(run: ds.Run, **curves: Array) -> ds.Run:
    table = run.table.copy()
    for name, values in curves.items():
        table[:, CURVE_NAMES.index(name)] = values
    return replace(run, table=table)


def told(run: ds.Run, between: Array) -> Phases:
    """The phases of a run whose between share is given for every epoch."""
    epochs = run_epochs.kept_epochs(run, "phases")
    return phases_from(run, epochs, lambda asked: between[list(asked)])


def planted_run(clustered: float, fitted: float, weights_every: int = 1) -> tuple[ds.Run, Array]:
    loss = curve((120, 0.7, 3.0), (410, 1.5, 5.0))
    accuracy = 0.5 + 0.5 * sigmoid(fitted, 3.0)
    run = with_curves(tiny(weights_every=weights_every), train_loss=loss, test_accuracy=accuracy)
    return run, 0.2 + 0.7 * sigmoid(clustered, 2.0)


def test_the_phases_of_a_planted_run() -> None:
    result = told(*planted_run(109.5, 399.5))
    assert (result.clustered_epoch, result.fitted_epoch, result.lead) == (110, 400, 290)
    assert result.between_rise == pytest.approx(0.7, abs=1e-3)
    assert result.accuracy_rise == pytest.approx(0.5, abs=1e-3)
    assert (result.agreement, result.agree) == (1.0, True)
    assert result.sensitivity == (Counts(0.5, 2, 2), Counts(1.0, 2, 2), Counts(2.0, 2, 2))
    assert [drop.epoch for drop in result.by_change] == pytest.approx([120, 410], abs=2)
    assert [drop.epoch for drop in result.drops] == pytest.approx([120, 410], abs=2)
    assert [drop.votes for drop in result.drops] == [3, 3]
    # logit(0.9) = 2.197 widths after the middle
    assert result.snapshots == (0, 110, 400, int(399.5 + 3 * 2.197) + 1)
    assert (result.measured_to, result.diverged, result.accuracy) == (1000, None, "test")
    assert result.describe() == (
        f"Two drops, at epochs {result.drops[0].epoch} and {result.drops[1].epoch} (all three "
        "methods agree). Embeddings clustered at epoch 110, 290 epochs before the test accuracy "
        "rose."
    )


def test_a_negative_lead() -> None:
    result = told(*planted_run(500.5, 399.5))
    assert (result.clustered_epoch, result.fitted_epoch, result.lead) == (501, 400, -101)
    assert result.snapshots == (0, 501, 501, 501)  # none before the one to its left
    assert "at epoch 501, 101 epochs after the test accuracy rose." in result.describe()


@pytest.mark.parametrize(
    ("clustered", "fitted", "sentence"),
    [
        (399.5, 399.5, "Embeddings clustered at epoch 400, when the test accuracy rose."),
        (398.5, 399.5, "Embeddings clustered at epoch 399, 1 epoch before the test accuracy rose."),
        (9e9, 399.5, "The test accuracy rose at epoch 400; the between share never rose by 0.1."),
        (399.5, 9e9, "Embeddings clustered at epoch 400; the test accuracy never rose by 0.1."),
        (9e9, 9e9, "Neither the between share nor the test accuracy rose by 0.1 or more."),
    ],
)
def test_sentences(clustered: float, fitted: float, sentence: str) -> None:
    with np.errstate(over="ignore"):
        result = told(*planted_run(clustered, fitted))
    assert result.describe().endswith(sentence)
    missing = [result.clustered_epoch is None, result.fitted_epoch is None]
    assert missing == [clustered > 1e9, fitted > 1e9]
    assert (result.lead is None) == any(missing)
    assert (result.snapshots.clustered is None, result.snapshots.fitted is None) == tuple(missing)


def test_disagreement_is_said() -> None:
    run, between = planted_run(109.5, 399.5)
    result = told(run, between)
    first, second = (SeenDrop(epoch, epoch - 2, epoch + 2, 1.0, ()) for epoch in (120, 410))
    for seen_by, seen in (((), "one method"), (("slope",), "two methods")):
        doubted = replace(second, seen_by=seen_by)
        other = replace(result, drops=(replace(first, seen_by=("change", "slope")), doubted))
        sentence = f"Two drops, at epochs 120 and 410 (410 seen by {seen} of three)."
        assert other.describe().startswith(sentence)
    both = replace(result, drops=(first, second))
    assert "(120 and 410 seen by one method of three)." in both.describe()
    more = replace(result, drops=(), by_change=tuple(sharp([50, 99])), by_slope=tuple(sharp([300])))
    sentence = "No drops (also 50 and 99 by change points; also 300 by slope)."
    assert more.describe().startswith(sentence)
    none = replace(result, drops=(), by_change=(), by_slope=())
    assert none.describe().startswith("No drops (all three methods agree).")


def test_weights_of_every_tenth_epoch() -> None:
    result = told(*planted_run(109.5, 399.5, weights_every=10))
    assert (result.clustered_epoch, result.fitted_epoch, result.lead) == (110, 400, 290)
    assert told(*planted_run(111.5, 399.5, weights_every=10)).clustered_epoch == 120


def test_runs_without_weights_are_refused() -> None:
    with pytest.raises(
        ds.DynascopeError, match=r"record\.weights_every is 0, but phases need the weights"
    ):
        phases(tiny(epochs=30, weights_every=0))
    with pytest.raises(ds.DynascopeError, match=r"run: expected a ds\.Run, but got str"):
        phases("id")  # type: ignore[arg-type]


def test_a_diverged_run_is_measured_to_its_end() -> None:
    run, between = planted_run(109.5, 399.5)
    table = run.table.copy()
    table[300:] = np.nan
    between[300:] = np.nan
    result = told(replace(run, table=table, diverged=300), between)
    assert (result.measured_to, result.diverged) == (299, 300)
    assert [len(result.by_change), len(result.by_slope)] == [1, 1]
    assert (result.clustered_epoch, result.fitted_epoch, result.lead) == (110, None, None)
    assert result.describe().endswith("Measured to epoch 299: the run diverged at epoch 300.")


@pytest.mark.parametrize("diverged", [0, 1, 2])
def test_a_run_that_diverged_at_once(diverged: int) -> None:
    table = tiny().table.copy()
    table[diverged:] = np.nan
    result = told(replace(tiny(), table=table, diverged=diverged), np.full(1001, np.nan))
    assert (result.by_slope, result.clustered_epoch, result.fitted_epoch) == ((), None, None)
    assert result.measured_to == max(diverged - 1, 0)


@pytest.mark.parametrize("epochs", [0, 1, 2, 7, 20])
def test_short_runs(epochs: int) -> None:
    result = told(tiny(epochs), np.full(epochs + 1, 0.3))
    assert (result.by_change, result.by_slope, result.agreement) == ((), (), 1.0)
    assert (result.clustered_epoch, result.lead, result.measured_to) == (None, None, epochs)


def test_without_a_test_set_the_train_accuracy_counts() -> None:
    tokens, _ = ds.dataset(ds.TaskConfig(length=4, relevant=2), split="all")
    data = ds.Data(train=(tokens, tokens[:, 0] * tokens[:, 1]))  # 1 for a quarter of them
    config = ds.Config().replace({**TINY, "training.epochs": 100, "training.batch": 16})
    run = ds.train(config, data=data, progress=False)[0]
    # From far above chance to it, and then on: chance is the entropy of the targets, 0.56.
    chance = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    loss = np.where(np.arange(101) < 30, 3 * chance, np.where(np.arange(101) < 70, chance, 0.2))
    run = with_curves(run, train_loss=loss, train_accuracy=np.arange(101) / 100)
    result = told(run, np.full(101, 0.3))
    assert [drop.epoch for drop in result.by_slope] == [70]
    assert result.accuracy == "train"
    assert result.fitted_epoch == passage_by_definition(np.arange(101) / 100, 0.5)
    assert "train accuracy rose" in result.describe()


def between_by_forward(run: ds.Run, epochs: Sequence[int]) -> Array:
    """The between share from its definition: variance of the means of groups, over all variance."""
    tokens, _ = ds.dataset(run.config.task, split="all")
    groups = tokens[:, list(run.config.task.positions)].sum(axis=1)
    result = []
    for epoch in epochs:
        xi = ds.forward(run.parameters(epoch), tokens, run.config.model).sequence
        xi = xi.astype(float) - xi.mean(axis=0, dtype=float)
        means = np.array([xi[groups == g].mean(axis=0) for g in groups])
        result.append((means**2).sum() / (xi**2).sum())
    return np.array(result)


@pytest.mark.parametrize("weights_every", [1, 7])
def test_real_runs(weights_every: int) -> None:
    """A task that is learnt in seconds; shares measured one by one, and by the kernel."""
    changes = {
        **TINY, "training.lr": 0.02, "training.epochs": 200, "model.dim": 4,
        "record.weights_every": weights_every,
    }  # fmt: skip
    runs = ds.train(ds.Config().replace(changes), seeds=range(3), progress=False)
    results = [phases_by_multisets(run) for run in runs]
    for run, result in zip(runs, results, strict=True):
        epochs = run_epochs.kept_epochs(run, "phases")
        slowly = phases_from(run, epochs, partial(between_by_forward, run))
        assert slowly.between_rise == pytest.approx(result.between_rise, abs=1e-4)
        assert replace(slowly, between_rise=result.between_rise) == result
        assert replace(phases(run), sum=None) == result
        every = between_by_forward(run, epochs)
        place = passage_by_definition(every, 0.5)
        assert result.clustered_epoch == (None if place is None else epochs[place])
        assert result.fitted_epoch == passage_by_definition(run.curves["test_accuracy"], 0.5)
    assert any(result.by_slope and result.by_change for result in results)
    assert any(result.fitted_epoch is not None for result in results)
    assert any(result.clustered_epoch is not None for result in results)


def test_a_curve_without_a_first_value_begins_with_its_second() -> None:
    """As that of an imported run: what is not known has not risen."""
    config = ds.Config().replace({"training.epochs": 40})
    run = ds.train(config, progress=False)[0]
    table = run.table.copy()
    column = CURVE_NAMES.index("test_accuracy")
    table[0, column] = np.nan
    table[1:, column] = 0.5
    found = phases(replace(run, table=table))
    assert found.accuracy_rise == 0
    assert found.fitted_epoch is None
