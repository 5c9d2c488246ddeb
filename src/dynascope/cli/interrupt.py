"""Ctrl-C without loss."""

import signal
from types import FrameType, TracebackType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)  # the second is what job schedulers send


class CtrlC:
    """Within its block Ctrl-C (or SIGTERM) is noted, and raised only where somebody calls `check`.

    As an exception it could strike between a finished run and the list that keeps it; noted, it
    strikes where the work can stop. The first one also ends the process's interest in more of
    them, for good: what is left is to save the runs and say so. (If even that hangs, there is
    Ctrl-backslash.)
    """

    def __init__(self) -> None:
        self._asked = False

    def __enter__(self) -> "CtrlC":
        self._before = {number: signal.getsignal(number) for number in _SIGNALS}
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
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)
