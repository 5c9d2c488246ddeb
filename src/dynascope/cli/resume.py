"""What a folder holds already of the runs that `dynascope train` was asked for.

The same command goes on where it was stopped: what is finished is kept, what was under way is
trained from its last epoch, the rest from the beginning. In the end the folder has the runs, ids
and bits that it would have had in one go. Nothing in it is written again: what was under way stays
in its file and is hidden by a mark once there is more of it.

A folder with anything else in it is refused, in a sentence that says what differs.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dynascope.config import OPTIONS, Config, same_value
from dynascope.data import own_digest
from dynascope.engine import Job
from dynascope.errors import DynascopeError
from dynascope.run import Run, Runs, run_id, spelt_options
from dynascope.stopped import STOPPED

if TYPE_CHECKING:
    from dynascope.store.stored import StoredRun, StoredRuns

_NAMED = 3  # options that a sentence about a difference can list


@dataclass(frozen=True)
class Destination:
    """A folder for the runs of some jobs, and what it has of them."""

    path: Path
    jobs: Sequence[Job]  # all of the command's
    finished: frozenset[str] = frozenset()  # ids; some may be deleted
    left: tuple[int, ...] = ()  # of the jobs, those that are not finished
    begun: Mapping[int, Sequence[Run]] | None = None  # parts of these, shortest first; None: new

    @property
    def left_jobs(self) -> list[Job]:
        """What there is to do, each from where it was stopped."""
        return [_going_on(self.jobs[i], (self.begun or {}).get(i, ())) for i in self.left]

    def save(self, runs: Runs) -> None:
        """Keep runs, finished ones or parts of them, and hide the parts that they outgrew."""
        from dynascope.store.save import save_in_order

        places = {job.seed: i for i, job in enumerate(self.jobs)}
        positions = [places[run.seed] for run in runs]
        save_in_order(runs, positions, self.path, new=self.begun is None)
        self._hide_outgrown(dict(zip(positions, runs, strict=True)))

    def _hide_outgrown(self, saved: Mapping[int, Run]) -> None:
        parts = [(i, part) for i in saved for part in (self.begun or {}).get(i, ())]
        outgrown = {part.id for i, part in parts if part.id not in (saved[i].id, self.jobs[i].id)}
        # Where the schedule ends with the run, the whole has the id of its parts.
        whole = {part.id for i, part in parts if part.id == self.jobs[i].id == saved[i].id}
        whole &= {run.id for run in saved.values() if run.epochs == run.config.training.epochs}
        if outgrown:
            _chosen(self.path, outgrown).delete()
        if whole:
            _chosen(self.path, whole).untag(STOPPED)


def _chosen(folder: Path, ids: Iterable[str]) -> "StoredRuns":
    from dynascope.store.index import open_index
    from dynascope.store.stored import StoredRuns

    index = open_index(folder)
    return StoredRuns(index, np.flatnonzero(np.isin(index.ids, np.array([*ids], dtype="S20"))))


def _going_on(job: Job, parts: Sequence[Run]) -> Job:
    furthest = parts[-1] if parts else None
    if furthest is None or (job.begun and job.begun.epochs >= furthest.epochs):
        return job
    return replace(job, begun=furthest)


def destination(folder: str, jobs: Sequence[Job]) -> Destination:
    """The folder that was asked for, if runs can be put there: a new one, or one of these jobs."""
    from dynascope.store.files import check_new, path_of

    path = Path(os.path.abspath(path_of(folder)))
    if not _has_runs(path):
        return Destination(check_new(folder), jobs, left=tuple(range(len(jobs))))
    return _among(folder, path, jobs)


def _has_runs(path: Path) -> bool:
    """Whether it is a store, other than a sweep's, and not only a folder with one called `runs`."""
    from dynascope.store.handles import store_folder
    from dynascope.store.index import holds_runs
    from dynascope.store.names import SWEEP

    try:
        with store_folder(path) as store:
            return store.stat(SWEEP) is None and holds_runs(store)
    except OSError:  # not there, or it cannot be looked at: `check_new` says which
        return False


