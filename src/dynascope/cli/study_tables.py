"""The tables of `dynascope study`: what there is, what it will take, what it took."""

from collections.abc import Sequence

from dynascope.cli.amounts import disk_space
from dynascope.errors import DynascopeError
from dynascope.findings.words import many
from dynascope.printing import print
from dynascope.progress import clock
from dynascope.store.files import path_of
from dynascope.studies.catalogue import NAMES, study_of
from dynascope.studies.planning import planned_studies, runs_of
from dynascope.studies.sources import SCALES
from dynascope.studies.study_folder import StudyFolder, read_about
from dynascope.studies.timings import Timings


def print_list() -> None:
    """Every study with its question, and its runs at each scale."""
    rows: list[tuple[str, ...]] = [("study", *(f"{scale} runs" for scale in SCALES), "question")]
    for name in NAMES:
        study = study_of(name)
        counts = (sum(runs_of(each, scale) for each in study.sources) for scale in SCALES)
        rows.append((name, *(f"{count:,}" for count in counts), study.question))
    print(*_aligned(rows, words=(0, len(rows[0]) - 1)))


def print_plan(folder: StudyFolder, threads: int | None) -> None:
    """Runs, time and disk space of each study that is asked for, and of all."""
    from dynascope.sweeps.estimate import free_space

    *studies, whole = planned_studies(folder, threads)
    told = [*studies, whole] if len(studies) > 1 else studies
    rows = [
        (
            each.name,
            f"{each.runs:,}",
            f"{each.left.runs:,}",
            clock(each.left.seconds),
            disk_space(each.left.disk) if each.left.disk else "0",
        )
        for each in told
    ]
    print(*_aligned([("study", "runs", "to train", "time", "disk"), *rows]))
    if len(studies) > 1:
        print("Runs that several studies look at are in all of them, and once in the last line.")
    threads_used = many(whole.left.threads, "thread")
    print(f"on {threads_used} of this machine; analyses are estimated roughly")
    print(f"{disk_space(free_space(folder.path))} free")


def print_timings(folder: str) -> None:
    """How long each source took, over all sittings."""
    path = path_of(folder)
    if read_about(path) is None:
        raise DynascopeError(f"{path}: expected a folder of studies; see dynascope study --help.")
    seconds = Timings(path).seconds
    rows = [(name, clock(value)) for name, value in seconds.items()]
    print(*_aligned([("source", "time"), *rows, ("in all", clock(sum(seconds.values())))]))


def _aligned(rows: Sequence[tuple[str, ...]], words: Sequence[int] = (0,)) -> list[str]:
    """Lines of columns: words begin below each other, numbers end so.

    >>> _aligned([("study", "runs"), ("width", "12")])
    ['study  runs', 'width    12']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(_cells(row, widths, words)).rstrip() for row in rows]


def _cells(row: tuple[str, ...], widths: Sequence[int], words: Sequence[int]) -> list[str]:
    return [
        cell.ljust(width) if place in words else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
