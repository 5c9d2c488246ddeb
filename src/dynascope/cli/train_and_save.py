"""A training job from its start to its saved runs: progress, Ctrl-C, time."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from dynascope.cli.interrupt import CtrlC
from dynascope.cli.safe_save import save
from dynascope.engine import Interrupted
from dynascope.progress import Bar, Lines, Status
from dynascope.run import Runs


@dataclass(frozen=True)
class Outcome:
    """What became of a job."""

    runs: Runs  # the finished ones
    partial: Runs  # those that were under way when it was stopped
    seconds: float
    stopped: str  # by what, if it was
    trouble: str  # why the runs are not where they should be


class Watch:
    """The progress function of a job: moves the bar, and is where Ctrl-C takes effect."""

    def __init__(self, ctrl_c: CtrlC, bar: Bar | Lines | None) -> None:
        self._ctrl_c, self._bar = ctrl_c, bar

    def __call__(self, status: Status) -> None:
        self._ctrl_c.check()
        if self._bar:
            with suppress(OSError):  # a terminal that was closed must not cost the runs
                self._bar(status)

    def close(self) -> None:
        if self._bar:
            with suppress(OSError):
                self._bar.close()


def train_and_save(
    work: Callable[[Watch], Runs],
    write: Callable[[Runs], None] | None = None,
    quiet: bool = False,
) -> Outcome:
    """Do the work and save the runs: all of them, or at Ctrl-C what there is of them."""
    none = Runs([])
    with CtrlC() as ctrl_c:
        began = time.perf_counter()
        try:
            runs, partial, stopped = work(Watch(ctrl_c, None if quiet else Bar())), none, ""
        except Interrupted as interrupted:
            runs, partial, stopped = interrupted.runs, interrupted.partial, "stopped"
        except MemoryError as error:
            runs, partial = getattr(error, "runs", none), getattr(error, "partial", none)
            stopped = "memory ran out"
        seconds = time.perf_counter() - began
        both = Runs([*runs, *partial])
        trouble = save(both, write) if write and len(both) else ""
    return Outcome(runs, partial, seconds, stopped, trouble)
