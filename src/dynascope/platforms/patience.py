"""Files that somebody else has open for a moment."""

import time
from collections.abc import Callable

_TRIES = 20
_PAUSE = 0.05  # seconds


def patiently(change: Callable[[], None]) -> None:
    """Rename or remove a file, for a second again if that is refused.

    Windows refuses it while anybody has the file open: a virus scanner, an indexer, a reader.
    """
    for _ in range(_TRIES - 1):
        try:
            return change()
        except PermissionError:
            time.sleep(_PAUSE)
    return change()
