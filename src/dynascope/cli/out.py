"""The folder that runs go to: refused before training if it cannot be made, never a loss after."""

import os
import tempfile
from pathlib import Path

from dynascope.errors import DynascopeError
from dynascope.folder import check_new
from dynascope.run import Runs


def check_out(text: str) -> Path:
    """The folder of `--out`, once it is sure that saving there will probably work."""
    path = Path(os.path.abspath(text))
    try:
        check_new(path)
        nearest = next(parent for parent in path.parents if os.path.lexists(parent))
        if path == Path.cwd() or (path.is_symlink() and not path.exists()):
            raise DynascopeError(f"--out {text}: expected a folder of a new name.")
        if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
            raise DynascopeError(f"--out {text}: expected a place to write, but got {nearest}.")
    except OSError as error:
        raise DynascopeError(f"--out {text}: cannot be made ({error.strerror}).") from None
    return path


def save(runs: Runs, path: Path) -> str:
    """Save the runs; returns what went wrong, or nothing.

    The folder was fine when training began. If since then another job took the name or the disk
    filled up, hours of work are not lost for that: they go to the system's temporary folder.
    """
    try:
        runs.save(path)
    except DynascopeError as error:
        try:
            rescue = tempfile.mkdtemp(prefix="dynascope-")
            runs.save(rescue)
        except (DynascopeError, OSError):
            return f"{error} Nothing was saved."
        return f"{error} The runs are in {rescue} instead."
    return ""
