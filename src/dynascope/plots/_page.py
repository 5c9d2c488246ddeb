"""A figure as a grid of equal panels, with names of rows, and one legend for all of them.

Places are reckoned in inches, not searched for: that is fast, and the same for every figure.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from dynascope.plots._drawn import DrawnPanel, PanelDrawing
from dynascope.plots._look import MARKERS, PublicationFigure, new_figure
from dynascope.plots._points import SPECS
from dynascope.plots.palette import Palette
from dynascope.plots.panel_registry import Panel, give_title
from dynascope.plots.view import View

LEFT, RIGHT, TOP, BOTTOM = 0.27, 0.1, 0.2, 0.17  # inches around the inside of a panel
LEGEND, WIDE_LEGEND = 0.09, 0.18  # more of it above curves, for one row of names or two
CURVE_BOTTOM = 0.11  # and below them, for "epoch"
HEADING = 0.15  # inches above a row that has a name
_LEGEND_ROW = 0.13
_LETTER = 0.047  # inches of a letter in a legend, on the whole
_MOST_GROUPS = 12  # names of multisets in a legend
_TIGHT = 1.1  # and of one in a row that is to stay together
NARROWEST = 1.28  # inches of a panel with what is around it


@dataclass(frozen=True)
class Sheet:
    """How a grid is laid out."""

    width: float
    rows: int
    columns: int
    headings: Sequence[str] = ()  # of rows; none: no room for them
    legend: Sequence[Any] = ()  # handles
    aspect: float = 1.0  # of a panel's inside: height over width
    curves: Mapping[int, float] = field(default_factory=dict)  # rows with curves: room for legends
    right: float = RIGHT  # of each panel

    @property
    def inside(self) -> float:
        """The width of a panel's inside."""
        return self.width / self.columns - LEFT - self.right

    def top(self, row: int) -> float:
        """From the upper edge of a row to the inside of its panels."""
        heading = HEADING if self.headings and self.headings[row] else 0.0
        return heading + TOP + self.curves.get(row, 0.0)

    def row_height(self, row: int) -> float:
        below = BOTTOM + (CURVE_BOTTOM if row in self.curves else 0.0)
        return self.top(row) + self.inside * self.aspect + below

    def above(self, row: int) -> float:
        """From the upper edge of the figure to that of a row."""
        return sum(map(self.row_height, range(row)))

    @property
    def legend_rows(self) -> list[list[Any]]:
        """Handles in rows that fit into the width."""
        rows: list[list[Any]] = []
        room = 0.0
        for handle in self.legend:
            need = 0.24 + _LETTER * len(handle.get_label())
            if not rows or need > room:
                rows.append([])
                room = self.width - 0.1
            rows[-1].append(handle)
            room -= need
        return rows

    @property
    def height(self) -> float:
        return self.above(self.rows) + _LEGEND_ROW * len(self.legend_rows) + 0.04


