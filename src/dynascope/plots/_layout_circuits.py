"""Circuits in rows: one model per verdict."""

from collections.abc import Sequence

import numpy.typing as npt

from dynascope.analysis import VERDICTS, circuit
from dynascope.config_input import ConfigLike
from dynascope.near_misses import guided
from dynascope.plots._look import PublicationFigure, style, width_in_inches
from dynascope.plots._page import Blocks, FigurePage, legend_of
from dynascope.plots.figure_sources import FigureSource, views_of
from dynascope.plots.palette import palette_of
from dynascope.plots.panel_registry import check_panels, no_groups
from dynascope.plots.view import View

SHOWN = ("positions", "normalized", "attention", "sequence", "decision_map")


@guided
def circuits(
    *sources: FigureSource,
    panels: str | Sequence[str] = SHOWN,
    config: ConfigLike = None,
    sequences: npt.ArrayLike | None = None,
    width: str | float = "page",
    theme: str = "light",
) -> PublicationFigure:
    """One model for each verdict on its circuit (`ds.analysis.circuit`) that there is among the
    sources, the most accurate, in the order from ideal to unsolved."""
    views = views_of(sources, -1, config, sequences)
    for each in views:
        if each.sequences.positions is None:
            raise no_groups("circuits", each)
    chosen, palette, inches = check_panels(panels), palette_of(theme), width_in_inches(width)
    rows = by_verdict(views)
    headings = [_heading(name, each) for name, each in rows.items()]
    legend = legend_of(chosen, list(rows.values()), palette)
    blocks = Blocks(inches, len(rows), len(chosen))
    with style(palette):
        page = FigurePage(blocks.sheet(chosen, headings, legend), palette)
        for row, each in enumerate(rows.values()):
            for i, panel in enumerate(chosen):
                page.draw(panel, each, page.axes(*blocks.place(row, i)))
    return page.figure


def by_verdict(views: Sequence[View]) -> dict[str, View]:
    """The most accurate model of each verdict."""
    best: dict[str, tuple[float, View]] = {}
    for each in views:
        found = circuit(each.parameters, each.config, progress=False)
        known = best.get(found.verdict.name)
        if known is None or found.accuracy > known[0]:
            best[found.verdict.name] = (found.accuracy, each)
    return {name: best[name][1] for name in VERDICTS if name in best}


def _heading(verdict: str, seen: View) -> str:
    return f"{verdict}: {seen.name}" if seen.name else verdict
