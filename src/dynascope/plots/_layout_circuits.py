"""Circuits in rows: one model per verdict."""

from collections.abc import Sequence

import numpy.typing as npt

from dynascope.analysis import VERDICTS, Circuit, circuit
from dynascope.config_input import ConfigLike
from dynascope.engine import Crew, count_threads
from dynascope.near_misses import guided
from dynascope.plots._look import PublicationFigure, style, width_in_inches
from dynascope.plots._page import Blocks, FigurePage, legend_of
from dynascope.plots.figure_sources import FigureSource, views_of
from dynascope.plots.palette import palette_of
from dynascope.plots.panel_registry import check_panels, no_groups
from dynascope.plots.view import View
from dynascope.progress import Report, Status, reporter

SHOWN = ("positions", "normalized", "attention", "sequence", "decision_map")


@guided
def circuits(
    *sources: FigureSource,
    panels: str | Sequence[str] = SHOWN,
    config: ConfigLike = None,
    sequences: npt.ArrayLike | None = None,
    width: str | float = "page",
    theme: str = "light",
    progress: bool | Report = True,
) -> PublicationFigure:
    """One model for each verdict on its circuit (`ds.analysis.circuit`) that there is among the
    sources, the most accurate, in the order from ideal to unsolved."""
    views = views_of(sources, -1, config, sequences)
    for each in views:
        if each.sequences.positions is None:
            raise no_groups("circuits", each)
    chosen, palette, inches = check_panels(panels), palette_of(theme), width_in_inches(width)
    rows = by_verdict(views, reporter(progress))
    headings = [_heading(name, each) for name, each in rows.items()]
    legend = legend_of(chosen, list(rows.values()), palette)
    blocks = Blocks(inches, len(rows), len(chosen))
    with style(palette):
        page = FigurePage(blocks.sheet(chosen, headings, legend), palette)
        for row, each in enumerate(rows.values()):
            for i, panel in enumerate(chosen):
                page.draw(panel, each, page.axes(*blocks.place(row, i)))
    return page.figure


class _Judges(Crew):
    """Measure the circuit of each model, while the caller looks on."""

    def __init__(self, views: Sequence[View]) -> None:
        super().__init__(len(views), Status(1, len(views), unit="circuits"))
        self._views = views
        self.found: dict[int, Circuit] = {}

    def one(self, index: int) -> None:
        view = self._views[index]
        self.found[index] = circuit(view.parameters, view.config, progress=False)
        self.status.advance(index, 1)


def by_verdict(views: Sequence[View], report: Report | None = None) -> dict[str, View]:
    """The most accurate model of each verdict; of equals the first."""
    judges = _Judges(views)
    judges.work(count_threads(None, len(views)), report)
    best: dict[str, int] = {}
    for i in range(len(views)):
        name, accuracy = judges.found[i].verdict.name, judges.found[i].accuracy
        if name not in best or accuracy > judges.found[best[name]].accuracy:
            best[name] = i
    return {name: views[best[name]] for name in VERDICTS if name in best}


def _heading(verdict: str, seen: View) -> str:
    return f"{verdict}: {seen.name}" if seen.name else verdict
