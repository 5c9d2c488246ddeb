"""When a noisy, rising measure of a run had risen, at the cost of few of its values."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis import thresholds as t
from dynascope.analysis.smoothing import running_median

Array = npt.NDArray[Any]


class Series:
    """`count` values in time, each asked for when it is needed, and once.

    `ask` gives the values at some places, in rising order. NaN counts as 0: a measure without a
    value has not risen. The final level is the median of values spread over the last `RISE_TAIL`.

    >>> values = np.where(np.arange(1000) < 300, 0.1, 0.9)
    >>> asked = []
    >>> series = Series(lambda places: (asked.extend(places), values[places])[1], 1000)
    >>> series.passed(0.5), round(series.rise, 3), len(asked) < 120
    (300, 0.8, True)
    """

    def __init__(
        self, ask: Callable[[Sequence[int]], Array], count: int, coarse: int = t.RISE_COARSE
    ) -> None:
        self._ask, self._count = ask, count
        self._values = np.full(count, np.nan)
        self._reach = min(t.RISE_REACH, count // 20)
        tail = self._tail = max(int(count * t.RISE_TAIL), min(5, count))
        few = t.RISE_TAIL_VALUES if coarse < count else tail  # where all are known, all count
        ends = np.linspace(count - tail, count - 1, min(tail, few)).round()
        self._learn(np.concatenate([np.linspace(0, count - 1, min(count, coarse)).round(), ends]))
        self.start = float(self._values[0])
        self.final = float(np.median(self._values[ends.astype(int)]))

    @property
    def rise(self) -> float:
        return self.final - self.start

    def passed(self, part: float) -> int | None:
        """The first place from which on the running median stays above `part` of the way from the
        start to the final level, whatever happens in the tail; None where there was no rise.

        Between known values the series is taken for straight; those around the passage are then
        asked for, until all that decide it are known. So a dip is missed if it is shorter than the
        coarse steps and falls between them; where all values are known, the answer is exact.
        """
        return self._found(part, self._passage)

    def first_passed(self, part: float) -> int | None:
        """The first place at which the running median is above `part` of the way; None where there
        was no rise. Found as `passed` finds the last.

        >>> values = np.r_[np.zeros(300), np.ones(200), np.zeros(100), np.ones(400)]
        >>> series = Series(lambda places: values[places], 1000)
        >>> series.first_passed(0.5), series.passed(0.5)
        (300, 600)
        """
        return self._found(part, self._first_passage)

    def _found(self, part: float, passage: Callable[[float], int]) -> int | None:
        """Where a level is passed, once all values around that place are known."""
        if not self.rise >= t.RISE_SIZE:
            return None
        level = self.start + part * self.rise
        while True:
            place = passage(level)
            near = np.arange(place - 1 - self._reach, place + self._reach + 1)
            near = near[(near >= 0) & (near < self._count)]
            if not np.isnan(self._values[near]).any():
                return place
            self._learn(near)

    def _first_passage(self, level: float) -> int:
        above = self._smooth() > level
        return int(above.argmax()) if above.any() else self._count - 1

    def _passage(self, level: float) -> int:
        below = self._smooth()[: self._count - self._tail] <= level
        return int(np.flatnonzero(below)[-1]) + 1 if below.any() else 0

    def _smooth(self) -> Array:
        """The running median, between known values of a straight line."""
        known = np.flatnonzero(~np.isnan(self._values))
        straight = np.interp(np.arange(self._count), known, self._values[known])
        return running_median(straight, self._reach)

    def _learn(self, places: Array) -> None:
        wanted = np.unique(places.astype(int))
        wanted = wanted[np.isnan(self._values[wanted])]
        self._values[wanted] = np.nan_to_num(np.asarray(self._ask(wanted.tolist()), float))
