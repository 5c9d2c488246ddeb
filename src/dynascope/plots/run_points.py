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
from dynascope.plots._many_input import check_scale, groups_of, listed, numbers_of, runs_of
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
    `scale_y`, mean and deviation are those of the logarithms. NaN is not drawn.
    """
    Choice(MIDDLES).check("middle", middle)
    given = listed("x", x)
    numbers = numbers_of("values", values, len(given))
    addresses, of_group = runs_of(runs, len(given)), groups_of(groups, len(given), label)
    check_scale("scale_y", scale_y, "values", numbers)
    with runs_picture(ax, theme) as picture:
        places = picture.places(given, scale)
        drawn = _Runs(places, numbers, addresses)
        summaries, bands = [], []
        names = list(dict.fromkeys(of_group))
        for number, name in enumerate(names):
            mask = np.array([each == name for each in of_group]) & drawn.seen
            if mask.any():
                style = picture.next_style(colour if len(names) == 1 else None)
                slot = _Slot(number, len(names)) if picture.has_names else None
                found = _summary(drawn.where(mask), middle, scale_y)
                _draw_summary(picture, found, style, slot, name)
                _draw_dots(picture, drawn.where(mask), style, slot)
                summaries.append(found.columns(name, middle, picture))
                bands += [found.low, found.high]
        if not summaries:
            picture.say_no_runs()
        else:
            picture.show_x(scale, places)
            picture.show_numbers_along("y", scale_y, numbers, *bands)
        columns: dict[str, Any] = {"run": addresses} if addresses else {}
        columns |= {"group": of_group, "x": given, "value": numbers}
        told = PanelNumbers("dots", columns)
        texts = {"x_label": x_label, "y_label": y_label, "title": title}
        grid: Any = "y" if picture.has_names else "both"
        picture.finish(told, *summaries, grid=grid, **texts)
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
    addresses, of_group = runs_of(runs, len(across)), groups_of(groups, len(across), label)
    check_scale("scale_x", scale_x, "x", across)
    check_scale("scale_y", scale_y, "y", up)
    with runs_picture(ax, theme) as picture:
        drawn, names = _Runs(across, up, addresses), list(dict.fromkeys(of_group))
        for name in names:
            mask = np.array([each == name for each in of_group]) & drawn.seen
            if mask.any():
                style = picture.next_style(colour if len(names) == 1 else None)
                look: dict[str, Any] = {"facecolors": style.fill, "alpha": 0.75, "label": name}
                _put(picture, drawn.where(mask), style, 2.4, **look)
        if drawn.seen.any():
            picture.show_numbers_along("x", scale_x, across[drawn.seen])
            picture.show_numbers_along("y", scale_y, up[drawn.seen])
        else:
            picture.say_no_runs()
        columns: dict[str, Any] = {"run": addresses} if addresses else {}
        told = PanelNumbers("cloud", columns | {"group": of_group, "x": across, "y": up})
        picture.finish(told, grid="both", x_label=x_label, y_label=y_label, title=title)
    return picture.ax


class _Runs(NamedTuple):
    """Points that are runs."""

    x: Array
    y: Array
    addresses: Sequence[str]  # or none

    @property
    def seen(self) -> Array:
        return np.isfinite(self.x) & np.isfinite(self.y)

    def where(self, mask: Array) -> "_Runs":
        chosen = [each for each, wanted in zip(self.addresses, mask, strict=False) if wanted]
        return _Runs(self.x[mask], self.y[mask], chosen)


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


class _Summary(NamedTuple):
    """Of the runs at each x."""

    x: Array
    middle: Array
    low: Array
    high: Array
    runs: Array

    def columns(self, group: str, middle: str, picture: RunsPicture) -> PanelNumbers:
        names = picture.so_far.names
        x = [names[int(each)] for each in self.x] if names else self.x
        told = {middle: self.middle, "low": self.low, "high": self.high, "runs": self.runs}
        return PanelNumbers(f"dots, {middle}", {"group": [group] * len(self.x), "x": x, **told})


def _summary(points: _Runs, middle: str, scale: str) -> _Summary:
    at = np.unique(points.x)
    rows = [_middle_and_spread(points.y[points.x == x], middle, scale) for x in at]
    counts = np.array([int((points.x == x).sum()) for x in at])
    middles, lows, highs = np.array(rows).T
    return _Summary(at, middles, lows, highs, counts)


def _middle_and_spread(values: Array, middle: str, scale: str) -> Array:
    """The middle, and the ends of the band; one run alone has no band."""
    if middle == "median":
        return np.asarray(np.quantile(values, [0.5, 0.25, 0.75]))
    given = np.log(values) if scale == "log" else values
    mean = float(given.mean())
    spread = float(given.std(ddof=1)) if len(given) > 1 else 0.0
    ends = np.array([mean, mean - spread, mean + spread])
    return np.exp(ends) if scale == "log" else ends


def _draw_summary(
    picture: RunsPicture, found: _Summary, style: PointStyle, slot: _Slot | None, name: str
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


def _draw_dots(picture: RunsPicture, points: _Runs, style: PointStyle, slot: _Slot | None) -> None:
    if slot is not None:
        points = points._replace(x=points.x + slot.middle + slot.half * _jitter(points.x))
    # Mixed, not transparent: a file of thousands of dots is a tenth smaller.
    faint = mix(to_hex(style.fill), picture.palette["panel"], 0.45)
    _put(picture, points, style, 1.3, facecolors=faint)


def _jitter(places: Array) -> Array:
    """From -1 to 1, spread evenly over the runs of each place and the same every time."""
    within = np.zeros(len(places))
    for place in np.unique(places):
        rows = np.flatnonzero(places == place)
        within[rows] = (np.arange(len(rows)) * _GOLDEN + 0.5) % 1
    return 0.9 * (2 * within - 1)


def _put(picture: RunsPicture, points: _Runs, style: PointStyle, size: float, **look: Any) -> None:
    """`size`: diameter in points."""
    places = np.column_stack([points.x, points.y])
    run_points(picture.ax, places, style.marker, size, points.addresses, **look)
