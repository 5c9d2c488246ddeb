"""Files that are there whole or not at all, and the one check of where to write.

A file is written under a temporary name in the same file system, synced, then renamed: a crash at
any moment leaves the old state or the new one. Every function that writes into a store comes here.
"""

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from dynascope.errors import DynascopeError, shown
from dynascope.platforms import system
from dynascope.store.handles import store_folder
from dynascope.store.names import FOLDERS, TEMPORARY
from dynascope.store.writable import check_creatable

PathLike = str | os.PathLike[str]


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


def write(
    store: Path, place: str, contents: bytes | memoryview, temporary: str = TEMPORARY
) -> None:
    """Make the file `place` of a store (`runs/X.parquet`), whole or not at all.

    `temporary`: the folder of the store that it is written in before it gets its name.
    """
    above, _, name = place.rpartition("/")
    partial = f"{name}.{secrets.token_hex(6)}"
    with writing(store / place), store_folder(store, temporary, make=True) as making:
        try:
            making.make(partial, contents)
            with store_folder(store, above, make=True) as folder:
                making.move(partial, folder, name)
        except BaseException:
            with contextlib.suppress(OSError):
                making.remove(partial)
            raise


def check_folders(store: Path) -> None:
    """Refuse a store of which a folder is a link or a file, before anything is done for it."""
    for place in (*FOLDERS, TEMPORARY):
        with (
            writing(store / place),
            contextlib.suppress(FileNotFoundError),
            store_folder(store, place),
        ):
            pass


def move(store: Path, place: str, to: str) -> None:
    """Give a finished file of a store its name; that it has it already does no harm."""
    (above, _, name), (target, _, new_name) = place.rpartition("/"), to.rpartition("/")
    with writing(store / to), store_folder(store, target, make=True) as folder:
        try:
            with store_folder(store, above) as source:
                source.move(name, folder, new_name)
        except FileNotFoundError:
            if not folder.holds_file(new_name):
                raise


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


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill under a temporary name, which becomes `path` when the block ends well."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not all of a long name: with what is added, it could be too long.
        temporary = system.temporary_folder(f".{path.name[:32]}.", path.parent)
    try:
        yield temporary
        with writing(path):
            shutil.rmtree(temporary / TEMPORARY, ignore_errors=True)
            temporary.chmod(0o755)
            system.replace_folder(temporary, path)
            system.sync_folder(path.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
