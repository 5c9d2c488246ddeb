"""Drops of a loss curve, found by three methods that share the definition of a drop.

A drop is a fall of the log of the loss to new lows (not the recovery from a spike) that is

- large enough: `DROP_SIZE`, and `DROP_NOISE` standard deviations of the noise around it;
- fast enough: nowhere slower than `DROP_RATE` for long;
- one: where the fall slows down for long, there are two.

All methods turn the curve into levels and rates. "change" fits a staircase (change points by
penalised least squares) and takes the rates within and across its steps; "slope"
and "shelves" take the derivative of the smoothed curve. To "change" and "slope", a fall has slowed
down where it is below `DROP_SHOULDER` of the highest rates before and after, and long is
`DROP_PLATEAU` epochs. To "shelves", it has below `SHELF_RATE` of the peaks beside, and long is
`SHELF_LEAST` epochs: so it finds most of the drops that were marked by eye (docs/analysis.md).

Times are epochs; curves of more than `DROP_POINTS` epochs are judged in blocks, each of which then
counts as one epoch in all thresholds.
"""

from dataclasses import dataclass
from math import ceil, exp
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from dynascope.analysis import thresholds as t
from dynascope.analysis.change_points import change_points
from dynascope.analysis.rate_shelves import Stretch, between_shelves
from dynascope.analysis.smoothing import (
    block_medians,
    gaussian_mean,
    noise_deviation,
    running_median,
)
from dynascope.cached import cached_property
from dynascope.errors import expected, unknown
from dynascope.near_misses import guided

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Method = Literal["change", "slope", "shelves"]
METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True)
class Drop:
    """A fall of the loss: `size` is the decrease of its log.

    At `start`, `epoch` and `end` the smoothed curve had done 5%, half and 95% of the fall.
    """

    epoch: int
    start: int
    end: int
    size: float

    @property
    def factor(self) -> float:
        """How many times smaller the loss is after the drop."""
        return exp(self.size)


@guided
def loss_drops(
    loss: npt.ArrayLike, method: Method = "slope", scale: float = 1.0, ceiling: float | None = None
) -> tuple[Drop, ...]:
    """The drops of a loss curve, one value per epoch from epoch 0, in their order.

    `scale` multiplies the thresholds for size and rate, not that for noise. `ceiling` is the loss
    at chance: what is above it counts as it, for the way down to chance is not learning. Without
    one, the loss at the start is taken as the loss at chance, and nothing is cut off above it.

    >>> curve = np.where(np.arange(200) < 120, 0.7, 0.2)
    >>> [(drop.epoch, round(drop.factor, 2)) for drop in loss_drops(curve)]
    [(120, 3.5)]
    >>> [loss_drops(curve, method)[0].epoch for method in ("change", "shelves")]
    [120, 120]
    """
    try:
        values = np.asarray(loss, float)
    except (TypeError, ValueError):
        raise expected("loss", "a curve of numbers", loss) from None
    if values.ndim != 1 or not np.isfinite(values).all() or (values < 0).any():
        raise expected("loss", "one finite number of at least 0 for each epoch", loss)
    if method not in METHODS:
        raise unknown("method", method, METHODS, kind="method")
    for field, number in (("scale", scale), ("ceiling", 1.0 if ceiling is None else ceiling)):
        if not isinstance(number, int | float | np.number) or not 0 < number < np.inf:
            raise expected(field, "a finite number above 0", number)
    return LossCurve(values, ceiling).drops(method, scale)


