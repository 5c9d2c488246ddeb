"""What studies will take: their runs, and the time and disk space of those that are missing."""

from collections.abc import Sequence
from dataclasses import dataclass

from dynascope.studies.sources import MadeRuns, StudySource, StudySweep
from dynascope.studies.study import Study
from dynascope.studies.study_folder import StudyFolder
from dynascope.studies.study_function import sources_of
from dynascope.sweeps.estimate import Estimate, Workload, estimate, planned_work
from dynascope.sweeps.plan import expand


def runs_of(source: StudySource, scale: str) -> int:
    """How many runs a source has. (What runs made by hand are, only they know: one for a seed.)"""
    if isinstance(source, StudySweep):
        plan = expand(source.at(scale))
        return len(plan.seeds) * sum(len(stage.configs) for stage in plan.stages)
    return source.seeds[scale] if isinstance(source, MadeRuns) else 0


@dataclass(frozen=True)
class PlannedSources:
    """Some sources: all of their runs, and what those that are missing will take."""

    name: str
    runs: int
    left: Estimate


def planned_studies(folder: StudyFolder, threads: int | None) -> list[PlannedSources]:
    """Each study alone, and then all of them, in which what several look at counts once.

    Time is that of sweeps; whatever else a study computes takes seconds.
    """
    from dynascope.studies.catalogue import study_of

    folder.read()
    studies = [study_of(name) for name in folder.studies]
    sources = list(sources_of(studies))
    found = estimate([_missing(each, folder) for each in sources], threads)
    left = {source.name: each for source, each in zip(sources, found, strict=True)}
    return [
        *(_planned(each.name, [each], folder.scale, left) for each in studies),
        _planned("in all", studies, folder.scale, left),
    ]


def _missing(source: StudySource, folder: StudyFolder) -> Workload:
    if not isinstance(source, StudySweep):
        return Workload([])
    return planned_work(source.at(folder.scale), folder.runs(source.name))[1]


def _planned(
    name: str, studies: Sequence[Study], scale: str, left: dict[str, Estimate]
) -> PlannedSources:
    sources = list(sources_of(studies))
    own = [left[each.name] for each in sources]
    together = Estimate(
        sum(each.runs for each in own),
        sum(each.core_seconds for each in own),
        max((each.threads for each in own), default=1),
        sum(each.disk for each in own),
    )
    return PlannedSources(name, sum(runs_of(each, scale) for each in sources), together)
