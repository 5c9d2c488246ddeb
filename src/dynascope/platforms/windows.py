"""Windows, with the names of `posix`; each says where it promises less.

What Windows alone has is called in a few lines each (msvcrt, `windows_calls`), as they can be
tried only there.
"""

import sys

assert sys.platform == "win32"

import contextlib
import msvcrt
import os
import secrets
import signal
import socket
import time
from pathlib import Path

from dynascope.platforms.folder_access import FolderAccess
from dynascope.platforms.folder_by_path import FolderByPath
from dynascope.platforms.patience import patiently
from dynascope.platforms.piped_program import PipedProgram
from dynascope.platforms.windows_calls import memory_status, open_shared
from dynascope.platforms.windows_program import WindowsProgram

CLOSED_TERMINAL = signal.SIGBREAK
# Of a socket that listens: SO_REUSEADDR would let another program take the port over.
LISTENING = socket.SO_EXCLUSIVEADDRUSE
HAS_DESKTOP = True

# Others cannot read locked bytes. So it is one that no lock's text reaches, and, since the position
# counts in 32 bits, below 2**31.
_LOCKED_BYTE = 2**30
_LOOKS, _BETWEEN = 5, 0.05  # at a lock, and seconds from one to the next
_BROWSERS = (
    r"Google\Chrome\Application\chrome.exe",
    r"Chromium\Application\chrome.exe",
    r"Microsoft\Edge\Application\msedge.exe",
)


# ---- files -------------------------------------------------------------------------------------
def open_folder(path: Path) -> FolderAccess:
    """A folder of which nothing leads out, as far as `folder_by_path` can promise."""
    return FolderByPath.at(os.fspath(path), open_shared)


def read_at(handle: int, count: int, offset: int) -> bytes:
    """At most so many bytes of a file, from an offset on; moves the handle's position."""
    os.lseek(handle, offset, os.SEEK_SET)
    return os.read(handle, count)


def write_at(handle: int, contents: bytes, offset: int) -> None:
    """Write these bytes at an offset of a file; moves the handle's position."""
    os.lseek(handle, offset, os.SEEK_SET)
    os.write(handle, contents)


def try_lock(handle: int, shared: bool = False) -> bool:
    """Lock a file against all others; whether that was possible at once.

    There are no shared locks: two that only look may meet. So `shared` looks a few times, until
    only a lock that somebody keeps is left.
    """
    for look in range(_LOOKS if shared else 1):
        if look:
            time.sleep(_BETWEEN)
        with contextlib.suppress(PermissionError):  # what a lock of another is told by
            _lock_byte(handle, msvcrt.LK_NBLCK)
            return True
    return False


def unlock(handle: int) -> None:
    """Before a locked file is closed: Windows takes its time to release what was not unlocked."""
    with contextlib.suppress(OSError):
        _lock_byte(handle, msvcrt.LK_UNLCK)


def _lock_byte(handle: int, how: int) -> None:
    os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
    msvcrt.locking(handle, how, 1)


def sync(handle: int) -> None:
    """Return when the file is on the disk."""
    os.fsync(handle)


def sync_folder(path: Path) -> None:
    """Nothing: Windows syncs no folders, and keeps its own journal of renames."""


def replace(old: Path, new: Path) -> None:
    """Rename a file, over one that had the new name and that nobody keeps open."""
    patiently(lambda: os.replace(old, new))


def replace_folder(old: Path, new: Path) -> None:
    """Rename a folder, over an empty one that had the new name.

    No rename replaces a folder here, so the empty one goes first: a crash in between leaves
    neither, and the folder in the making.
    """
    with contextlib.suppress(FileNotFoundError):
        os.rmdir(new)
    patiently(lambda: os.rename(old, new))


def temporary_folder(prefix: str, above: Path) -> Path:
    """A new folder, whose name begins so.

    Not `mkdtemp`: what that makes is for its maker alone, and stays so under another name.
    """
    made = above / f"{prefix}{secrets.token_hex(6)}"
    made.mkdir()
    return made


# ---- the machine -------------------------------------------------------------------------------
def usable_cores() -> int:
    """Cores that the machine has."""
    return os.cpu_count() or 1


def installed_memory() -> int | None:
    """Bytes that the machine has; None where it does not say."""
    status = memory_status()
    return status.total if status else None


def unused_memory() -> int | None:
    """Bytes that can be had without swapping; None where the machine does not say."""
    status = memory_status()
    return status.available if status else None


def address_space_limit() -> int | None:
    """Nothing like `ulimit -v` is there."""
    return None


# ---- programs ----------------------------------------------------------------------------------
def is_root() -> bool:
    """Asked for what Chromium refuses to root only."""
    return False


def browser_places() -> list[str]:
    """Where Chromium, Chrome and Edge may be if they are not on the search path."""
    names = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")
    folders = [os.environ[name] for name in names if os.environ.get(name)]
    return [os.path.join(folder, browser) for browser in _BROWSERS for folder in folders]


def piped_program() -> PipedProgram:
    """A program to start and speak to."""
    return WindowsProgram()
