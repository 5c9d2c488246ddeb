"""Analyses as columns of a table: which there are, and one run, or many, as rows.

What an analysis finds is more than a row can hold; the columns are what one asks many runs for.
An analysis that cannot be made of a run (phases without kept weights) leaves its columns empty and
a note that says why: one run never stops a thousand others. Limits: only what is wrong with a run
(`DynascopeError`) becomes a note; anything else is a bug of ours and goes up.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dynascope.engine import Crew, Report, Status, count_threads
from dynascope.errors import DynascopeError, did_you_mean, expected

if TYPE_CHECKING:
    from dynascope.analysis.circuit import Circuit
    from dynascope.run import Run

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
    for kind in kinds:
        values |= dict.fromkeys(COLUMNS[kind])
        try:
            found = _MAKERS[kind](run.loaded())
        except DynascopeError as error:
            notes[kind] = str(error).removeprefix(f"run {run.id}: ").removesuffix(".")
            continue
        values |= {name: _plain(value) for name, value in found.items()}
        notes[kind] = _up_to(run)
    return Row(values, notes)


def empty(kinds: Sequence[str], note: str) -> Row:
    """The row of a run that cannot even be read, and why."""
    columns = [name for kind in kinds for name in COLUMNS[kind]]
    return Row(dict.fromkeys(columns), dict.fromkeys(kinds, note))


def analyse(run: "Run", kinds: Sequence[str] = KINDS) -> dict[str, Any]:
    """Analyses of one run as one flat row: its id, its seed, their columns and `analysis_note`."""
    row = make(run, check_kinds(kinds))
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


def _plain(value: Any) -> Any:
    """A value as Arrow and JSON take it; a number that is none is nothing."""
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


# Each kind from its analysis. These are imported when they are used: SciPy takes its time.


def circuit_of(run: "Run", epoch: int = -1) -> "Circuit":
    """The circuit of a run after an epoch (-1: the last one that is sound)."""
    from dynascope.analysis.circuit import circuit
    from dynascope.analysis.follow import last_sound_epoch

    if run.data is not None:
        raise DynascopeError("data: expected the task's own, but got others, which have no circuit")
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

    found = phases(run)
    return {
        "drops": [drop.epoch for drop in found.by_slope],
        "drops_agree": found.agree,
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
    """A crew that analyses runs instead of training them; how it stops and reports is the same."""

    def __init__(self, work: Callable[[int], None], costs: Sequence[int]) -> None:
        status = Status(len(costs), sum(cost + 1 for cost in costs))
        super().__init__([None] * len(costs), _nothing, status)  # type: ignore[list-item]
        self._work, self._costs = work, costs

    def _one(self, index: int) -> None:
        self._work(index)
        with self._lock:
            self.status.advance(index, self._costs[index] + 1)
            self.status.finished_runs += 1


def _nothing(index: int, run: "Run") -> None:
    """Nothing was trained."""
