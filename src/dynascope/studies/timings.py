"""How long sources took, over all sittings: `timings.json`, which no report depends on.

It is written when a source ends, however it ends, and now and then before: a process that is killed
takes only the last seconds with it.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dynascope.errors import DynascopeError
from dynascope.new_file import write_new_file
from dynascope.progress import Report, Status
from dynascope.studies.study_folder import read_json

TIMINGS = "timings.json"
REPORT = "report"  # what judging and drawing took, beside the sources
_EVERY = 15.0  # seconds between two writings


class Timings:
    """Of one folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / TIMINGS
        self.seconds = _read(self._path)

    @contextmanager
    def of(self, name: str, report: Report | None) -> "Iterator[TimedReport]":
        """Within its block, time counts for a source; what it reports to is the block's."""
        timed = TimedReport(self, name, report)
        try:
            yield timed
        finally:
            timed.tick()

    def add(self, name: str, seconds: float) -> None:
        """A file that cannot be written is not worth the sentence about it, or hides another."""
        self.seconds[name] = round(self.seconds.get(name, 0.0) + seconds, 3)
        with suppress(DynascopeError):
            text = json.dumps({"seconds": self.seconds}, indent=1) + "\n"
            write_new_file(self._path, text.encode())


class TimedReport:
    """A report that passes on what it is told, and looks at the clock."""

    def __init__(self, timings: Timings, name: str, report: Report | None) -> None:
        self._timings, self._name, self._report = timings, name, report
        self._since = time.perf_counter()

    def __call__(self, status: Status) -> None:
        if time.perf_counter() - self._since > _EVERY:
            self.tick()
        if self._report:
            self._report(status)

    def close(self) -> None:
        close = getattr(self._report, "close", None)
        if close:
            close()

    def tick(self) -> None:
        now = time.perf_counter()
        self._timings.add(self._name, now - self._since)
        self._since = now


def _read(path: Path) -> dict[str, float]:
    """None, if the file is not as it was written: nothing hangs on it."""
    try:
        told = read_json(path)["seconds"]
        return {str(name): float(value) for name, value in told.items()}
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return {}
