"""The speed of weights at drops, and gradients there: planted curves, and sums by hand."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_curves import curve
from planted_runs import planted, small_run

import dynascope as ds
from dynascope import analysis_columns
from dynascope._kernel import CURVE_NAMES
from dynascope.analysis import speed
from dynascope.analysis import thresholds as th
from dynascope.analysis.drops import Drop, loss_drops
from dynascope.analysis.parts import PARTS
from dynascope.analysis.run_drops import in_and_around, inside, run_drops
from dynascope.analysis.shapley import GROUPS

EPOCHS = 600
LOSS = curve((150, 0.5, 5), (400, 1.5, 5), epochs=EPOCHS)  # two drops
LENGTHS = {f"weight_norm/{name}": 2.0 for name in small_run(1).config.shapes}
FED = GROUPS["feed_forward"]


def at(*epochs: int, high: float, low: float = 1.0) -> np.ndarray:
    """What is high within 25 epochs of these, and low elsewhere."""
    time = np.arange(EPOCHS + 1)
    near = np.any([np.abs(time - epoch) <= 25 for epoch in epochs], axis=0)
    return np.where(near, high, low)


def test_the_parts_are_those_of_the_columns() -> None:
    assert ("all", *analysis_columns.PARTS) == PARTS


def test_planted_jumps_are_found() -> None:
    """All weights but the feed-forward's jump at the first drop alone."""
    curves = {"train_loss": LOSS, **LENGTHS, "update_ratio": at(150, high=4.0)}
    curves |= {f"update_ratio/{name}": at(high=1.0) for name in FED}
    found = speed(planted(EPOCHS, curves))
    assert [drop.epoch for drop in found.drops] == pytest.approx([150, 400], abs=5)
    for part in ("token_embedding", "position_embedding", "query", "value"):
        assert found.at_drops[part].tolist() == [4.0, 1.0]
        assert found.overall[part] == 2.0
    assert found.at_drops["feed_forward"].tolist() == [1.0, 1.0]
    # Lengths of 2 each: four parameters jump by 4, four of the feed-forward do not.
    assert found.overall["all"] == pytest.approx(np.sqrt(8 * 2**2))
    jump = np.sqrt(4 * 8**2 + 4 * 2**2) / np.sqrt(8 * 2**2)
    np.testing.assert_allclose(found.at_drops["all"], [jump, 1.0])
    assert found.resolution == 1


def test_a_solved_tail_does_not_count() -> None:
    """After the second drop nothing moves: a yardstick of the whole run would be about 0."""
    slow = np.where(np.arange(EPOCHS + 1) > 430, 1e-9, 1.0)
    found = speed(planted(EPOCHS, {"train_loss": LOSS, **LENGTHS, "update_ratio": slow}))
    assert found.at_drops["all"][0] == pytest.approx(1.0)
    assert found.at_drops["all"][1] < 3


def test_drops_are_those_of_the_column() -> None:
    run = planted(EPOCHS, {"train_loss": LOSS})
    assert run_drops(run) == loss_drops(LOSS, ceiling=np.log(2))
    assert len(run_drops(run)) == 2
    early = replace(run, diverged=300)
    assert [drop.epoch for drop in run_drops(early)] == [run_drops(run)[0].epoch]


def real_run(changes: dict[str, Any] | None = None) -> ds.Run:
    small = {"training.epochs": 40, "task.train_size": 64, "training.batch": 16}
    config = ds.Config().replace(small | (changes or {}))
    return ds.train(config, [1], progress=False)[0]


@pytest.mark.parametrize("every", [1, 0])
def test_movements_are_those_of_the_weights(every: int) -> None:
    """Also where the weights were not kept: the curves say how far each epoch moved them."""
    found = speed(real_run({"record.weights_every": every}))
    weights = [real_run().parameters(epoch) for epoch in range(41)]
    steps = [after - before for before, after in pairwise(weights)]
    wanted = {part: np.median([_length(step, names) for step in steps]) for part, names in _PARTS}
    assert found.overall == pytest.approx(wanted, rel=1e-5)
    assert found.resolution == 1


_PARTS = [("all", tuple(name for names in GROUPS.values() for name in names)), *GROUPS.items()]


def _length(step: ds.Parameters, names: tuple[str, ...]) -> float:
    return float(np.sqrt(sum((step[name].astype(float) ** 2).sum() for name in names)))


UNRECORDED = frozenset(name for name in CURVE_NAMES if name.startswith("weight_norm/"))


@pytest.mark.parametrize("every", [1, 4])
def test_runs_from_before_the_curves_are_measured_between_kept_weights(every: int) -> None:
    run = replace(real_run({"record.weights_every": every}), unrecorded=UNRECORDED)
    found = speed(run)
    kept = [run.parameters(epoch) for epoch in range(0, 41, every)]
    steps = [after - before for before, after in pairwise(kept)]
    lengths = [_length(step, ("value",)) / every for step in steps]
    assert found.overall["value"] == pytest.approx(np.median(lengths))
    assert found.resolution == every
    if every == 1:
        assert found.overall == pytest.approx(dict(speed(real_run()).overall), rel=1e-5)


def test_without_curves_and_weights_it_is_refused() -> None:
    run = replace(real_run({"record.weights_every": 0}), unrecorded=UNRECORDED)
    with pytest.raises(ds.DynascopeError, match="weights_every is 0, but speeds need the weights"):
        speed(run)


def test_what_is_frozen_does_not_move() -> None:
    found = speed(real_run({"training.frozen": ["value", "query"]}))
    assert (found.overall["value"], found.overall["query"]) == (0, 0)
    assert found.overall["token_embedding"] > 0


def test_a_parameter_that_begins_at_0_costs_one_epoch() -> None:
    """What moved it from there is not told by the curves; the other epochs are."""
    config = real_run().config
    start = ds.initial_parameters(config)
    start.value = np.zeros((2, 2))
    found = speed(ds.train(config, [1], start=start, progress=False)[0])
    assert all(np.isfinite(value) for value in found.overall.values())


# ---- in a drop and around it ---------------------------------------------------------------------
drops = st.lists(st.integers(1, 380), min_size=2, max_size=8, unique=True).map(sorted)


@settings(max_examples=60, deadline=None)
@given(drops, st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_in_and_around_by_hand(ends: list[int], every: int, seed: int) -> None:
    pairs = list(zip(ends[::2], ends[1::2], strict=False))
    found = [Drop((a + b) // 2, a, b, 0.5) for a, b in pairs]
    edges = np.arange(0, 401, every)
    begin, end = edges[:-1], edges[1:]
    values = np.random.default_rng(seed).random((2, len(begin)))
    within, around = in_and_around(values, begin, end, found)
    reach = max(th.DROP_NEAR, 2 * every)
    for i, (a, b) in enumerate(pairs):
        mine = [k for k in range(len(begin)) if end[k] > a and begin[k] < max(b, a + 1)]
        taken = [
            k
            for k in range(len(begin))
            if end[k] > a - reach
            and begin[k] < b + reach
            and not any(end[k] > c and begin[k] < max(d, c + 1) for c, d in pairs)
        ]
        for group in range(2):
            for got, which in ((within, mine), (around, taken)):
                if which:
                    assert got[group, i] == np.median(values[group, which])
                else:
                    assert np.isnan(got[group, i])


def test_a_drop_of_one_epoch_has_one_stretch() -> None:
    epochs = np.arange(11)
    assert inside(Drop(5, 5, 5, 0.5), epochs[:-1], epochs[1:]).sum() == 1