@dataclass(frozen=True)
class Blocks:
    """Rows of equal panels that may be too many for one line: each row is a block of lines."""

    width: float
    rows: int
    count: int  # panels of a row

    @property
    def columns(self) -> int:
        """All side by side where that can be read."""
        wide = self.rows > 1 and self.width / self.count >= _TIGHT
        return self.count if wide else columns_for(self.width, self.count)

    @property
    def lines(self) -> int:
        """In a block."""
        return -(-self.count // self.columns)

    def place(self, row: int, i: int) -> tuple[int, int]:
        """Where a panel stands: line of the figure, column."""
        return row * self.lines + i // self.columns, i % self.columns

    def sheet(
        self,
        panels: Sequence[Panel],
        headings: Sequence[str] = (),
        legend: Sequence[Any] = (),
    ) -> Sheet:
        """For rows of these panels; a heading stands above its block."""
        rest = [""] * (self.lines - 1)
        curves = curve_rows(panels, self.columns)
        return Sheet(
            self.width,
            self.rows * self.lines,
            self.columns,
            [each for heading in headings for each in (heading, *rest)],
            legend,
            curves={
                row * self.lines + line: room
                for row in range(self.rows)
                for line, room in curves.items()
            },
        )


class FigurePage:
    """A figure in the making."""

    def __init__(self, sheet: Sheet, palette: Palette) -> None:
        self.sheet, self.palette = sheet, palette
        self.figure: PublicationFigure = new_figure(sheet.width, sheet.height, palette)
        self.drawn: list[tuple[Panel, DrawnPanel]] = []
        for row, heading in enumerate(sheet.headings):
            y = 1 - (sheet.above(row) + 0.11) / sheet.height
            self.figure.text(
                0.06 / sheet.width, y, heading, fontsize=6.5, color=palette["quiet"], va="center"
            )
        self._write_legend()

    def axes(self, row: int, column: float, columns: float = 1) -> Axes:
        """A panel's place, `columns` wide."""
        sheet = self.sheet
        each = sheet.width / sheet.columns
        x = column * each + LEFT
        inside = sheet.inside * sheet.aspect
        y = sheet.height - sheet.above(row) - sheet.top(row) - inside
        wide = columns * each - LEFT - sheet.right
        place = (x / sheet.width, y / sheet.height, wide / sheet.width, inside / sheet.height)
        return self.figure.add_axes(place)

    def draw(self, panel: Panel, view: View, ax: Axes, title: str = "", **how: Any) -> DrawnPanel:
        """A panel of a view; its numbers are the figure's."""
        made = panel.draw(view, PanelDrawing(ax, self.palette, **how))
        if title:
            give_title(ax, title)
        self.figure.show_numbers(lambda: panel.numbers(view))
        self.drawn.append((panel, made))
        return made

    def _write_legend(self) -> None:
        for i, row in enumerate(reversed(self.sheet.legend_rows)):
            self.figure.legend(
                handles=row,
                loc="lower center",
                bbox_to_anchor=(0.5, (0.02 + i * _LEGEND_ROW) / self.sheet.height),
                ncols=len(row),
                handlelength=0.8,
                handletextpad=0.35,
                columnspacing=0.9,
                borderpad=0,
                borderaxespad=0,
                labelcolor=self.palette["quiet"],
            )


def curve_rows(panels: Sequence[Panel], columns: int) -> dict[int, float]:
    """Rows in which curves come to stand, where panels fill rows of so many columns, and the room
    for their legends."""
    rows: dict[int, float] = {}
    for i, each in enumerate(panels):
        if each.drawn.has_run:
            need = WIDE_LEGEND if each.id in ("gradients", "shares") else LEGEND
            rows[i // columns] = max(need, rows.get(i // columns, 0.0))
    return rows


def columns_for(width: float, count: int) -> int:
    """Into how many columns so many panels go."""
    most = max(1, math.floor(width / NARROWEST))
    rows = math.ceil(count / most)
    return max(1, math.ceil(count / rows))


def legend_of(panels: Sequence[Panel], views: Sequence[View], palette: Palette) -> list[Any]:
    """What markers and colours mean, for the panels and models in a figure."""
    kinds = {SPECS[each.id].kind for each in panels if each.id in SPECS}
    if any(each.id == "probabilities" for each in panels):
        kinds.add("sequence")
    handles: list[Any] = []
    view = views[0]
    if kinds & {"position", "pair"}:
        handles += _position_handles(view, palette)
    if "sequence" in kinds and len({each.config.embeddings for each in views}) == 1:
        handles += _class_handles(view, palette)
        if len({each.sequences.group_names for each in views}) == 1:
            handles += _group_handles(view, palette)
    return handles


def _position_handles(view: View, palette: Palette) -> list[Any]:
    if view.sequences.positions is None:
        return [_marker(palette.markers["position"], "position", palette)]
    return [
        _marker(palette.markers[kind], f"{kind} position", palette)
        for kind in ("relevant", "irrelevant")
    ]


def _class_handles(view: View, palette: Palette) -> list[Any]:
    targets = sorted({int(each) for each in view.sequences.targets})
    told = [t for t in targets if t >= 0][: len(palette.markers["classes"])]
    untold = [_marker(palette.marker(-1), "no target", palette)] if -1 in targets else []
    return [*(_marker(palette.marker(t), f"class {t}", palette) for t in told), *untold]


def _group_handles(view: View, palette: Palette) -> list[Any]:
    names = view.sequences.group_names
    if view.sequences.positions is None or len(names) > _MOST_GROUPS:
        return []
    return [
        Patch(color=palette.group_of(view.sequences, i), label=name) for i, name in enumerate(names)
    ]


def _marker(marker: str, name: str, palette: Palette) -> Line2D:
    look: dict[str, Any] = {"ls": "", "ms": 3.2, "color": palette["quiet"], "label": name}
    return Line2D([], [], marker=MARKERS[marker], **look)
