"""Any set of panels of models: all of one, or a row for each epoch and run."""

from collections.abc import Iterable, Sequence

import numpy.typing as npt

from dynascope.config_input import ConfigLike
from dynascope.near_misses import guided
from dynascope.plots._extents import NOTHING, Extent, framed
from dynascope.plots._look import PublicationFigure, style, width_in_inches
from dynascope.plots._page import FigurePage, Sheet, columns_for, curve_rows, legend_of
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
    columns = columns_for(inches, len(chosen))
    if len(views) > 1 and len(chosen) <= 6:  # a row for each
        columns = len(chosen)
    blocks = -(-len(chosen) // columns)
    headings = [view.name for view in views for _ in range(blocks)] if len(views) > 1 else []
    for i in range(len(headings)):
        headings[i] = headings[i] if i % blocks == 0 else ""
    legend = legend_of(chosen, views, palette)
    of_block = curve_rows(chosen, columns)
    curves = {v * blocks + row: of_block[row] for v in range(len(views)) for row in of_block}
    sheet = Sheet(inches, len(views) * blocks, columns, headings, legend, curves=curves)
    with style(palette):
        page = FigurePage(sheet, palette)
        for v, view in enumerate(views):
            for i, panel in enumerate(chosen):
                extent = shared_extent(panel, view, views) if same_axes else None
                ax = page.axes(v * blocks + i // columns, i % columns)
                page.draw(panel, view, ax, extent=extent, all_labels=all_labels)
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
