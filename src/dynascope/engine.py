"""Training many runs at once: one run per thread, the GIL released while the kernel computes."""

import contextlib
import itertools
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dynascope.config import Config
from dynascope.config_input import ConfigLike, check_config
from dynascope.data import Data, check_seed, fitted, own_digest
from dynascope.errors import Description, DynascopeError, expected, none_given
from dynascope.memory import available_memory
from dynascope.near_misses import guided
from dynascope.one_blas_thread import one_blas_thread
from dynascope.parameters import Parameters
from dynascope.platforms import system
from dynascope.progress import Report, Status, reporter
from dynascope.run import Origin, Run, Runs, run_id
from dynascope.run_size import fewer_weights, recorded_bytes, saving_bytes, working_bytes
from dynascope.seeds import MAX_RUNS
from dynascope.stopped import as_stopped
from dynascope.trainer import Trainer, fingerprint

Start = Parameters | Run | Runs | dict[int, Parameters]

_SLICE = 0.05  # seconds that a thread computes between looks at the stop sign
MUCH_MEMORY = 500e6  # bytes that a job does not take without saying so


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during `train`.

    `.runs` holds the runs that were finished by then, `.partial` those that were under way, up to
    the last epoch that was done. `Run.continued` goes on with one of them.
    """

    def __init__(self, runs: Runs, partial: Runs | None = None) -> None:
        self.runs, self.partial = runs, Runs([]) if partial is None else partial
        under_way = f", {len(self.partial)} under way in .partial" if len(self.partial) else ""
        super().__init__(f"stopped; {len(runs)} runs were finished and are in .runs{under_way}")


@dataclass(frozen=True)
class Job:
    """One run to be trained; `begun` is an earlier part of it, with which it goes on."""

    config: Config
    seed: int
    data: Data | None = None
    start: Parameters | None = None
    origin: Origin | None = None
    begun: Run | None = None

    @property
    def id(self) -> str:
        """The id that the run will have; for weights to start from, their origin must be known."""
        return run_id(self.config, self.seed, self.origin, own_digest(self.data))

    @property
    def epochs(self) -> int:
        """How many are left to do."""
        return self.config.training.epochs - (self.begun.epochs if self.begun else 0)

    def trainer(self) -> Trainer:
        if self.begun is not None:
            return self.begun.trainer()
        return Trainer(self.config, self.seed, data=self.data, start=self.start, origin=self.origin)


def train_job(job: Job) -> Run:
    """Train one run in this thread."""
    trainer = job.trainer()
    trainer.advance(job.epochs)
    return trainer.finish()


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

    Ctrl-C raises `Interrupted`, a KeyboardInterrupt with the finished runs in `.runs` and those
    under way in `.partial`. Any other error during training (out of memory) has them too.

    >>> runs = train(Config().replace({"training.epochs": 2}), seeds=[3, 8], progress=False)
    >>> [run.seed for run in runs]
    [3, 8]
    """
    jobs = jobs_of(config, seeds, data, start)
    return train_jobs(jobs, count_threads(threads, len(jobs)), progress)


def jobs_of(
    config: ConfigLike,
    seeds: int | Iterable[int],
    data: Data | None = None,
    start: Start | None = None,
) -> list[Job]:
    """What `train` with these arguments has to do, all of it checked."""
    config = fitted(check_config(config), data)
    wanted = _seeds(seeds)
    starts = _starts(start, wanted)
    return [
        Job(config, seed, data, *(begin or (None, None)))
        for seed, begin in zip(wanted, starts, strict=True)
    ]


