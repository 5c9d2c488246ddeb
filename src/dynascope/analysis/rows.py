"""Analyses as columns of a table: which there are, and one run, or many, as rows.

What an analysis finds is more than a row can hold; the columns are what one asks many runs for.
An analysis that cannot be made of a run (phases without kept weights) leaves its columns empty and
a note that says why: one run never stops a thousand others. Limits: only what is wrong with a run
(`DynascopeError`) becomes a note. Anything else, a bug of ours or no memory, is a failure: nothing
is said of that analysis, so that it is made again, and whoever asked for it is told in the end.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from traceback import clear_frames
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from dynascope.engine import Crew, Report, Status, count_threads
from dynascope.errors import DynascopeError, did_you_mean, expected

if TYPE_CHECKING:
    from dynascope.analysis.circuit import Circuit
    from dynascope.run import Run

Found = TypeVar("Found")

KINDS = ("circuit", "phases", "spikes")

# Raised by any change of what a column means or how it is measured, thresholds included: rows of
# another version do not count and are made again.
VERSIONS = {"circuit": 1, "phases": 1, "spikes": 1}

_NUMBERS, _EPOCHS = "list<double>", "list<int64>"
# The types are Arrow's, by name: this module is imported by those who do not need Arrow.
COLUMNS: dict[str, dict[str, str]] = {
    "circuit": {
        "verdict": "string",
        "verdict_margin": "double",
        "exact_accuracy": "double",
        "between_share": "double",
        "permutation_share": "double",
        "suffix_share": "double",
        "permutation_survival": "double",
        "suffix_survival": "double",
        "relevant_attention": "double",
        "clusters": "int64",
        "expected_clusters": "int64",
        "culprits": "list<int64>",
        "alias_weights": "list<int64>",
        "alias_share": "double",
        "alias_holds": "bool",
    },
    "phases": {
        "drops": _EPOCHS,
        "drops_agree": "bool",
        "clustered_epoch": "int64",
        "fitted_epoch": "int64",
        "lead": "int64",
    },
    "spikes": {
        "spikes": "int64",
        "spike_epochs": _EPOCHS,
        "spike_rises": _NUMBERS,
        "spike_causes": "list<string>",
    },
}


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

    code = 1  # nobody's input is wrong


def raise_first(failures: Sequence[Failure], hint: str = "") -> None:
    """Raise the error that tells of failures, if there are any; `hint` says how to go on.

    >>> raise_first([Failure("0f3a", "circuit", MemoryError())] * 3, "the rest is kept")
    Traceback (most recent call last):
    dynascope.analysis.rows.AnalysisError: run 0f3a: its circuit could not be analysed
    (MemoryError), and 2 more such; the rest is kept.
    """
    if not failures:
        return
    run, kind, error = failures[0]
    what = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    more = f", and {len(failures) - 1} more such" if len(failures) > 1 else ""
    told = f"run {run}: its {kind} could not be analysed ({what}){more}"
    raise AnalysisError(f"{told}; {hint}." if hint else f"{told}.") from error


def check_kinds(kinds: object, field: str = "kinds") -> tuple[str, ...]:
    """The kinds that were asked for, each once, in the order of `KINDS`.

    >>> check_kinds(["spikes", "circuit"]), check_kinds("phases")
    (('circuit', 'spikes'), ('phases',))
    >>> check_kinds("phase")
    Traceback (most recent call last):
    dynascope.errors.DynascopeError: kinds: expected circuit, phases or spikes, but got 'phase';
    did you mean 'phases'?
    """
    what = f"{', '.join(KINDS[:-1])} or {KINDS[-1]}"
    if not isinstance(kinds, str | Iterable) or isinstance(kinds, bytes | Mapping):
        raise expected(field, f"{what}, or a list of them", kinds)
    wanted = [kinds] if isinstance(kinds, str) else list(kinds)
    for kind in wanted:
        if kind not in KINDS:
            raise expected(field, what, kind, did_you_mean(kind, KINDS))
    return tuple(kind for kind in KINDS if kind in wanted)


def make(run: "Run", kinds: Sequence[str] = KINDS) -> Row:
    """Make these analyses of a run."""
    values: dict[str, Any] = {}
    notes: dict[str, str | None] = {}
    failures = []
    for kind in kinds:
        values |= dict.fromkeys(COLUMNS[kind])
        try:
            found, note = attempt(_MAKERS[kind], run)
            values |= plain(found or {})
            notes[kind] = note
        except Exception as error:  # of one run, and hours of others are not to be lost with it
            trace = error.__traceback__
            clear_frames(trace)  # else it, and this frame, would keep the run in memory
            failures.append(Failure(run.id, kind, error.with_traceback(trace and trace.tb_next)))
    return Row(values, notes, failures)


def attempt(analysis: Callable[["Run"], Found], run: "Run") -> tuple[Found | None, str | None]:
    """What an analysis finds of a run, if anything, and why that is nothing, or not all."""
    try:
        return analysis(run.loaded()), _up_to(run)
    except DynascopeError as error:
        return None, str(error).removeprefix(f"run {run.id}: ").removesuffix(".")


def empty(kinds: Sequence[str], note: str) -> Row:
    """The row of a run that cannot even be read, and why."""
    columns = [name for kind in kinds for name in COLUMNS[kind]]
    return Row(dict.fromkeys(columns), dict.fromkeys(kinds, note))


def analyse(run: "Run", kinds: Sequence[str] = KINDS) -> dict[str, Any]:
    """Analyses of one run as one flat row: its id, its seed, their columns and `analysis_note`."""
    row = make(run, check_kinds(kinds))
    raise_first(row.failures)
    return {"id": run.id, "seed": run.seed, **row.values, "analysis_note": joined(row.notes)}


def joined(notes: Mapping[str, str | None]) -> str | None:
    """The notes of several kinds in one line; None if there are none.

    >>> joined({"circuit": "diverged at epoch 3: analysed up to 2", "phases": None})
    'circuit: diverged at epoch 3: analysed up to 2'
    """
    kinds: dict[str, list[str]] = {}
    for kind, note in notes.items():
        if note is not None:
            kinds.setdefault(note, []).append(kind)
    return "; ".join(f"{', '.join(each)}: {note}" for note, each in kinds.items()) or None


def _up_to(run: "Run") -> str | None:
    if run.diverged is None:
        return None
    return f"diverged at epoch {run.diverged}: analysed up to {max(run.diverged - 1, 0)}"


def plain(value: Any) -> Any:
    """Whatever an analysis returns, as Arrow and JSON take it: a number that is none is nothing.

    >>> plain({"a": np.array([1.0, np.nan]), "b": (np.int64(3), None)})
    {'a': [1.0, None], 'b': [3, None]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if hasattr(value, "_asdict"):  # a named tuple
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# Each kind from its analysis. These are imported when they are used: SciPy takes its time.


def circuit_of(run: "Run", epoch: int = -1) -> "Circuit":
    """The circuit of a run after an epoch (-1: the last one that is sound)."""
    from dynascope.analysis.circuit import circuit
    from dynascope.analysis.follow import check_symmetries, last_sound_epoch

    check_symmetries(run)
    at = last_sound_epoch(run) if epoch == -1 else epoch
    return circuit(run.parameters(at), run.config)


def _circuit(run: "Run") -> dict[str, Any]:
    from dynascope.analysis.alias import alias
    from dynascope.analysis.follow import last_sound_epoch

    found = circuit_of(run)
    shares, other = found.embedding, alias(run.parameters(last_sound_epoch(run)), run.config)
    return {
        "verdict": found.verdict.name,
        "verdict_margin": found.verdict.margin,
        "exact_accuracy": found.accuracy,
        "between_share": shares and shares.between,
        "permutation_share": shares and shares.permutation,
        "suffix_share": shares and shares.suffix,
        "permutation_survival": found.permutation_survival,
        "suffix_survival": found.suffix_survival,
        "relevant_attention": found.relevant_attention,
        "clusters": found.clusters,
        "expected_clusters": found.expected_clusters,
        "culprits": found.verdict.culprits,
        "alias_weights": other and other.weights,
        "alias_share": other and other.share,
        "alias_holds": other and other.holds,
    }


def _phases(run: "Run") -> dict[str, Any]:
    from dynascope.analysis.phases import phases
    from dynascope.analysis.thresholds import DROP_LEAST

    found = phases(run)
    return {
        "drops": [drop.epoch for drop in found.by_slope],
        "drops_agree": found.agree if found.measured_to + 1 >= DROP_LEAST else None,
        "clustered_epoch": found.clustered_epoch,
        "fitted_epoch": found.fitted_epoch,
        "lead": found.lead,
    }


def _spikes(run: "Run") -> dict[str, Any]:
    from dynascope.analysis.spikes import spikes

    found = spikes(run).spikes
    causes = [each.cause.verdict if each.cause else "unexplained" for each in found]
    return {
        "spikes": len(found),
        "spike_epochs": [each.peak for each in found],
        "spike_rises": [each.rise for each in found],
        "spike_causes": causes,
    }


_MAKERS: dict[str, Callable[["Run"], dict[str, Any]]] = {
    "circuit": _circuit,
    "phases": _phases,
    "spikes": _spikes,
}


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
