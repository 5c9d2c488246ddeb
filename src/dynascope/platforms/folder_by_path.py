"""Folders by their paths, for systems that look no name up in the handle of a folder: Windows.

Each name is looked at before it is used, and refused if it leads elsewhere. A folder must still be
the one that was opened, and an opened file must be the one that has the name.

Weaker than handles: between a look and the use of a name, somebody who may write to the store can
put a link there, and back. A file that is opened in such a moment is refused after the fact, which
is soon enough to read or write nothing; but a name can be made, renamed or removed elsewhere. A
link that lies in a store from the start, as one that came in the post, is refused for certain.
(Windows makes this rare: to make a symbolic link there needs a right that few people have. It does
not make it impossible, as junctions need none.)

A rename is as safe from a power cut as the file system makes it: Windows syncs no folders.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Callable

from dynascope.platforms.links import is_link
from dynascope.platforms.patience import patiently

Opener = Callable[[str, int, int], int]

_BINARY = getattr(os, "O_BINARY", 0)  # else Windows takes a file for text, and changes line ends
_SEPARATORS = frozenset("/\\:\0")  # the colon begins a drive, or a stream of a file
_TRIES = 8  # to open a file that is being replaced


class FolderByPath:
    """`FolderAccess` through the path of the folder; `top`: that path is a person's own."""

    def __init__(self, path: str, opener: Opener, top: bool = False) -> None:
        self._path, self._opener, self._top = path, opener, top
        self._about = self._look()

    @classmethod
    def at(cls, path: str, opener: Opener = os.open) -> "FolderByPath":
        """The folder at a path that is followed as it is; `opener`: the system's for files."""
        return cls(path, opener, top=True)

    def close(self) -> None:
        """Nothing is held."""

    def names(self) -> list[str]:
        self._check()
        return os.listdir(self._path)

    def stat(self, name: str) -> os.stat_result:
        return os.lstat(self._place(name))

    def make_folder(self, name: str) -> None:
        os.mkdir(self._place(name))

    def folder(self, name: str) -> "FolderByPath":
        return FolderByPath(self._place(name), self._opener)

    def open(self, name: str, flags: int) -> int:
        for _ in range(_TRIES):
            place = self._place(name)
            with contextlib.suppress(FileNotFoundError):  # it may be about to be made
                _check_file(os.lstat(place))
            handle = self._opener(place, flags | _BINARY, 0o644)
            try:
                if _is_there(handle, place):
                    self._check()
                    return handle
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)
            if flags & os.O_EXCL:  # nobody else has a reason to touch what was just made
                break
        raise OSError(errno.ELOOP, "it is replaced again and again")

    def replace(self, name: str, to: "FolderByPath", new_name: str) -> None:
        old, new = self._place(name), to._place(new_name)
        patiently(lambda: os.replace(old, new))

    def remove(self, name: str) -> None:
        place = self._place(name)
        patiently(lambda: os.unlink(place))

    def remove_folder(self, name: str) -> None:
        os.rmdir(self._place(name))

    def sync(self) -> None:
        """Windows syncs no folders."""

    def _look(self) -> os.stat_result:
        about = os.stat(self._path) if self._top else os.lstat(self._path)
        if is_link(about):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if not stat.S_ISDIR(about.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), self._path)
        return about

    def _check(self) -> None:
        if not _same(self._look(), self._about):
            raise OSError(errno.ESTALE, "its folder was replaced by another one meanwhile")

    def _place(self, name: str) -> str:
        if not is_single(name):
            raise OSError(errno.EINVAL, "its name is not a file name on every system")
        self._check()
        return os.path.join(self._path, name)


def is_single(name: str) -> bool:
    """Whether it names something in the folder itself, to Windows as well.

    >>> [is_single(name) for name in ("sweep.json", "..", "a/b", "a\\\\b", "C:x", "runs.")]
    [True, False, False, False, False, False]
    """
    # Windows drops dots and spaces at the end: two names would stand for one file.
    return bool(name.rstrip(". ")) and name[-1] not in ". " and not _SEPARATORS & set(name)


def _check_file(about: os.stat_result) -> None:
    if is_link(about):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if not stat.S_ISREG(about.st_mode):  # to open a pipe would be to wait for its other end
        raise OSError(errno.ENXIO, os.strerror(errno.ENXIO))


def _is_there(handle: int, place: str) -> bool:
    """Whether the open file is the one that has this name now, and no link led to it."""
    try:
        about = os.lstat(place)
    except FileNotFoundError:
        return False
    _check_file(about)
    return _same(about, os.fstat(handle))


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    """Whether it is the same file; a file system that numbers none cannot tell."""
    return not (one.st_ino and other.st_ino) or os.path.samestat(one, other)
