"""The progress bar of long jobs: how far, how fast, how long still."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dynascope.engine import Status

_PATIENCE = 2.0  # seconds that a job may take in all before a bar is worth its lines


class Bar:
    """Call it with a `Status`; it appears once the job turns out to be a long one."""

    def __init__(self, console: Any = None) -> None:
        self._console = console
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, status: "Status") -> None:
        if self._bar is None:
            done = max(status.finished_epochs, 1) / max(status.epochs, 1)
            if status.seconds < 0.3 or status.seconds / done < _PATIENCE:
                return
            self._open(status)
        rate = status.finished_runs / status.seconds
        epochs = status.finished_epochs / status.seconds
        self._bar.update(
            self._task,
            completed=status.finished_epochs,
            runs=f"{status.finished_runs}/{status.runs} runs",
            speed=f"{rate:.1f} runs/s" if rate >= 1 else f"{epochs:,.0f} epochs/s",
        )

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _open(self, status: "Status") -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("training"),
            BarColumn(),
            TextColumn("{task.fields[runs]}  {task.fields[speed]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console or Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task("", total=status.epochs, runs="", speed="")
        self._bar.start()
