"""One function per panel of the sandbox, each of which draws on an axes.

They are made from the registry: what a panel is called, how it is drawn and what its title says
stands there and in `glossary.json`.
"""

from typing import Any, Protocol

import numpy.typing as npt
from matplotlib.axes import Axes

from dynascope.config_input import ConfigLike
from dynascope.errors import Description, expected
from dynascope.glossary import entries
from dynascope.near_misses import guided
from dynascope.option_rules import Choice
from dynascope.plots._drawn import PanelDrawing
from dynascope.plots._look import PublicationFigure, new_figure, style
from dynascope.plots.palette import palette_of
from dynascope.plots.panel_registry import PANELS, Panel
from dynascope.plots.view import ModelSource, View, view

_TEXTS = {entry.id: entry.text for entry in entries()}
SCALES = ("log", "linear")
_ALONE = 2.6  # inches: a panel without a figure to be in


class PanelFunction(Protocol):
    """What all panels have in common."""

    def __call__(
        self,
        source: ModelSource,
        ax: Axes | None = None,
        *,
        epoch: int = -1,
        config: ConfigLike = None,
        sequences: npt.ArrayLike | None = None,
        theme: str = "light",
        labels: bool = True,
        all_labels: bool = False,
        legend: bool = True,
        title: bool = True,
        before: View | None = None,
        scale: str = "log",
    ) -> Axes: ...


_DOC = """{title}: {text}

    Draws on `ax` (None: a new figure) and returns it, for you to go on with. `source`: a run (at
    `epoch`), a `View`, `Parameters` with their `config`, or an ideal head; `sequences`: those to
    show. `labels`: names beside points; `all_labels`: also of tokens at positions. `before`:
    arrows lead from where the points of that view were. `scale`: of curves, "log" or "linear".
    """


def _function(panel: Panel) -> PanelFunction:
    def draw(
        source: ModelSource,
        ax: Axes | None = None,
        *,
        epoch: int = -1,
        config: ConfigLike = None,
        sequences: npt.ArrayLike | None = None,
        theme: str = "light",
        labels: bool = True,
        all_labels: bool = False,
        legend: bool = True,
        title: bool = True,
        before: View | None = None,
        scale: str = "log",
    ) -> Axes:
        seen = view(source, epoch, config=config, sequences=sequences)
        palette = palette_of(theme)
        Choice(SCALES).check("scale", scale)
        with style(palette):
            how: dict[str, Any] = {"labels": labels, "all_labels": all_labels, "legend": legend}
            on = check_axes(ax, theme)
            panel.draw(seen, PanelDrawing(on, palette, before=before, scale=scale, **how), title)
            figure = on.get_figure(root=True)
            if isinstance(figure, PublicationFigure):
                figure.show_numbers(lambda: panel.numbers(seen))
        return on

    draw.__name__ = draw.__qualname__ = panel.id
    draw.__doc__ = _DOC.format(title=panel.title, text=_TEXTS[f"panel.{panel.id}"])
    return guided(draw)


def check_axes(ax: object, theme: str) -> Axes:
    """The axes to draw on: those given, or new ones."""
    if ax is None:
        figure = new_figure(_ALONE, _ALONE, palette_of(theme))
        return figure.add_axes((0.15, 0.12, 0.8, 0.76))
    if not isinstance(ax, Axes):
        got = Description(type(ax).__name__)
        raise expected("ax", "a matplotlib Axes, as of plt.subplots()", got)
    return ax


FUNCTIONS = {name: _function(panel) for name, panel in PANELS.items()}
