"""What holds of all pictures of many runs: links, sizes, names that can be read, both themes."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from many_pictures import ALL, LINKED, NAMES, addresses, as_svg, draws, links_in
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.text import Text
from matplotlib.transforms import Bbox

import dynascope as ds

HOSTILE = [
    'a"b#1@2',
    "a&b<c>#2",
    "ü 漢#3@0",
    "50%25#4",
    "it's#5",
    "#6",
    "a/b?c=d&e#7",
    "javascript:x",
]


@pytest.mark.parametrize("kind", LINKED)
@pytest.mark.parametrize("count", [1, 2, 8, 60])
def test_every_mark_leads_to_its_run(kind: str, count: int) -> None:
    runs = addresses(count)
    assert sorted(links_in(as_svg(LINKED[kind](count, runs=runs)))) == sorted(runs)
    assert links_in(as_svg(LINKED[kind](count))) == []


@pytest.mark.parametrize("kind", LINKED)
def test_addresses_are_escaped(kind: str) -> None:
    svg = as_svg(LINKED[kind](len(HOSTILE), runs=HOSTILE))
    assert sorted(links_in(svg)) == sorted(HOSTILE)
    assert b"javascript:" not in svg.replace(b"#run=javascript", b"")


def test_a_point_that_is_missing_shifts_no_link() -> None:
    ax = ds.plots.cloud([1, np.nan, 3], [1, 2, 3], runs=["s#a", "s#b", "s#c"])
    (points,) = ax.collections
    assert points.get_urls() == ["#run=s%23a", "#run=s%23c"]
    assert points.get_offsets().tolist() == [[1, 1], [3, 3]]


def test_thousands_of_linked_runs_stay_small() -> None:
    x = np.repeat(np.round(np.geomspace(10, 10_000, 20)), 100)
    ax = ds.plots.dots(x, draws(2000), runs=addresses(2000), scale="log")
    assert len(as_svg(ax)) < 400_000


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", ALL)
def test_the_same_picture_is_the_same_file(kind: str, theme: str) -> None:
    first, second = (ALL[kind](12, theme=theme) for _ in range(2))
    assert as_svg(first) == as_svg(second)
    palette = ds.plots.Palette(theme)
    assert to_hex(first.get_facecolor()) == palette["panel"]
    assert to_hex(first.figure.get_facecolor()) == palette["panel"]
    assert to_hex(first.xaxis.label.get_color()) == palette["quiet"]


@pytest.mark.parametrize("kind", ALL)
def test_without_runs_a_picture_says_so(kind: str) -> None:
    ax = ALL[kind](0)
    assert [each.get_text() for each in ax.texts] == ["no runs"]
    as_svg(ax)


@pytest.mark.parametrize("kind", ALL)
def test_one_run_is_enough(kind: str) -> None:
    ax = ALL[kind](1)
    assert "no runs" not in [each.get_text() for each in ax.texts]
    as_svg(ax)


def test_no_runs_is_no_longer_said_once_there_are_some() -> None:
    ax = ds.plots.rates([], [], [])
    ds.plots.rates([1, 2], [1, 2], [3, 3], ax)
    assert [each.get_text() for each in ax.texts] == []


def all_missing() -> list[Axes]:
    gone = [np.nan, np.nan]
    return [
        ds.plots.rates([1, 2], [0, 0], [0, 0]),
        ds.plots.dots([1, 2], gone),
        ds.plots.cloud([1, 2], gone),
        ds.plots.bars(["a", "b"], [0, 0], of=0),
        ds.plots.effects(["a", "b"], gone, gone, gone),
    ]


def test_runs_without_numbers_are_no_runs() -> None:
    for ax in all_missing():
        assert [each.get_text() for each in ax.texts] == ["no runs"]
        as_svg(ax)


def written(ax: Axes) -> list[Text]:
    """What stands around an axes."""
    legend = ax.get_legend()
    names = list(ax.texts)
    for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, sorted(ax.get_ylim()))):
        ticks = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
        names += [label for place, label in ticks if low <= place <= high]
    names += [ax.xaxis.label, ax.yaxis.label, ax.title]
    names += list(legend.get_texts()) if legend else []
    return [each for each in names if each.get_text() and each.get_visible()]


def corners(text: Text, renderer: Any) -> Any:
    """[4, 2], of its box as it is turned."""
    turned = text.get_rotation()
    text.set_rotation(0)
    box = text.get_window_extent(renderer)
    anchor = text.get_transform().transform(text.get_position())
    text.set_rotation(turned)
    angle = np.radians(turned)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return (box.corners()[[0, 2, 3, 1]] - anchor) @ turn + anchor


def meet(one: Any, other: Any, by: float = 0.3) -> bool:
    """Whether two turned boxes overlap: no side of either separates them."""
    for box in (one, other):
        for i in range(4):
            side = box[(i + 1) % 4] - box[i]
            normal = np.array([-side[1], side[0]]) / max(np.hypot(*side), 1e-9)
            a, b = one @ normal, other @ normal
            if a.max() <= b.min() + by or b.max() <= a.min() + by:
                return False
    return True


LONG = [f"{name}: how surely the parent's accuracy foretells the child's" for name in NAMES]
CROWDED = {
    "rates": lambda ax: ds.plots.rates(NAMES, range(20), [20] * 20, ax, title="Rates"),
    "dots": lambda ax: ds.plots.dots(NAMES * 3, draws(60), ax, groups=["a", "b"] * 30, title="D"),
    "bars": lambda ax: ds.plots.bars(NAMES, range(20), ax, of=20, title="Bars"),
    "long bars": lambda ax: ds.plots.bars(LONG, range(20), ax, of=20, title="Bars"),
    "effects": lambda ax: ds.plots.effects(
        LONG,
        draws(20),
        draws(20) - 1,
        draws(20) + 1,
        ax,
        verdicts=["holds", "holds in part", "does not hold", "not decidable here"] * 5,
        title="Claims",
    ),
}


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize("kind", CROWDED)
def test_twenty_names_can_be_read(kind: str, width: str) -> None:
    figure, ax = ds.plots.subplots(width=width, height=4.5)
    CROWDED[kind](ax)
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    boxes = {text: corners(text, renderer) for text in written(ax)}
    assert len(boxes) >= 20
    for (one, a), (other, b) in combinations(boxes.items(), 2):
        assert not meet(a, b), (one.get_text(), other.get_text())
    whole = figure.bbox
    for text, box in boxes.items():
        assert (box >= -1).all(), text.get_text()
        assert (box <= np.array([whole.width, whole.height]) + 1).all(), text.get_text()
    assert ax.get_position().width > 0.2


def test_a_box_that_meets_another_is_seen() -> None:
    square = Bbox.from_bounds(0, 0, 2, 2).corners()[[0, 2, 3, 1]]
    assert meet(square, square + 1)
    assert not meet(square, square + 2)
    angle = np.pi / 4
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    assert not meet(square, square @ turn + np.array([3.2, 2.6]))


def test_a_figure_of_several_pictures_has_all_their_numbers() -> None:
    figure, (left, right) = ds.plots.subplots(1, 2, width="page", theme="dark")
    ds.plots.rates([1, 2], [1, 2], [3, 3], left, theme="dark")
    ds.plots.cloud([1], [2], right, theme="dark")
    panels = [row.split(",")[2] for row in figure.numbers().splitlines()[1:]]
    assert panels == ["rates", "rates", "cloud"]
    assert figure.get_size_inches()[0] == 6.75


def test_pictures_go_on_axes_of_other_figures() -> None:
    from matplotlib.figure import Figure

    ax = Figure(figsize=(3, 2)).subplots()
    assert ds.plots.dots(["a", "b"], [1, 2], ax, x_label="x", title="T") is ax
    assert (ax.xaxis.label.get_size(), ax.get_title("left")) == (6, "T")
