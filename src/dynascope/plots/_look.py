"""How figures look: one style, of which the user's own settings know nothing, and text that stays
text in PDF and SVG however the figure is saved.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dynascope.errors import expected
from dynascope.option_rules import Choice
from dynascope.plots.numbers import PanelNumbers, as_csv
from dynascope.plots.palette import Palette

COLUMN, PAGE = 3.25, 6.75  # inches: the text of one column, and of two, in the usual styles
WIDTHS = {"column": COLUMN, "page": PAGE}
_SMALLEST, _LARGEST = 1.0, 40.0  # inches

# Text stays text: searchable, and in the reader's own font size; files are the same each time.
_SAVED: dict[Any, Any] = {"svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": "dynascope"}

MARKERS = {  # of theme.json, as matplotlib calls them
    "circle": "o",
    "square": "s",
    "triangle": "^",
    "triangle-down": "v",
    "diamond": "D",
    "cross": "X",
    "plus": "P",
    "star": "*",
    "pentagon": "p",
    "hexagon": "h",
}
# Areas of equal size differ in how large they look: factors of a marker's diameter.
MARKER_SCALE = {"square": 0.88, "diamond": 0.82, "star": 1.35, "cross": 1.12, "plus": 1.12}


class PublicationFigure(Figure):
    """matplotlib's figure, with text that stays text in whatever file it is saved to, and with the
    numbers that are drawn in it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        FigureCanvasAgg(self)
        self._numbers: list[Callable[[], PanelNumbers]] = []

    def show_numbers(self, numbers: Callable[[], PanelNumbers]) -> None:
        """Remember what a panel in it shows; computed when somebody asks."""
        self._numbers.append(numbers)

    def numbers(self) -> str:
        """What is drawn, as CSV: a row for each thing, every number as it was computed."""
        return as_csv([each() for each in self._numbers])

    def savefig(self, fname: Any, **options: Any) -> None:
        with rc_context(_SAVED):
            super().savefig(fname, **{"facecolor": self.get_facecolor(), **options})

    def _repr_png_(self) -> bytes:
        """For notebooks, whatever backend they have."""
        from io import BytesIO

        file = BytesIO()
        self.savefig(file, format="png", dpi=200)
        return file.getvalue()


def new_figure(width: float, height: float, palette: Palette) -> PublicationFigure:
    return PublicationFigure(figsize=(width, height), facecolor=palette["panel"], dpi=200)


def width_in_inches(width: object) -> float:
    """A width as people give it: "column", "page", or inches."""
    if isinstance(width, str):
        return WIDTHS[Choice(tuple(WIDTHS)).check("width", width)]
    number = isinstance(width, int | float) and not isinstance(width, bool)
    if not number or not _SMALLEST <= width <= _LARGEST:  # type: ignore[operator]
        what = f'"column", "page", or inches from {_SMALLEST:g} to {_LARGEST:g}'
        raise expected("width", what, width)
    return float(width)  # type: ignore[arg-type]


@contextmanager
def style(palette: Palette) -> Iterator[None]:
    """Within its block, artists are made in our style; the user's settings come back after it."""
    with rc_context(
        {
            "font.family": "DejaVu Sans",
            "font.size": 6.5,
            "text.color": palette["ink"],
            "axes.edgecolor": palette["faint"],
            "axes.facecolor": palette["panel"],
            "axes.labelcolor": palette["quiet"],
            "axes.labelsize": 6,
            "axes.labelpad": 1.5,
            "axes.linewidth": 0.5,
            "axes.titlesize": 6.5,
            "axes.titlepad": 3,
            "axes.unicode_minus": True,
            "grid.color": palette["grid"],
            "grid.linewidth": 0.5,
            "legend.fontsize": 5.5,
            "legend.frameon": False,
            "lines.linewidth": 0.8,
            "xtick.color": palette["faint"],
            "ytick.color": palette["faint"],
            "xtick.labelcolor": palette["quiet"],
            "ytick.labelcolor": palette["quiet"],
            "xtick.labelsize": 5.5,
            "ytick.labelsize": 5.5,
            "xtick.major.size": 1.5,
            "ytick.major.size": 1.5,
            "xtick.major.width": 0.5,
            "ytick.major.width": 0.5,
            "xtick.minor.size": 0,
            "ytick.minor.size": 0,
            "xtick.major.pad": 1.5,
            "ytick.major.pad": 1.5,
        }
    ):
        yield


def dress(ax: Axes, palette: Palette) -> None:
    """An axes that somebody else made, in our style."""
    ax.set_facecolor(palette["panel"])
    for spine in ax.spines.values():
        spine.set(color=palette["faint"], linewidth=0.5)
    ax.tick_params(
        color=palette["faint"],
        labelcolor=palette["quiet"],
        labelsize=5.5,
        length=1.5,
        width=0.5,
        pad=1.5,
    )
    ax.set_axisbelow(True)


def show_grid(ax: Axes, palette: Palette, axis: Literal["both", "x", "y"] = "both") -> None:
    ax.grid(True, axis=axis, color=palette["grid"], linewidth=0.5, linestyle="-", alpha=1)


def size_of(ax: Axes) -> tuple[float, float]:
    """Width and height in points."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    width, height = figure.get_size_inches() * ax.get_position().size
    return 72 * float(width), 72 * float(height)
