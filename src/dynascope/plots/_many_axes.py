"""What all pictures of many runs have in common: axes of numbers or of names, a colour and a marker
for each group, the legend, and what stands there when there are no runs.

Several calls may draw on one axes. What they must know of each other is kept beside the axes.
"""

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator
from matplotlib.transforms import ScaledTranslation, Transform

from dynascope.errors import expected
from dynascope.option_rules import Choice
from dynascope.plots._curves import log_ticks, small_legend
from dynascope.plots._look import PublicationFigure, dress, show_grid, size_of, style
from dynascope.plots._many_input import check_scale, numbers_of
from dynascope.plots.numbers import PanelNumbers
from dynascope.plots.palette import Palette, PointStyle, palette_of
from dynascope.plots.panel_registry import give_title
from dynascope.plots.panels import SCALES, check_axes
from dynascope.plots.subplots import subplots

Array = npt.NDArray[Any]
Direction = Literal["x", "y"]

NO_RUNS = "no runs"
_ROOM = 0.05  # of an axis, beyond the outermost number
_SIZES = (5.5, 5.0, 4.5, 4.0)  # points: letters of names at ticks
_LETTER, _LINE = 3.2, 7.0  # points: the width of the largest of them on the whole, a line of them
_SLANT = 40  # degrees, for names that would touch each other
_WIDE = (0.35, 0.62)  # of the axes: what names of rows may take, and at most
_ALONE, _HIGHEST = 24, 20.0  # letters of a line, and inches, of a figure made for rows
_LEAST_LETTERS = 12  # of a line of a name


@dataclass
class DrawnSoFar:
    """What earlier calls drew on an axes."""

    groups: int = 0
    names: list[str] = field(default_factory=list)  # along x, one after another from 0 on
    has_rows: bool = False  # names beside the axes, one below another
    limits: dict[Direction, tuple[float, float]] = field(default_factory=dict)


_drawn: "WeakKeyDictionary[Axes, DrawnSoFar]" = WeakKeyDictionary()


@dataclass(frozen=True)
class RunsPicture:
    """Axes on which runs are being drawn."""

    ax: Axes
    palette: Palette
    so_far: DrawnSoFar

    def next_style(self, colour: str | None = None) -> PointStyle:
        """Of one more group; a colour that somebody chose goes before ours."""
        found = self.palette.series(self.so_far.groups)
        self.so_far.groups += 1
        return found if colour is None else found._replace(fill=colour)

    def beside_others(self, step: float) -> Transform:
        """Where the last group is drawn: a little beside what it says, so that equal numbers do not
        hide each other. The first stands where it says, then right and left in turn."""
        number = self.so_far.groups - 1
        points = step * ((number + 1) // 2) * (1 if number % 2 else -1)
        figure = self.ax.get_figure(root=True)
        assert figure is not None
        return self.ax.transData + ScaledTranslation(points / 72, 0, figure.dpi_scale_trans)

    @property
    def has_names(self) -> bool:
        return bool(self.so_far.names)

    def places(self, given: Sequence[Any], scale: str) -> Array:
        """Where these stand along x: numbers at themselves, names one after another, with those
        first that are there already."""
        Choice(SCALES).check("scale", scale)
        if not any(isinstance(each, str) for each in given):
            if self.has_names and given:
                raise expected("x", f"names, such as {self.so_far.names[0]!r}", given[0])
            numbers = numbers_of("x", given)
            check_scale("scale", scale, "x", numbers)
            return numbers
        if "x" in self.so_far.limits:
            text = next(each for each in given if isinstance(each, str))
            raise expected("x", "numbers, as this axes has them already", text)
        names = self.so_far.names
        names += [each for each in dict.fromkeys(map(str, given)) if each not in names]
        return np.array([names.index(str(each)) for each in given], float)

    def show_numbers_along(
        self, which: Direction, scale: str, *values: Array, room: float = _ROOM
    ) -> None:
        """Scale and limits of an axis: it shows these numbers and those of earlier calls."""
        numbers = np.concatenate([each.ravel() for each in values])
        numbers = numbers[np.isfinite(numbers)]
        limits = self.so_far.limits
        if len(numbers):
            low, high = float(numbers.min()), float(numbers.max())
            before = limits.get(which, (low, high))
            limits[which] = min(low, before[0]), max(high, before[1])
        if scale == "log" or getattr(self.ax, f"get_{which}scale")() != scale:  # new ticks, too
            getattr(self.ax, f"set_{which}scale")(scale)
        if which in limits:
            getattr(self.ax, f"set_{which}lim")(*_widened(*limits[which], scale, room))
            if scale == "log":
                log_ticks(getattr(self.ax, f"{which}axis"), *limits[which])

    def show_x(self, scale: str, places: Array) -> None:
        """Names below the axes, turned where they would touch each other; or numbers."""
        if not self.has_names:
            self.show_numbers_along("x", scale, places)
            return
        names = self.so_far.names
        self.ax.set_xlim(-0.5, len(names) - 0.5)
        self.ax.xaxis.set_major_locator(FixedLocator(range(len(names))))
        self.ax.xaxis.set_major_formatter(FixedFormatter(names))
        room = size_of(self.ax)[0] / len(names)
        if max(map(len, names)) * _LETTER + 2 > room:
            slant = _SLANT if room > _LINE / np.sin(np.radians(_SLANT)) else 90
            look = {"ha": "right", "va": "center" if slant == 90 else "top"}
            for label in self.ax.get_xticklabels():
                label.set(rotation=slant, rotation_mode="anchor", **look)

    def show_rows(self, names: Sequence[str]) -> None:
        """Names of rows from the top down, in as many lines as there is room for."""
        count = max(1, len(names))
        self.ax.set_ylim(count - 0.5, -0.5)
        self.ax.yaxis.set_major_locator(FixedLocator(range(len(names))))
        lines, size = wrapped(names, *size_of(self.ax))
        self.ax.yaxis.set_major_formatter(FixedFormatter(lines))
        self.ax.tick_params(axis="y", labelsize=size)
        self.so_far.has_rows = True

    def finish(self, *numbers: PanelNumbers, grid: Literal["both", "x", "y"], **texts: str) -> None:
        """Grid, names of the axes, legend, the title above it; and the numbers, for CSV."""
        show_grid(self.ax, self.palette, grid)
        for which in ("x", "y"):
            if name := texts.get(f"{which}_label"):
                axis = getattr(self.ax, f"{which}axis")
                axis.set_label_text(name, fontsize=6, color=self.palette["quiet"])
        # Names of rows leave the axes narrow: there the legend may reach out above them.
        if self.so_far.has_rows:
            small_legend(self.ax, "lower right", (1.0, 1.005))
        else:
            small_legend(self.ax, "lower left", (0.0, 1.005))
        if legend := self.ax.get_legend():
            for text in legend.get_texts():
                text.set_color(self.palette["ink"])
        if title := texts.get("title") or self.ax.get_title("left"):
            give_title(self.ax, title)
        for each in numbers:
            remember(self.ax, each)

    def say_no_runs(self) -> None:
        """In the middle, unless earlier calls drew some."""
        if self.ax.has_data():
            return
        look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6.5}
        look |= {"color": self.palette["quiet"], "transform": self.ax.transAxes}
        self.ax.text(0.5, 0.5, NO_RUNS, **look)


