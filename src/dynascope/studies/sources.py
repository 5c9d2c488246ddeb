"""Where a study's numbers come from: sweeps, runs that start from weights of our own, tables.

Each source has a name, under which studies find its table; sources of one name are the same one,
so studies share what they both look at.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dynascope.findings.keep_analyses import complete
from dynascope.progress import Report
from dynascope.run import Runs
from dynascope.store.stored import StoredRuns, load
from dynascope.studies.seed_blocks import seeds_of
from dynascope.studies.table import Table
from dynascope.sweeps.driver import carry_out
from dynascope.sweeps.execution import Execution
from dynascope.sweeps.grid import Grid, parse_grid

SCALES = ("quick", "paper")
QUICK, PAPER = SCALES

Pause = Callable[[], None]


@dataclass(frozen=True)
class StudySweep:
    """Runs of a grid, as `ds.sweep` takes it, without seeds."""

    name: str
    grid: Mapping[str, Any]
    seeds: Mapping[str, int]  # how many, at each scale
    block: str = ""  # of seeds; sweeps of one block are paired by seed. "": its own name
    quick: Mapping[str, Any] = field(default_factory=dict)  # what of the grid is smaller there

    def at(self, scale: str) -> Grid:
        """The grid with its seeds. Of its runs the ends are kept: the rest can be replayed."""
        smaller = self.quick if scale == QUICK else {}
        seeds = list(seeds_of(self.block or self.name, self.seeds[scale], scale == QUICK))
        return parse_grid({"keep": "ends", **self.grid, **smaller, "seeds": seeds})

    def prepare(
        self, folder: Path, scale: str, execution: Execution, report: Report | None, pause: Pause
    ) -> int:
        """Train and analyse what is missing; how many runs that were."""
        return carry_out(self.at(scale), folder, execution, report, pause)

    def table(self, folder: Path, scale: str) -> Table:
        return Table.of_runs(load(folder), self.at(scale).analyse, self.name)


@dataclass(frozen=True)
class MadeRuns:
    """Runs that a grid cannot describe: `make` trains those of some seeds, in memory."""

    name: str
    make: Callable[[range, Execution, Report | None], Runs]
    seeds: Mapping[str, int]
    analyse: tuple[str, ...]

    def prepare(
        self, folder: Path, scale: str, execution: Execution, report: Report | None, pause: Pause
    ) -> int:
        seeds = seeds_of(self.name, self.seeds[scale], scale == QUICK)
        there = load(folder) if folder.exists() else None
        missing = there is None or not {*seeds} <= {run.seed for run in there}
        if missing:
            self.make(seeds, execution, report).save(folder)
        runs = load(folder)
        assert isinstance(runs, StoredRuns)
        complete(runs, self.analyse, execution.threads, report)
        return len(runs) if missing else 0

    def table(self, folder: Path, scale: str) -> Table:
        return Table.of_runs(load(folder), self.analyse, self.name)


@dataclass(frozen=True)
class MadeTable:
    """Numbers without runs, made anew whenever they are asked for: it takes a second or two."""

    name: str
    make: Callable[[], Table]

    def prepare(
        self, folder: Path, scale: str, execution: Execution, report: Report | None, pause: Pause
    ) -> int:
        return 0

    def table(self, folder: Path, scale: str) -> Table:
        return self.make()


Source = StudySweep | MadeRuns | MadeTable
