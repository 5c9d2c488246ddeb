"""What is measured for a claim: a number with an interval at any level.

An estimate knows its interval at every level, so that a correction for many claims can ask for a
wider one, and the p-value of "it lies beyond this effect" follows: the smallest error rate at which
the interval still excludes the effect.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from dynascope.share_interval import wilson

Array = npt.NDArray[Any]
Interval = tuple[float, float]

_RESAMPLES = 10_000
_AT_ONCE = 2**20  # rows
_FINEST = 1e-9  # a p-value below it is told as "below"; no resampling sees as far


class Measured(ABC):
    """A number that was measured, of so many runs."""

    value: float
    runs: int
    method: str  # how its interval is made

    @abstractmethod
    def interval(self, error: float = 0.05) -> Interval:
        """The two-sided interval that misses the truth with this probability, at most."""

    def p_above(self, effect: float) -> float:
        """How surely it lies above an effect: half the error rate whose interval begins there.

        >>> Share(90, 100).p_above(0.5) < 1e-6, Share(5, 10).p_above(0.5)
        (True, 0.5)
        """
        return _smallest(lambda p: self.interval(2 * p)[0] > effect)

    def p_below(self, effect: float) -> float:
        return _smallest(lambda p: self.interval(2 * p)[1] < effect)


def _smallest(excludes: Callable[[float], bool]) -> float:
    """The smallest p at which the interval excludes the effect, by bisection of its logarithm;
    0.5 if none does: an interval of no width is the number itself."""
    high = 0.5
    if not excludes(high * (1 - 1e-12)):
        return high
    low = _FINEST
    if excludes(low):
        return low
    for _ in range(60):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if excludes(middle) else (middle, high)
    return high


@dataclass(frozen=True)
class Share(Measured):
    """So many of so many; Wilson's interval (1927).

    >>> [round(x, 3) for x in Share(8, 10).interval()]
    [0.49, 0.943]
    """

    count: int
    runs: int
    method = "Wilson"

    @property
    def value(self) -> float:  # type: ignore[override]
        return self.count / self.runs if self.runs else float("nan")

    def p_above(self, effect: float) -> float:
        """That of the score test, which Wilson's interval inverts."""
        return min(0.5, float(stats.norm.sf(self._score(effect))))

    def p_below(self, effect: float) -> float:
        return min(0.5, float(stats.norm.cdf(self._score(effect))))

    def _score(self, effect: float) -> float:
        """How many standard deviations of the effect it lies above that."""
        spread = np.sqrt(effect * (1 - effect) / self.runs) if self.runs else 0.0
        return float((self.value - effect) / spread) if spread else 0.0

    def interval(self, error: float = 0.05) -> Interval:
        return wilson(self.count, self.runs, error)


@dataclass(frozen=True, eq=False)
class Resampled(Measured):
    """A statistic of rows, one for each run; percentile bootstrap over the runs, which are
    independent. The draws are the same every time."""

    rows: Array  # [runs, ...]
    statistic: Callable[[Array], Array]  # of [draws, runs, ...]: [draws]
    method = "bootstrap over runs"

    @property
    def runs(self) -> int:  # type: ignore[override]
        return len(self.rows)

    @cached_property
    def value(self) -> float:  # type: ignore[override]
        return float(self.statistic(self.rows[None])[0]) if self.runs else float("nan")

    @cached_property
    def _draws(self) -> Array:
        generator = np.random.Generator(np.random.Philox(key=1))
        picked = generator.integers(self.runs, size=(_RESAMPLES, self.runs))
        parts = np.array_split(picked, -(-picked.size // _AT_ONCE))
        return np.sort(np.concatenate([self.statistic(self.rows[part]) for part in parts]))

    def interval(self, error: float = 0.05) -> Interval:
        if self.runs < 2:
            return -np.inf, np.inf
        finite = self._draws[np.isfinite(self._draws)]
        if len(finite) < _RESAMPLES / 2:
            return -np.inf, np.inf
        low, high = np.quantile(finite, [error / 2, 1 - error / 2])
        return float(low), float(high)


def difference_of_means(ones: Array, others: Array) -> "TwoGroups":
    """How much larger the mean of one group of runs is."""
    return TwoGroups(np.asarray(ones, float), np.asarray(others, float))


@dataclass(frozen=True, eq=False)
class TwoGroups(Measured):
    """The difference of two groups' means, of different runs; Welch's interval (1947)."""

    ones: Array
    others: Array
    method = "Welch"

    @property
    def runs(self) -> int:  # type: ignore[override]
        return len(self.ones) + len(self.others)

    @property
    def value(self) -> float:  # type: ignore[override]
        if not len(self.ones) or not len(self.others):
            return float("nan")
        return float(np.mean(self.ones) - np.mean(self.others))

    def interval(self, error: float = 0.05) -> Interval:
        if min(len(self.ones), len(self.others)) < 2:
            return -np.inf, np.inf
        parts = [np.var(each, ddof=1) / len(each) for each in (self.ones, self.others)]
        spread = float(np.sqrt(sum(parts)))
        if not spread:
            return self.value, self.value
        freedom = sum(parts) ** 2 / sum(
            part**2 / (len(each) - 1)
            for part, each in zip(parts, (self.ones, self.others), strict=True)
        )
        reach = float(stats.t.isf(error / 2, freedom)) * spread
        return self.value - reach, self.value + reach


def paired(ones: Array, others: Array) -> Resampled:
    """The mean of what a run gains over its pair, with the same seed."""
    return Resampled(np.asarray(ones, float) - np.asarray(others, float), _mean)


def rank_correlation(ones: Array, others: Array) -> Resampled:
    """Spearman's, over runs."""
    return Resampled(np.column_stack([ones, others]).astype(float), _spearman)


def median(values: Array) -> Resampled:
    return Resampled(np.asarray(values, float), _median)


def mean(values: Array) -> Resampled:
    return Resampled(np.asarray(values, float), _mean)


def _mean(rows: Array) -> Array:
    return np.asarray(rows.mean(axis=1))


def _median(rows: Array) -> Array:
    return np.asarray(np.median(rows, axis=1))


def _spearman(rows: Array) -> Array:
    ranks = stats.rankdata(rows, axis=1)
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=1)).prod(axis=1)
    spread[spread == 0] = np.nan  # what does not vary has no rank
    return np.asarray((centred[..., 0] * centred[..., 1]).mean(axis=1) / spread)


def ratio_of_means(ones: Array, others: Array) -> Resampled:
    """How many times the mean of the others a group has; both of the same seeds, row by row."""
    return Resampled(np.column_stack([ones, others]).astype(float), _ratio)


def _ratio(rows: Array) -> Array:
    means = rows.mean(axis=1)
    below = np.where(means[..., 1] == 0, np.nan, means[..., 1])
    return np.asarray(means[..., 0] / below)


@dataclass(frozen=True)
class Exact(Measured):
    """A number that is not a sample: computed, or counted over everything that there is."""

    value: float
    runs: int = 1
    method = "exact"

    def interval(self, error: float = 0.05) -> Interval:
        return (self.value, self.value) if self.value == self.value else (-np.inf, np.inf)
