"""DuckDB, shut in: the one place of the package that opens a connection to it.

A connection reaches nothing but the tables it is given: no files, no network, no extensions, no
variables of this process, from its first moment on. Its settings are locked before any text of a
person reaches it, and nothing is spilled to disk. `finished` runs its work so that Ctrl-C ends
it. Nobody calls `duckdb.connect` elsewhere, nor the functions of the module that use a connection
of its own with other settings; a test holds that.

Limits: `MEMORY` bounds what DuckDB manages itself (joins, groups, sorts). A function that makes one
huge text or list is not counted, and cannot be interrupted: after Ctrl-C such a query is abandoned.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from dynascope.engine import count_threads
from dynascope.extras import needing
from dynascope.platforms import system

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

Result = TypeVar("Result")

_LARGEST_MEMORY = 2**32
_MOST_THREADS = 64
_SHUT_IN = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "python_enable_replacements": "false",  # `FROM x` would find a variable of that name
    "python_scan_all_frames": "false",
    "temp_directory": "",
}
_GRACE = 2.0  # seconds that a query gets to end after Ctrl-C


class QueryAbandoned(KeyboardInterrupt):
    """Ctrl-C, but DuckDB goes on: a process that ends the usual way would be torn down under it."""

    still_running = True  # what the command line looks for, which does not import this module


def memory_limit() -> int:
    """Bytes that a query may use: 4 GiB, on small machines half of what there is."""
    installed = system.installed_memory()
    return _LARGEST_MEMORY if installed is None else min(_LARGEST_MEMORY, installed // 2)


def import_duckdb() -> ModuleType:
    """DuckDB; one sentence where it is not installed."""
    with needing("sql", "query", "duckdb"):
        import duckdb
    return duckdb


@contextmanager
def open_connection(
    without: Sequence[str] = (), threads: int | None = None
) -> "Iterator[Connection]":
    """A connection that reaches nothing, for the length of the block.

    `without`: optimizers that are not to run, of those that DuckDB has; `threads`: all cores.
    """
    duckdb = import_duckdb()
    cores = count_threads(threads, runs=_MOST_THREADS)
    limits = {"memory_limit": f"{memory_limit()}B", "threads": str(cores)}
    connection = duckdb.connect(":memory:", config={**_SHUT_IN, **limits})
    try:
        if without:
            known = {row[0] for row in connection.execute("FROM duckdb_optimizers()").fetchall()}
            unwanted = ",".join(name for name in without if name in known)
            connection.execute(f"SET disabled_optimizers = '{unwanted}'")
        connection.execute("SET lock_configuration = true")
        yield connection
    except QueryAbandoned:
        raise  # it is busy, and cannot be closed
    except BaseException:
        connection.close()
        raise
    connection.close()


def finished(connection: "Connection", work: Callable[[], Result]) -> Result:
    """What the work with this connection returns; Ctrl-C ends it.

    DuckDB does not look for signals everywhere. On a thread of its own it need not: this one waits,
    takes the signal, and asks DuckDB to stop; if that does not help, it is left behind.
    """
    outcome: list[Result] = []
    trouble: list[BaseException] = []
    done = threading.Event()  # a `Thread.join` that Ctrl-C breaks off takes the thread for ended

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            trouble.append(error)
        finally:
            done.set()

    try:
        threading.Thread(target=run, daemon=True, name="dynascope-sql").start()
        done.wait()
    except KeyboardInterrupt:
        _stop(connection, done)
        raise
    if trouble:
        raise trouble[0]
    return outcome[0]


def _stop(connection: "Connection", done: threading.Event) -> None:
    with suppress(KeyboardInterrupt):  # a second one means the same
        connection.interrupt()
        done.wait(_GRACE)
    if not done.is_set():
        raise QueryAbandoned
