"""Ctrl-C while the command `dynascope` is still being imported: one line, not a traceback.

The package imports this first, since there is no earlier place for `python -m dynascope` and the
installed script alike. In any other program, it does nothing.
"""

import contextlib
import os
import signal
import sys
from types import FrameType


def is_command() -> bool:
    """Whether this process is the command, and not a program that imports the package."""
    name = (getattr(sys, "argv", None) or [""])[0]
    if name == "-m":  # as long as the module that was asked for is being looked for
        words = [*sys.orig_argv, "-m", ""]
        return words[words.index("-m") + 1] == "dynascope"
    return os.path.basename(name) in ("dynascope", "dynascope.exe")


def guard() -> None:
    """Until `hand_over`, Ctrl-C ends the process."""
    if is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def hand_over() -> bool:
    """From now on Ctrl-C is an exception again; whether it was not."""
    if signal.getsignal(signal.SIGINT) is not _end:
        return False
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return True


def _end(number: int, frame: FrameType | None) -> None:
    with contextlib.suppress(OSError):
        os.write(2, b"dynascope: stopped.\n")
    os._exit(1)  # an exception could strike where somebody swallows or prints it


guard()
