"""Files that people name for what is made for them: there whole, or not at all.

What can go wrong with the name is found out before the work that fills the file.
"""

import contextlib
import errno
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from dynascope.errors import Description, DynascopeError, expected, shown

_FULL = (errno.ENOSPC, errno.EDQUOT)


class FileWriteError(DynascopeError):
    """The system refused to write a file; nothing of it is left."""

    code = 1  # not the user's mistake


def check_new_file(
    path: "str | os.PathLike[str]", endings: Sequence[str], overwrite: bool, overwriting: str
) -> Path:
    """The path of a file that can be made; `overwriting` says how to ask for replacing one."""
    target = _path_of(path)
    if target.suffix.lower() not in endings:
        raise expected(str(path), f"a name that ends with {' or '.join(endings)}", target.name)
    try:
        if target.is_dir():
            raise expected(str(path), "the name of a file", Description("that of a folder"))
        if os.path.lexists(target) and not overwrite:
            raise DynascopeError(
                f"{path}: there is a file with this name; choose another, or replace it with "
                f"{overwriting}."
            )
        _probe(target)
    except OSError as error:
        raise DynascopeError(
            f"{path}: cannot be written ({_reason(error)}); choose another."
        ) from None
    return target


def write_new_file(path: Path, contents: bytes) -> None:
    """Written under a temporary name, synced, renamed."""
    temporary = _temporary(path)
    try:
        with open(temporary, "xb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            raise FileWriteError(
                f"{path}: cannot be written ({_reason(error)}); nothing was saved."
            ) from None
        raise


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
    temporary = _temporary(target)
    temporary.touch(exist_ok=False)
    temporary.unlink()


def _temporary(target: Path) -> Path:
    # Not all of a long name: with what is added, it could be too long.
    os.stat(target.parent)
    return target.with_name(f".{target.name[:32]}.{secrets.token_hex(6)}")


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such folder"
    return "the disk is full" if error.errno in _FULL else error.strerror or str(error)
