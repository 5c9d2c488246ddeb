"""How fast the weights move at the drops of the loss, against around them.

The claim to be checked: weights jump at the first drop and not at the second, and the feed-forward
moves at a steady speed. Movements are by epoch, from the curves of what each epoch moved; a run
that has no such curves is measured between the epochs whose weights were kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope.analysis.checks import check_run
from dynascope.analysis.drops import Drop
from dynascope.analysis.parts import PARTS, lengths_of_parts
from dynascope.analysis.run_drops import in_and_around, medians, ratios, run_drops
from dynascope.analysis.run_epochs import kept_epochs, last_sound_epoch
from dynascope.near_misses import guided
from dynascope.parameters import Parameters
from dynascope.run import Run

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Speed:
    """Movements per epoch of all weights ("all") and of each part of the model.

    A movement is the distance between the weights before and after, over the number of epochs that
    it took; a speed is a median of movements: of the whole run, in each drop, and around it (up to
    50 epochs before and after, in no drop).
    """

    drops: tuple[Drop, ...]
    overall: Mapping[str, float]  # by part; NaN where there is no epoch
    in_drops: Mapping[str, Array]  # by part: [drops]
    around_drops: Mapping[str, Array]  # by part: [drops]; NaN where there is no such epoch
    resolution: int  # epochs between two weights that are compared

    @property
    def at_drops(self) -> dict[str, Array]:
        """By part: the speed in each drop over that around it; NaN where that is 0 or not known."""
        return {part: ratios(self.in_drops[part], self.around_drops[part]) for part in self.overall}


class _Movements(NamedTuple):
    begin: Array  # [stretches]: epochs
    end: Array  # [stretches]
    lengths: Array  # [parts, stretches]


@guided
def speed(run: Run) -> Speed:
    """The speed of the weights in a run, at its drops and around them.

    >>> import dynascope as ds
    >>> config = ds.Config().replace({"training.epochs": 40, "training.frozen": ["value"]})
    >>> found = speed(ds.train(config, progress=False)[0])
    >>> found.resolution, found.overall["value"], found.overall["query"] > 0
    (1, 0.0, True)
    """
    run = check_run(run)
    begin, end, lengths = _recorded(run) or _between_kept(run)
    drops = run_drops(run)
    movements = lengths / (end - begin)
    within, around = in_and_around(movements, begin, end, drops)
    return Speed(
        drops=drops,
        overall=dict(zip(PARTS, medians(movements).tolist(), strict=True)),
        in_drops=dict(zip(PARTS, within, strict=True)),
        around_drops=dict(zip(PARTS, around, strict=True)),
        resolution=int((end - begin).max(initial=1)),
    )


def _recorded(run: Run) -> _Movements | None:
    """From curves: what an epoch moved over the length before, times that length."""
    names, last = run.config.shapes, last_sound_epoch(run)
    if any(f"{curve}/{name}" not in run.curves for curve in _CURVES for name in names):
        return None

    def moved(name: str) -> Array:
        ratio, length = (run.curves[f"{curve}/{name}"][: last + 1] for curve in _CURVES)
        with np.errstate(invalid="ignore"):  # infinite times 0: what was 0 before is not known
            return np.asarray(ratio[1:] * length[:-1])

    epochs, lengths = np.arange(last + 1), lengths_of_parts(names, moved)
    known = np.isfinite(lengths[0]).any() or not last
    return _Movements(epochs[:-1], epochs[1:], lengths) if known else None


_CURVES = ("update_ratio", "weight_norm")


def _between_kept(run: Run) -> _Movements:
    """From kept weights, at their resolution; refused where only the first and the last are."""
    epochs = np.unique(kept_epochs(run, "speeds"))
    rows = np.searchsorted(run.weight_epochs, epochs, side="right") - 1
    steps = np.diff(run.weights[rows].astype(float), axis=0)
    each = [Parameters.from_flat(step, run.config.shapes) for step in steps]

    def moved(name: str) -> Array:
        return np.array([np.linalg.norm(step[name]) for step in each])

    return _Movements(epochs[:-1], epochs[1:], lengths_of_parts(run.config.shapes, moved))
