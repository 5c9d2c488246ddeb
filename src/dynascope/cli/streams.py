"""Standard streams that are closed, or that nobody reads any more: a terminal that has gone.

Python flushes both streams when it ends. If that fails, the exit code becomes 120, whatever the
command said; so what cannot be written any more is given to the null device before that.
"""

import contextlib
import os
import sys
from io import TextIOWrapper


def open_missing() -> None:
    """Give the process streams that its caller closed (`dynascope train >&-`)."""
    for number in (0, 1, 2):  # in this order, as a new file gets the lowest number that is free
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def escape_unprintable() -> None:
    """A name that the terminal cannot spell is escaped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def discard_unwritable() -> None:
    """Whatever is left in a stream that cannot take it goes nowhere."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, stream.fileno())
                os.close(null)
                stream.flush()