class LossCurve:
    """A loss curve on its way to drops; what several questions need is computed once."""

    def __init__(self, loss: Array, ceiling: float | None = None) -> None:
        """`loss`: finite and not negative, unless it is too short to have drops."""
        self._block = ceil(len(loss) / t.DROP_POINTS)
        self._log = np.zeros(1)
        if len(loss) < t.DROP_LEAST:
            return
        chance, top = (np.median(loss[:5]), np.inf) if ceiling is None else (ceiling, ceiling)
        if chance > 0:
            kept = np.clip(loss.astype(np.float64), t.DROP_FLOOR * chance, top)
            self._log = block_medians(np.log(kept), self._block)

    def drops(self, method: Method, scale: float = 1.0) -> tuple[Drop, ...]:
        if np.ptp(self._log) < t.DROP_SIZE * scale:
            return ()  # as in half of all runs: nothing could be large enough
        level, rate = self._change if method == "change" else self._slope
        stretches = _between_shelves if method == "shelves" else _between_shoulders
        found = []
        for first, last in stretches(rate, t.DROP_RATE * scale):
            size = float(level[first] - level[last])
            if size >= max(t.DROP_SIZE * scale, t.DROP_NOISE * self._noise(first, last)):
                found.append(self._drop(first, last, level))
        return tuple(found)

    def _noise(self, first: int, last: int) -> float:
        return noise_deviation(self._log[max(first - t.DROP_NEAR, 0) : last + t.DROP_NEAR + 1])

    def _drop(self, first: int, last: int, level: Array) -> Drop:
        low, high = float(level[last]), float(level[first])
        falling = -self._lows[first : last + 1]  # rising, for searchsorted
        wanted = [part * low + (1 - part) * high for part in (0.05, 0.5, 0.95)]
        places = np.minimum(first + np.searchsorted(falling, -np.array(wanted)), last)
        start, epoch, end = (int(place) * self._block + self._block // 2 for place in places)
        return Drop(epoch, start, end, high - low)

    @cached_property
    def _despiked(self) -> Array:
        return running_median(self._log, t.DESPIKE_WINDOW // 2)

    @cached_property
    def _lows(self) -> Array:
        """The lowest that the smoothed curve has been, at each epoch."""
        return np.minimum.accumulate(gaussian_mean(self._despiked, t.SMOOTH_EPOCHS))

    @cached_property
    def _slope(self) -> tuple[Array, Array]:
        """Levels and rates by smoothing."""
        longer = np.pad(self._lows, t.RATE_REACH, mode="edge")
        reach = 2 * t.RATE_REACH
        return self._lows, (longer[:-reach] - longer[reach:]) / reach

    @cached_property
    def _change(self) -> tuple[Array, Array]:
        """Levels and rates by a staircase: the rate within a stair, or across its edge if higher.

        A ramp is fitted by many stairs, and falls within each as fast as from one to the next.
        """
        curve = self._despiked
        edges = _change_points(curve, noise_deviation(self._log))
        lengths, sums = np.diff(edges), np.concatenate([[0.0], np.cumsum(curve)])
        medians = [np.median(stair) for stair in np.split(curve, edges[1:-1])]
        levels = np.minimum.accumulate(medians)
        third = np.maximum(lengths // 3, 1)
        begin, stop = edges[:-1], edges[1:]
        falls = (sums[begin + third] - sums[begin] - sums[stop] + sums[stop - third]) / third
        rate = np.repeat(falls / np.maximum(lengths - third, 1), lengths)
        for edge in edges[1:-1][levels[1:] < levels[:-1]]:
            a, b = max(edge - t.RATE_REACH, 0), min(edge + t.RATE_REACH, len(curve) - 1)
            rate[a : b + 1] = np.maximum(rate[a : b + 1], (curve[a] - curve[b]) / (b - a))
        return np.repeat(levels, lengths), rate


def _change_points(curve: Array, noise: float) -> npt.NDArray[np.int64]:
    """Where the stairs of the fit begin, and the length of the curve at the end."""
    return change_points(curve, max(t.STEP_PENALTY, t.STEP_NOISE * noise**2), t.STEP_LEAST)


def _between_shelves(rate: Array, least: float) -> list[Stretch]:
    """The stretches between plateaus and shelves."""
    return [
        (begin + first, begin + last)
        for begin, end in _spans(~_lasting(rate < least, t.SHELF_LEAST))
        for first, last in between_shelves(rate[begin : end + 1], t.SHELF_RATE, t.SHELF_LEAST)
    ]


def _between_shoulders(rate: Array, least: float) -> list[Stretch]:
    """The stretches between plateaus and shoulders."""
    flat = _lasting(rate < least, t.DROP_PLATEAU)
    for first, last in _spans(~flat):
        inside = rate[first : last + 1]
        before = np.maximum.accumulate(inside)
        after = np.maximum.accumulate(inside[::-1])[::-1]
        shoulder = inside < t.DROP_SHOULDER * np.minimum(before, after)
        flat[first : last + 1] = _lasting(shoulder, t.DROP_PLATEAU)
    return _spans(~flat)


def _lasting(mask: Mask, least: int) -> Mask:
    """The mask without the runs of True that are shorter than `least`."""
    result = mask.copy()
    for first, last in _spans(mask):
        if last - first + 1 < least:
            result[first : last + 1] = False
    return result


def _spans(mask: Mask) -> list[Stretch]:
    """The runs of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]
