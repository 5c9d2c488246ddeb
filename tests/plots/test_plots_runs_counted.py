"""Shares of runs: points and bars at the counts, intervals by SciPy's own formula."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from scipy import stats

import dynascope as ds
from dynascope.findings.words import share as told_share
from dynascope.share_interval import wilson

Array = npt.NDArray[Any]
COUNTS, TOTALS = [0, 3, 7, 20, 4], [12, 12, 9, 20, 250]


def wanted(counts: list[int], totals: list[int], error: float = 0.05) -> Array:
    """[n, 2]"""
    found = [
        stats.binomtest(count, of).proportion_ci(1 - error, "wilson")
        for count, of in zip(counts, totals, strict=True)
    ]
    return np.array([(each.low, each.high) for each in found])


def segments(ax: Axes, axis: int) -> Array:
    """[n, 2]: where the lines of all collections begin and end along x (0) or y (1)."""
    lines = [each for each in ax.collections if isinstance(each, LineCollection)]
    return np.concatenate([np.array(each.get_segments())[:, :, axis] for each in lines])


@pytest.mark.parametrize("x", [[2, 3, 5, 8, 13], [1, 10, 1e2, 1e3, 1e4], list("abcde")])
@pytest.mark.parametrize("error", [0.05, 0.001])
def test_rates_are_shares_with_wilsons_interval(x: list[Any], error: float) -> None:
    scale = "log" if x[-1] == 1e4 else "linear"
    ax = ds.plots.rates(x, COUNTS, TOTALS, scale=scale, error=error)
    line = ax.lines[0]
    named = isinstance(x[0], str)
    assert line.get_xdata().tolist() == (list(range(5)) if named else x)
    assert np.allclose(line.get_ydata(), np.divide(COUNTS, TOTALS))
    assert np.allclose(segments(ax, 1), wanted(COUNTS, TOTALS, error), atol=1e-12)
    assert (line.get_linestyle() == "None") == named
    assert ax.get_xscale() == scale
    if named:
        assert [each.get_text() for each in ax.get_xticklabels()] == x


def test_rates_are_drawn_in_the_order_of_numbers() -> None:
    ax = ds.plots.rates([5, 1, 3], [1, 2, 3], [4, 4, 4])
    assert ax.lines[0].get_xdata().tolist() == [1, 3, 5]
    assert ax.lines[0].get_ydata().tolist() == [0.5, 0.75, 0.25]


def test_where_there_are_no_runs_there_is_no_rate() -> None:
    ax = ds.plots.rates([1, 2, 3], [0, 0, 3], [4, 0, 4])
    assert ax.lines[0].get_xdata().tolist() == [1, 3]
    assert "2,0,0,nan,nan,nan" in ax.figure.numbers()  # type: ignore[union-attr]


def test_groups_share_names_and_have_looks_of_their_own() -> None:
    ax = ds.plots.rates(["a", "b"], [1, 2], [3, 3], label="first")
    assert ds.plots.rates(["b", "c"], [1, 2], [3, 3], ax, label="second") is ax
    first, second = [line for line in ax.lines if not line.get_label().startswith("_")]
    assert second.get_xdata().tolist() == [1, 2]
    assert [each.get_text() for each in ax.get_xticklabels()] == ["a", "b", "c"]
    assert first.get_color() != second.get_color()
    assert first.get_marker() != second.get_marker()
    assert [each.get_text() for each in ax.get_legend().get_texts()] == ["first", "second"]
    places = [line.get_transform().transform((1, 0.5)) for line in (first, second)]
    assert places[0][0] != places[1][0]  # equal shares do not hide each other
    assert places[0][1] == places[1][1]


def test_axes_that_were_cleared_begin_again() -> None:
    ax = ds.plots.rates(["a", "b"], [1, 2], [3, 3], label="first")
    colour = ax.lines[0].get_color()
    ax.clear()
    ds.plots.rates([1, 2], [1, 2], [3, 3], ax, label="second")
    assert ax.lines[0].get_color() == colour


@pytest.mark.parametrize("of", [250, TOTALS])
def test_bars_are_shares_with_wilsons_interval(of: Any) -> None:
    totals = of if isinstance(of, list) else [of] * 5
    ax = ds.plots.bars(list("abcde"), COUNTS, of=of)
    shares = np.divide(COUNTS, totals)
    assert np.allclose([bar.get_width() for bar in ax.patches], shares)
    assert [round(bar.get_y() + bar.get_height() / 2) for bar in ax.patches] == list(range(5))
    assert ax.yaxis_inverted()  # the first is on top
    assert np.allclose(segments(ax, 0), wanted(COUNTS, totals), atol=1e-12)
    texts = [each.get_text() for each in ax.texts]
    assert texts[1].startswith(f"3 of {totals[1]} (")


def test_bars_of_counts_have_no_interval() -> None:
    ax = ds.plots.bars(["a", "b"], [5, 2])
    assert [bar.get_width() for bar in ax.patches] == [5, 2]
    assert [each.get_text() for each in ax.texts] == ["5", "2"]
    assert not ax.collections
    assert ax.figure.numbers().splitlines() == [  # type: ignore[union-attr]
        "run,epoch,panel,name,count",
        ",,bars,a,5",
        ",,bars,b,2",
    ]


def test_a_row_without_runs_says_so() -> None:
    ax = ds.plots.bars(["a", "b"], [5, 0], of=[10, 0])
    assert [each.get_text() for each in ax.texts] == ["5 of 10 (50%)", "no runs"]


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_one_interval_for_reports_and_figures(counted: tuple[int, int]) -> None:
    count, of = counted
    low, high = wilson(count, of)
    assert (low == 0, high == 1) == (count == 0, count == of)
    assert low <= count / of <= high
    assert told_share(count, of)["interval"] == [low, high]


@pytest.mark.parametrize("error", [0.5, 0.05, 1e-3, 1e-9, 1e-15])
def test_wilsons_interval_is_scipys_at_every_level(error: float) -> None:
    z = stats.norm.isf(error / 2)
    low, high = wilson(7, 31, error)
    for end in (low, high):  # both ends are z standard deviations of their own from the share
        assert abs(7 / 31 - end) / np.sqrt(end * (1 - end) / 31) == pytest.approx(z, rel=1e-9)
