"""Who does what `Run` and `Runs` offer: the one place where runs meet the layers above them.

It is given to `services.provide` as it is. Each layer is imported when it is first needed: whoever
only trains waits neither for Arrow nor for SciPy.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from dynascope.extras import needing
from dynascope.run import Run, Runs

if TYPE_CHECKING:
    import os

    import pyarrow

    from dynascope.progress import Report
    from dynascope.sandbox.notebook import SandboxWidget
    from dynascope.trainer import Trainer


def trainer_at(run: Run, epoch: int) -> "Trainer":
    from dynascope.trainer import Trainer

    return Trainer.at(run, epoch)


def table(runs: Runs, columns: Sequence[str] | None, curves: bool) -> "pyarrow.Table":
    from dynascope.store.tables import table_of

    return table_of(runs, columns, curves)


def matching(runs: Runs, condition: str) -> Collection[str]:
    from dynascope.store.query import matching

    return matching(runs, condition)


def analyse(
    runs: Runs, kinds: str | Iterable[str], threads: int | None, report: "Report | None"
) -> "pyarrow.Table":
    from dynascope.findings.keep_analyses import analyse

    return analyse(runs, kinds, threads, report)


def drawn(shown: object) -> str:
    """What a notebook shows of it."""
    from dynascope.notebook.show import html_of

    return html_of(shown)


def sandbox(run: Run, epoch: int, beside: Run | None, height: int, saved: bool) -> "SandboxWidget":
    with needing("notebook", "sandbox", "anywidget"):
        import anywidget  # noqa: F401
    from dynascope.sandbox.notebook import sandbox_of

    return sandbox_of(run, epoch, beside, height, saved)


def save(runs: Runs, folder: "str | os.PathLike[str]", append: bool) -> None:
    from dynascope.store.save import save

    save(runs, folder, append)
