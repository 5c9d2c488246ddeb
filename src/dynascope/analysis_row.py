"""What analyses found of one run as a row: values, notes, and failures that are not the run's.

An analysis that cannot be made of a run (phases without kept weights) leaves its columns empty and
a note that says why: one run never stops a thousand others. Limits: only what is wrong with a run
(`DynascopeError`) becomes a note. Anything else, a bug of ours or no memory, is a failure: nothing
is said of that analysis, so that it is made again, and whoever asked for it is told in the end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dynascope.analysis_columns import columns_of
from dynascope.errors import DynascopeError


@dataclass(frozen=True)
class Row:
    """What analyses found of one run."""

    values: Mapping[str, Any]  # by column; None: nothing
    notes: Mapping[str, str | None]  # by kind that was made: why it found nothing, or not all
    failures: Sequence["Failure"] = ()  # of the kinds that were not


class Failure(NamedTuple):
    """An analysis that failed for a reason that is not the run's."""

    run: str
    kind: str
    why: Exception


class AnalysisError(DynascopeError):
    """Analyses failed."""

    code = 1  # not the user's mistake


def empty_row(kinds: Sequence[str], note: str) -> Row:
    """The row of a run that cannot even be read, and why."""
    return Row(dict.fromkeys(columns_of(kinds)), dict.fromkeys(kinds, note))


def raise_first(failures: Sequence[Failure], hint: str = "") -> None:
    """Raise the error that tells of failures, if there are any; `hint` says how to go on.

    >>> raise_first([Failure("0f3a", "circuit", MemoryError())] * 3, "the rest is kept")
    Traceback (most recent call last):
    dynascope.analysis_row.AnalysisError: run 0f3a: its circuit could not be analysed
    (MemoryError), and 2 more like it; the rest is kept.
    """
    if not failures:
        return
    run, kind, error = failures[0]
    what = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    more = f", and {len(failures) - 1} more like it" if len(failures) > 1 else ""
    told = f"run {run}: its {kind} could not be analysed ({what}){more}"
    raise AnalysisError(f"{told}; {hint}." if hint else f"{told}.") from error


def joined_notes(notes: Mapping[str, str | None]) -> str | None:
    """The notes of several kinds in one line; None if there are none.

    >>> joined_notes({"circuit": "diverged at epoch 3: analysed up to 2", "phases": None})
    'circuit: diverged at epoch 3: analysed up to 2'
    """
    kinds: dict[str, list[str]] = {}
    for kind, note in notes.items():
        if note is not None:
            kinds.setdefault(note, []).append(kind)
    return "; ".join(f"{', '.join(of)}: {note}" for note, of in kinds.items()) or None
