"""Linear algebra on one thread, for matrices of a few hundred rows.

NumPy's BLAS shares even those out among all cores. Where these are busy, as in a sweep that
analyses a run on each, the parts wait for each other: `eigh` of 300 rows takes a second for ten
milliseconds. The order of sums, and so the last digits, would also depend on the number of cores.

Limits: only libraries count that are loaded by then, as NumPy's is; SciPy brings its own.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_held = threading.Lock()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within it, BLAS works on the thread that calls it, in every thread of the process.

    The limit is the whole process's, so only one user at a time sets and lifts it; whoever comes
    meanwhile, from the threads of the first or beside it, finds it set.
    """
    from threadpoolctl import threadpool_limits

    if not _held.acquire(blocking=False):
        yield
        return
    try:
        with threadpool_limits(1, user_api="blas"):
            yield
    finally:
        _held.release()
