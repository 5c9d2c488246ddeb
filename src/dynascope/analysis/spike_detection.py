"""Where a series spikes: two published definitions and our own, side by side.

A series has one value per epoch. Values that are not finite at its beginning (gradient norms have
none before training) are passed over; an epoch is judged by the values before it only.

- OLMo 2's spike score: the share of values at least seven standard deviations away from the mean of
  the previous (up to) 1000 values. arXiv 2501.00656.
- OLMo-core's skip-step optimizer passes over a step whose loss or gradient norm is more than six
  standard deviations above the mean of the previous (up to) 128 values; it begins with 63 of them.
- Ours: the logarithm is above the median of the previous 32 values by eight scaled median absolute
  deviations (from their trend, where they fall), and the value is 1.3 times that median or more.
  Ten times the median always counts.

The spike score alone is two-sided: a sudden fall counts towards it. Spikes are the values above. A
step to a new plateau is a spike until half of the window has seen the plateau; it has no recovery.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from dynascope.analysis import thresholds as th

Array = npt.NDArray[Any]

_TO_SIGMA = 1.4826  # a normal distribution's standard deviation over its median deviation
_BLOCK = 2**20  # numbers that are averaged at a time


@dataclass(frozen=True)
class Event:
    """Touching epochs above a definition's bound."""

    start: int  # the first epoch above
    peak: int  # the epoch of the highest value
    duration: int  # epochs above
    before: float  # median of the values before the start
    height: float  # the highest value
    recovery: int | None  # epochs after the peak until it is back near `before`; None: never

    @property
    def rise(self) -> float:
        """The peak over the level before; infinite when that was 0."""
        return self.height / self.before if self.before > 0 else float("inf")

    @property
    def stop(self) -> int:
        """The epoch after the last one above."""
        return self.start + self.duration

    @property
    def small(self) -> bool:
        """A rise by less than a factor of two: seen on a plateau, and of little consequence."""
        return self.rise < th.SPIKE_SMALL


@dataclass(frozen=True)
class Detected:
    """What one definition finds: epochs that it names (high or low) and the spikes among them."""

    epochs: tuple[int, ...]
    judged: int  # epochs with enough values before them
    spikes: tuple[Event, ...]

    @property
    def score(self) -> float:
        """Share of the judged epochs that were named; times 100, OLMo 2's spike score."""
        return len(self.epochs) / self.judged if self.judged else 0.0


def spike_score(series: npt.ArrayLike) -> Detected:
    """OLMo 2's definition: at least so far away, above or below.

    >>> noise = np.random.default_rng(0).normal(1, 0.01, 300)
    >>> noise[200] = 1.5
    >>> spike_score(noise).epochs, spike_score(noise[:200]).epochs
    ((200,), ())
    """
    window, least = th.SPIKE_SCORE_WINDOW, th.SPIKE_SCORE_LEAST
    values, offset = _sound(series)
    mean, deviation = _moments(values, window, least)
    away = values - mean
    far = np.abs(away) >= th.SPIKE_SCORE_SIGMAS * deviation
    named = far & (np.abs(away) > _rounding(values))
    return _detected(values, named, named & (away > 0), offset, window, least)


def skip_step(series: npt.ArrayLike) -> Detected:
    """OLMo-core's definition: above by more than so much. A step with a low loss is never skipped.

    >>> noise = np.random.default_rng(0).normal(1, 0.01, 300)
    >>> noise[[150, 200]] = 1.5, 0.5
    >>> skip_step(noise).epochs, spike_score(noise).epochs
    ((150,), (150, 200))
    """
    window = th.SKIP_STEP_WINDOW
    least = window // 2 - 1  # it counts the value that is judged
    values, offset = _sound(series)
    mean, deviation = _moments(values, window, least)
    above = values - mean > np.maximum(th.SKIP_STEP_SIGMAS * deviation, _rounding(values))
    return _detected(values, above, above, offset, window, least)


def robust(series: npt.ArrayLike, floor: float = 0.0) -> Detected:
    """Our definition. Values below `floor` count as the floor: they are rounding.

    >>> decay = 0.9 ** np.arange(100)
    >>> decay[60] *= 50
    >>> [event.peak for event in robust(decay).spikes], robust(decay[:60]).epochs
    ([60], ())
    """
    values, offset = _sound(series)
    values = np.maximum(values, max(floor, np.finfo(float).tiny))
    logs = np.log(values)
    middle, spread = _medians(logs, th.SPIKE_WINDOW, th.SPIKE_LEAST)
    bound = np.minimum(th.SPIKE_DEVIATIONS * spread, np.log(th.SPIKE_ALWAYS))
    above = logs > middle + np.maximum(bound, np.log(th.SPIKE_RISE))  # NaN is not above
    return _detected(values, above, above, offset, th.SPIKE_WINDOW, th.SPIKE_LEAST)


