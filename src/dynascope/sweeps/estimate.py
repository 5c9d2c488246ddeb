"""What a sweep will take: a short timing on this machine, and sizes that follow from the record."""

import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope._kernel import CURVE_NAMES
from dynascope.config import Config
from dynascope.engine import Job, Trainers, count_threads
from dynascope.progress import Status
from dynascope.run import recorded_curves
from dynascope.run_cost import expected_seconds
from dynascope.run_size import recorded_bytes
from dynascope.store.index import open_index
from dynascope.store.names import SWEEP
from dynascope.sweeps.cost import analysing_share
from dynascope.sweeps.grid import Grid
from dynascope.sweeps.ledger import check_agreement
from dynascope.sweeps.plan import expand

Floats = npt.NDArray[np.float64]

_SAMPLES = 5  # configs that are timed
_SECONDS = 0.3  # for each of them
_CURVE_BYTES = 4.5  # a number of a curve on disk, compressed; measured on default runs
_ROW_BYTES = 600  # everything else of a run in the table


class Planned(NamedTuple):
    """A stage before it is carried out."""

    name: str
    configs: int
    runs: int
    there: int  # of the runs


@dataclass(frozen=True)
class Estimate:
    """Time and disk that some runs will take."""

    runs: int
    core_seconds: float
    threads: int
    disk: int  # bytes

    @property
    def seconds(self) -> float:
        return self.core_seconds / self.threads


@dataclass(frozen=True)
class Workload:
    """Runs that are still to be made: configs with so many each."""

    configs: Sequence[tuple[Config, int]]
    stored: Callable[[Config], Config] = lambda config: config  # what of a record is kept on disk
    analyse: tuple[str, ...] = ()  # kinds of analyses that each run gets

    @property
    def runs(self) -> int:
        return sum(count for _, count in self.configs)

    @property
    def disk(self) -> int:
        return sum(disk_bytes(self.stored(config)) * count for config, count in self.configs)


def estimate(loads: Sequence[Workload], threads: int | None) -> list[Estimate]:
    """Time and disk space for each workload; a few configs of all of them together are timed on
    this machine."""
    places = [(i, config, count) for i, load in enumerate(loads) for config, count in load.configs]
    if not places:
        return [Estimate(0, 0.0, 1, 0) for _ in loads]
    configs = [config for _, config, _ in places]
    costs = np.array([expected_seconds(config) for config in configs])
    whole = costs * [count for _, _, count in places]
    samples = _chosen(configs, costs, whole)
    rates = np.array([_rate(configs[i]) for i in samples])
    # Each config goes at the rate of the sample that is nearest to it in cost per epoch.
    per_epoch = np.log(costs / [config.training.epochs + 1 for config in configs])
    nearest = np.abs(per_epoch[:, None] - per_epoch[samples][None]).argmin(axis=1)
    seconds = np.zeros(len(loads))
    np.add.at(seconds, [i for i, _, _ in places], whole * rates[nearest])
    return [
        Estimate(
            load.runs,
            float(spent) * (1 + analysing_share(load.analyse)),
            count_threads(threads, max(1, load.runs)),
            load.disk,
        )
        for load, spent in zip(loads, seconds, strict=True)
    ]


def _chosen(configs: list[Config], costs: Floats, whole: Floats) -> list[int]:
    """Where most of the time will go: evenly spaced over the runs in the order of their cost."""
    order = np.argsort(costs / [config.training.epochs + 1 for config in configs], kind="stable")
    reached = np.cumsum(whole[order]) / whole.sum()
    wanted = (np.arange(_SAMPLES) + 0.5) / _SAMPLES
    return sorted({int(order[i]) for i in np.searchsorted(reached, wanted)})


def _rate(config: Config) -> float:
    """Seconds of a core of this machine for one of the reference, with all cores busy."""
    threads = count_threads(None, 4096)
    epochs = config.training.epochs
    per_epoch = expected_seconds(config) / (epochs + 1)
    fewer = min(epochs, max(1, int(_SECONDS / per_epoch)))
    plain: dict[str, object] = {"training.epochs": fewer, "record.steps": None}
    if config.training.schedule != "constant":
        plain["training.schedule"] = "constant"
    short = config.replace(plain)
    jobs = [Job(short, seed) for seed in range(threads)]
    began = time.perf_counter()
    Trainers(jobs, lambda index, run: None, Status(threads, threads * fewer)).work(threads, None)
    return (time.perf_counter() - began) / expected_seconds(short)


def disk_bytes(config: Config) -> int:
    """What a run takes on disk: trajectories as they are in memory, curves compressed."""
    item = 4 if config.precision == "float32" else 8
    rows = config.training.epochs + 1
    trajectory = recorded_bytes(config) - rows * len(CURVE_NAMES) * item
    curves = rows * len(recorded_curves(config, None)) * _CURVE_BYTES * item / 4
    return int(trajectory + curves + _ROW_BYTES)


def plan_estimate(
    grid: Grid, folder: Path | None, threads: int | None
) -> tuple[list[Planned], Estimate]:
    """Each stage, and what its missing runs will take."""
    stages, load = planned_work(grid, folder)
    return stages, estimate([load], threads)[0]


def planned_work(grid: Grid, folder: Path | None) -> tuple[list[Planned], Workload]:
    """Each stage, and the runs of all of them that the folder lacks."""
    from dynascope.sweeps.missing_runs import Known, standings

    plan = expand(grid)
    there = {stage.name: 0 for stage in plan.stages}
    work = [(config, len(plan.seeds)) for stage in plan.stages for config in stage.configs]
    if folder is not None and (folder / SWEEP).exists():
        check_agreement(folder, grid)
        found = standings(plan, Known(open_index(folder)))
        there |= {each.stage.name: len(each.done) for each in found}
        work = [
            (each.stage.configs[c], count)
            for each in found
            for c, count in Counter(c for c, _ in (*each.missing, *each.waiting)).items()
        ]
    seeds = len(plan.seeds)
    stages = [
        Planned(stage.name, len(stage.configs), len(stage.configs) * seeds, there[stage.name])
        for stage in plan.stages
    ]
    return stages, Workload([each for each in work if each[1]], plan.stored, grid.analyse)


def free_space(folder: Path) -> int:
    """Bytes that are free where the folder is, or will be."""
    nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    return shutil.disk_usage(nearest).free
