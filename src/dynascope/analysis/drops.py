"""Drops of a loss curve, found by three methods that share little but the definition of a drop.

A drop is a fall of the log of the loss to new lows (not the recovery from a spike) that is

- large enough: `DROP_SIZE`, and `DROP_NOISE` standard deviations of the noise around it;
- fast enough: nowhere slower than `DROP_RATE` for long;
- one: where the fall halts for a while, there are two.

All methods turn the curve into levels and rates. "lines" fits straight lines, which follow a quiet
curve closely and a noisy one coarsely; it is the method that agrees best with a person. "slope"
takes the derivative of the smoothed curve. "change" fits a staircase (change points by penalised
least squares, from `ruptures`) and takes the rates within and across its steps.

To "lines", a fall halts where it is slower than `SHELF_RATE` of the peaks beside it, for
`SHELF_LEAST` epochs, or than `DROP_RATE`, for `HALT_LEAST`; to the others, where it is slower than
`DROP_SHOULDER` of the highest rates before and after, or than `DROP_RATE`, for `DROP_PLATEAU`.

Times are epochs; curves of more than `DROP_POINTS` epochs are judged in blocks, each of which then
counts as one epoch in all thresholds.
"""

from dataclasses import dataclass
from math import ceil, exp
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from dynascope.analysis import thresholds as t
from dynascope.analysis.line_fit import fitted_lines
from dynascope.analysis.rate_shelves import between_shelves
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
Method = Literal["change", "slope", "lines"]
METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True)
class Drop:
    """A fall of the loss: `size` is the decrease of its log.

    At `start`, `epoch` and `end` the curve without its noise had done 5%, half and 95% of the fall.
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
    >>> [loss_drops(curve, method)[0].epoch for method in ("change", "lines")]
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
        self._log, self._floor = np.zeros(1), -np.inf
        if len(loss) < t.DROP_LEAST:
            return
        chance, top = (np.median(loss[:5]), np.inf) if ceiling is None else (ceiling, ceiling)
        if chance > 0:
            kept = np.clip(loss.astype(np.float64), t.DROP_FLOOR * chance, top)
            self._log = block_medians(np.log(kept), self._block)
            self._floor = np.log(t.DROP_FLOOR * chance) + t.FLOOR_ROUNDING

    def drops(self, method: Method, scale: float = 1.0) -> tuple[Drop, ...]:
        if np.ptp(self._log) < t.DROP_SIZE * scale:
            return ()  # as in half of all runs: nothing could be large enough
        if method == "lines":
            return self._drops_of_lines(scale)
        level, rate = self._change if method == "change" else self._slope
        found = []
        for first, last in _stretches(rate, t.DROP_RATE * scale):
            size = float(level[first] - level[last])
            if size >= max(t.DROP_SIZE * scale, t.DROP_NOISE * self._noise(first, last)):
                found.append(self._drop(first, last, size, self._lows, level[first]))
        return tuple(found)

    def _drops_of_lines(self, scale: float) -> tuple[Drop, ...]:
        level, rate = self._lines
        found = []
        for begin, end in _spans(~_lasting(rate < t.DROP_RATE * scale, t.HALT_LEAST)):
            for a, b in between_shelves(rate[begin : end + 1], t.SHELF_RATE, t.SHELF_LEAST):
                first, last = begin + a, begin + b
                size = float(level[first] - level[last])
                noise = self._noise_above_floor(first, last)
                if size >= max(t.DROP_SIZE * scale, t.DROP_NOISE * noise):
                    found.append(self._drop(first, last, size, level, level[first]))
        return tuple(found)

    def _around(self, first: int, last: int) -> slice:
        return slice(max(first - t.DROP_NEAR, 0), last + t.DROP_NEAR + 1)

    def _noise(self, first: int, last: int) -> float:
        return noise_deviation(self._log[self._around(first, last)])

    def _noise_above_floor(self, first: int, last: int) -> float:
        """Without what was cut off, which has no noise whatever the curve had."""
        near = self._log[self._around(first, last)]
        return noise_deviation(near, near > self._floor)

    def _drop(self, first: int, last: int, size: float, course: Array, high: float) -> Drop:
        """The drop from `first` to `last`; `course` falls on the way, and tells how far it is."""
        wanted = [part * (high - size) + (1 - part) * high for part in (0.05, 0.5, 0.95)]
        falling = -course[first : last + 1]  # rising, for searchsorted
        places = np.minimum(first + np.searchsorted(falling, -np.array(wanted)), last)
        start, epoch, end = (int(place) * self._block + self._block // 2 for place in places)
        return Drop(epoch, start, end, size)

    @cached_property
    def _despiked(self) -> Array:
        return running_median(self._log, t.DESPIKE_WINDOW // 2)

    @cached_property
    def _lows(self) -> Array:
        """The lowest that the smoothed curve has been, at each epoch."""
        return np.minimum.accumulate(gaussian_mean(self._despiked, t.SMOOTH_EPOCHS))

    @cached_property
    def _lines(self) -> tuple[Array, Array]:
        """Levels and rates by straight lines."""
        curve, noise = self._despiked, noise_deviation(self._log)
        lows = np.minimum.accumulate(fitted_lines(curve, _penalty(noise), t.LINE_LEAST))
        return lows, _rates(lows, t.LINE_REACH)

    @cached_property
    def _slope(self) -> tuple[Array, Array]:
        """Levels and rates by smoothing."""
        return self._lows, _rates(self._lows, t.RATE_REACH)

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
    from ruptures import KernelCPD  # imports SciPy: a second that only those wait who ask

    search = KernelCPD(kernel="linear", min_size=t.STEP_LEAST)
    return np.array([0, *search.fit(curve[:, None]).predict(pen=_penalty(noise))], np.int64)


def _penalty(noise: float) -> float:
    """By how much the squared residuals must shrink for one more stair or line."""
    return max(t.STEP_PENALTY, t.STEP_NOISE * noise**2)


def _rates(level: Array, reach: int) -> Array:
    """How fast a level falls, over `reach` epochs on both sides."""
    longer = np.pad(level, reach, mode="edge")
    return np.asarray((longer[: -2 * reach] - longer[2 * reach :]) / (2 * reach))


def _stretches(rate: Array, least: float) -> list[tuple[int, int]]:
    """First and last index of each stretch between plateaus and shoulders."""
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


def _spans(mask: Mask) -> list[tuple[int, int]]:
    """First and last index of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]
