"""A line for each run over thresholds, coloured by group, and the mean of each group."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from dynascope.errors import Description, expected
from dynascope.near_misses import guided
from dynascope.plots._curves import Dashes
from dynascope.plots._many_axes import Array, RunsPicture, runs_picture
from dynascope.plots._many_input import check_scale, groups_of, numbers_of, runs_of
from dynascope.plots.numbers import PanelNumbers
from dynascope.plots.run_links import run_link

_DASHES: tuple[Dashes, ...] = ("-", (0, (3, 1)), (0, (1, 1)), (0, (5, 1, 1, 1)))  # of means
_FEW = 8  # lines that are still told apart; more of them are fainter
_FAINTEST, _STRONGEST = 0.12, 0.8


@guided
def thresholds(
    x: npt.ArrayLike,
    curves: npt.ArrayLike,
    groups: Sequence[Any] | None = None,
    ax: Axes | None = None,
    *,
    runs: Sequence[str] | None = None,
    colours: Mapping[str, str] | None = None,
    scale: str = "log",
    x_label: str = "threshold",
    y_label: str = "share below",
    title: str = "",
    theme: str = "light",
) -> Axes:
    """Shares that rise over thresholds `x`: a thin line for each run, of `curves`
    [runs, thresholds], and a thick one for the mean of each group.

    `runs` are the addresses that lines link to in SVG; `colours` those of groups, by name.
    """
    at = numbers_of("x", x)
    lines = _checked_curves(curves, len(at))
    addresses, of_group = runs_of(runs, len(lines)), groups_of(groups, len(lines))
    check_scale("scale", scale, "x", at)
    with runs_picture(ax, theme) as picture:
        means = threshold_lines(picture, at, lines, of_group, colours or {}, addresses)
        picture.show_numbers_along("x", scale, at, room=0.0)
        told = [
            PanelNumbers("thresholds", _columns(name, at, line), address)
            for name, line, address in zip(
                of_group, lines, addresses or [""] * len(lines), strict=True
            )
        ]
        told += [
            PanelNumbers("thresholds, mean", _columns(name, at, mean))
            for name, mean in means.items()
        ]
        picture.finish(*told, grid="both", x_label=x_label, y_label=y_label, title=title)
    return picture.ax


def threshold_lines(
    picture: RunsPicture,
    x: Array,
    lines: Array,
    groups: Sequence[str],
    colours: Mapping[str, str],
    addresses: Sequence[str] = (),
) -> dict[str, Array]:
    """Draw a thin line for each run, and return the means of groups, which are thick ones."""
    ax, means = picture.ax, {}
    for name in dict.fromkeys(groups):
        rows = [row for row, group in enumerate(groups) if group == name]
        dashes = _DASHES[picture.so_far.groups % len(_DASHES)]
        shade = picture.next_style(colours.get(name)).fill
        strength = float(np.clip(_FEW / len(rows), _FAINTEST, _STRONGEST))
        for row in rows:
            (line,) = ax.plot(x, lines[row], color=shade, lw=0.5, alpha=strength, zorder=2)
            if addresses:
                line.set_url(run_link(addresses[row]))
        means[name] = _mean(lines[rows])
        ax.plot(x, means[name], color=shade, lw=1.3, ls=dashes, label=name or None, zorder=3)
    if not len(lines):
        picture.say_no_runs()
    ax.set_ylim(-0.02, 1.02)
    return means


def _checked_curves(curves: npt.ArrayLike, count: int) -> Array:
    """[runs, count]"""
    if not np.size(curves):
        return np.zeros((0, count))
    lines = numbers_of("curves", curves, dimensions=2)
    if lines.shape[1] != count:
        got = Description(f"an array of shape {lines.shape}")
        raise expected("curves", f"a row of {count} shares for each run", got)
    return lines


def _columns(group: str, x: Array, share: Array) -> dict[str, Any]:
    return {"group": [group] * len(x), "x": x, "share": share}


def _mean(lines: Array) -> Array:
    """Of the runs that have a number there; NaN where none has."""
    known = np.isfinite(lines)
    count = known.sum(axis=0)
    total = np.where(known, lines, 0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
