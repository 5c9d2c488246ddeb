"""The drops of a run's train loss, and what a measure is in them against around them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis.drop_votes import SeenDrop, with_votes
from dynascope.analysis.drops import Drop, LossCurve
from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.analysis.thresholds import DROP_NEAR
from dynascope.run import Run

Array = npt.NDArray[Any]


def run_drops(run: Run) -> tuple[Drop, ...]:
    """The drops by slope, up to the divergence if the run diverged: those of the column `drops`."""
    return _loss_curve(run).drops("slope")


def seen_drops(run: Run) -> tuple[SeenDrop, ...]:
    """The drops that `phases` tells, each with the methods that see it: without any weights."""
    curve = _loss_curve(run)
    return with_votes(
        curve.drops("shelves"), {"change": curve.drops("change"), "slope": curve.drops("slope")}
    )


def _loss_curve(run: Run) -> LossCurve:
    losses = run.curves["train_loss"][: last_sound_epoch(run) + 1]
    return LossCurve(losses, run.task.chance_loss)


def inside(drop: Drop, begin: Array, end: Array) -> Array:
    """Which of the stretches from one epoch to another lie in a drop, at least in part.

    >>> epochs = np.arange(6)
    >>> inside(Drop(3, 2, 4, 0.5), epochs[:-1], epochs[1:]).tolist()
    [False, False, True, True, False]
    """
    return np.asarray((end > drop.start) & (begin < max(drop.end, drop.start + 1)))


def in_and_around(
    values: Array, begin: Array, end: Array, drops: Sequence[Drop]
) -> tuple[Array, Array]:
    """Two times [groups, drops]: the medians of values [groups, stretches] in each drop, and around
    it, up to `DROP_NEAR` epochs before and after but in no drop; NaN where there is no value.

    Not in all of the rest: once a run has solved its task, all is small for the rest of it.
    """
    masks = [inside(drop, begin, end) for drop in drops]
    in_none = ~np.any(masks, axis=0) if masks else np.ones(len(begin), bool)
    reach = max(DROP_NEAR, 2 * int((end - begin).max(initial=1)))  # at least the next stretches
    near = [(end > drop.start - reach) & (begin < drop.end + reach) for drop in drops]
    within = [medians(values[:, mask]) for mask in masks]
    around = [medians(values[:, mask & in_none]) for mask in near]
    none = np.empty((0, len(values)))
    return np.array(within or none).T, np.array(around or none).T


def ratios(values: Array, usual: Array) -> Array:
    """Values over what is usual; NaN where that is 0 or not known.

    >>> ratios(np.array([6.0, 1.0]), np.array([3.0, 0.0])).tolist()
    [2.0, nan]
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = values / usual
    return np.where(np.isfinite(found), found, np.nan)


def medians(values: Array) -> Array:
    """[groups]: the median of what is finite."""
    rows = (row[np.isfinite(row)] for row in values)
    return np.array([np.median(row) if len(row) else np.nan for row in rows])
