"""A sweep from its plan to its last shard: what is missing is computed, what is there stays."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from dynascope.analysis_row import Failure, raise_first
from dynascope.engine import check_memory, count_threads
from dynascope.errors import Description, DynascopeError, expected
from dynascope.findings.keep_analyses import complete
from dynascope.progress import Report
from dynascope.run_size import SHARD_BYTES, recorded_bytes
from dynascope.store.checking import damage_of
from dynascope.store.damage import Damage, DamagedError
from dynascope.store.files import check_folders, writing
from dynascope.store.handles import is_file, store_folder
from dynascope.store.index import Index, holds_runs, open_index
from dynascope.store.leftovers import clear_leftovers
from dynascope.store.lock import locked
from dynascope.store.names import OWN_TEMPORARY, SWEEP, is_shard_file
from dynascope.store.quarantine import set_aside
from dynascope.store.save import SHARD_RUNS
from dynascope.store.shard_read import Shard
from dynascope.store.shard_write import ShardFiles
from dynascope.sweeps.execution import Execution
from dynascope.sweeps.grid import Grid
from dynascope.sweeps.ledger import Ledger, agree
from dynascope.sweeps.local_workers import work_locally
from dynascope.sweeps.missing_runs import Known, PlannedJobs, Standing, standings, stored
from dynascope.sweeps.packing import pack
from dynascope.sweeps.plan import Plan, expand
from dynascope.sweeps.shard_making import (
    Finishing,
    MakeShards,
    ShardToMake,
    SweepStatus,
    begin_stage,
    count_rest,
)


def carry_out(
    grid: Grid,
    folder: Path,
    execution: Execution,
    report: Report | None,
    pause: Callable[[], None] = lambda: None,
) -> int:
    """Do whatever is missing; returns how many runs that were.

    `pause` is called now and then while another sweep is waited for; what it raises ends that.
    """
    plan = expand(grid)
    if execution.ray is None:
        _check_memory(plan, execution)
    check_place(folder)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    check_folders(folder)
    with locked(folder, execution.wait, pause), _workers(execution, folder) as work:
        return _Sweep(plan, agree(folder, grid), folder, execution).carry_out(work, report)


class _Sweep:
    """One sweep at work, the only one in its folder."""

    def __init__(self, plan: Plan, ledger: Ledger, folder: Path, execution: Execution) -> None:
        self._plan, self._ledger, self._folder, self._execution = plan, ledger, folder, execution
        self._status = SweepStatus(0, 0)
        self._failures: list[Failure] = []
        self._digests = {config.digest() for stage in plan.stages for config in stage.configs}

    def carry_out(self, work: MakeShards, report: Report | None) -> int:
        self._look()
        while True:
            self._train(work, report)
            if not self._analyse(report):
                break
            self._look()  # runs proved damaged when they were read: they are trained again
        all_else = "everything else is saved; run the same sweep again to retry"
        raise_first(self._failures, all_else)
        return self._status.finished_runs

    def _train(self, work: MakeShards, report: Report | None) -> None:
        number = 0
        while number < len(self._plan.stages):
            standing = self._found[number]
            if standing.missing and self._lost_parents(standing):
                number = 0  # which are computed again, first of all
                self._look()
                continue
            if standing.missing:
                shards = self._shards(standing)
                begin_stage(self._status, shards)
                work(shards, self._keep, self._status, report)
                self._look()
            number += 1

    def _analyse(self, report: Report | None) -> bool:
        """Make the analyses that runs lack: runs from before, and those of which one has failed.
        What proves damaged is put aside after that. Returns whether runs were among it."""
        kinds = self._ledger.grid.analyse
        if not kinds:
            return False
        runs = stored(self._index, self._found, self._execution.strict)
        left, self._failures = complete(runs, kinds, self._execution.threads, report, keep=True)
        unread = np.array([run for each in left for run in each.table["id"].to_pylist()], "S20")
        lost = self._damage({*self._index.shard[np.isin(self._index.ids, unread)].tolist()})
        if lost and self._execution.strict:
            raise DynascopeError(f"{lost[0].path}: damaged: {lost[0].why}.")
        self._index.damage.extend(lost)
        set_aside(self._index, self._holds_ours)
        return any(not is_file(each.path) for each in lost)

    def _damage(self, shards: Iterable[int]) -> list[Damage]:
        found = (damage_of(self._index.shards[shard]) for shard in shards)
        return [each for each in found if each]

    def _look(self) -> None:
        """See what is there, without damaged shards: they are set aside and computed again."""
        while True:
            index = open_index(self._folder, self._execution.strict)
            self._known = Known(
                index, self._execution.strict
            )  # reads columns that may prove damaged, too
            _refuse_unreadable(index)
            if not set_aside(index, self._holds_ours):
                break
        clear_leftovers(
            self._folder,
            {shard.path.name for shard in index.shards},
            {shard.tensors.path.name for shard in index.shards},
        )
        self._index, self._found = index, standings(self._plan, self._known)
        count_rest(self._status, self._found)

    def _holds_ours(self, shard: Shard) -> bool:
        """Whether a shard has runs of this sweep: others' runs could not be computed again."""
        try:
            return not self._digests.isdisjoint(shard.table(["config"])["config"].to_pylist())
        except DamagedError:
            return True

    def _parents(self, standing: Standing) -> Standing | None:
        name = standing.stage.parent
        return next((each for each in self._found if each.stage.name == name), None)

    def _lost_parents(self, standing: Standing) -> bool:
        """Whether weights to start from are damaged, which shows only when they are read."""
        parents = self._parents(standing)
        if parents is None:
            return False
        lost: dict[Path, Damage] = {}
        for at in {parents.done[standing.stage.parents[c], s] for c, s in standing.missing}:
            run = self._known.run(at)
            try:
                run.parameters()
            except DynascopeError as error:
                if self._execution.strict:
                    raise
                lost.setdefault(run.file, Damage(run.file, str(error)))
        self._index.damage.extend(lost.values())
        return bool(lost) and bool(set_aside(self._index, self._holds_ours))

    def _shards(self, standing: Standing) -> list[ShardToMake]:
        stage, plan = standing.stage, self._plan
        seeds, parents = len(plan.seeds), self._parents(standing)
        before = sum(len(each.configs) for each in plan.stages[: plan.stages.index(stage)]) * seeds
        return [
            ShardToMake(
                PlannedJobs(items, plan, stage, parents, self._known),
                tuple(before + c * seeds + s for c, s in items),
                self._ledger.batches[-1],
                Finishing(self._ledger.grid.analyse, self._ledger.grid.keep),
            )
            for items in pack(standing.missing, stage.configs, self._execution.shard_seconds)
        ]

    def _keep(self, files: ShardFiles) -> None:
        files.write(self._folder, OWN_TEMPORARY)


