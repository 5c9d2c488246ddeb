"""Layouts by name."""

from collections.abc import Callable
from typing import Any, NamedTuple

from dynascope.errors import unknown
from dynascope.near_misses import guided
from dynascope.plots import layouts
from dynascope.plots._look import PublicationFigure
from dynascope.plots._sources import Given


class Layout(NamedTuple):
    """A kind of figure."""

    make: Callable[..., PublicationFigure]
    about: str  # what it shows, in a line of help


LAYOUTS = {
    "panels": Layout(layouts.panels, "any panels of runs at epochs, in rows"),
    "phases": Layout(layouts.phases, "four snapshots of learning, and the loss"),
    "spike": Layout(layouts.spike, "before and after a spike of the loss"),
    "circuits": Layout(layouts.circuits, "one run for each verdict on its circuit"),
    "attention": Layout(layouts.attention, "attention at the start and at the end"),
    "gradients": Layout(layouts.gradients, "gradient norms, with drops and spikes"),
    "landscape": Layout(layouts.landscape, "the loss on a plane around the weights"),
}


@guided
def figure(layout: str, *sources: Given, **options: Any) -> PublicationFigure:
    """A figure of this layout: panels, phases, spike, circuits, attention, gradients, landscape.

    `options` are those of the layout: `help(ds.plots.layouts.spike)`.

    >>> import dynascope as ds
    >>> run = ds.train(ds.Config().replace({"training.epochs": 3}), progress=False)[0]
    >>> made = figure("panels", run, panels="sequence,loss", width="column")
    >>> made.get_size_inches()[0]
    3.25
    """
    if layout not in LAYOUTS:
        raise unknown("", layout, LAYOUTS, kind="layout")
    return LAYOUTS[layout].make(*sources, **options)
