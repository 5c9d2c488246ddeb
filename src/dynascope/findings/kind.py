"""What an analysis offers to those who ask for analyses: report, demo, sandbox, sweeps, store."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from dynascope.run import Run

Found = TypeVar("Found")
RunRow = Mapping[str, Any]  # of a run: what it is and how it ended, and columns of analyses
RunRows = Sequence[RunRow]
Totals = dict[str, Any]  # what many rows come to, as JSON takes it
NOTE = "analysis_note"


class Cells(NamedTuple):
    """A column of the table that people see of many runs; of those that do not all fit, the lower
    ranks are shown."""

    name: str
    rank: int
    cell: Callable[[RunRow], str]
    right: bool = False
    meaning: str = ""  # told below the table, where the name does not say it


class Listing(NamedTuple):
    """A small table in the report of one run: cells by heading, and what the signs mean."""

    columns: Mapping[str, Sequence[str]]
    legend: str


class Kind(ABC, Generic[Found]):
    """One kind of analysis; its columns are declared in `analysis_columns`."""

    title: str  # in the report of one run; {epoch} is the epoch that was looked at
    of_epoch = False  # whether it looks at one epoch, which may be chosen, or at the whole run

    # ---- one run

    @abstractmethod
    def make(self, run: Run, epoch: int = -1) -> Found:
        """What is found of a run; -1 is the last epoch that is sound."""

    @abstractmethod
    def row(self, found: Found) -> dict[str, Any]:
        """Its columns."""

    def row_of(self, run: Run) -> dict[str, Any]:
        """The columns of a run, and under `NOTE` why some of them are null."""
        found = self.make(run)
        return {**self.row(found), NOTE: self.note(found)}

    def note(self, found: Found) -> str | None:
        """Why some of its columns are null, if there is more to say than that nothing happened."""
        return None

    @abstractmethod
    def text(self, found: Found) -> Iterator[str | Listing]:
        """All of it for people."""

    parts: tuple[str, ...]  # the names that `json` gives to what it returns

    @abstractmethod
    def json(self, found: Found) -> dict[str, Any]:
        """All of it for programs, by part; `plain` makes JSON of it."""

    def json_of(self, found: Found | None) -> dict[str, Any]:
        """`json`, or each part as None where nothing was found."""
        return dict.fromkeys(self.parts) if found is None else self.json(found)

    story_part: str | None = None  # what it is to a run's story, a field of `story.Analyses`

    def for_story(self, found: Found) -> Any:
        """What the story takes of it."""
        return found

    # What the sandbox shows besides, by name: made of a run each on its own.
    details: Mapping[str, Callable[[Run], Any]] = MappingProxyType({})

    # ---- many runs

    cells: Sequence[Cells]

    @abstractmethod
    def totals(self, rows: RunRows) -> Totals:
        """What the rows of many runs come to."""

    @abstractmethod
    def totals_text(self, totals: Totals) -> Iterator[str]:
        """The same in words, a line each."""

    def legend(self, rows: RunRows) -> str:
        """What the cells of the table mean; "": they say it."""
        return ""

    # ---- the demo, for whoever sees runs for the first time

    brief: Cells | None  # the one column that says most; None: words are enough

    def introduction(self, totals: Totals) -> Iterator[str]:
        """What the runs come to, in whole sentences."""
        yield from ()

    def story(self, row: RunRow) -> tuple[int, str]:
        """How much there is to see in a run, and in words what."""
        return 0, ""
