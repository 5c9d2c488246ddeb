"""Single runs that figures show, chosen by a rule that stands before the runs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.engine import train
from dynascope.errors import DynascopeError
from dynascope.run import Run
from dynascope.studies.table import Table

Array = npt.NDArray[Any]
_TRIED = 100  # of the best, whether something holds


def first_run(runs: Table, mask: Array) -> Run | None:
    """The first run by seed of which something holds."""
    found = np.flatnonzero(mask)
    return opened(runs, int(found[0])) if len(found) else None


def most_of(
    runs: Table, scores: Array, holds: Callable[[int, Run], bool] = lambda place, run: True
) -> Run | None:
    """The run with the highest score, of those of which something holds if there are any among the
    best; None where none has a score."""
    order = [int(i) for i in np.argsort(-scores, kind="stable") if np.isfinite(scores[i])]
    held = (place for place in order[:_TRIED] if holds(place, _kept(runs, place)))
    chosen = next(held, order[0] if order else None)
    return None if chosen is None else opened(runs, chosen)


def opened(runs: Table, place: int) -> Run:
    """A run by its place, trained again with the weights of every epoch."""
    kept = _kept(runs, place)
    every = kept.config.replace({"record.weights_every": 1, "record.state_every": 50})
    (again,) = train(every, [kept.seed], progress=False)
    if not np.array_equal(again.weights[-1], kept.weights[-1]):
        raise DynascopeError(f"run {kept.id}: training it again gave other weights.")
    return again


def _kept(runs: Table, place: int) -> Run:
    """A run by its place, as the folder has it."""
    if runs.runs is None:
        raise DynascopeError(f"{runs.name}: a table without runs has no examples.")
    wanted = str(runs["id"][place])
    return next(run for run in runs.runs if run.id == wanted)
