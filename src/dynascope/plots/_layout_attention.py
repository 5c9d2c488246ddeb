"""Attention at the start and at the end, beside what it is given."""

import numpy.typing as npt

from dynascope.near_misses import guided
from dynascope.plots._attention import DrawnInput
from dynascope.plots._drawn import PanelDrawing
from dynascope.plots._look import PublicationFigure, style, width_in_inches
from dynascope.plots._page import FigurePage, Sheet
from dynascope.plots.figure_sources import FigureSource, one_run
from dynascope.plots.palette import palette_of
from dynascope.plots.panel_registry import PANELS, give_title
from dynascope.plots.view import view


@guided
def attention(
    *sources: FigureSource,
    sequences: npt.ArrayLike | None = None,
    width: str | float = "page",
    theme: str = "light",
) -> PublicationFigure:
    """Sequences (left), a run's attention before training (middle) and at its end (right, or at the
    epoch named with the run)."""
    run, epoch = one_run(sources, "attention")
    end = view(run, -1 if epoch is None else epoch, sequences=sequences)
    start, palette, inches = end.at(0), palette_of(theme), width_in_inches(width)
    columns = 3
    with style(palette):
        page = FigurePage(Sheet(inches, 1, columns, aspect=1.25), palette)
        ax = page.axes(0, 0)
        DrawnInput("attention", start, PanelDrawing(ax, palette))
        give_title(ax, "Sequences")
        for column, each in ((1, start), (2, end)):
            title = f"Attention, epoch {each.epoch}"
            page.draw(PANELS["attention"], each, page.axes(0, column), title)
    return page.figure