def _rounding(values: Array) -> Array:
    """What differences of equal numbers come to: a constant stretch deviates by 0, not by this."""
    return 1e-12 * np.abs(values)


def _sound(series: npt.ArrayLike) -> tuple[Array, int]:
    """The values from the first finite one up to the next that is not, and where they begin."""
    values = np.asarray(series, dtype=float)
    finite = np.isfinite(values)
    first = int(np.argmax(finite)) if finite.any() else len(values)
    stop = np.flatnonzero(~finite[first:])
    return values[first : first + int(stop[0]) if len(stop) else None], first


def _detected(
    values: Array, named: Array, above: Array, offset: int, window: int, least: int
) -> Detected:
    events = [_event(values, group, window) for group in _touching(np.flatnonzero(above))]
    return Detected(
        tuple(int(i) + offset for i in np.flatnonzero(named)),
        max(0, len(values) - least),
        tuple(_moved(event, offset) for event in events),
    )


def _touching(epochs: Array) -> Sequence[Array]:
    """Runs of consecutive numbers."""
    return np.split(epochs, np.flatnonzero(np.diff(epochs) > 1) + 1) if len(epochs) else []


def _event(values: Array, epochs: Array, window: int) -> Event:
    start = int(epochs[0])
    peak = int(epochs[np.argmax(values[epochs])])
    before = float(np.median(values[max(0, start - window) : start]))
    back = np.flatnonzero(values[peak:] <= th.SPIKE_RECOVERED * before)
    return Event(
        start=start,
        peak=peak,
        duration=len(epochs),
        before=before,
        height=float(values[peak]),
        recovery=int(back[0]) if len(back) else None,
    )


def _moved(event: Event, offset: int) -> Event:
    moved = {**vars(event), "start": event.start + offset, "peak": event.peak + offset}
    return Event(**moved)


# ---- statistics of the values before each epoch -------------------------------------------------
# All return arrays as long as `values`; NaN where fewer than `least` values come before.


def _medians(values: Array, window: int, least: int) -> tuple[Array, Array]:
    """Median, and the scaled median absolute deviation from the line through the medians of both
    halves where that falls: a steady decline is no noise, a rise that began before is no spike."""
    middle, spread = np.full((2, len(values)), np.nan)
    for rows, at in _windows(values, window, least):
        size, half = rows.shape[1], rows.shape[1] // 2
        change = np.median(rows[:, -half:], axis=1) - np.median(rows[:, :half], axis=1)
        slope = change / (size - half)  # the middles of the halves are so far apart
        level = rows - np.minimum(slope, 0)[:, None] * np.arange(size)
        around = level - np.median(level, axis=1, keepdims=True)
        middle[at] = np.median(rows, axis=1)
        spread[at] = _TO_SIGMA * np.median(np.abs(around), axis=1)
    return middle, spread


def _moments(values: Array, window: int, least: int) -> tuple[Array, Array]:
    """Mean and sample standard deviation."""
    mean, deviation = np.full((2, len(values)), np.nan)
    count = min(len(values), window)
    # While the window grows from the beginning, sums do. Less the first value: constants stay 0.
    shifted = values[:count] - values[0] if count else values[:0]
    n = np.arange(1, count + 1)
    sums, squares = np.cumsum(shifted), np.cumsum(shifted**2)
    growing = slice(max(least, 2), count)
    last = slice(growing.start - 1, count - 1)
    mean[growing] = (values[:1] + sums / n)[last]
    variance = (squares - sums**2 / n) / np.maximum(n - 1, 1)
    deviation[growing] = np.sqrt(np.maximum(variance, 0))[last]
    for rows, at in _windows(values, window, window):
        mean[at], deviation[at] = rows.mean(axis=1), rows.std(axis=1, ddof=1)
    return mean, deviation


def _windows(values: Array, window: int, least: int) -> "Sequence[tuple[Array, slice]]":
    """Rows of previous values and the epochs that they come before; early rows are shorter."""
    count = len(values)
    early = [(values[None, :t], slice(t, t + 1)) for t in range(least, min(window, count))]
    if count <= window:
        return early
    full = sliding_window_view(values, window)[:-1]  # the last window comes before no epoch
    size = max(1, _BLOCK // window)
    blocks = range(0, len(full), size)
    return early + [
        (full[i : i + size], slice(window + i, window + min(i + size, len(full)))) for i in blocks
    ]
