"""The one place that opens, makes, moves and deletes what is inside a store.

A store may come from anybody. A link in it may lead to a person's own files, and a name may stand
for a pipe that nobody writes to or a device that never ends. So:

- Folders and files are reached through the open folder above them (`platforms.folder_access`). No
  link is followed.
- Only regular files are opened. Anything else is refused, without waiting for it.
- Nobody else in the package opens, moves or deletes a file of a store; a test holds that.

The path of the store itself is the person's own, and followed as it is: a link to a store is fine.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from dynascope.platforms import system
from dynascope.platforms.folder_access import FolderAccess
from dynascope.platforms.links import is_link

_LINK = "it is a link, and links inside a store are not followed"
_NO_FILE = "it is not a regular file"
_NO_FOLDER = "it is not a folder"
# What the system says of a name that is neither a file nor a folder, or not the one asked for.
_OF_ANOTHER_KIND = (errno.ENOTDIR, errno.EISDIR, errno.ENXIO, errno.ENODEV)
_CHUNK = 2**20


class Folder:
    """An open folder of a store, or the store itself; `path` is for words only."""

    def __init__(self, path: Path, access: FolderAccess) -> None:
        self.path, self._access = path, access

    def __enter__(self) -> "Folder":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._access.close()

    def names(self) -> list[str]:
        """What is in it, sorted."""
        return sorted(self._access.names())

    def stat(self, name: str) -> os.stat_result | None:
        """About a name itself, also if it is a link; None where there is no such name."""
        try:
            return self._access.stat(name)
        except FileNotFoundError:
            return None

    def stamp(self, name: str) -> "Stamp":
        about = self._access.stat(name)
        return about.st_ino, about.st_mtime_ns, about.st_size

    def holds_file(self, name: str) -> bool:
        """Whether it is a regular file."""
        about = self.stat(name)
        return about is not None and stat.S_ISREG(about.st_mode) and not is_link(about)

    def holds_folder(self, name: str) -> bool:
        """Whether it is a folder, and no link to one."""
        about = self.stat(name)
        return about is not None and stat.S_ISDIR(about.st_mode) and not is_link(about)

    def folder(self, name: str, make: bool = False) -> "Folder":
        """A folder in it; `make` makes one that is missing."""
        if make:
            with contextlib.suppress(FileExistsError):
                self._access.make_folder(name)
                self.sync()
        with self._explained(name, _NO_FOLDER):
            access = self._access.folder(name)
        return Folder(self.path / name, access)

    def file(self, name: str, flags: int = os.O_RDONLY) -> int:
        """A handle of a regular file in it."""
        with self._explained(name, _NO_FILE):
            handle = self._access.open(name, flags)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise OSError(errno.EINVAL, _NO_FILE)
        return handle

    def make(self, name: str, contents: bytes | memoryview) -> None:
        """Write a file that must not be there yet, and sync it."""
        handle = self.file(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        with open(handle, "wb") as file:
            file.write(contents)
            file.flush()
            system.sync(file.fileno())

    def move(self, name: str, to: "Folder", new_name: str) -> None:
        """Rename a file; one that had the new name is replaced, if it is a file."""
        if to.stat(new_name) and not to.holds_file(new_name):
            raise OSError(errno.EEXIST, to._what_it_is(new_name, _NO_FILE))
        self._access.replace(name, to._access, new_name)
        to.sync()

    def remove(self, name: str) -> None:
        """Delete a file; of a link the link, not what it leads to."""
        self._access.remove(name)

    def remove_folder(self, name: str) -> None:
        """Delete a folder that is empty."""
        self._access.remove_folder(name)

    def sync(self) -> None:
        """A rename is safe from a power cut only when its folder is synced as well."""
        self._access.sync()

    @contextlib.contextmanager
    def _explained(self, name: str, otherwise: str) -> Iterator[None]:
        """Within its block a refusal says what the name stands for."""
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            if error.errno in (errno.ELOOP, *_OF_ANOTHER_KIND):
                raise OSError(error.errno, self._what_it_is(name, otherwise)) from None
            raise

    def _what_it_is(self, name: str, otherwise: str) -> str:
        about = self.stat(name)
        return _LINK if about and is_link(about) else otherwise


@contextlib.contextmanager
def store_folder(store: Path, place: str = "", make: bool = False) -> Iterator[Folder]:
    """A folder of a store, such as `runs` or `.partial/sweep`; `make` makes what is missing."""
    folder = Folder(store, system.open_folder(store))
    with contextlib.ExitStack() as opened:
        opened.enter_context(folder)
        for name in Path(place).parts:
            folder = opened.enter_context(folder.folder(name, make))
        yield folder


# Files by their path: all but `sweep.json` lie in a folder of their store, two names below it.


@contextlib.contextmanager
def folder_of(path: Path, depth: int = 2) -> Iterator[Folder]:
    """The folder of the file `path`, whose last `depth` names are inside a store."""
    parts = path.parts[-depth:-1]
    with store_folder(path.parents[depth - 1], "/".join(parts)) as folder:
        yield folder


@contextlib.contextmanager
def open_file(path: Path, depth: int = 2) -> Iterator[int]:
    """A handle of a file of a store, for reading."""
    with folder_of(path, depth) as folder:
        handle = folder.file(path.name)
    try:
        yield handle
    finally:
        os.close(handle)


def read_file(path: Path, limit: int, depth: int = 2) -> bytes:
    """The contents of a small file of a store; one that is larger than `limit` is refused."""
    with open_file(path, depth) as handle:
        return read_all(handle, limit)


def is_file(path: Path, depth: int = 2) -> bool:
    """Whether there is such a file in a store, itself and not a link to one."""
    try:
        with folder_of(path, depth) as folder:
            return folder.holds_file(path.name)
    except FileNotFoundError:
        return False


Stamp = tuple[int, int, int]  # of a file: another one when it is not what it was


def stamp(path: Path) -> Stamp:
    """The stamp of a file of a store."""
    with folder_of(path) as folder:
        return folder.stamp(path.name)


def stamps(store: Path, place: str) -> list[tuple[str, Stamp]]:
    """The names in a folder of a store, each with its stamp."""
    with store_folder(store, place) as folder:
        found = []
        for name in folder.names():
            with contextlib.suppress(FileNotFoundError):  # gone meanwhile
                found.append((name, folder.stamp(name)))
        return found


def read_all(handle: int, limit: int) -> bytes:
    """The contents behind a handle, at most so many bytes."""
    if os.fstat(handle).st_size > limit:
        raise OSError(errno.EFBIG, f"it is larger than {limit} bytes")
    parts, left = [], limit + 1  # a file may grow while it is read
    while left and (part := os.read(handle, min(left, _CHUNK))):
        parts.append(part)
        left -= len(part)
    if not left:
        raise OSError(errno.EFBIG, f"it is larger than {limit} bytes")
    return b"".join(parts)


def names_in(store: Path, place: str) -> list[str]:
    """The names in a folder of a store, sorted; none where there is no such folder."""
    try:
        with store_folder(store, place) as folder:
            return folder.names()
    except FileNotFoundError:
        return []


def is_folder(store: Path, place: str) -> bool:
    """Whether a store has this folder, itself and not a link to one."""
    try:
        with store_folder(store) as folder:
            return folder.holds_folder(place)
    except OSError:
        return False
