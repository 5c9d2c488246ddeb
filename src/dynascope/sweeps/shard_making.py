"""A stage's missing runs as work: jobs in shards, a place in the order for each, and progress."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dynascope.analysis_row import Row
from dynascope.engine import Job
from dynascope.findings.make_analyses import make_row
from dynascope.progress import Report, Status
from dynascope.run import Run
from dynascope.run_cost import expected_seconds
from dynascope.store.shard_write import ShardFiles, make_shard
from dynascope.sweeps.missing_runs import PlannedJobs, Standing


@dataclass
class SweepStatus(Status):
    """Progress by expected cost: an epoch of a large model counts for more than one of a small."""

    costs: Sequence[float] = ()  # of one epoch, by job
    cost: float = 0.0  # of everything
    finished_cost: float = 0.0

    @property
    def share(self) -> float:
        return self.finished_cost / max(self.cost, 1e-12)

    def advance(self, index: int, epochs: int) -> None:
        self.finished_epochs += epochs
        self.finished_cost += epochs * self.costs[index]


Keep = Callable[[ShardFiles], None]  # what puts a shard into the store


@dataclass(frozen=True)
class ShardToMake:
    """One shard to be made: a pure function of its jobs."""

    jobs: PlannedJobs
    positions: tuple[int, ...]
    batch: int
    finishing: "Finishing"


# What makes shards, here or elsewhere, and keeps each as it is done.
MakeShards = Callable[[Sequence[ShardToMake], Keep, SweepStatus, Report | None], None]


Finished = tuple[Run, Row | None]  # and what was found of it


@dataclass(frozen=True)
class Finishing:
    """What becomes of a trained run, where it was trained: its record is still in memory."""

    analyse: tuple[str, ...] = ()  # kinds of analyses
    keep: str = "all"  # or "ends"

    def __call__(self, run: Run) -> Finished:
        """An analysis that fails costs no run: it is missing, and tried again at the end of the
        sweep, if what it needs is kept."""
        row = make_row(run, self.analyse)
        kept = run.ends_only() if self.keep == "ends" else run
        return kept, row if row.notes else None


def files_of(runs: Sequence[Finished], positions: Sequence[int], batch: int) -> ShardFiles:
    """The files of a shard's runs."""
    rows = {run.id: row for run, row in runs if row is not None}
    return make_shard([run for run, _ in runs], positions, batch, rows)


@dataclass
class Collector:
    """Runs come one by one, from several threads; whoever completes a shard makes its files."""

    shards: Sequence[ShardToMake]
    keep: Keep
    _open: dict[int, dict[int, Finished]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        sizes = [len(shard.jobs) for shard in self.shards]
        self._places = [(k, j) for k, size in enumerate(sizes) for j in range(size)]

    def add(self, index: int, run: Run) -> None:
        k, j = self._places[index]
        finished = self.shards[k].finishing(run)
        with self._lock:
            runs = self._open.setdefault(k, {})
            runs[j] = finished
            if len(runs) < len(self.shards[k].jobs):
                return
            del self._open[k]
        self._finish(k, runs)

    def flush(self) -> None:
        """Keep the finished runs of unfinished shards, when no more will come."""
        for k, runs in sorted(self._open.items()):
            self._finish(k, runs)
        self._open.clear()

    def _finish(self, k: int, runs: dict[int, Finished]) -> None:
        shard, which = self.shards[k], sorted(runs)
        positions = [shard.positions[j] for j in which]
        self.keep(files_of([runs[j] for j in which], positions, shard.batch))


class JobsOfShards(Sequence[Job]):
    """The jobs of all shards, one after another; made when asked for."""

    def __init__(self, shards: Sequence[ShardToMake]) -> None:
        self._places = [(shard.jobs, j) for shard in shards for j in range(len(shard.jobs))]

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: int) -> Job:  # type: ignore[override]
        jobs, j = self._places[index]
        return jobs[j]


def count_rest(status: SweepStatus, found: Sequence[Standing]) -> None:
    """The report is about what is finished and what is missing, of all stages, as it is now."""
    status.runs, status.epochs, status.cost = status.finished_runs, status.finished_epochs, 0.0
    for standing in found:
        for c, _ in (*standing.missing, *standing.waiting):
            config = standing.stage.configs[c]
            status.runs += 1
            status.epochs += config.training.epochs
            status.cost += expected_seconds(config)
    status.cost += status.finished_cost


def begin_stage(status: SweepStatus, shards: Sequence[ShardToMake]) -> None:
    """The report is about these shards' jobs from now on."""
    status.costs = [
        expected_seconds(config) / max(config.training.epochs, 1)
        for shard in shards
        for config in shard.jobs.configs()
    ]
