"""What a study is: a question, the sweeps that answer it, its claims and its figures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dynascope.studies.claims import Claim
from dynascope.studies.study_seeds import seeds_of
from dynascope.studies.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALES = ("quick", "paper")


@dataclass(frozen=True)
class StudySweep:
    """Runs that one or more studies look at; `grid` is as `ds.sweep` takes it, without seeds."""

    name: str  # of its folder, and of its seeds in the ledger
    grid: Mapping[str, Any]
    seeds: Mapping[str, int]  # how many, at each scale
    columns: tuple[str, ...]  # that claims and figures need
    quick: Mapping[str, Any] = field(default_factory=dict)  # what of the grid is smaller there

    def described(self, scale: str) -> dict[str, Any]:
        """The grid with its seeds."""
        smaller = self.quick if scale == "quick" else {}
        return {
            "keep": "ends",
            **self.grid,
            **smaller,
            "seeds": list(seeds_of(self.name, self.seeds[scale])),
        }


@dataclass(frozen=True)
class StudyFigure:
    """A picture, and its numbers as a table."""

    name: str
    caption: str
    draw: Callable[[Mapping[str, Table]], "Figure"]
    data: Callable[[Mapping[str, Table]], Table]


@dataclass(frozen=True)
class Study:
    """One question that the paper raises."""

    name: str
    question: str
    place: str  # what of the paper it is about
    sweeps: tuple[StudySweep, ...]
    claims: tuple[Claim, ...]
    figures: tuple[StudyFigure, ...] = ()
    notes: tuple[str, ...] = ()  # what the paper leaves open, and what was tried
