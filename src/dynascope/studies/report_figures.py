"""The figures of studies, drawn once for the page and for the files beside it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dynascope.studies.figure_svg import svg_file, svg_of
from dynascope.studies.results import StudyResult, StudyResults


@dataclass(frozen=True)
class DrawnFigure:
    """A figure of a study, as text."""

    study: str
    name: str  # of files and ids: STUDY-FIGURE
    caption: str
    element: str  # SVG for the page
    file: str  # SVG
    data: str  # CSV


def drawn_figures(results: StudyResults) -> list[DrawnFigure]:
    found = [each for result in results for each in _of_study(result)]
    names = [each.name for each in found]
    assert len({*names}) == len(names), "two figures of one name"
    return found


def _of_study(result: StudyResult) -> Iterator[DrawnFigure]:
    for each in result.study.figures:
        figure = result.figure(each.name)
        name = f"{result.name}-{slug(each.name)}"
        yield DrawnFigure(
            result.name,
            name,
            each.caption,
            svg_of(figure, name),
            svg_file(figure, name),
            figure.numbers(),
        )


def slug(name: str) -> str:
    """A name as files and ids have it.

    >>> slug("Loss, by width (d)")
    'loss-by-width-d'
    """
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")
