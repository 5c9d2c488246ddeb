"""What all panels have in common: how each one is asked to draw, and what it leaves behind."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from matplotlib.axes import Axes

from dynascope.plots._extents import Extent
from dynascope.plots._look import dress
from dynascope.plots.palette import Palette
from dynascope.plots.view import View


@dataclass(frozen=True, eq=False)
class PanelDrawing:
    """How a panel is to be drawn."""

    ax: Axes
    palette: Palette
    extent: Extent | None = None  # of the axes; None: what it shows now
    labels: bool = True  # names beside points
    all_labels: bool = False  # also of tokens at positions, however many there are
    legend: bool = True  # of curves, within the panel
    before: View | None = None  # arrows lead from where points were then
    scale: str = "log"  # of curves that may have either: "log" or "linear"
    marked: Sequence[int] | None = None  # epochs to mark on curves; None: the view's own


class DrawnPanel(ABC):
    """A panel on its axes. `update` moves what is drawn to another moment of the same run."""

    has_run: ClassVar[bool] = False  # shows the whole run, not one epoch of it
    square: ClassVar[bool] = True  # one unit has the same length in x and y

    def __init__(self, panel: str, view: View, how: PanelDrawing) -> None:
        self.panel, self.how, self.ax, self.palette = panel, how, how.ax, how.palette
        dress(self.ax, self.palette)
        self.make(view)

    @abstractmethod
    def make(self, view: View) -> None:
        """Put the artists on the axes."""

    @abstractmethod
    def update(self, view: View) -> None:
        """Change the artists; axes stay as they are."""

    @classmethod
    @abstractmethod
    def columns(cls, panel: str, view: View) -> Mapping[str, Any]:
        """The numbers that it shows, by column."""
