"""`ds.study`: studies of the paper's claims, carried out, judged, and told."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from dynascope.near_misses import guided
from dynascope.option_rules import Choice
from dynascope.progress import Report, reporter
from dynascope.store.files import PathLike, path_of
from dynascope.store.lock import locked
from dynascope.studies.catalogue import NAMES, check_studies, study_of
from dynascope.studies.report_file import write_report
from dynascope.studies.results import StudyResult, StudyResults
from dynascope.studies.sources import QUICK, SCALES, StudySource
from dynascope.studies.study import Study
from dynascope.studies.study_folder import StudyFolder
from dynascope.studies.timings import REPORT, Timings
from dynascope.sweeps.execution import Execution
from dynascope.sweeps.ray_connection import import_ray
from dynascope.sweeps.sweep_function import check_execution


@guided
def study(
    names: "str | Sequence[str]" = "all",
    scale: str = QUICK,
    out: PathLike | None = None,
    *,
    threads: int | None = None,
    ray: str | None = None,
    progress: bool | Report = True,
) -> StudyResults:
    """Carry out studies of the paper's claims; what the folder has already is not done again.

    `names`: one study, several, or "all". `scale`: "quick" takes minutes, "paper" hours. `out`:
    the folder for runs and report; by default `study-NAME-SCALE`, where you are. It can be stopped
    at any time and called again.
    """
    wanted = check_studies(names)
    Choice(SCALES).check("scale", scale)
    folder = StudyFolder(path_of(out or default_folder(wanted, scale)), wanted, scale)
    execution = check_execution(Execution(threads=threads, ray=ray))
    return carry_out_studies(folder, execution, lambda source: reporter(progress))


def default_folder(names: Sequence[str], scale: str) -> str:
    """
    >>> default_folder(["width", "bounds"], "quick"), default_folder(NAMES, "paper")
    ('study-width-bounds-quick', 'study-all-paper')
    """
    return f"study-{'all' if tuple(names) == NAMES else '-'.join(names)}-{scale}"


def carry_out_studies(
    folder: StudyFolder,
    execution: Execution,
    report_of: Callable[[StudySource], Report | None],
    pause: Callable[[], None] = lambda: None,
) -> StudyResults:
    """Train what is missing, judge, and write the report; `report_of` is asked before a source."""
    studies = [study_of(name) for name in folder.studies]
    _check_extras(studies, execution)
    folder.claim()
    with locked(folder.path, execution.wait, pause):
        timings = Timings(folder.path)
        for source in sources_of(studies):
            pause()
            with timings.of(source.name, report_of(source)) as report:
                source.prepare(folder.runs(source.name), folder.scale, execution, report, pause)
        pause()
        with timings.of(REPORT, None):
            results = read_results(folder)
            write_report(results)
    return results


def _check_extras(studies: Sequence[Study], execution: Execution) -> None:
    """What is not installed is said now, not after hours."""
    if any(each.figures for each in studies):
        import dynascope.plots  # noqa: F401
    if execution.ray is not None:
        import_ray(execution.ray)


def read_results(folder: StudyFolder) -> StudyResults:
    """What the runs of a folder say."""
    studies = [study_of(name) for name in folder.studies]
    tables = {s.name: s.table(folder.runs(s.name), folder.scale) for s in sources_of(studies)}
    found = [StudyResult(each, folder.scale, tables) for each in studies]
    return StudyResults(found, folder.scale, Path(folder.path))


def sources_of(studies: Sequence[Study]) -> Iterator[StudySource]:
    """The sources of studies, each once."""
    seen = set()
    for each in (source for study in studies for source in study.sources):
        if each.name not in seen:
            seen.add(each.name)
            yield each
