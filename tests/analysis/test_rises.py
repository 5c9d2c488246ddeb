"""Rises: when a series passes a part of its way for the last time."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from planted_curves import Array, passage_by_definition, sigmoid

from dynascope.analysis import thresholds as t
from dynascope.analysis.rises import Series
from dynascope.analysis.smoothing import noise_deviation, running_median


def risen(values: Array, part: float = 0.5) -> tuple[int | None, int]:
    """The passage, and how many values it took."""
    asked: list[int] = []

    def ask(places: Sequence[int]) -> Array:
        asked.extend(places)
        return values[list(places)]

    found = Series(ask, len(values)).passed(part)
    assert len(asked) == len(set(asked))
    return found, len(asked)


@pytest.mark.parametrize("centre", [37, 300, 301, 640, 900])
def test_a_planted_step_gives_its_epoch(centre: int) -> None:
    values = np.where(np.arange(1001) < centre, 0.5, 0.98)
    found, cost = risen(values)
    assert found == centre
    assert cost <= 110


@pytest.mark.parametrize("part", [0.5, t.RISE_DONE])
def test_the_search_finds_what_the_whole_series_says(part: float) -> None:
    rng = np.random.default_rng(0)
    for centre, width, noise in product((100.5, 420.2, 777.7), (2.0, 20.0), (0.0, 0.02)):
        values = sigmoid(centre, width) + noise * rng.standard_normal(1001)
        found, cost = risen(values, part)
        assert found == passage_by_definition(values, part)
        assert cost <= 150


@pytest.mark.parametrize("count", [1, 2, 3, 5, 20, 21, 101])
def test_where_all_is_known_the_passage_is_exact(count: int) -> None:
    for seed in range(20):
        values = np.cumsum(np.random.default_rng(seed).standard_normal(count)) + 0.05
        series = Series(values.take, count, coarse=count)
        assert series.passed(0.5) == passage_by_definition(values, 0.5)


def test_dips_and_spikes_do_not_move_the_passage() -> None:
    values = np.where(np.arange(1001) < 300, 0.5, 1.0)
    for start in (100, 400, 600, 635, 998):
        values[start : start + 5] = 0.5 if start > 300 else 1.0
    assert risen(values)[0] == passage_by_definition(values, 0.5) == 300


def test_what_is_lost_again_was_no_final_rise() -> None:
    time = np.arange(1001)
    assert risen(np.where((time > 200) & (time < 500), 0.9, 0.5))[0] is None
    again = np.where((time > 200) & (time < 500) | (time >= 700), 0.9, 0.5)
    assert risen(again)[0] == 700


def test_no_rise_no_passage() -> None:
    assert risen(np.full(1001, 0.5))[0] is None
    assert risen(np.linspace(0.5, 0.59, 1001))[0] is None
    assert risen(np.linspace(0.9, 0.1, 1001))[0] is None
    assert risen(np.full(1001, np.nan))[0] is None


def test_running_median_and_noise() -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal(50)
    for reach in (0, 1, 3, 40):
        expected = [
            np.median(values[i - r : i + r + 1]) for i in range(50) for r in [min(reach, i, 49 - i)]
        ]
        np.testing.assert_allclose(running_median(values, reach), expected)
    noise = 0.3 * rng.standard_normal(20000) + np.linspace(0, 500, 20000)
    assert noise_deviation(noise) == pytest.approx(0.3, rel=0.03)
