"""Curves over a run: loss, accuracy, gradient norms, shares of the variance."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from dynascope._kernel import PARAMETER_NAMES
from dynascope.analysis.run_epochs import kept_epochs, shares
from dynascope.errors import DynascopeError
from dynascope.findings.spread import spread
from dynascope.plots._drawn import DrawnPanel
from dynascope.plots._look import show_grid, size_of
from dynascope.plots.palette import Palette, palette_of
from dynascope.plots.view import View
from dynascope.run import Run

Array = npt.NDArray[Any]

SYMBOLS = {  # what the paper calls parameters: short, for where there is little room
    "token_embedding": "E",
    "position_embedding": "P",
    "query": "q",
    "value": "V",
    "receptors": "W",
    "receptor_bias": "b1",
    "assemblers": "U",
    "assembler_bias": "b2",
}
SETS = ("train", "test", "unseen")
SHARE_NAMES = {"between": "multiset", "permutation": "ordering", "suffix": "irrelevant tokens"}
_SMALL, _HANDLE = 5.2, 5.0  # points: letters of a legend, its strokes
_NARROW = 30.0  # times the lowest value
_SHARE_EPOCHS = 200  # at which shares are measured: a point or two each


Dashes = str | tuple[int, tuple[float, ...]]

# In print without colours, too, sets are told apart, and biases from the weights they go with.
SET_DASHES: dict[str, Dashes] = {"train": "-", "test": (0, (3, 1)), "unseen": (0, (1, 1))}
BIAS_DASHES: Dashes = (0, (4, 2))
_SHARE_DASHES: tuple[Dashes, ...] = ("-", (0, (3, 1)), (0, (1, 1)))


class CurveLine(NamedTuple):
    """A curve, and how it looks."""

    name: str  # in the legend
    curve: str  # in the run, and in CSV
    colour: str
    epochs: Array
    values: Array
    dashes: Dashes = "-"


class DrawnCurves(DrawnPanel):
    """Curves, and a line at the epoch that is looked at."""

    has_run = True
    square = False

    def make(self, view: View) -> None:
        run = view.checked_run(self.panel)
        lines = lines_of(self.panel, run, self.palette)
        self.lines = draw_lines(self.ax, lines)
        show_grid(self.ax, self.palette)
        if self.panel in ("accuracy", "shares"):
            self.ax.set_ylim(-0.02, 1.03)
        elif self.how.scale == "log":
            log_axis(self.ax, lines)
        epoch_axis(self.ax, run.epochs)
        self._marks = [self._mark(epoch) for epoch in self._marked(view)]
        if self.how.legend:
            small_legend(self.ax)

    def update(self, view: View) -> None:
        for mark in self._marks[:1]:
            mark.set_xdata([view.epoch, view.epoch])

    def _marked(self, view: View) -> Sequence[int]:
        if self.how.marked is not None:
            return self.how.marked
        return [] if view.epoch is None else [view.epoch]

    def _mark(self, epoch: int) -> Any:
        return self.ax.axvline(epoch, color=self.palette["ink"], lw=0.6, zorder=4)

    @classmethod
    def columns(cls, panel: str, view: View) -> Mapping[str, Any]:
        lines = lines_of(panel, view.checked_run(panel), palette_of("light"))
        return {"epoch": lines[0].epochs.tolist(), **{line.curve: line.values for line in lines}}


def lines_of(panel: str, run: Run, palette: Palette) -> list[CurveLine]:
    """What a panel of curves shows of a run."""
    if panel == "shares":
        return _shares(run, palette)
    made = _gradients(run, palette) if panel == "gradients" else _sets(panel, run, palette)
    if not made:
        raise DynascopeError(
            f"{panel}: run {run.id} has no such curves; train it with record.gradients = true."
        )
    return made


def _sets(what: str, run: Run, palette: Palette) -> list[CurveLine]:
    colours: Any = palette.colours["curves"]
    names = [each for each in SETS if f"{each}_{what}" in run.curves]
    return [_line(run, f"{each}_{what}", each, colours[each], SET_DASHES[each]) for each in names]


def _gradients(run: Run, palette: Palette) -> list[CurveLine]:
    colours: Any = palette.colours["parameters"]
    names = [each for each in PARAMETER_NAMES if f"grad_norm/{each}" in run.curves]
    return [
        _line(
            run,
            f"grad_norm/{each}",
            SYMBOLS[each],
            colours[each],
            BIAS_DASHES if each.endswith("_bias") else "-",
        )
        for each in names
    ]


def _line(run: Run, curve: str, name: str, colour: str, dashes: Dashes) -> CurveLine:
    values = run.curves[curve]
    return CurveLine(name, curve, colour, np.arange(len(values)), values, dashes)


def _shares(run: Run, palette: Palette) -> list[CurveLine]:
    epochs = spread(kept_epochs(run, "variance shares"), _SHARE_EPOCHS)
    found, colours = shares(run, epochs), palette.colours["shares"]
    return [
        CurveLine(
            name, f"{key}_share", colours[key], np.array(epochs), found[:, i], _SHARE_DASHES[i]
        )
        for i, (key, name) in enumerate(SHARE_NAMES.items())
    ]


def draw_lines(ax: Axes, lines: Sequence[CurveLine]) -> list[Any]:
    """The first line is drawn last: where lines meet, it is the one to see."""
    made = []
    for i, line in enumerate(lines):
        made += ax.plot(
            line.epochs,
            line.values,
            color=line.colour,
            ls=line.dashes,
            lw=0.8,
            label=line.name,
            zorder=3 - 0.01 * i,
        )
    return made


def log_axis(ax: Axes, lines: Sequence[CurveLine]) -> None:
    """Logarithmic, as long as there is something above 0."""
    values = np.concatenate([np.asarray(line.values, float) for line in lines])
    above = values[np.isfinite(values) & (values > 0)]
    if not len(above):
        return
    low, high = max(float(above.min()), 1e-16), float(above.max())
    ax.set_yscale("log")
    ax.set_ylim(low / 1.4, high * 1.4)
    log_ticks(ax.yaxis, low, high)


def log_ticks(axis: Axis, low: float, high: float) -> None:
    """Of a logarithmic axis that shows numbers from `low` to `high`."""
    axis.set_minor_formatter(NullFormatter())
    if high < _NARROW * low:  # few powers of ten, or none
        axis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
        axis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:g}"))


def show_epochs(ax: Axes, lines: Sequence[CurveLine], low: int, high: int) -> None:
    """Only these epochs, on a logarithmic axis also only the values that are there."""
    ax.set_xlim(low, high)
    if ax.get_yscale() == "log":
        log_axis(ax, [line._replace(values=line.values[low : high + 1]) for line in lines])


def epoch_axis(ax: Axes, last: int) -> None:
    ax.set_xlim(*((0, last) if last > 0 else (-0.5, 0.5)))
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=True, steps=[1, 2, 5, 10]))
    ax.set_xlabel("epoch")


def small_legend(
    ax: Axes,
    corner: Literal["lower left", "lower right"] = "lower left",
    anchor: tuple[float, float] = (-0.02, 0.985),
) -> None:
    """In rows above the axes, where no curve can be: its corner stands at `anchor`."""
    handles, names = ax.get_legend_handles_labels()
    if len(names) < 2:
        return
    ax.legend(
        handles,
        names,
        loc=corner,
        bbox_to_anchor=anchor,
        ncols=-(-len(names) // legend_rows(ax, names)),
        handlelength=_HANDLE / _SMALL,
        handletextpad=0.3,
        columnspacing=0.6,
        labelspacing=0.15,
        borderpad=0,
        borderaxespad=0.1,
        fontsize=_SMALL,
    )


def legend_rows(ax: Axes, names: Sequence[str]) -> int:
    """Rows that a legend of these names needs above the axes: as few as are no wider."""

    def width(rows: int) -> float:
        columns = np.array_split([len(name) for name in names], -(-len(names) // rows))
        return float(sum(_HANDLE + _SMALL * (1.2 + 0.56 * max(each)) for each in columns))

    room = size_of(ax)[0] + 8
    fitting = (rows for rows in range(1, len(names)) if width(rows) <= room)
    return next(fitting, max(1, len(names)))
