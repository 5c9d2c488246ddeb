"""Single runs that figures show, chosen by a rule that stands before the runs."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.engine import train
from dynascope.errors import DynascopeError
from dynascope.run import Run
from dynascope.studies.table import Table

Array = npt.NDArray[Any]


def first_run(runs: Table, mask: Array) -> Run | None:
    """The first run by seed of which something holds."""
    found = np.flatnonzero(mask)
    return opened(runs, int(found[0])) if len(found) else None


def most_of(runs: Table, scores: Array) -> Run | None:
    """The run with the highest score; None where none has one."""
    return opened(runs, int(np.nanargmax(scores))) if np.isfinite(scores).any() else None


def opened(runs: Table, place: int) -> Run:
    """A run by its place, trained again with the weights of every epoch."""
    if runs.runs is None:
        raise DynascopeError(f"{runs.name}: a table without runs has no examples.")
    wanted = str(runs["id"][place])
    kept = next(run for run in runs.runs if run.id == wanted)
    every = kept.config.replace({"record.weights_every": 1, "record.state_every": 50})
    (again,) = train(every, [kept.seed], progress=False)
    if not np.array_equal(again.weights[-1], kept.weights[-1]):
        raise DynascopeError(f"run {kept.id}: training it again gave other weights.")
    return again
