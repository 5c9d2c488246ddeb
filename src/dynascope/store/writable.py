"""Whether a folder can be written to, found out by doing so.

Permissions, links, mount points, read-only and full disks, names that are too long: no list of
checks is complete. So what will be done in the end is done once before hours of training, in a
temporary folder that is removed again.
"""

import contextlib
import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dynascope.errors import DynascopeError

_LONGEST = "trajectories/" + 64 * "x"  # the names in a store are not longer
_SOME = 4096  # bytes: a disk that has no room for them is full


def check_creatable(path: Path, named: object) -> None:
    """Refuse a name under which no folder can be made; `named`: how the user wrote it."""
    if path.is_symlink():
        raise DynascopeError(
            f"{named}: expected the name of a new folder, but this is a link; name the folder "
            "that it leads to."
        )
    nearest = next(parent for parent in path.parents if os.path.lexists(parent))
    if not nearest.is_dir():
        raise DynascopeError(f"{named}: cannot be created, because {nearest} is not a folder.")
    with _refused(named, "created"), _temporary(nearest) as probe:
        _fill(probe / path.relative_to(nearest))
        if path.is_dir():
            _move_aside(path)


def check_writable(folder: Path, named: object) -> None:
    """Refuse an existing folder in which no file can be made."""
    with _refused(named, "written to"), _temporary(folder) as probe:
        _fill(probe)


@contextlib.contextmanager
def _refused(named: object, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0) or error.strerror or str(error)
        raise DynascopeError(f"{named}: cannot be {what} ({reason}); choose another.") from None


_REASONS = {
    errno.EBUSY: "it is a mount point, which cannot be replaced; name a folder in it",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk is full",
}


@contextlib.contextmanager
def _temporary(folder: Path) -> Iterator[Path]:
    probe = Path(tempfile.mkdtemp(prefix=".dynascope-", dir=folder))
    try:
        yield probe
    finally:
        shutil.rmtree(probe, ignore_errors=True)


def _fill(folder: Path) -> None:
    """What a store has at most: a file in a folder."""
    file = folder / _LONGEST
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "xb") as handle:
        handle.write(bytes(_SOME))
        handle.flush()
        os.fsync(handle.fileno())


def _move_aside(empty: Path) -> None:
    """Renamed and back, an empty folder shows whether it can be replaced, and stays what it is."""
    aside = empty.parent / f".dynascope-{secrets.token_hex(6)}"
    empty.rename(aside)
    aside.rename(empty)
