"""A sweep from its grid to its last shard: what is missing is computed, what is there stays."""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dynascope.engine import Report, check_memory, count_threads
from dynascope.errors import DynascopeError, expected
from dynascope.store.files import (
    OWN_TEMPORARY,
    PathLike,
    clear_partial,
    locked,
    path_of,
    writing,
)
from dynascope.store.index import SWEEP, Index, open_index
from dynascope.store.quarantine import set_aside
from dynascope.store.save import SHARD_BYTES, SHARD_RUNS
from dynascope.store.shard_write import RUNS, ShardFiles
from dynascope.store.stored import StoredRuns, load
from dynascope.sweeps.grid import Grid, parse_grid, read_grid
from dynascope.sweeps.ledger import Ledger, agree
from dynascope.sweeps.local import work_locally
from dynascope.sweeps.missing import Jobs, Known, Standing, standings
from dynascope.sweeps.packing import pack
from dynascope.sweeps.plan import Plan, expand
from dynascope.sweeps.work import Shard, SweepStatus, begin_stage, status_of
from dynascope.tape import recorded_bytes

RESULTS = ("object", "shared")


@dataclass(frozen=True)
class How:
    """How a sweep is carried out; none of it changes a run."""

    threads: int | None = None
    ray: str | None = None  # "auto", "local" or an address
    results: str = "object"  # how they come back from Ray: "object" store or "shared" folder
    shard_seconds: float | None = None
    wait: bool = False  # for another sweep of the same folder to end
    strict: bool = False  # damaged files are an error


def sweep(
    grid: "Grid | PathLike | Mapping[str, Any]",
    out: PathLike,
    *,
    threads: int | None = None,
    ray: str | None = None,
    results: str = "object",
    shard_seconds: float | None = None,
    wait: bool = False,
    strict: bool = False,
    progress: bool | Report = True,
) -> StoredRuns:
    """Train every run of a grid that the folder `out` does not have yet, and open the folder.

    `grid`: a TOML file, or its tables as a dict. Called again after a crash, or with a grid that
    contains the old one, it computes only what is missing; a grid that contradicts the folder's
    is refused. `threads`: None takes all cores. `ray`: "auto", "local" or the address of a cluster
    takes its workers instead, and `results` says how runs come back from there. Damaged shards are
    set aside and their runs computed again; with `strict` they are an error.

    >>> import dynascope as ds, tempfile
    >>> grid = {"seeds": 2, "base": {"training": {"epochs": 3}}, "grid": {"model.dim": [2, 3]}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = ds.sweep(grid, folder, progress=False)
    ...     runs.table(["dim", "seed"]).to_pydict()
    {'dim': [2, 2, 3, 3], 'seed': [0, 1, 0, 1]}
    """
    wanted = read(grid)
    how = check_how(How(threads, ray, results, shard_seconds, wait, strict))
    report = progress if callable(progress) else _bar() if progress else None
    carry_out(wanted, path_of(out), how, report)
    return load(out)


def read(grid: "Grid | PathLike | Mapping[str, Any]") -> Grid:
    """A grid from wherever it is."""
    if isinstance(grid, Grid):
        return grid
    if isinstance(grid, Mapping):
        return parse_grid(grid)
    if isinstance(grid, str | os.PathLike):
        return read_grid(grid)
    raise expected("grid", "a TOML file or its tables as a dict", grid)


def check_how(how: How) -> How:
    """Refuse what cannot be carried out before anything is."""
    seconds = how.shard_seconds
    if seconds is not None:
        number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if not number or not 0 < seconds <= 1e6:
            raise expected("shard_seconds", "a number of seconds above 0", seconds)
    if how.ray is not None and not (isinstance(how.ray, str) and how.ray.strip()):
        raise expected("ray", "auto, local or the address of a cluster", how.ray)
    if how.results not in RESULTS:
        raise expected("results", f"one of {', '.join(RESULTS)}", how.results)
    count_threads(how.threads, 1)
    return how


