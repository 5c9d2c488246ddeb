"""Any set of panels of models: all of one, or a row for each epoch and run."""

from collections.abc import Iterable, Sequence

import numpy.typing as npt

from dynascope.config_input import ConfigLike
from dynascope.near_misses import guided
from dynascope.plots._extents import NOTHING, Extent, framed
from dynascope.plots._look import PublicationFigure, style, width_in_inches
from dynascope.plots._page import Blocks, FigurePage, legend_of
from dynascope.plots.figure_sources import FigureSource, views_of
from dynascope.plots.palette import palette_of
from dynascope.plots.panel_registry import Panel, check_panels
from dynascope.plots.view import MAPS, View


@guided
def panels(
    *sources: FigureSource,
    panels: str | Sequence[str] | None = None,
    epochs: int | Iterable[int] = -1,
    config: ConfigLike = None,
    sequences: npt.ArrayLike | None = None,
    width: str | float = "page",
    theme: str = "light",
    same_axes: bool = False,
    all_labels: bool = False,
) -> PublicationFigure:
    """Panels of models: of each source at each epoch.

    `sources`: runs, pairs (run, epoch), views, ideal heads, or `Parameters` with their `config`.
    `panels`: names as in the sandbox (None: all that need no minute). `same_axes`: each panel has
    the same axes for all epochs of a run. `all_labels`: names also of tokens at positions.
    """
    views, inches = views_of(sources, epochs, config, sequences), width_in_inches(width)
    chosen, palette = check_panels(panels, views[0]), palette_of(theme)
    blocks = Blocks(inches, len(views), len(chosen))
    headings = [each.name for each in views] if len(views) > 1 else []
    with style(palette):
        page = FigurePage(
            blocks.sheet(chosen, headings, legend_of(chosen, views, palette)), palette
        )
        for row, each in enumerate(views):
            for i, panel in enumerate(chosen):
                extent = shared_extent(panel, each, views) if same_axes else None
                ax = page.axes(*blocks.place(row, i))
                page.draw(panel, each, ax, extent=extent, all_labels=all_labels)
    return page.figure


def shared_extent(panel: Panel, view: View, views: Iterable[View]) -> Extent | None:
    """What holds a panel's points at all these moments of the view's run; None without points."""
    if not panel.drawn.square:
        return None
    extent = NOTHING
    for each in views:
        if each.shown is view.shown:
            extent = extent.union(each.extent(MAPS.get(panel.id, panel.id)))
    return framed(extent)
