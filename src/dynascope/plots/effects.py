"""What was measured for each of several claims or settings, as a forest plot."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from dynascope.claim_verdicts import VERDICTS
from dynascope.near_misses import guided
from dynascope.plots._linked_points import run_points
from dynascope.plots._many_axes import Array, RunsPicture, runs_picture
from dynascope.plots._many_input import check_scale, listed, numbers_of, runs_of, texts_of
from dynascope.plots.numbers import PanelNumbers
from dynascope.plots.palette import PointStyle

NOT_MEASURED = "not measured"


@guided
def effects(
    names: Sequence[str],
    values: npt.ArrayLike,
    lows: npt.ArrayLike,
    highs: npt.ArrayLike,
    ax: Axes | None = None,
    *,
    reference: npt.ArrayLike | None = None,
    verdicts: Sequence[str] | None = None,
    runs: Sequence[str] | None = None,
    scale: str = "linear",
    colour: str | None = None,
    x_label: str = "",
    title: str = "",
    theme: str = "light",
) -> Axes:
    """A row for each name from the top down: a number and its interval.

    `reference` is where a line stands: one for all rows, or one for each. With `verdicts` ("holds",
    "holds in part", "does not hold", "not decidable here") rows have colours and markers. An
    interval without an end has an arrow at the edge; where nothing was measured (NaN) the row says
    so. `runs`: the addresses that marks link to in SVG.
    """
    rows = texts_of("names", listed("names", names))
    count = len(rows)
    value, low, high = (
        numbers_of(name, each, count)
        for name, each in (("values", values), ("lows", lows), ("highs", highs))
    )
    given = np.asarray(np.nan if reference is None else reference)
    references = numbers_of("reference", [given] * count if given.ndim == 0 else given, count)
    told = None if verdicts is None else texts_of("verdicts", verdicts, count)
    addresses = runs_of(runs, count)
    check_scale("scale", scale, "values", value, low, high, references)
    forest = _Forest(value, low, high)
    with runs_picture(ax, theme, rows) as picture:
        picture.show_rows(rows)
        if forest.seen.any():
            picture.show_numbers_along("x", scale, value, low, high, references)
            _draw_references(picture, references, one=given.ndim == 0)
            _draw_rows(picture, forest, told, colour, addresses)
        else:
            picture.say_no_runs()
        columns: dict[str, Any] = {"run": addresses} if addresses else {}
        columns |= {"name": rows, "value": value, "low": low, "high": high}
        columns |= {} if reference is None else {"reference": references}
        columns |= {} if told is None else {"verdict": told}
        picture.finish(PanelNumbers("effects", columns), grid="x", x_label=x_label, title=title)
    return picture.ax


class _Forest(NamedTuple):
    """Numbers with intervals, a row each."""

    value: Array
    low: Array
    high: Array

    @property
    def seen(self) -> Array:
        return np.isfinite(self.value)


def _draw_references(picture: RunsPicture, references: Array, one: bool) -> None:
    look: dict[str, Any] = {"color": picture.palette["quiet"], "lw": 0.7, "zorder": 2}
    known = np.isfinite(references)
    if one and known.any():
        picture.ax.axvline(references[known][0], ls=(0, (3, 2)), **look)
    elif known.any():
        places = np.flatnonzero(known)
        picture.ax.vlines(references[known], places - 0.4, places + 0.4, **look)


def _draw_rows(
    picture: RunsPicture,
    forest: _Forest,
    verdicts: Sequence[str] | None,
    colour: str | None,
    addresses: Sequence[str],
) -> None:
    if verdicts is None:
        style = picture.next_style(colour)
        _draw_kind(picture, forest, np.flatnonzero(forest.seen), style, "", addresses)
    else:
        for verdict in sorted(set(verdicts), key=[*VERDICTS, *verdicts].index):
            style = picture.palette.verdict(verdict)
            rows = [i for i, each in enumerate(verdicts) if each == verdict and forest.seen[i]]
            _draw_kind(picture, forest, np.array(rows, int), style, verdict, addresses)
    look: dict[str, Any] = {"va": "center", "fontsize": 5.5, "color": picture.palette["quiet"]}
    look["bbox"] = {"facecolor": picture.palette["panel"], "edgecolor": "none", "pad": 0.6}
    for row in np.flatnonzero(~forest.seen).tolist():
        picture.ax.text(0.02, row, NOT_MEASURED, transform=picture.ax.get_yaxis_transform(), **look)


def _draw_kind(
    picture: RunsPicture,
    forest: _Forest,
    rows: Array,
    style: PointStyle,
    label: str,
    addresses: Sequence[str],
) -> None:
    """Rows of one look."""
    if not len(rows):
        return
    ax, (left, right) = picture.ax, picture.ax.get_xlim()
    low, high = np.maximum(forest.low[rows], left), np.minimum(forest.high[rows], right)
    ax.hlines(rows, low, high, color=style.fill, lw=0.9, zorder=3)
    for ends, edge, marker in ((forest.low, left, "<"), (forest.high, right, ">")):
        endless = rows[np.isinf(ends[rows])]
        if len(endless):
            look: dict[str, Any] = {"marker": marker, "color": style.fill, "clip_on": False}
            ax.scatter([edge] * len(endless), endless, 7, **look)
    run_points(
        ax,
        np.column_stack([forest.value[rows], rows]),
        style.marker,
        3.4,
        [addresses[row] for row in rows] if addresses else [],
        facecolors=style.fill,
        edgecolors=style.stroke,
        linewidths=0.3,
        zorder=4,
        label=label,
    )
