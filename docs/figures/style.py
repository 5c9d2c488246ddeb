"""How figures of the docs look: one font, one set of colours, a white card with round corners."""

import re
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

Place = tuple[float, float]
INK, QUIET, FAINT, BLUE, MARK = "#1f2933", "#616e7c", "#b8c0c9", "#3b82c4", "#c2410c"

mpl.rcParams.update(
    {
        "font.family": "DejaVu Sans",
        "font.size": 9,
        "text.color": INK,
        "axes.edgecolor": FAINT,
        "axes.labelcolor": QUIET,
        "axes.linewidth": 0.8,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "xtick.color": FAINT,
        "ytick.color": FAINT,
        "xtick.labelcolor": QUIET,
        "ytick.labelcolor": QUIET,
        "svg.fonttype": "path",  # looks the same where the font is missing
        "svg.hashsalt": "dynascope",  # and is the same file each time it is drawn
    }
)


def card(width: float, height: float) -> Figure:
    """A figure, in inches, legible on white and on dark pages."""
    figure = Figure(figsize=(width, height))
    box = FancyBboxPatch(
        (0.012, 0.025), 0.976, 0.95, boxstyle="round,pad=0.008,rounding_size=0.02", fc="white"
    )
    box.set(edgecolor="#e4e7eb", linewidth=0.8, transform=figure.transFigure, zorder=-1)
    box.set_mutation_aspect(width / height)
    figure.add_artist(box)
    return figure


def heading(axes: Axes, title: str, below: str = "") -> None:
    """A title above a panel, and a quiet line of words under it."""
    axes.set_title(title, loc="left", fontsize=10.5, fontweight="bold", pad=22 if below else 10)
    note(axes, below, (0, 1), (0, 8), where="axes fraction", fontsize=8.5)


def note(
    axes: Axes,
    words: str,
    at: tuple[float, float],
    offset: tuple[float, float] = (4, 4),
    **more: Any,
) -> None:
    """A few words beside a point; `offset` is in printers' points."""
    look = {"fontsize": 8, "color": QUIET, "annotation_clip": False} | more
    axes.annotate(words, at, offset, look.pop("where", "data"), "offset points", **look)


def save(figure: Figure, out: Path) -> None:
    drawn = StringIO()
    figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    out.write_text(_shortened(drawn.getvalue()), encoding="utf-8")


def _shortened(svg: str) -> str:
    """Places to a hundredth of a point, and no empty space: half the size, the same picture."""
    number = re.compile(r"\d+\.\d{3,}")
    places = re.compile(r' (?:d|x|y)="[^"]*"')
    svg = places.sub(lambda m: number.sub(lambda n: f"{float(n[0]):.2f}", m[0]), svg)
    return re.sub(r"\n\s*", "\n", svg)