@contextmanager
def runs_picture(
    ax: object, theme: str, rows: Sequence[str] | None = None
) -> Iterator[RunsPicture]:
    """Within its block, what is drawn on these axes is in our style. None: new axes, as high as
    rows with these names need."""
    palette = palette_of(theme)
    with style(palette):
        if ax is None:
            height = None if rows is None else _height_for(rows)
            ax = subplots(width="column", height=height, theme=theme)[1]
        on = check_axes(ax, theme)
        dress(on, palette)
        if not on.has_data():  # new, or cleared since, or without runs
            _drawn[on] = DrawnSoFar()
            for text in [each for each in on.texts if each.get_text() == NO_RUNS]:
                text.remove()
        yield RunsPicture(on, palette, _drawn.setdefault(on, DrawnSoFar()))


def _height_for(rows: Sequence[str]) -> float:
    """Inches of a column's figure."""
    lines = max((len(textwrap.wrap(name, _ALONE)) for name in rows), default=1)
    return min(0.5 + max(len(rows), 3) * (0.07 + 0.09 * max(lines, 1)), _HIGHEST)


def remember(ax: Axes, numbers: PanelNumbers) -> None:
    """Numbers that are drawn, for the figure's CSV."""
    figure = ax.get_figure(root=True)
    if isinstance(figure, PublicationFigure):
        figure.show_numbers(lambda: numbers)


def wrapped(names: Sequence[str], width: float, height: float) -> tuple[list[str], float]:
    """Names in lines, and the size of their letters, beside axes of this size in points.

    Lines take a third of the width. Where a row has no room for so many of them, they are longer;
    where that is not enough either, letters are smaller.
    """
    for size in _SIZES:
        letter, line = (each * size / _SIZES[0] for each in (_LETTER, _LINE))
        most = max(1, int(height / max(1, len(names)) / line))
        shortest, longest = (max(_LEAST_LETTERS, int(part * width / letter)) for part in _WIDE)
        for letters in range(shortest, longest + 1):
            made = [textwrap.fill(name, letters) for name in names]
            if all(each.count("\n") < most for each in made):
                return made, size
    return made, size


def _widened(low: float, high: float, scale: str, room: float) -> tuple[float, float]:
    if scale == "log":
        beyond = (high / low) ** room if high > low else 2.0
        return low / beyond, high * beyond
    beyond = room * (high - low) if high > low else 0.5 * (abs(high) or 1.0)
    return low - beyond, high + beyond
