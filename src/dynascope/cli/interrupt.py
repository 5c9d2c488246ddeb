"""Ctrl-C without loss."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

from dynascope.platforms import system

# Ctrl-C, a job scheduler, a closed terminal.
_ENDS = (signal.SIGINT, signal.SIGTERM, system.CLOSED_TERMINAL)


class CtrlC:
    """Within its block Ctrl-C (or another end) is noted, and raised where somebody calls `check`.

    As an exception it could strike between a finished run and the list that keeps it; noted, it
    strikes where the work can stop. The first one also ends the process's interest in more of
    them, for good: what is left is to save the runs and say so. (If even that hangs, there is
    Ctrl-backslash.)
    """

    def __init__(self) -> None:
        self._asked = False

    def __enter__(self) -> "CtrlC":
        self._before = {number: signal.getsignal(number) for number in _ENDS}
        for number, before in self._before.items():
            if before is not signal.SIG_IGN:  # a shell's background job: Ctrl-C is for others
                signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._asked:
            for number, before in self._before.items():
                signal.signal(number, before)

    def check(self) -> None:
        """Raise the KeyboardInterrupt that was asked for, if one was."""
        if self._asked:
            raise KeyboardInterrupt

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._asked = True
        for each, before in self._before.items():
            if before is not signal.SIG_IGN:
                signal.signal(each, _ignore)


def _ignore(number: int, frame: FrameType | None) -> None:
    """What SIG_IGN does; with that, Python would print an error about one that just arrived."""


@contextmanager
def ends_raised() -> Iterator[None]:
    """Within its block all ends are Ctrl-C's own: an exception, at once."""
    before = {number: signal.getsignal(number) for number in _ENDS}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:  # under nohup it is not
            signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
