"""How far long jobs are: what they tell, and the bar or the lines that people see of it."""

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dynascope.number_text import percent
from dynascope.printing import print

if TYPE_CHECKING:
    from rich.console import Console

_PATIENCE = 2.0  # seconds that a job may take in all before a bar is worth its line
_BAR = 24  # characters
_FIRST_LOOK = 0.3  # seconds after which the speed so far says how long the whole will take


@dataclass
class Status:
    """How far a call of `train` is; given to its `progress` function about ten times a second.

    Other long jobs count something other than `epochs`: `unit` says what. They have a single run.
    """

    runs: int
    epochs: int  # in all runs together
    finished_runs: int = 0
    finished_epochs: int = 0
    unit: str = "epochs"
    began: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    @property
    def share(self) -> float:
        """How much of the work is done, from 0 to 1."""
        return self.finished_epochs / max(self.epochs, 1)

    def advance(self, index: int, epochs: int) -> None:
        """Count `epochs` more epochs for job `index`."""
        self.finished_epochs += epochs


Report = Callable[[Status], None]


def reporter(progress: bool | Report) -> Report | None:
    """The function that `progress` selects: the caller's own, a bar, or none."""
    return progress if callable(progress) else Bar() if progress else None


class Bar:
    """Call it with a `Status`; it appears on stderr once the job turns out to be a long one.

    Without a terminal (or notebook) there is none: a log is not to be filled with frames.
    """

    def __init__(self, console: "Console | None" = None) -> None:
        self._console = console
        self._shown: _TerminalBar | _NotebookBar | None = None
        self._off = False

    def __call__(self, status: Status) -> None:
        share = status.share
        whole = status.seconds / share if share else None  # nobody knows before anything is done
        if self._shown is None:
            soon = status.seconds if whole is None else whole
            if self._off or status.seconds < _FIRST_LOOK or soon < _PATIENCE:
                return
            self._open()
        if self._shown is not None:
            left = "" if whole is None else f"{clock(whole - status.seconds)} left"
            self._shown.update(
                share, {"runs": _done(status), "speed": _speed(status), "left": left}
            )

    def close(self) -> None:
        if self._shown is not None:
            self._shown.stop()
            self._shown = None  # a further stage draws a bar of its own

    def _open(self) -> None:
        from rich.console import Console

        console = self._console or Console(stderr=True)
        if console.is_jupyter:
            self._shown = _NotebookBar()
        elif console.is_terminal and not console.is_dumb_terminal:
            self._shown = _TerminalBar(console)
        else:
            self._off = True


class _TerminalBar:
    """Rich's own."""

    def __init__(self, console: "Console") -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        self._progress = Progress(
            BarColumn(_BAR, complete_style="green", finished_style="green"),
            *(TextColumn(f" {{task.fields[{name}]}}") for name in ("runs", "speed", "left")),
            console=console,
            transient=True,
        )
        self._progress.add_task("", total=1.0, runs="", speed="", left="")
        self._progress.start()

    def update(self, share: float, told: Mapping[str, str]) -> None:
        self._progress.update(self._progress.task_ids[0], completed=share, **told)  # type: ignore[arg-type]

    def stop(self) -> None:
        self._progress.stop()


class _NotebookBar:
    """A line of text in the cell's output, which goes in the end. (Rich's needs ipywidgets there,
    and where these are not installed it shows a warning instead.)"""

    def __init__(self) -> None:
        from IPython.display import display

        self._shown: Any = display(_text(""), raw=True, display_id=True)  # type: ignore[no-untyped-call]

    def update(self, share: float, told: Mapping[str, str]) -> None:
        done = round(min(share, 1.0) * _BAR)
        bar = "█" * done + "░" * (_BAR - done)
        self._shown.update(_text("  ".join([bar, *told.values()])), raw=True)

    def stop(self) -> None:
        self._shown.update(_text(""), raw=True)


def _text(line: str) -> dict[str, str]:
    return {"text/plain": line}


class Lines:
    """A line on stderr now and then, for logs of long jobs where a bar cannot be drawn."""

    def __init__(self, every: float = 60.0) -> None:
        self._every, self._next = every, every

    def __call__(self, status: Status) -> None:
        if status.seconds < self._next or not status.share:
            return
        self._next = status.seconds + self._every
        left = clock(status.seconds / status.share - status.seconds)
        share = percent(status.share, places=0)
        print(f"{share}  {_done(status)}  {left} left", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Nothing is left open."""


def clock(seconds: float) -> str:
    """A time as people say it.

    >>> clock(7.4), clock(95), clock(7384)
    ('0:07', '1:35', '2:03:04')
    """
    minutes, second = divmod(round(max(seconds, 0)), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def _done(status: Status) -> str:
    if status.unit == "epochs":
        return f"{status.finished_runs}/{status.runs} runs"
    return f"{status.finished_epochs:,}/{status.epochs:,} {status.unit}"


def _speed(status: Status) -> str:
    runs = status.finished_runs / status.seconds
    if runs >= 1:
        return f"{runs:,.1f} runs/s"
    speed = status.finished_epochs / status.seconds
    return f"{speed:,.{0 if speed >= 10 else 1}f} {status.unit}/s"
