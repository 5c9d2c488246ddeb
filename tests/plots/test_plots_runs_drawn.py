"""Runs as points and lines: what is drawn is the data, and means are NumPy's."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from many_pictures import EPS, draws
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.colors import to_hex

import dynascope as ds
from dynascope.claim_verdicts import FAILS, HOLDS, IN_PART, OPEN

Array = npt.NDArray[Any]
X, VALUES = np.repeat([4.0, 1.0, 16.0], 30), draws(90)


def points(ax: Axes) -> Array:
    """[n, 2]"""
    made = [each for each in ax.collections if isinstance(each, PathCollection)]
    return np.concatenate([np.asarray(each.get_offsets()) for each in made])


def summary(values: Array, middle: str, scale: str) -> tuple[float, float, float]:
    if middle == "median":
        low, at, high = np.percentile(values, [25, 50, 75])
        return at, low, high
    if scale == "log":
        logs = np.log10(values)
        at, reach = logs.mean(), np.sqrt(((logs - logs.mean()) ** 2).sum() / (len(logs) - 1))
        return 10**at, 10 ** (at - reach), 10 ** (at + reach)
    reach = np.sqrt(((values - values.mean()) ** 2).sum() / (len(values) - 1))
    return values.mean(), values.mean() - reach, values.mean() + reach


@pytest.mark.parametrize("middle", ["mean", "median"])
@pytest.mark.parametrize("scale_y", ["linear", "log"])
def test_dots_at_numbers(middle: str, scale_y: str) -> None:
    ax = ds.plots.dots(X, VALUES, scale="log", scale_y=scale_y, middle=middle)
    assert np.array_equal(points(ax), np.column_stack([X, VALUES]))
    wanted = [summary(VALUES[x == X], middle, scale_y) for x in (1, 4, 16)]
    (line,) = ax.lines
    assert line.get_xdata().tolist() == [1, 4, 16]
    assert np.allclose(line.get_ydata(), [each[0] for each in wanted])
    (band,) = [each for each in ax.collections if isinstance(each, PolyCollection)]
    corners = band.get_paths()[0].vertices
    for x, (_, low, high) in zip((1, 4, 16), wanted, strict=True):
        heights = corners[corners[:, 0] == x, 1]
        assert np.isclose(heights.min(), low)
        assert np.isclose(heights.max(), high)
    assert ax.get_ylim()[0] < VALUES.min() < VALUES.max() < ax.get_ylim()[1]


def test_dots_at_names_stand_beside_each_other() -> None:
    names = [f"lr {x:g}" for x in X]
    ax = ds.plots.dots(names, VALUES, middle="median")
    assert np.array_equal(points(ax)[:, 1], VALUES)
    beside = points(ax)[:, 0] - np.repeat([0, 1, 2], 30)
    assert np.abs(beside).max() < 0.5
    assert all(len({*part.tolist()}) == 30 for part in np.split(beside, 3))
    assert np.array_equal(points(ds.plots.dots(names, VALUES)), points(ax))  # no chance in it
    for place, (bar, x) in enumerate(zip(ax.patches, (4, 1, 16), strict=True)):
        low, high = np.percentile(VALUES[x == X], [25, 75])
        assert (bar.get_y(), bar.get_y() + bar.get_height()) == pytest.approx((low, high))
        assert bar.get_x() + bar.get_width() / 2 == pytest.approx(place)


def test_groups_of_dots_at_names_do_not_meet() -> None:
    groups = np.tile(["one", "two", "three"], 30)
    ax = ds.plots.dots([f"{x:g}" for x in X], VALUES, groups=groups)
    made = [each for each in ax.collections if isinstance(each, PathCollection)]
    ends = [(x.min(), x.max()) for x in (np.asarray(each.get_offsets())[:10, 0] for each in made)]
    assert ends[0][1] < ends[1][0] < ends[1][1] < ends[2][0]
    texts = [each.get_text() for each in ax.get_legend().get_texts()]
    assert texts == ["one", "two", "three"]


def test_what_is_missing_is_left_out_and_told() -> None:
    ax = ds.plots.dots([1, 1, 2, np.nan], [0.5, np.nan, np.inf, 3], runs=list("abcd"))
    assert points(ax).tolist() == [[1, 0.5]]
    rows = ax.figure.numbers().splitlines()  # type: ignore[union-attr]
    assert len([row for row in rows if ",dots," in row]) == 4
    assert "b,,dots,,1,nan" in ",".join(rows)


def test_numbers_have_a_row_for_each_run_and_each_mean() -> None:
    ax = ds.plots.dots([1, 1, 2], [2.0, 4.0, 6.0], runs=["s#a@1", "s#b@1", "s#c@1"], label="all")
    assert ax.figure.numbers().splitlines() == [  # type: ignore[union-attr]
        "run,epoch,panel,group,x,value,mean,low,high,runs",
        "s#a@1,,dots,all,1,2.0,,,,",
        "s#b@1,,dots,all,1,4.0,,,,",
        "s#c@1,,dots,all,2,6.0,,,,",
        ',,"dots, mean",all,1.0,,3.0,1.5857864376269049,4.414213562373095,2',
        ',,"dots, mean",all,2.0,,6.0,6.0,6.0,1',
    ]


def test_a_cloud_is_its_runs() -> None:
    x, y = draws(2, 60)
    groups = np.repeat(["ideal", "fuzzy", "none"], 20)
    ax = ds.plots.cloud(x, y, groups=groups, scale_x="log", runs=[f"s#{i}" for i in range(60)])
    assert np.array_equal(points(ax), np.column_stack([x, y]))
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "linear")
    looks = [(to_hex(each.get_facecolor()[0]), each.get_paths()[0]) for each in ax.collections]
    assert len({colour for colour, _ in looks}) == 3
    assert len({str(path.vertices) for _, path in looks}) == 3
    rows = ax.figure.numbers().splitlines()[1:]  # type: ignore[union-attr]
    wanted = zip(groups, x.tolist(), y.tolist(), strict=True)
    assert rows == [f"s#{i},,cloud,{g},{a},{b}" for i, (g, a, b) in enumerate(wanted)]


def test_what_lies_outside_the_axes_is_not_drawn() -> None:
    """Though points are not clipped."""
    from many_pictures import as_svg, links_in

    ax = ds.plots.cloud([1, 2, 3], [1, 2, 3], runs=["s#a", "s#b", "s#c"])
    ax.set_xlim(1.5, 2.5)
    assert links_in(as_svg(ax)) == ["s#b"]
    ax.set_xlim(0, 4)
    assert links_in(as_svg(ax)) == ["s#a", "s#b", "s#c"]


@settings(max_examples=15)
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=12))
def test_thresholds_have_a_line_for_each_run_and_one_for_each_mean(groups: list[str]) -> None:
    curves = draws(len(groups), len(EPS)).cumsum(axis=1) / 60
    curves[0, 3] = np.nan
    ax = ds.plots.thresholds(EPS, curves, groups)
    thick = [line for line in ax.lines if not line.get_label().startswith("_")]
    thin = [line for line in ax.lines if line.get_label().startswith("_")]
    kinds = list(dict.fromkeys(groups))
    order = [row for kind in kinds for row, each in enumerate(groups) if each == kind]
    drawn = np.array([line.get_ydata() for line in thin])
    assert np.array_equal(drawn, curves[order], equal_nan=True)
    assert [line.get_label() for line in thick] == kinds
    for line in thick:
        rows = curves[[each == line.get_label() for each in groups]]
        known = ~np.isnan(rows).all(axis=0)
        assert np.allclose(line.get_ydata()[known], np.nanmean(rows[:, known], axis=0))
        assert np.isnan(line.get_ydata()[~known]).all()
        assert line.get_linewidth() > thin[0].get_linewidth()


def effects(**more: Any) -> Axes:
    names, ends = list("abcde"), np.array([0.1, 0.2, 0.3, 0.4, np.nan])
    return ds.plots.effects(names, ends + 0.1, ends, ends + 0.3, **more)


def test_effects_have_a_row_for_each() -> None:
    ax = effects(reference=0.25, runs=[f"s#{each}" for each in "abcde"])
    assert np.allclose(points(ax), [[0.2, 0], [0.3, 1], [0.4, 2], [0.5, 3]])
    (lines,) = [each for each in ax.collections if isinstance(each, LineCollection)]
    wanted = [[[low, row], [low + 0.3, row]] for row, low in enumerate((0.1, 0.2, 0.3, 0.4))]
    assert np.allclose(lines.get_segments(), wanted)
    (reference,) = ax.lines
    assert reference.get_xdata()[0] == 0.25
    assert [each.get_text() for each in ax.texts] == ["not measured"]
    assert [each.get_text() for each in ax.get_yticklabels()] == list("abcde")
    assert ax.yaxis_inverted()


def test_each_effect_may_have_a_reference_of_its_own() -> None:
    ax = effects(reference=[0, 0.1, 0.2, np.nan, 0.5])
    marks = ax.collections[0].get_segments()  # type: ignore[attr-defined]
    assert [round(float(each[0, 0]), 3) for each in marks] == [0, 0.1, 0.2, 0.5]
    assert [round(float(each[:, 1].mean())) for each in marks] == [0, 1, 2, 4]


def test_verdicts_have_colours_and_markers() -> None:
    told = [FAILS, HOLDS, OPEN, IN_PART, HOLDS]
    ax = effects(verdicts=told)
    made = [each for each in ax.collections if isinstance(each, PathCollection)]
    by_name = {each.get_label(): each for each in made if len(each.get_offsets())}
    names = [each.get_text() for each in ax.get_legend().get_texts()]
    assert names == [HOLDS, IN_PART, FAILS, OPEN]
    assert {name: np.asarray(by_name[name].get_offsets())[:, 1].tolist() for name in names} == {
        name: [row for row, each in enumerate(told) if each == name and row < 4] for name in names
    }
    assert len({to_hex(by_name[name].get_facecolor()[0]) for name in names}) == 4
    assert len({str(by_name[name].get_paths()[0].vertices) for name in names}) == 4


def test_an_interval_without_ends_reaches_the_edges() -> None:
    ax = ds.plots.effects(["a", "b"], [1, 2], [-np.inf, 1.5], [np.inf, 3])
    (lines,) = [each for each in ax.collections if isinstance(each, LineCollection)]
    assert np.allclose(lines.get_segments()[0][:, 0], ax.get_xlim())
    made = [each for each in ax.collections if isinstance(each, PathCollection)]
    arrows = [each for each in made if len(each.get_offsets()) == 1]
    assert [float(each.get_offsets()[0][0]) for each in arrows] == list(ax.get_xlim())
    assert "-inf,inf" in ax.figure.numbers()  # type: ignore[union-attr]
