"""What a study is: a question, where its numbers come from, its claims and its figures."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dynascope.studies.claims import Claim
from dynascope.studies.sources import StudySource
from dynascope.studies.table import Tables

if TYPE_CHECKING:
    from dynascope.plots import PublicationFigure


@dataclass(frozen=True)
class StudyFigure:
    """A picture that carries its numbers."""

    name: str
    caption: str
    draw: Callable[[Tables], "PublicationFigure"]


@dataclass(frozen=True)
class Study:
    """One question that the paper raises."""

    name: str
    question: str
    place: str  # what of the paper it is about
    sources: tuple[StudySource, ...]
    claims: tuple[Claim, ...]
    figures: tuple[StudyFigure, ...] = ()
    notes: tuple[str, ...] = ()  # what the paper leaves open, and what was tried
