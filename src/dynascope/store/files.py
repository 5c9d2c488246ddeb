"""Files that are there whole or not at all, a folder's lock, and the one check of where to write.

A file is written under a temporary name in the same file system, synced, then renamed: a crash at
any moment leaves the old state or the new one. Every function that writes into a store comes here.
"""

import contextlib
import errno
import fcntl
import json
import os
import secrets
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from dynascope.errors import DynascopeError, shown
from dynascope.store.writable import check_creatable

PathLike = str | os.PathLike[str]

TEMPORARY = ".partial"  # folder of a store for files in the making
OWN_TEMPORARY = f"{TEMPORARY}/sweep"  # of the one process that holds the lock
LOCK = ".lock"
_MOMENT = 0.5  # seconds that looking who holds a lock may take, generously
_OLD = 600.0  # seconds after which a file in the making has no maker any more


def path_of(folder: PathLike) -> Path:
    """The path that a caller named; anything that cannot be a path is refused."""
    try:
        name = os.fspath(folder)
    except TypeError:
        raise DynascopeError(f"folder: expected a path, but got {shown(folder)}.") from None
    if not isinstance(name, str) or not name or "\0" in name:
        raise DynascopeError(f"folder: expected a path, but got {shown(name)}.")
    return Path(name)


def check_new(folder: PathLike) -> Path:
    """The path of a folder that can be made: a new name, or an empty one, in a place to write."""
    path = Path(os.path.abspath(path_of(folder)))
    try:
        if path == Path.cwd():
            raise DynascopeError(f"{folder}: expected the name of a new folder.")
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise DynascopeError(
                f"{folder}: expected a new or empty folder, but this one is not; choose another."
            )
        check_creatable(path, folder)
    except OSError as error:
        raise DynascopeError(f"{folder}: cannot be made ({error.strerror}).") from None
    return path


class WriteError(DynascopeError):
    """The system refused to write a file; existing files are unchanged."""

    code = 1  # not the user's mistake


def write(target: Path, contents: bytes | memoryview, temporary: Path) -> None:
    """Make `target` with these contents, whole or not at all."""
    with writing(target):
        temporary.mkdir(parents=True, exist_ok=True)
        partial = temporary / f"{target.name}.{secrets.token_hex(6)}"
        try:
            with open(partial, "xb") as handle:
                handle.write(contents)
                handle.flush()
                os.fsync(handle.fileno())
            if not target.parent.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                sync_folder(target.parent.parent)
            os.replace(partial, target)
            sync_folder(target.parent)
        finally:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)


@contextlib.contextmanager
def writing(target: Path) -> Iterator[None]:
    """Within its block a refusal of the system is one sentence about `target`."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        reason = "the disk is full" if full else error.strerror or str(error)
        hint = "free some space" if full else "fix that"
        raise WriteError(
            f"{target}: cannot be written ({reason}); existing files are unchanged. To continue, "
            f"{hint} and run the same command again."
        ) from None


def sync_folder(folder: Path) -> None:
    """A rename is safe from a power cut only when its folder is synced as well."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill under a temporary name, which becomes `path` when the block ends well."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not all of a long name: with what is added, it could be too long.
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name[:32]}.", dir=path.parent))
    try:
        yield temporary
        with writing(path):
            shutil.rmtree(temporary / TEMPORARY, ignore_errors=True)
            temporary.chmod(0o755)
            temporary.replace(path)
            sync_folder(path.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


@contextlib.contextmanager
def locked(
    folder: Path, wait: bool = False, pause: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Within its block no other process writes a sweep into `folder`.

    The lock is the operating system's (flock): it goes when the process does, however it ends. The
    file says who holds it, for people. `pause` is called now and then while it waits.
    """
    with writing(folder / LOCK):
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
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
            os.ftruncate(handle, 0)
            mine = {"process": os.getpid(), "host": socket.gethostname(), "since": int(time.time())}
            os.pwrite(handle, json.dumps(mine).encode(), 0)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                os.ftruncate(handle, 0)
    finally:
        os.close(handle)


def _try(handle: int, folder: Path) -> bool:
    with writing(folder / LOCK):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def holder(folder: Path) -> str | None:
    """Who sweeps into the folder at this moment, in words; None if nobody does."""
    try:
        handle = os.open(folder / LOCK, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except BlockingIOError:
        with contextlib.suppress(ValueError, KeyError, TypeError):
            who = json.loads(os.pread(handle, 1000, 0))
            return f"process {who['process']} on {who['host']}"
        return "another process"
    except OSError:
        return None
    finally:
        os.close(handle)


def clear_partial(folder: Path, keep: set[str]) -> None:
    """Remove what killed writers left behind: files in the making, trajectories without runs.

    Only for the holder of the lock. What sweeps of this kind were making is dead for sure; anything
    else only after ten minutes: a worker of a cluster may be about to finish a shard.
    `keep`: names of the trajectory files that belong to runs.
    """
    shutil.rmtree(folder / OWN_TEMPORARY, ignore_errors=True)
    now = time.time()
    for place in (TEMPORARY, "trajectories"):
        with contextlib.suppress(OSError):
            for file in (folder / place).iterdir():
                if file.name in keep or now - file.stat().st_mtime < _OLD:
                    continue
                if file.is_dir():
                    shutil.rmtree(file, ignore_errors=True)
                else:
                    file.unlink()
