"""Layouts by name."""

from collections.abc import Callable
from typing import Any

from dynascope import figure_layouts
from dynascope.errors import unknown
from dynascope.near_misses import guided
from dynascope.plots import layouts
from dynascope.plots._look import PublicationFigure
from dynascope.plots.figure_sources import FigureSource

LAYOUTS: dict[str, Callable[..., PublicationFigure]] = {
    name: getattr(layouts, name) for name in figure_layouts.LAYOUTS
}


@guided
def figure(layout: str, *sources: FigureSource, **options: Any) -> PublicationFigure:
    """A figure of this layout: panels, phases, spike, circuits, attention, gradients, landscape.

    `options` are those of the layout: `help(ds.plots.layouts.spike)`.

    >>> import dynascope as ds
    >>> run = ds.train(ds.Config().replace({"training.epochs": 3}), progress=False)[0]
    >>> made = figure("panels", run, panels="sequence,loss", width="column")
    >>> float(made.get_size_inches()[0])
    3.25
    """
    if layout not in LAYOUTS:
        raise unknown("", layout, LAYOUTS, kind="layout")
    return LAYOUTS[layout](*sources, **options)