def _among(folder: str, path: Path, jobs: Sequence[Job]) -> Destination:
    from dynascope.store.index import open_index
    from dynascope.store.stored import StoredRuns
    from dynascope.store.writable import check_writable

    index = open_index(path)
    there, deleted = (StoredRuns(index, np.flatnonzero(index.hidden == is_)) for is_ in (0, 1))
    places = {run: place for place, run in enumerate(there.ids)}
    by_id = {job.id: i for i, job in enumerate(jobs)}
    by_seed = {job.seed: i for i, job in enumerate(jobs)}
    record = _record(jobs[0].config)
    finished, begun = set(deleted.ids) & by_id.keys(), dict[int, list[Run]]()
    for row in _rows(there):
        run = there[places[row["id"]]]
        i = by_id.get(row["id"], by_seed.get(row["seed"], -1))
        alike = i >= 0 and same_value(row["record"], record)
        if alike and row["id"] in by_id and row["last_epoch"] == jobs[i].config.training.epochs:
            finished.add(row["id"])
        elif alike and _is_part(run, row, jobs[i]):
            begun.setdefault(i, []).append(run)
        else:
            raise _other(folder, run, jobs[i] if i >= 0 else None)
    check_writable(path, folder)
    left = tuple(i for i, job in enumerate(jobs) if job.id not in finished)
    parts = {i: sorted(begun[i], key=lambda run: run.epochs) for i in left if i in begun}
    return Destination(path, jobs, frozenset(finished), left, parts)


def _rows(runs: "StoredRuns") -> Iterator[dict[str, Any]]:
    from dynascope.store.schema import CONFIG

    record = {name: field.name for name, field in CONFIG.items() if name.startswith("record.")}
    for row in runs.table(["id", "seed", "last_epoch", "tags", *record.values()]).to_pylist():
        yield row | {"record": {name: row[column] for name, column in record.items()}}


def _record(config: Config) -> dict[str, Any]:
    return {name: value for name, value in _options(config) if name.startswith("record.")}


def _options(config: Config) -> Iterator[tuple[str, Any]]:
    tables = config.to_dict()
    for name in OPTIONS:
        section, _, option = name.rpartition(".")
        value = (tables[section] if section else tables)[option]
        # A store has the positions themselves, also where their number was given.
        yield name, list(config.task.positions) if name == "task.relevant" else value


def _is_part(run: "StoredRun", row: Mapping[str, Any], job: Job) -> bool:
    """Whether a run that was stopped is the beginning of a job's."""
    if STOPPED not in row["tags"] or not 0 < run.epochs < job.config.training.epochs:
        return False
    if run.id == job.id:
        return True
    try:
        config = job.config.replace({"training.epochs": run.epochs})
    except DynascopeError:  # record.steps lie further on
        return False
    return run_id(config, job.seed, job.origin, own_digest(job.data)) == run.id


def _other(folder: str, run: "StoredRun", job: Job | None) -> DynascopeError:
    """The error for a run that the command does not make."""
    if job is None:
        how = f"it holds a run of seed {run.seed}, which this command does not train"
    else:
        how = f"its run of seed {run.seed} {_difference(run, job)}"
    return DynascopeError(
        f"{folder}: expected a new or empty folder, or the runs of this very command, but {how}; "
        "choose another folder."
    )


def _difference(run: "StoredRun", job: Job) -> str:
    theirs, ours = dict(_options(run.config)), dict(_options(job.config))
    other = [name for name in theirs if not same_value(theirs[name], ours[name])]
    if STOPPED in run.tags and run.epochs <= job.config.training.epochs:
        other = [name for name in other if name != "training.epochs"]  # it would go on
    if other:
        there = (spelt_options({name: theirs[name]}) for name in other[:_NAMED])
        here = (json.dumps(ours[name]) for name in other)
        told = ", ".join(f"{a} (this command: {b})" for a, b in zip(there, here, strict=False))
        more = len(other) - _NAMED
        rest = f" and {more} more option{'s that differ' if more > 1 else ' that differs'}"
        return f"has {told}{rest if more > 0 else ''}"
    if run.origin != job.origin:
        return f"starts {_spelt_origin(run)}, not {_spelt_origin(job)}"
    if own_digest(run.data) != own_digest(job.data):
        return "was trained on other data"
    return "is not what this command trains"


def _spelt_origin(of: "StoredRun | Job") -> str:
    origin = of.origin
    if origin is None:
        return "from the weights of its seed"
    if origin.parent is None:
        return f"from weights {origin.start}"
    return f"from run {origin.parent} at epoch {origin.epoch}"
