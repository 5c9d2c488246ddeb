"""Linux and macOS."""

import sys

assert sys.platform != "win32"

import contextlib
import fcntl
import os
import resource
import signal
import socket
import tempfile
from pathlib import Path

from dynascope.platforms import full_sync
from dynascope.platforms.folder_access import FolderAccess
from dynascope.platforms.folder_by_handle import FolderByHandle
from dynascope.platforms.piped_program import PipedProgram
from dynascope.platforms.posix_program import PosixProgram

CLOSED_TERMINAL = signal.SIGHUP
# Of a socket that listens: the port of a server that has just ended can be had again.
LISTENING = socket.SO_REUSEADDR
HAS_DESKTOP = sys.platform == "darwin"  # elsewhere the environment tells

_BROWSERS = ("/usr/lib/chromium/chromium", "/opt/google/chrome/chrome", "/snap/bin/chromium")
_APPLICATIONS = ("Google Chrome", "Chromium", "Microsoft Edge")  # as macOS calls them


# ---- files -------------------------------------------------------------------------------------
def open_folder(path: Path) -> FolderAccess:
    """A folder of which nothing leads out; the path itself is followed as it is."""
    return FolderByHandle.at(os.fspath(path))


def read_at(handle: int, count: int, offset: int) -> bytes:
    """At most so many bytes of a file, from an offset on."""
    return os.pread(handle, count, offset)


def write_at(handle: int, contents: bytes, offset: int) -> None:
    """Write these bytes at an offset of a file."""
    os.pwrite(handle, contents, offset)


def try_lock(handle: int, shared: bool = False) -> bool:
    """Lock a file against all others, or `shared`; whether that was possible at once.

    The lock goes when the process does, however it ends.
    """
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(handle: int) -> None:
    """Before a locked file is closed, which here is all that it takes."""


def sync(handle: int) -> None:
    """Return when the file is on the disk."""
    full_sync.sync(handle)


def sync_folder(path: Path) -> None:
    """A rename is safe from a power cut only when its folder is synced as well."""
    handle = os.open(path, os.O_RDONLY)
    try:
        full_sync.sync(handle)
    finally:
        os.close(handle)


def replace(old: Path, new: Path) -> None:
    """Rename a file, over one that had the new name."""
    os.replace(old, new)


def replace_folder(old: Path, new: Path) -> None:
    """Rename a folder, over an empty one that had the new name."""
    os.replace(old, new)


def temporary_folder(prefix: str, above: Path) -> Path:
    """A new folder, whose name begins so."""
    return Path(tempfile.mkdtemp(prefix=prefix, dir=above))


# ---- the machine -------------------------------------------------------------------------------
def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def installed_memory() -> int | None:
    """Bytes that the machine has; None where it does not say."""
    with contextlib.suppress(OSError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return None


def unused_memory() -> int | None:
    """Bytes that nobody uses; all that there are, where it takes more than this to know."""
    return installed_memory()


def address_space_limit() -> int | None:
    """Bytes that this process may address (`ulimit -v`); None where there is no limit."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


# ---- programs ----------------------------------------------------------------------------------
def is_root() -> bool:
    """Whether this process may do everything."""
    return os.geteuid() == 0


def browser_places() -> list[str]:
    """Where Chromium, Chrome and Edge may be if they are not on the search path."""
    folders = (Path("/Applications"), Path.home() / "Applications")
    applications = [
        str(folder / f"{name}.app" / "Contents" / "MacOS" / name)
        for folder in folders
        for name in _APPLICATIONS
        if sys.platform == "darwin"
    ]
    return [*_BROWSERS, *applications]


def piped_program() -> PipedProgram:
    """A program to start and speak to."""
    return PosixProgram()
