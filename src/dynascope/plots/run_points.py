"""Runs as points: their values at each of several settings, or one number against another."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

from dynascope.near_misses import guided
from dynascope.option_rules import Choice
from dynascope.plots._colour_space import mix
from dynascope.plots._linked_points import run_points
from dynascope.plots._look import MARKERS
from dynascope.plots._many_axes import Array, RunsPicture, runs_picture
from dynascope.plots._many_input import check_scale, listed, numbers_of
from dynascope.plots._run_groups import GroupedRuns, RunSummary
from dynascope.plots.numbers import PanelNumbers
from dynascope.plots.palette import PointStyle

MIDDLES = ("mean", "median")
_GOLDEN = 0.6180339887498949  # of neighbours in number, places are far apart
_CATEGORY = 0.8  # of the room of a name that its runs take


@guided
def dots(
    x: npt.ArrayLike | Sequence[Any],
    values: npt.ArrayLike,
    ax: Axes | None = None,
    *,
    runs: Sequence[str] | None = None,
    groups: Sequence[Any] | None = None,
    label: str = "",
    scale: str = "linear",
    scale_y: str = "linear",
    middle: str = "mean",
    colour: str | None = None,
    x_label: str = "",
    y_label: str = "",
    title: str = "",
    theme: str = "light",
) -> Axes:
    """A dot for each run, and of the runs at each x the mean, with a band of one standard deviation
    to each side; or, with `middle="median"`, the median and the quartiles.

    `x`, `values`, `runs` (addresses that dots link to in SVG) and `groups` have an entry for each
    run. `x` are numbers or names; at names, dots stand beside each other. On a logarithmic
    `scale_y`, mean and deviation are those of the logarithms. NaN is not drawn. `scale` is that of
    x; `colour` is of one group.
    """
    Choice(MIDDLES).check("middle", middle)
    given = listed("x", x)
    numbers = numbers_of("values", values, len(given))
    drawn = GroupedRuns.of(numbers, numbers, runs, groups, label)
    check_scale("scale_y", scale_y, "values", numbers)
    with runs_picture(ax, theme) as picture:
        drawn = drawn._replace(x=picture.places(given, scale))
        told = [PanelNumbers("dots", {**drawn.columns(), "x": given, "value": numbers})]
        for number, name, points in drawn.by_group():
            style = picture.next_style(colour if len(drawn.names) == 1 else None)
            slot = _Slot(number, len(drawn.names)) if picture.has_names else None
            found = RunSummary.of(points, middle, scale_y)
            _draw_summary(picture, found, style, slot, name)
            _draw_dots(picture, points, style, slot)
            picture.show_numbers_along("y", scale_y, points.y, found.low, found.high)
            told.append(_told(found, name, middle, picture.so_far.names))
        if drawn.seen.any():
            picture.show_x(scale, drawn.x)
        else:
            picture.say_no_runs()
        texts = {"x_label": x_label, "y_label": y_label, "title": title}
        picture.finish(*told, grid="y" if picture.has_names else "both", **texts)
    return picture.ax


@guided
def cloud(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    ax: Axes | None = None,
    *,
    runs: Sequence[str] | None = None,
    groups: Sequence[Any] | None = None,
    label: str = "",
    scale_x: str = "linear",
    scale_y: str = "linear",
    colour: str | None = None,
    x_label: str = "",
    y_label: str = "",
    title: str = "",
    theme: str = "light",
) -> Axes:
    """One number of each run against another; each group has a colour and a marker of its own.

    `runs` are the addresses that points link to in SVG. Runs that lack one of the numbers (NaN)
    are not drawn.
    """
    across = numbers_of("x", x)
    up = numbers_of("y", y, len(across))
    drawn = GroupedRuns.of(across, up, runs, groups, label)
    check_scale("scale_x", scale_x, "x", across)
    check_scale("scale_y", scale_y, "y", up)
    with runs_picture(ax, theme) as picture:
        for _, name, points in drawn.by_group():
            style = picture.next_style(colour if len(drawn.names) == 1 else None)
            look: dict[str, Any] = {"facecolors": style.fill, "alpha": 0.75, "label": name}
            _put(picture, points, style, 2.4, **look)
            picture.show_numbers_along("x", scale_x, points.x)
            picture.show_numbers_along("y", scale_y, points.y)
        if not drawn.seen.any():
            picture.say_no_runs()
        told = PanelNumbers("cloud", {**drawn.columns(), "x": across, "y": up})
        picture.finish(told, grid="both", x_label=x_label, y_label=y_label, title=title)
    return picture.ax


class _Slot(NamedTuple):
    """The place of a group among others at a name."""

    number: int
    groups: int

    @property
    def middle(self) -> float:
        return _CATEGORY * ((self.number + 0.5) / self.groups - 0.5)

    @property
    def half(self) -> float:
        return 0.45 * _CATEGORY / self.groups


def _told(found: RunSummary, group: str, middle: str, names: Sequence[str]) -> PanelNumbers:
    """For CSV: what is drawn of all runs at an x."""
    x = [names[int(each)] for each in found.x] if names else found.x
    numbers = {middle: found.middle, "low": found.low, "high": found.high, "runs": found.runs}
    return PanelNumbers(f"dots, {middle}", {"group": [group] * len(found.x), "x": x, **numbers})


def _draw_summary(
    picture: RunsPicture, found: RunSummary, style: PointStyle, slot: _Slot | None, name: str
) -> None:
    ax, shade = picture.ax, style.fill
    if slot is None:
        ax.fill_between(found.x, found.low, found.high, color=shade, alpha=0.22, lw=0, zorder=2)
        marker: dict[str, Any] = {"marker": MARKERS[style.marker], "markersize": 2.6}
        marker |= {"markeredgecolor": style.stroke, "markeredgewidth": 0.3}
        ax.plot(found.x, found.middle, color=shade, lw=1, label=name or None, zorder=4, **marker)
        return
    left, right = found.x + slot.middle - slot.half, found.x + slot.middle + slot.half
    height = found.high - found.low
    ax.bar(left, height, right - left, found.low, align="edge", color=shade, alpha=0.22, lw=0)
    ax.hlines(found.middle, left, right, color=shade, lw=1.2, zorder=4, label=name)


def _draw_dots(
    picture: RunsPicture, points: GroupedRuns, style: PointStyle, slot: _Slot | None
) -> None:
    if slot is not None:
        points = points._replace(x=points.x + slot.middle + slot.half * _jitter(points.x))
    # Mixed, not transparent: a file of thousands of dots is a tenth smaller.
    faint = mix(to_hex(style.fill), picture.palette["panel"], 0.25)
    _put(picture, points, style, 1.3, facecolors=faint)


def _jitter(places: Array) -> Array:
    """From -1 to 1, spread evenly over the runs of each place and the same every time."""
    within = np.zeros(len(places))
    for place in np.unique(places):
        rows = np.flatnonzero(places == place)
        within[rows] = (np.arange(len(rows)) * _GOLDEN + 0.5) % 1
    return 0.9 * (2 * within - 1)


def _put(
    picture: RunsPicture, points: GroupedRuns, style: PointStyle, size: float, **look: Any
) -> None:
    """`size`: diameter in points."""
    places = np.column_stack([points.x, points.y])
    run_points(picture.ax, places, style.marker, size, points.addresses, **look)
