"""Analyses made: of one run as a row, of many in threads."""

from collections.abc import Callable, Sequence
from traceback import clear_frames
from typing import Any, TypeVar

from dynascope.analysis_columns import DEFAULT_KINDS, columns_of
from dynascope.analysis_row import Failure, Row
from dynascope.engine import Crew, count_threads
from dynascope.errors import DynascopeError
from dynascope.findings.kind import NOTE
from dynascope.findings.registry import kinds as kinds_by_name
from dynascope.plain import plain
from dynascope.progress import Report, Status
from dynascope.run import Run

Found = TypeVar("Found")


def make_row(run: Run, kinds: Sequence[str] = DEFAULT_KINDS) -> Row:
    """Make these analyses of a run."""
    values: dict[str, Any] = dict.fromkeys(columns_of(kinds))
    notes: dict[str, str | None] = {}
    failures = []
    for name, kind in kinds_by_name(kinds).items():
        try:
            columns, note = attempt(kind.row_of, run)
            found = plain(columns or {})
            notes[name] = both_notes(note, found.pop(NOTE, None))
            values |= found
        except Exception as error:  # of one run, and hours of others are not to be lost with it
            trace = error.__traceback__
            clear_frames(trace)  # else it, and this frame, would keep the run in memory
            failures.append(Failure(run.id, name, error.with_traceback(trace and trace.tb_next)))
    return Row(values, notes, failures)


def attempt(analysis: Callable[[Run], Found], run: Run) -> tuple[Found | None, str | None]:
    """What an analysis finds of a run, if anything, and why that is nothing, or not all."""
    try:
        return analysis(run.loaded()), _up_to(run)
    except DynascopeError as error:
        return None, str(error).removeprefix(f"run {run.id}: ").removesuffix(".")


def both_notes(*notes: str | None) -> str | None:
    """
    >>> both_notes(None, "no pairs"), both_notes("diverged at epoch 3", "no pairs")
    ('no pairs', 'diverged at epoch 3, and no pairs')
    """
    return ", and ".join(note for note in notes if note) or None


def _up_to(run: Run) -> str | None:
    if run.diverged is None:
        return None
    return f"diverged at epoch {run.diverged}: analysed up to {max(run.diverged - 1, 0)}"


def in_threads(
    work: Callable[[int], None],
    costs: Sequence[int],
    threads: int | None = None,
    report: Report | None = None,
) -> None:
    """Call `work` with the number of each run, in threads; `costs` (epochs) are for the report.

    Most of an analysis is the kernel's, which lets other threads go on meanwhile.
    """
    if len(costs):
        _Analysts(work, costs).work(count_threads(threads, len(costs)), report)


class _Analysts(Crew):
    """A crew that analyses runs."""

    def __init__(self, work: Callable[[int], None], costs: Sequence[int]) -> None:
        super().__init__(len(costs), Status(len(costs), sum(cost + 1 for cost in costs)))
        self._work, self._costs = work, costs

    def one(self, index: int) -> None:
        self._work(index)
        with self._lock:
            self.status.advance(index, self._costs[index] + 1)
            self.status.finished_runs += 1