def _refuse_unreadable(index: Index) -> None:
    """Stop if files cannot be read, since their runs might be computed again for nothing."""
    for each in index.damage:
        if not each.certain and is_shard_file(each.path.name):
            error = DynascopeError(f"{each.path}: {each.why}; nothing was changed.")
            error.code = 1
            raise error


def _check_memory(plan: Plan, execution: Execution) -> None:
    """Refuse runs of which not even one shard fits into memory."""
    configs = (config for stage in plan.stages for config in stage.configs)
    largest = max(configs, key=recorded_bytes)
    threads = count_threads(execution.threads, plan.runs)
    shard = max(1, min(SHARD_RUNS, SHARD_BYTES // recorded_bytes(largest)))
    check_memory(largest, min(plan.runs, shard + threads), threads, saved=True)


@contextlib.contextmanager
def _workers(execution: Execution, folder: Path) -> Iterator[MakeShards]:
    """Who makes the shards, for all stages."""
    if execution.ray is None:
        yield partial(work_locally, threads=execution.threads)
        return
    from dynascope.sweeps.cluster import ray_workers

    with ray_workers(execution.ray, execution.results, folder) as work:
        yield work


def check_place(folder: Path) -> None:
    """Refuse a folder that holds something else."""
    try:
        if not os.path.lexists(folder):
            return
        with store_folder(folder) as store:
            if store.holds_file(SWEEP) or holds_runs(store):
                return
            strangers = [name for name in store.names() if name[0] != "."]
    except OSError as error:
        raise DynascopeError(f"{folder}: cannot be used as a folder ({error.strerror}).") from None
    if strangers:
        raise expected(
            str(folder), "a new folder or one of a sweep", Description(f"one with {strangers[0]}")
        )
