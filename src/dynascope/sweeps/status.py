"""How a folder's sweep stands; read-only, also while it is at work."""

import contextlib
from dataclasses import dataclass
from pathlib import Path

from dynascope.config import column_name
from dynascope.errors import DynascopeError
from dynascope.findings.keep_analyses import lacking
from dynascope.run_cost import expected_seconds
from dynascope.store.damage import Damage
from dynascope.store.files import PathLike, path_of
from dynascope.store.handles import store_folder
from dynascope.store.index import open_index
from dynascope.store.lock import holder
from dynascope.store.names import FOLDERS, SWEEP
from dynascope.sweeps.grid import Grid
from dynascope.sweeps.ledger import read_ledger
from dynascope.sweeps.missing_runs import Known, Standing, standings, stored
from dynascope.sweeps.plan import expand


@dataclass(frozen=True)
class StageStatus:
    """The progress of one stage."""

    name: str
    runs: int
    done: int
    impossible: int  # their parents diverged


@dataclass(frozen=True)
class Overview:
    """The progress of a sweep."""

    folder: Path
    stages: tuple[StageStatus, ...]
    deleted: int
    damage: tuple[Damage, ...]
    holder: str | None  # who is at work on it
    disk: int  # bytes
    core_seconds: float | None  # that the rest will take, judged by what is done
    varying: tuple[str, ...]  # the options that the grid combines, as columns
    analyse: tuple[str, ...] = ()  # the analyses that the grid asks for
    lacking: int = 0  # runs that are there without all of them

    @property
    def runs(self) -> int:
        return sum(stage.runs for stage in self.stages)

    @property
    def done(self) -> int:
        return sum(stage.done for stage in self.stages)

    @property
    def share(self) -> float:
        return self.done / max(self.runs, 1)

    @property
    def left(self) -> int:
        return self.runs - self.done - sum(stage.impossible for stage in self.stages)


def overview(folder: PathLike) -> Overview:
    """Read the progress of a folder's sweep."""
    path = path_of(folder)
    ledger = read_ledger(path)
    if ledger is None:
        what = f"it has no {SWEEP}" if path.is_dir() else "there is no such folder"
        raise DynascopeError(f"{path}: expected the folder of a sweep, but {what}.")
    at_work = holder(path)  # before the runs: a sweep that ends meanwhile was at work
    index = open_index(path)
    known = Known(index)
    found = standings(expand(ledger.grid), known)
    runs, analyse = stored(index, found), ledger.grid.analyse
    return Overview(
        path,
        tuple(_stage(each) for each in found),
        int(index.hidden.sum()),
        tuple(index.damage),
        at_work,
        _size(path),
        _left(found, known),
        _varying(ledger.grid),
        analyse,
        len(lacking(runs, analyse)) if analyse else 0,
    )


def _stage(standing: Standing) -> StageStatus:
    done, impossible = len(standing.done), len(standing.impossible)
    runs = done + impossible + len(standing.missing) + len(standing.waiting)
    return StageStatus(standing.stage.name, runs, done, impossible)


def _left(found: list[Standing], known: Known) -> float | None:
    """Seconds of computing still to come: expected, times what the done runs took of theirs."""
    expected_done = took = left = 0.0
    for standing in found:
        costs = [expected_seconds(config) for config in standing.stage.configs]
        expected_done += sum(costs[c] for c, _ in standing.done)
        took += sum(known.seconds(at) for at in standing.done.values())
        left += sum(costs[c] for c, _ in (*standing.missing, *standing.waiting))
    return left * took / expected_done if expected_done else None


def _varying(grid: Grid) -> tuple[str, ...]:
    names = [name for stage in grid.stages for factor in stage.factors for name in factor.options]
    names += [name for stage in grid.stages[1:] for name in stage.changes]
    return tuple(dict.fromkeys(column_name(name) for name in names))


def _size(path: Path) -> int:
    """Bytes of its files, in the making or done."""
    total = 0
    for place in FOLDERS:
        with contextlib.suppress(OSError), store_folder(path, place) as folder:
            sizes = (folder.stat(name) for name in folder.names())
            total += sum(about.st_size for about in sizes if about)  # one may go while we look
    return total
