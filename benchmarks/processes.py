"""One process per core, all timed over the same stretch of time.

Python threads share a lock and XLA's and PyTorch's thread pools gain nothing on tensors this small,
so the peers get what is best for them: a process of their own per core.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from typing import TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")

_barrier: Barrier | None = None  # in a worker: where all of them meet


def together(work: Callable[[Job], Result], jobs: Sequence[Job]) -> list[Result]:
    """`work(job)` for each job, in fresh processes that start together."""
    context = get_context("spawn")  # a fork would copy locks that PyTorch's and XLA's threads hold
    barrier = context.Barrier(len(jobs))
    with ProcessPoolExecutor(len(jobs), context, _enter, (barrier,)) as pool:
        return [future.result() for future in [pool.submit(_run, work, job) for job in jobs]]


def repeat_timed(once: Callable[[], object], seconds: float) -> tuple[float, int]:
    """Calls `once` for `seconds`, once at least; returns the seconds per call and the calls.

    Inside `together`, all workers start at the same moment.
    """
    if _barrier is not None:
        _barrier.wait()
    calls, begin = 0, time.perf_counter()
    while calls == 0 or time.perf_counter() - begin < seconds:
        once()
        calls += 1
    return (time.perf_counter() - begin) / calls, calls


def _enter(barrier: Barrier) -> None:
    global _barrier
    _barrier = barrier


def _run(work: Callable[[Job], Result], job: Job) -> Result:
    assert _barrier is not None
    _barrier.wait()  # so that no worker takes two jobs
    try:
        return work(job)
    except BaseException:
        _barrier.abort()  # the others must not wait for this one
        raise
