"""Training many runs at once: one run per thread, the GIL released while the kernel computes."""

import contextlib
import itertools
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dynascope.config import Config
from dynascope.config_input import ConfigLike, check_config
from dynascope.data import Data, check_seed, fitted
from dynascope.errors import Description, DynascopeError, expected, none_given
from dynascope.near_misses import guided
from dynascope.parameters import Parameters
from dynascope.progress import Report, Status, reporter
from dynascope.run import Origin, Run, Runs
from dynascope.run_size import recorded_bytes, weight_count
from dynascope.seeds import MAX_RUNS
from dynascope.trainer import Trainer, fingerprint

Start = Parameters | Run | Runs | dict[int, Parameters]

_SLICE = 0.05  # seconds that a thread computes between looks at the stop sign


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during `train`; `.runs` holds the runs that were finished by then."""

    def __init__(self, runs: Runs) -> None:
        super().__init__(f"stopped; {len(runs)} runs were finished and are in .runs")
        self.runs = runs


@dataclass(frozen=True)
class Job:
    """One run to be trained."""

    config: Config
    seed: int
    data: Data | None = None
    start: Parameters | None = None
    origin: Origin | None = None

    def trainer(self) -> Trainer:
        return Trainer(self.config, self.seed, data=self.data, start=self.start, origin=self.origin)


def train_job(job: Job) -> Run:
    """Train one run in this thread."""
    trainer = job.trainer()
    trainer.advance(job.config.training.epochs)
    return trainer.run


@guided
def train(
    config: ConfigLike = None,
    seeds: int | Iterable[int] = 1,
    *,
    threads: int | None = None,
    progress: bool | Report = True,
    data: Data | None = None,
    start: Start | None = None,
) -> Runs:
    """Train one run per seed; the same bits whatever the number of threads.

    `seeds`: how many (0, 1, 2, ...) or which. `threads`: None takes all cores. `progress`: True
    shows a bar when it takes longer than two seconds; a function is called with the `Status`.
    `data`: your own task. `start`: weights to fine-tune from: `Parameters` or a `Run` for all
    seeds, or `Runs` or a dict with one for each seed.

    Ctrl-C raises `Interrupted`, a KeyboardInterrupt with the finished runs in `.runs`. Any other
    error during training (out of memory) has them too.

    >>> runs = train(Config().replace({"training.epochs": 2}), seeds=[3, 8], progress=False)
    >>> [run.seed for run in runs]
    [3, 8]
    """
    config = fitted(check_config(config), data)
    wanted = _seeds(seeds)
    threads = count_threads(threads, len(wanted))
    starts = _starts(start, wanted)
    check_memory(config, len(wanted), threads)
    jobs = [
        Job(config, seed, data, *(begin or (None, None)))
        for seed, begin in zip(wanted, starts, strict=True)
    ]
    status = Status(len(wanted), len(wanted) * config.training.epochs)
    results: list[Run | None] = [None] * len(jobs)

    def finished() -> Runs:
        return Runs(run for run in results if run is not None)

    try:
        Trainers(jobs, results.__setitem__, status).work(threads, reporter(progress))
    except KeyboardInterrupt:
        raise Interrupted(finished()) from None
    except BaseException as error:
        vars(error)["runs"] = finished()
        raise
    return finished()


class Crew:
    """Threads that take the next piece of work until none is left; `one` says what that is."""

    def __init__(self, count: int, status: Status) -> None:
        self.status = status
        self._next = iter(range(count))
        self._lock = threading.Lock()
        self._stop, self._done = threading.Event(), threading.Event()
        self._working = 0
        self._error: BaseException | None = None

    def work(self, threads: int, report: Report | None) -> None:
        """Start the threads and wait for them; whatever happens, they have stopped when it ends.

        Waiting is on an event of ours: Thread.join, interrupted by Ctrl-C, may take a thread that
        still computes for a finished one.
        """
        self._working = 1  # the caller, until all are started
        error: BaseException | None = None
        try:
            try:
                for _ in range(threads):
                    self._start()
            finally:
                self._left()
            while not self._done.wait(0.1):
                if report:
                    report(self.status)
        except BaseException as raised:
            error = raised
        self._stop.set()
        while not self._done.is_set():
            with contextlib.suppress(KeyboardInterrupt):  # more Ctrl-Cs do not lose finished runs
                self._done.wait()
        if report and hasattr(report, "close"):
            report.close()
        error = error or self._error
        if error is not None:
            raise error

    def _start(self) -> None:
        with self._lock:
            self._working += 1
        try:
            threading.Thread(target=self._worker, daemon=True).start()
        except BaseException as error:
            self._left()
            if isinstance(error, RuntimeError):  # the system's limit
                raise MemoryError("cannot start more threads") from None
            raise

    def _left(self) -> None:
        with self._lock:
            self._working -= 1
            if not self._working:
                self._done.set()

    def _worker(self) -> None:
        try:
            while not self._stop.is_set():
                with self._lock:
                    index = next(self._next, None)
                if index is None:
                    return
                self.one(index)
        except BaseException as error:  # given to the calling thread
            self._error = error
            self._stop.set()
        finally:
            self._left()

    def one(self, index: int) -> None:
        """Do one piece of work, in one of the threads; it tells the status."""
        raise NotImplementedError


class Trainers(Crew):
    """A crew that trains.

    `done` is called with a job's index and its run, in the thread that trained it. Jobs are asked
    for one by one, when a thread is free for them.
    """

    def __init__(
        self, jobs: Sequence[Job], done: Callable[[int, Run], None], status: Status
    ) -> None:
        super().__init__(len(jobs), status)
        self._jobs, self._keep = jobs, done

    def one(self, index: int) -> None:
        run = self._trained(index, self._jobs[index])
        if run is not None:
            self._keep(index, run)

    def _trained(self, index: int, job: Job) -> Run | None:
        """The run; None when it was told to stop."""
        trainer = job.trainer()
        left, slice_ = job.config.training.epochs, 1
        while left > 0:
            if self._stop.is_set():
                return None
            began = time.perf_counter()
            # A run that diverged is not trained further, only filled up to its planned length.
            done = min(slice_, left) if trainer.diverged is None else left
            trainer.advance(job.config.training.epochs - trainer.epoch if done == left else done)
            left -= done
            with self._lock:
                self.status.advance(index, done)
            took = time.perf_counter() - began
            slice_ = max(1, min(4 * slice_, int(done * _SLICE / max(took, 1e-9))))
        with self._lock:
            self.status.finished_runs += 1
        return trainer.run


def _seeds(seeds: int | Iterable[int]) -> list[int]:
    if isinstance(seeds, int | np.integer) and not isinstance(seeds, bool):
        if not 1 <= seeds <= MAX_RUNS:
            raise expected("seeds", f"from 1 to {MAX_RUNS} runs", seeds)
        return list(range(int(seeds)))
    if isinstance(seeds, str | bytes | bool) or not isinstance(seeds, Iterable):
        raise expected("seeds", "a number of runs or a list of seeds", seeds)
    wanted = [check_seed(seed) for seed in itertools.islice(seeds, MAX_RUNS + 1)]
    if len(wanted) > MAX_RUNS:
        raise expected("seeds", f"at most {MAX_RUNS} runs", Description("more"))
    if not wanted:
        raise none_given("seeds", "seed")
    if len(set(wanted)) < len(wanted):
        twice = Counter(wanted).most_common(1)[0][0]
        raise expected("seeds", "each seed once", Description(f"{twice} twice"))
    return wanted


def count_threads(threads: int | None, runs: int) -> int:
    if threads is None:
        threads = (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 4096:
        raise expected("threads", "a whole number from 1 to 4096", threads)
    return min(threads, runs)


def _starts(start: Start | None, seeds: list[int]) -> list[tuple[Parameters, Origin | None] | None]:
    if start is None:
        return [None] * len(seeds)
    if isinstance(start, Parameters):
        return [(start, None)] * len(seeds)
    if isinstance(start, Run):
        return [_last(start)] * len(seeds)
    if isinstance(start, Runs):
        places = {run: at for at, run in reversed(list(enumerate(start.seeds)))}
        return [
            _last(start[places[seed]] if seed in places else start.by_seed(seed)) for seed in seeds
        ]
    if isinstance(start, dict):
        missing = [seed for seed in seeds if seed not in start]
        if missing:
            raise expected(
                "start", "weights for every seed", Description(f"none for seed {missing[0]}")
            )
        return [(start[seed], None) for seed in seeds]
    raise expected(
        "start",
        "ds.Parameters, a ds.Run, ds.Runs or a dict by seed",
        Description(type(start).__name__),
    )


def _last(run: Run) -> tuple[Parameters, Origin]:
    return fine_tuned_from(run, -1)


def fine_tuned_from(run: Run, epoch: int) -> tuple[Parameters, Origin]:
    """Weights of a run at an epoch, and the origin that a run fine-tuned from them has."""
    if run.diverged is not None and epoch in (-1, run.diverged):
        raise DynascopeError(
            f"start: expected a run with finite weights, but run {run.id} diverged at epoch "
            f"{run.diverged}; choose an earlier epoch."
        )
    weights = run.parameters(epoch)
    at = run.epochs if epoch == -1 else epoch
    return weights, Origin("fine-tune", fingerprint(weights), run.id, at)


def check_memory(config: Config, runs: int, threads: int = 1) -> None:
    """Refuse a job that cannot fit in memory, before it is killed after hours of work."""
    needed = runs * recorded_bytes(config) + threads * _working_bytes(config)
    available = _available_memory()
    if available is not None and needed > 0.9 * available:
        many = "1 run" if runs == 1 else f"{runs} runs"
        raise DynascopeError(
            f"memory: {many} with these record options would take {needed / 1e9:.1f} GB, but only "
            f"{available / 1e9:.1f} GB are available; raise record.weights_every or train fewer "
            "runs at a time."
        )


def _working_bytes(config: Config) -> int:
    """Memory of one run in the making, besides its record: data sets, model, moments; generous."""
    task = config.task
    sequences = (task.train_size + task.test_size) * (2 * task.length + 16) * 4
    per_entry = 8 * config.model.dim * task.length * task.vocab
    return sequences + 8 * (per_entry + 8 * weight_count(config) + 200 * config.model.hidden)


def _available_memory() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as info:
            for line in info:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
