"""What runs offer, and layers above them do: replay, tables, SQL, analyses, disk.

`Run` and `Runs` know this protocol only. `dynascope/__init__.py` says who provides it (`wiring`).
"""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import os

    import pyarrow

    from dynascope.progress import Report
    from dynascope.run import Run, Runs
    from dynascope.trainer import Trainer


class Services(Protocol):
    """The methods do what those of the same name of `Run` and `Runs` say."""

    def trainer_at(self, run: "Run", epoch: int) -> "Trainer":
        """A trainer exactly there: from the nearest kept state, replayed."""

    def table(
        self, runs: "Runs", columns: Sequence[str] | None, curves: bool
    ) -> "pyarrow.Table": ...

    def matching(self, runs: "Runs", condition: str) -> Collection[str]:
        """The ids of the runs for which an SQL condition holds."""

    def analyse(
        self,
        runs: "Runs",
        kinds: "str | Iterable[str]",
        threads: int | None,
        report: "Report | None",
    ) -> "pyarrow.Table": ...

    def save(self, runs: "Runs", folder: "str | os.PathLike[str]", append: bool) -> None: ...

    def sandbox(
        self, run: "Run", epoch: int, beside: "Run | None", height: int, saved: bool
    ) -> Any: ...


_provided: list[Services] = []


def provide(services: Services) -> None:
    """From now on these are the services."""
    _provided[:] = [services]


def services() -> Services:
    """Those that were provided; whoever can import this module has them."""
    return _provided[0]
