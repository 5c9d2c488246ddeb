"""Where a study's numbers come from: sweeps, runs that start from weights of our own, tables.

Each source has a name, under which studies find its table; sources of one name are the same one,
so studies share what they both look at.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dynascope.findings.keep_analyses import analyse
from dynascope.progress import Report
from dynascope.run import Runs
from dynascope.store.stored import load
from dynascope.studies.seed_blocks import seeds_of
from dynascope.studies.table import Table
from dynascope.sweeps.driver import carry_out
from dynascope.sweeps.execution import Execution
from dynascope.sweeps.grid import Grid, parse_grid
from dynascope.sweeps.plan import expand

SCALES = ("quick", "paper")
QUICK, PAPER = SCALES

ENDS_ONLY = {"record.weights_every": 0, "record.state_every": 0}
"""What a sweep records whose analyses look at the ends of runs, or at curves."""

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
        """Of the runs of the grid: a folder may hold others, of a larger one."""
        grid = self.at(scale)
        planned = [config.digest() for stage in expand(grid).stages for config in stage.configs]
        found = Table.of_runs(load(folder), grid.analyse, self.name)
        ours = np.isin(found["seed"], grid.seeds) & np.isin(found["config"].astype(str), planned)
        return found.where(ours)


@dataclass(frozen=True)
class MadeRuns:
    """Runs that a grid cannot describe; `make` trains those of some seeds, within seconds."""

    name: str
    make: Callable[[Sequence[int], Execution, Report | None], Runs]
    seeds: Mapping[str, int]
    analyse: tuple[str, ...]
    block: str

    def prepare(
        self, folder: Path, scale: str, execution: Execution, report: Report | None, pause: Pause
    ) -> int:
        there = {run.seed for run in load(folder)} if folder.exists() else set()
        missing = [seed for seed in self._seeds(scale) if seed not in there]
        if missing:
            self.make(missing, execution, report).save(folder, append=True)
        analyse(load(folder), self.analyse, execution.threads, report)
        return len(missing)

    def table(self, folder: Path, scale: str) -> Table:
        found = Table.of_runs(load(folder), self.analyse, self.name)
        return found.where(np.isin(found["seed"], self._seeds(scale)))

    def _seeds(self, scale: str) -> range:
        return seeds_of(self.block, self.seeds[scale], scale == QUICK)


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


StudySource = StudySweep | MadeRuns | MadeTable
