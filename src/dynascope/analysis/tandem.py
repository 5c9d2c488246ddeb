"""Whether gradients grow in tandem with what happens to the loss: its spikes and its drops."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis import thresholds as th
from dynascope.analysis.checks import check_run
from dynascope.analysis.drops import Drop
from dynascope.analysis.parts import PARTS, lengths_of_parts
from dynascope.analysis.run_drops import in_and_around, ratios, run_drops
from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.analysis.spike_detection import Event
from dynascope.analysis.spikes import Tandem, spikes
from dynascope.errors import DynascopeError
from dynascope.near_misses import guided
from dynascope.run import Run

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class GradientTandem:
    """Gradient norms of all weights ("all") and of each part of the model.

    - `at_drops`: the median of the epochs' mean norms in each drop of the loss, over the median
      around it (up to 50 epochs before and after, in no drop); NaN where that is 0 or not known.
    - `at_spikes`: the largest norm of a step on the way up to each peak, over the median of the
      epochs' largest norms before, as the rise of a spike is told of the loss.
    - `changes`: how loss and norm change together from epoch to epoch.
    """

    drops: tuple[Drop, ...]
    spikes: tuple[Event, ...]
    at_drops: Mapping[str, Array]  # by part: [drops]
    at_spikes: Mapping[str, Array]  # by part: [spikes]
    changes: Tandem | None  # None: too few epochs


@guided
def tandem(run: Run) -> GradientTandem:
    """Gradient norms at the spikes and drops of a run's loss; they must have been recorded.

    >>> import dynascope as ds
    >>> config = ds.Config().replace({"training.epochs": 40})
    >>> found = tandem(ds.train(config, progress=False)[0])
    >>> len(found.drops), found.at_drops["all"].tolist(), found.changes.around_spikes
    (0, [], False)
    """
    run = check_run(run).loaded()
    last = last_sound_epoch(run)
    means, highest = (_norms(run, curve, last) for curve in ("grad_norm", "grad_norm_max"))
    found, drops = spikes(run, why=False), run_drops(run)
    epochs = np.arange(last + 1)
    at_drops = ratios(*in_and_around(means, epochs - 1, epochs, drops))
    return GradientTandem(
        drops=drops,
        spikes=found.spikes,
        at_drops=dict(zip(PARTS, at_drops, strict=True)),
        at_spikes=dict(zip(PARTS, _at_spikes(highest, found.spikes), strict=True)),
        changes=found.tandem,
    )


def _norms(run: Run, curve: str, last: int) -> Array:
    """[parts, epochs + 1]; NaN before training."""
    names = run.config.shapes
    if all(f"{curve}/{name}" in run.curves for name in names):
        norms = lengths_of_parts(names, lambda name: run.curves[f"{curve}/{name}"][: last + 1])
        if np.isfinite(norms).any():
            return norms
    if last == 0:
        raise DynascopeError(f"run {run.id}: it has no epoch with a gradient.")
    raise DynascopeError(
        f"run {run.id}: its gradient norms were not recorded; train it again with "
        "record.gradients = true."
    )


def _at_spikes(norms: Array, found: Sequence[Event]) -> Array:
    """[parts, spikes]"""
    rises = np.empty((len(norms), len(found)))
    for i, spike in enumerate(found):
        before = norms[:, max(1, spike.start - th.SPIKE_WINDOW) : spike.start]
        height = norms[:, spike.start : spike.peak + 1].max(axis=1)
        rises[:, i] = ratios(height, np.median(before, axis=1))
    return rises
