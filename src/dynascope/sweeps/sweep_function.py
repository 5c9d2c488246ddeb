"""`ds.sweep`: a grid and a folder, checked, then carried out."""

import os
from collections.abc import Mapping
from typing import Any

from dynascope.engine import count_threads
from dynascope.errors import expected
from dynascope.near_misses import guided
from dynascope.progress import Report, reporter
from dynascope.store.files import PathLike, path_of
from dynascope.store.stored import StoredRuns, load
from dynascope.sweeps.driver import carry_out
from dynascope.sweeps.execution import RESULTS, Execution
from dynascope.sweeps.grid import Grid, parse_grid, read_grid


@guided
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
    is refused. `analyse` in the grid names analyses to be made of every run, also of those that
    were there before. `threads`: None takes all cores. `ray`: "auto", "local" or the address of a
    cluster takes its workers instead, and `results` says how runs come back from there. Damaged
    shards are set aside and their runs computed again; with `strict` they are an error.

    >>> import dynascope as ds, tempfile
    >>> grid = {"seeds": 2, "base": {"training": {"epochs": 3}}, "grid": {"model.dim": [2, 3]}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = ds.sweep(grid, folder, progress=False)
    ...     runs.table(["dim", "seed"]).to_pydict()
    {'dim': [2, 2, 3, 3], 'seed': [0, 1, 0, 1]}
    """
    wanted = read(grid)
    execution = check_execution(Execution(threads, ray, results, shard_seconds, wait, strict))
    carry_out(wanted, path_of(out), execution, reporter(progress))
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


def check_execution(execution: Execution) -> Execution:
    """Refuse what cannot be carried out before anything is."""
    seconds = execution.shard_seconds
    if seconds is not None:
        number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if not number or not 0 < seconds <= 1e6:
            raise expected("shard_seconds", "a number of seconds above 0", seconds)
    if execution.ray is not None and not (isinstance(execution.ray, str) and execution.ray.strip()):
        raise expected("ray", "auto, local or the address of a cluster", execution.ray)
    if execution.results not in RESULTS:
        raise expected("results", f"one of {', '.join(RESULTS)}", execution.results)
    count_threads(execution.threads, 1)
    return execution