def train_jobs(
    jobs: Sequence[Job], threads: int, progress: bool | Report = True, saved: bool = False
) -> Runs:
    """The runs of jobs with one config; `saved`: they will be written to a store at the end."""
    begun = [job.begun for job in jobs if job.begun]
    check_memory(jobs[0].config, len(jobs), threads, saved, begun)
    status = Status(len(jobs), sum(job.epochs for job in jobs))
    results: list[Run | None] = [None] * len(jobs)
    parts: list[Run | None] = [None] * len(jobs)

    def finished(which: Iterable[Run | None] = results) -> Runs:
        return Runs(run for run in which if run is not None)

    trainers = Trainers(jobs, results.__setitem__, status, parts.__setitem__)
    try:
        trainers.work(threads, reporter(progress))
    except KeyboardInterrupt:
        raise Interrupted(finished(), finished(parts)) from None
    except BaseException as error:
        vars(error).update(runs=finished(), partial=finished(parts))
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
        still computes for a finished one. Each works on one core, its linear algebra included.
        """
        with one_blas_thread():
            self._start_and_wait(threads, report)

    def _start_and_wait(self, threads: int, report: Report | None) -> None:
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
                    self.look()
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

    def look(self) -> None:
        """Bring the status up to date, where the work itself does not."""

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

    `done` is called with a job's index and its run, in the thread that trained it; `under_way` in
    the same way with the part of a run that is there when all are told to stop. Jobs are asked for
    one by one, when a thread is free for them.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        done: Callable[[int, Run], None],
        status: Status,
        under_way: Callable[[int, Run], None] | None = None,
    ) -> None:
        super().__init__(len(jobs), status)
        self._jobs, self._keep, self._keep_part = jobs, done, under_way

    def one(self, index: int) -> None:
        job = self._jobs[index]
        trainer = job.trainer()
        before = trainer.epoch
        if self._train(index, job, trainer):
            self._keep(index, trainer.finish())
        elif self._keep_part and trainer.epoch > before:
            self._keep_part(index, as_stopped(trainer.finish()))

    def _train(self, index: int, job: Job, trainer: Trainer) -> bool:
        """Whether it got to the end, and was not told to stop."""
        left, slice_ = job.epochs, 1
        while left > 0:
            if self._stop.is_set() and trainer.diverged is None:
                return False
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
        return True


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
        threads = system.usable_cores()
    return min(check_threads(threads), runs)


def check_threads(threads: object, field: str = "threads") -> int:
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 4096:
        raise expected(field, "a whole number from 1 to 4096", threads)
    return threads


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


def check_memory(
    config: Config,
    runs: int,
    threads: int = 1,
    saved: bool = False,
    begun: Sequence[Run] = (),
) -> None:
    """Refuse a job that cannot fit in memory, before it is killed after hours of work; of one that
    takes much say so.

    `saved`: the runs are written to a store in the end, which makes copies. `begun`: runs that are
    read to be gone on with.
    """
    needed = _needed(config, runs, threads, saved)
    for run in begun:
        share = (run.epochs + 1) / (run.config.training.epochs + 1)
        needed += int(share * recorded_bytes(run.config))
    available = available_memory()
    if available is None or needed < min(MUCH_MEMORY, 0.5 * available):
        return
    many = "1 run" if runs == 1 else f"{runs} runs"
    hint = _smaller(config, runs, threads, saved, available)
    if needed > 0.9 * available:
        raise DynascopeError(
            f"memory: {many} with these record options would take {_gigabytes(needed)}, but only "
            f"{_gigabytes(available)} are available; {hint}."
        )
    warnings.warn(
        f"memory: {many} with these record options will take up to {_gigabytes(needed)} of the "
        f"{_gigabytes(available)} that are available; if that is too much, {hint}.",
        stacklevel=4,
    )


def _needed(config: Config, runs: int, threads: int, saved: bool) -> int:
    needed = runs * recorded_bytes(config) + threads * working_bytes(config)
    return needed + (saving_bytes(config, runs) if saved else 0)


def _smaller(config: Config, runs: int, threads: int, saved: bool, available: int) -> str:
    """What would take less memory; if one way is not enough, several."""
    fewer = fewer_weights(config)
    needed = _needed(fewer, runs, threads, saved)
    ways = [f"set record.weights_every={fewer.record.weights_every} ({_gigabytes(needed)})"]
    ways = [] if fewer == config else ways
    rest = "train fewer runs at a time" if runs > 1 else "train for fewer epochs"
    fits = needed <= 0.9 * available
    if runs > 1 or not ways or not fits:
        ways.append(rest)
    return (" or " if fits else " and ").join(ways)


def _gigabytes(size: float) -> str:
    """
    >>> _gigabytes(818e6), _gigabytes(23.4e9)
    ('0.82 GB', '23.4 GB')
    """
    return f"{size / 1e9:.{2 if size < 1e9 else 1}f} GB"
