"""Files that people name for what is made for them: there whole, or not at all.

What can go wrong with the name is found out before the work that fills the file. That is written
under a temporary name beside its place, synced, and renamed over what was there before.
"""

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Sequence
from io import BufferedRandom
from pathlib import Path
from types import TracebackType

from dynascope.errors import Description, DynascopeError, did_you_mean, expected, shown
from dynascope.platforms import system

_FULL = (errno.ENOSPC, errno.EDQUOT)
_UNFINISHED = re.compile(r"\..{1,32}\.[0-9a-f]{12}", re.DOTALL)  # as `_temporary` names them


class FileWriteError(DynascopeError):
    """The system refused to write a file; nothing of it is left."""

    code = 1  # not the user's mistake


def check_new_file(path: "str | os.PathLike[str]", endings: Sequence[str]) -> Path:
    """The path of a file that can be made; `endings` are with their dots."""
    target = _path_of(path)
    ending = target.suffix.lower()
    if ending not in endings:
        near = did_you_mean(ending, endings)
        raise expected(str(path), f"a name that ends with {listed(endings)}", target.name, near)
    try:
        if target.is_dir():
            raise expected(str(path), "the name of a file", Description("that of a folder"))
        _probe(target)
    except OSError as error:
        raise DynascopeError(
            f"{path}: cannot be written ({_reason(error)}); choose another place."
        ) from None
    return target


def listed(endings: Sequence[str]) -> str:
    """
    >>> listed([".pdf"]), listed([".pdf", ".svg", ".png"])
    ('.pdf', '.pdf, .svg or .png')
    """
    *first, last = endings
    return f"{', '.join(first)} or {last}" if first else last


class NewFile:
    """A file in the making: in its block `file` takes bytes anywhere; `finish` gives it its name.

    Left without `finish`, by an error or Ctrl-C, nothing is left behind.
    """

    file: BufferedRandom

    def __init__(self, path: Path) -> None:
        self.path = path
        self._temporary = _temporary(path)

    def __enter__(self) -> "NewFile":
        try:
            self.file = open(self._temporary, "x+b")
        except OSError as error:
            raise self._failed(error) from None
        return self

    def finish(self) -> None:
        """All is written."""
        try:
            self.file.flush()
            system.sync(self.file.fileno())
            self.file.close()
            system.replace(self._temporary, self.path)
        except OSError as error:
            raise self._failed(error) from None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(OSError):  # closing writes what is left, which may fail as well
            self.file.close()
        with contextlib.suppress(OSError):
            os.unlink(self._temporary)
        if isinstance(error, OSError):
            raise self._failed(error) from None

    def _failed(self, error: OSError) -> FileWriteError:
        return FileWriteError(
            f"{self.path}: cannot be written ({_reason(error)}); nothing was saved."
        )


def write_new_file(path: Path, contents: bytes) -> None:
    """All of a file at once."""
    with NewFile(path) as made:
        made.file.write(contents)
        made.finish()


def clear_unfinished(folder: Path) -> None:
    """Delete what a process that was killed has left in a folder in which only one writes."""
    with contextlib.suppress(OSError):
        for each in os.scandir(folder):
            if _UNFINISHED.fullmatch(each.name) and each.is_file(follow_symlinks=False):
                os.unlink(each)


def _path_of(path: object) -> Path:
    try:
        name = os.fspath(path)  # type: ignore[call-overload]
    except TypeError:
        raise expected("path", "the name of a file", path) from None
    if not isinstance(name, str) or not name or "\0" in name:
        raise DynascopeError(f"path: expected the name of a file, but got {shown(name)}.")
    return Path(name)


def _probe(target: Path) -> None:
    """Whether a file can be made there, found out by doing so."""
    os.stat(target.parent)
    temporary = _temporary(target)
    temporary.touch(exist_ok=False)
    temporary.unlink()


def _temporary(target: Path) -> Path:
    # Not all of a long name: with what is added, it could be too long.
    return target.with_name(f".{target.name[:32]}.{secrets.token_hex(6)}")


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such folder"
    return "the disk is full" if error.errno in _FULL else error.strerror or str(error)
