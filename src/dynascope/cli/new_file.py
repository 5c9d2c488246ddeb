"""A file that a command makes: all of it, or none."""

import os
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path

from dynascope.errors import Description, DynascopeError, expected
from dynascope.store.files import path_of


def check_file(name: str, option: str, endings: Collection[str] = ()) -> Path:
    """The path of a file that can be made, before any work is done for it."""
    path = path_of(name)
    listed = " or ".join(f".{each}" for each in endings)
    if endings and path.suffix.lower().removeprefix(".") not in endings:
        raise expected(option, f"a name that ends in {listed}", name)
    if path.is_dir():
        raise expected(option, "the name of a file", Description(f"a folder, {name}"))
    if not path.parent.is_dir():
        raise expected(option, "a file in a folder that exists", name)
    try:
        descriptor, trial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
        os.close(descriptor)
        os.unlink(trial)
    except OSError as error:
        raise DynascopeError(f"{option}: {name} cannot be written: {error.strerror}.") from None
    return path


def write_file(path: Path, write: Callable[[Path], None]) -> None:
    """Make a file under another name in the same folder, and then give it its own: whatever ends
    the work leaves no part of it."""
    descriptor, name = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.name[:40]}.", suffix=path.suffix
    )
    os.close(descriptor)
    made = Path(name)
    try:
        write(made)
        os.chmod(made, 0o666 & ~_umask())
        os.replace(made, path)
    except OSError as error:
        raise DynascopeError(f"{path}: cannot be written: {error.strerror or error}.") from None
    finally:
        made.unlink(missing_ok=True)


def _umask() -> int:
    """What new files are not to be allowed; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
