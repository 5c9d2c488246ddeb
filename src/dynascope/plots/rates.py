"""How many of how many runs: shares with Wilson's intervals, over numbers or names, or as bars."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

from dynascope.errors import expected
from dynascope.near_misses import guided
from dynascope.number_text import percent
from dynascope.plots._colour_space import mix
from dynascope.plots._look import MARKERS
from dynascope.plots._many_axes import Array, RunsPicture, runs_picture
from dynascope.plots._many_input import check_parts, counts_of, listed, texts_of
from dynascope.plots.numbers import PanelNumbers
from dynascope.plots.palette import PointStyle
from dynascope.share_interval import wilson

_BESIDE_NUMBER, _BESIDE_NAME = 2.0, 4.0  # points from one group to the next
_BAR = 0.62  # of a row


@guided
def rates(
    x: npt.ArrayLike | Sequence[Any],
    counts: npt.ArrayLike,
    totals: npt.ArrayLike,
    ax: Axes | None = None,
    *,
    label: str = "",
    scale: str = "linear",
    colour: str | None = None,
    error: float = 0.05,
    x_label: str = "",
    y_label: str = "share of runs",
    title: str = "",
    theme: str = "light",
) -> Axes:
    """At each x, which share of the runs it is: `counts` of `totals`, with Wilson's interval.

    `x` are numbers, joined by a line, or names. Where there are no runs, nothing is drawn. Call it
    again on the same axes, with another `label`, to compare groups of runs. `scale` is that of x;
    an interval misses the truth with probability `error`.
    """
    given = listed("x", x)
    parts, all_runs = (
        counts_of("counts", counts, len(given)),
        counts_of("totals", totals, len(given)),
    )
    check_parts(parts, all_runs, "totals")
    share, low, high = shares_of(parts, all_runs, error)
    with runs_picture(ax, theme) as picture:
        places = picture.places(given, scale)
        seen = np.isfinite(share) & np.isfinite(places)
        if seen.any():
            style = picture.next_style(colour)
            _draw_shares(picture, style, places[seen], share[seen], low[seen], high[seen], label)
            picture.show_x(scale, places[seen])
        else:
            picture.say_no_runs()
        picture.ax.set_ylim(-0.03, 1.03)
        columns = {"group": [label] * len(places), "x": given}
        columns |= {"count": parts.tolist(), "of": all_runs.tolist()}
        numbers = PanelNumbers("rates", {**columns, "share": share, "low": low, "high": high})
        texts = {"x_label": x_label, "y_label": y_label, "title": title}
        picture.finish(numbers, grid="y" if picture.has_names else "both", **texts)
    return picture.ax


def shares_of(counts: Array, totals: Array, error: float = 0.05) -> tuple[Array, Array, Array]:
    """Shares and the ends of their intervals; NaN where there are no runs."""
    if not isinstance(error, int | float) or not 0 < error < 1:
        raise expected("error", "a probability between 0 and 1", error)
    rows = [
        (count / of, *wilson(count, of, error)) if of else (np.nan,) * 3
        for count, of in zip(counts.tolist(), totals.tolist(), strict=True)
    ]
    share, low, high = np.array(rows, float).reshape(-1, 3).T
    return share, low, high


def _draw_shares(
    picture: RunsPicture,
    style: PointStyle,
    places: Array,
    share: Array,
    low: Array,
    high: Array,
    label: str,
) -> None:
    order = np.argsort(places, kind="stable")
    drawn = picture.ax.errorbar(
        places[order],
        share[order],
        yerr=np.stack([share - low, high - share])[:, order],
        color=style.fill,
        marker=MARKERS[style.marker],
        markersize=2.8,
        markeredgecolor=style.stroke,
        markeredgewidth=0.3,
        linestyle="" if picture.has_names else "-",
        linewidth=0.8,
        elinewidth=0.7,
        capsize=1.3,
        capthick=0.7,
        zorder=3,
        transform=picture.beside_others(_BESIDE_NAME if picture.has_names else _BESIDE_NUMBER),
    )
    drawn.lines[0].set_label(label)  # a legend without intervals is lower


@guided
def bars(
    names: Sequence[str],
    counts: npt.ArrayLike,
    ax: Axes | None = None,
    *,
    of: npt.ArrayLike | None = None,
    colour: str | None = None,
    error: float = 0.05,
    x_label: str = "",
    title: str = "",
    theme: str = "light",
) -> Axes:
    """How often each of several things was counted, a row for each from the top down.

    With `of`, the number of all runs (one, or one for each row), bars are shares with Wilson's
    interval, which misses the truth with probability `error`.
    """
    rows = texts_of("names", listed("names", names))
    parts = counts_of("counts", counts, len(rows))
    columns: dict[str, Any] = {"name": rows, "count": parts.tolist()}
    with runs_picture(ax, theme, rows) as picture:
        picture.show_rows(rows)
        lengths, told = parts.astype(float), [str(count) for count in parts.tolist()]
        if of is not None:
            all_runs = counts_of("of", of, len(rows))
            check_parts(parts, all_runs, "of")
            lengths, low, high = shares_of(parts, all_runs, error)
            columns |= {"of": all_runs.tolist(), "share": lengths, "low": low, "high": high}
            told = [
                f"{count} of {total} ({percent(count / total, places=0)})" if total else "no runs"
                for count, total in zip(parts.tolist(), all_runs.tolist(), strict=True)
            ]
        if np.isfinite(lengths).any():
            shade = picture.next_style(colour).fill
            places = np.arange(len(rows))
            soft = mix(to_hex(shade), picture.palette["panel"], 0.25)
            picture.ax.barh(places, lengths, _BAR, color=soft, lw=0, zorder=2)
            if of is not None:
                picture.ax.hlines(places, low, high, color=picture.palette["ink"], lw=0.7, zorder=3)
            _write_beside(picture, told)
            top = 1.0 if of is not None else float(max(1, parts.max()))
            picture.ax.set_xlim(0, 1.02 * top)
        else:
            picture.say_no_runs()
        axis = x_label or ("runs" if of is None else "share of runs")
        picture.finish(PanelNumbers("bars", columns), grid="x", x_label=axis, title=title)
    return picture.ax


def _write_beside(picture: RunsPicture, texts: Sequence[str]) -> None:
    """To the right of each row."""
    look: dict[str, Any] = {"va": "center", "fontsize": 5.5, "color": picture.palette["quiet"]}
    for row, text in enumerate(texts):
        picture.ax.text(1.015, row, text, transform=picture.ax.get_yaxis_transform(), **look)
