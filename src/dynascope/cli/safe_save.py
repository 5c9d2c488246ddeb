"""Saving at the end of a long job: never a loss."""

import tempfile
from collections.abc import Callable

from dynascope.errors import DynascopeError
from dynascope.run import Runs


def save(runs: Runs, write: Callable[[Runs], None]) -> str:
    """Save the runs by `write`; returns what went wrong, or nothing.

    The folder was fine when training began. If since then another job took the name or the disk
    filled up, hours of work are not lost for that: they go to the system's temporary folder.
    """
    try:
        write(runs)
    except DynascopeError as error:
        try:
            rescue = tempfile.mkdtemp(prefix="dynascope-")
            runs.save(rescue)
        except (DynascopeError, OSError):
            return f"{error} Nothing was saved."
        return f"{error} The runs are in {rescue} instead."
    return ""
