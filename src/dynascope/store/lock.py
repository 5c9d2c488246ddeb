"""The lock of a store: one sweep at a time writes into it.

It is the operating system's: it goes when the process does, however it ends. The file says who
holds it, for people.
"""

import contextlib
import errno
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dynascope.errors import DynascopeError
from dynascope.platforms import system
from dynascope.store.files import writing
from dynascope.store.handles import open_file, read_all, store_folder
from dynascope.store.names import LOCK

_MOMENT = 0.5  # seconds that looking who holds a lock may take, generously
_LONGEST = 1000  # bytes that a lock of ours has at most


@contextlib.contextmanager
def locked(
    folder: Path, wait: bool = False, pause: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Within its block no other process writes a sweep into `folder`.

    `pause` is called now and then while it waits; what it raises ends that.
    """
    with writing(folder / LOCK), store_folder(folder) as store:
        handle = store.file(LOCK, os.O_RDWR | os.O_CREAT)
    try:
        began = time.monotonic()
        while not _try(handle, folder):
            pause()
            # A process that only looks (`holder`) holds the lock for a moment: that is not a sweep.
            if not wait and time.monotonic() - began > _MOMENT:
                raise DynascopeError(
                    f"{folder}: {holder(folder) or 'another process'} is sweeping into it; wait "
                    "until it ends, or add --wait."
                )
            time.sleep(0.1)
        with writing(folder / LOCK):
            _check_ours(handle)
            os.ftruncate(handle, 0)
            mine = {"process": os.getpid(), "host": socket.gethostname(), "since": int(time.time())}
            system.write_at(handle, json.dumps(mine).encode(), 0)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                os.ftruncate(handle, 0)
            system.unlock(handle)
    finally:
        os.close(handle)


def _try(handle: int, folder: Path) -> bool:
    with writing(folder / LOCK):
        return system.try_lock(handle)


def _check_ours(handle: int) -> None:
    """Refuse to write into a file that holds anything but a lock, or has another name as well."""
    if os.fstat(handle).st_nlink > 1:
        raise OSError(errno.EMLINK, "the file has a second name, a hard link")
    if os.fstat(handle).st_size and _who(handle) is None:
        raise OSError(errno.EEXIST, "the file is not a lock of dynascope's")


def _who(handle: int) -> dict[str, Any] | None:
    """What a lock says; None where it does not speak as ours do."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        os.lseek(handle, 0, os.SEEK_SET)
        said = json.loads(read_all(handle, _LONGEST))
        if isinstance(said, dict) and {"process", "host"} <= said.keys():
            return said
    return None


def holder(folder: Path) -> str | None:
    """Who sweeps into the folder at this moment, in words; None if nobody does."""
    with contextlib.suppress(OSError), open_file(folder / LOCK, depth=1) as handle:
        if not system.try_lock(handle, shared=True):
            who = _who(handle)
            return f"process {who['process']} on {who['host']}" if who else "another process"
        system.unlock(handle)
    return None
