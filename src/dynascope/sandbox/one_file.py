"""The sandbox with its runs as one HTML file, which asks nobody for anything."""

import os
import warnings
from collections.abc import Iterable

from dynascope.errors import Description, expected
from dynascope.near_misses import guided
from dynascope.new_file import check_new_file, write_new_file
from dynascope.progress import Report, Status, reporter
from dynascope.run import Run
from dynascope.sandbox import analysis_answers
from dynascope.sandbox.archive import Stored, packed
from dynascope.sandbox.contents import json_bytes
from dynascope.sandbox.embedded_client import KERNEL, EmbeddedClient, embedded_client, page_of
from dynascope.sandbox.run_archive import Analyse, RunArchive
from dynascope.sandbox.store_answers import Shown, about_answers
from dynascope.store.stored import StoredRun

ENDINGS = (".html", ".htm")
LARGE = 25 * 10**6  # bytes: more is slow to open, and many do not accept it as an attachment
_MOST_RUNS = 2  # that the page shows side by side
_LARGEST_EVERY = 10**6


@guided
def export(
    runs: "Run | Iterable[Run]",
    path: "str | os.PathLike[str]",
    epoch: int | None = None,
    every: int = 1,
    curvature: bool = False,
    progress: bool | Report = True,
) -> None:
    """Write the sandbox with a run, or with two side by side, to one HTML file.

    It opens by a double click, without a server and without a network. `epoch` is shown first.
    `every` keeps the weights of every so many epochs only; `curvature` adds the exact Hessian at a
    few epochs, which takes ten seconds or more.
    """
    chosen = _checked_runs(runs)
    shown = Shown(
        chosen[0].id,
        None if epoch is None else chosen[0].checked_epoch(epoch),
        chosen[1].id if len(chosen) > 1 else None,
    )
    check_every(every)
    target = check_new_file(path, ENDINGS)
    page = one_file(chosen, shown, every, curvature, reporter(progress))
    write_new_file(target, page)
    warn_if_large(target.name, len(page), every)


def one_file(
    runs: list[Run],
    shown: Shown,
    every: int,
    curvature: bool,
    report: Report | None = None,
    analyse: Analyse = analysis_answers.analysis,
) -> bytes:
    """The page; `report` is told how far it is."""
    built = embedded_client()
    archives = [RunArchive(run, every, curvature, analyse) for run in runs]
    status = Status(1, sum(each.steps for each in archives), unit="steps")

    def step(count: int) -> None:
        status.finished_epochs += count
        if report:
            report(status)

    try:
        answers = _answers(built, runs, shown)
        for each in archives:
            answers |= each.answers(step)
    finally:
        close = getattr(report, "close", None)
        if close:
            close()
    return page_of(built, _title(runs), packed(answers)).encode()


def playground() -> bytes:
    """The sandbox without a run, to train one in it."""
    built = embedded_client()
    answers = _answers(built, [], Shown(None, None, None))
    return page_of(built, "dynascope playground", packed(answers)).encode()


def _answers(built: EmbeddedClient, runs: list[Run], shown: Shown) -> dict[str, Stored]:
    """What is asked about no run in particular."""
    first = runs[0] if runs else None
    name = first.folder.resolve().name if isinstance(first, StoredRun) else ""
    store = about_answers(name, shown, ())
    return {
        KERNEL: Stored(built.kernel),
        "/api/store": Stored(json_bytes({**store, "runs": len(runs), "damage": []})),
    }


def _title(runs: list[Run]) -> str:
    named = " and ".join(f"seed {run.seed} ({run.id[:6]})" for run in runs)
    return f"dynascope: {named}"


def _checked_runs(runs: object) -> list[Run]:
    found = [runs] if isinstance(runs, Run) else runs
    if not isinstance(found, Iterable):
        raise expected("runs", "a ds.Run, or two of them", runs)
    chosen: list[Run] = []
    for run in found:
        if not isinstance(run, Run):
            raise expected("runs", "a ds.Run, or two of them", run)
        chosen.append(run)
        if len(chosen) > _MOST_RUNS:
            break
    check_runs(chosen)
    return chosen


def check_runs(runs: list[Run]) -> None:
    """Refuse what the page cannot show: nothing, more than two, one beside itself."""
    what = "one run, or two to compare"
    if not 1 <= len(runs) <= _MOST_RUNS:
        got = "none" if not runs else "more than two"
        raise expected("runs", what, Description(got), "choose them, as in runs[0]")
    if len({run.id for run in runs}) < len(runs):
        raise expected("runs", what, Description(f"run {runs[0].id} twice"))


def check_every(every: object, field: str = "every") -> None:
    """Refuse what is no distance between epochs."""
    whole = isinstance(every, int) and not isinstance(every, bool)
    if not whole or not 1 <= every <= _LARGEST_EVERY:  # type: ignore[operator]
        raise expected(field, "a whole number of at least 1", every)


def warn_if_large(name: str, size: int, every: int, option: str = "every={}") -> None:
    """Say what to leave out of a file that is too large to send around."""
    if size > LARGE:
        fewer = option.format(every * max(2, -(-size // LARGE)))
        warnings.warn(
            f"{name} has {size / 1e6:.0f} MB, which is slow to open; {fewer} keeps the weights of "
            "fewer epochs.",
            stacklevel=3,
        )