def carry_out(grid: Grid, folder: Path, how: How, report: Report | None) -> int:
    """Do whatever is missing; returns how many runs that were."""
    plan = expand(grid)
    if how.ray is None:
        _check_memory(plan, how)
    check_place(folder)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with locked(folder, how.wait), _workers(how, folder) as work:
        ledger = agree(folder, grid)
        status = status_of(standings(plan, Known(_whole_index(folder, how.strict))))
        for number in range(len(plan.stages)):
            _stage(number, plan, ledger, folder, how, status, report, work)
        return status.finished_runs


def _check_memory(plan: Plan, how: How) -> None:
    """Refuse runs of which not even one shard fits into memory."""
    configs = (config for stage in plan.stages for config in stage.configs)
    largest = max(configs, key=recorded_bytes)
    threads = count_threads(how.threads, plan.runs)
    shard = max(1, min(SHARD_RUNS, SHARD_BYTES // recorded_bytes(largest)))
    # A shard that is written is there as runs, as tensors and as bytes.
    check_memory(largest, 3 * min(shard, plan.runs) + threads, threads)


Work = Callable[[Sequence[Shard], Callable[[ShardFiles], None], SweepStatus, Report | None], None]


@contextlib.contextmanager
def _workers(how: How, folder: Path) -> Iterator[Work]:
    """Who makes the shards, for all stages."""
    if how.ray is None:
        yield partial(work_locally, threads=how.threads)
        return
    from dynascope.sweeps.cluster import RayWorkers

    with RayWorkers(how.ray, how.results, folder) as workers:
        yield workers.work


def check_place(folder: Path) -> None:
    """Refuse a folder that holds something else."""
    try:
        if not os.path.lexists(folder) or (folder / SWEEP).exists() or (folder / RUNS).is_dir():
            return
        strangers = [file.name for file in folder.iterdir() if file.name[0] != "."]
    except OSError as error:
        raise DynascopeError(f"{folder}: expected a folder ({error.strerror}).") from None
    if strangers:
        raise expected(str(folder), "a new folder or one of a sweep", f"one with {strangers[0]}")


def _stage(
    number: int,
    plan: Plan,
    ledger: Ledger,
    folder: Path,
    how: How,
    status: SweepStatus,
    report: Report | None,
    work: Work,
) -> None:
    known = Known(_whole_index(folder, how.strict))
    found = standings(plan, known)
    standing = found[number]
    if not standing.missing:
        return
    parents = next((each for each in found if each.stage.name == standing.stage.parent), None)
    shards = _shards(standing, parents, plan, ledger, known, how)
    begin_stage(status, shards)

    def keep(files: ShardFiles) -> None:
        files.write(folder, folder / OWN_TEMPORARY)

    work(shards, keep, status, report)


def _shards(
    standing: Standing,
    parents: Standing | None,
    plan: Plan,
    ledger: Ledger,
    known: Known,
    how: How,
) -> list[Shard]:
    stage, seeds = standing.stage, len(plan.seeds)
    before = sum(len(each.configs) for each in plan.stages[: plan.stages.index(stage)]) * seeds
    return [
        Shard(
            Jobs(items, plan, stage, parents, known),
            tuple(before + c * seeds + s for c, s in items),
            ledger.batches[-1],
        )
        for items in pack(standing.missing, stage.configs, how.shard_seconds)
    ]


def _whole_index(folder: Path, strict: bool) -> Index:
    """The store without its damaged shards, which are set aside: their runs are computed again."""
    while True:
        index = open_index(folder, strict)
        Known(index)  # reads the columns that matter here, which may prove damaged as well
        moved = set_aside(index)
        if not moved:
            clear_partial(folder, {shard.tensors.path.name for shard in index.shards})
            return index


def _bar() -> Report:
    from dynascope.progress import Bar

    return Bar()
