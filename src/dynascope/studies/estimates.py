"""What is measured for a claim: a number with an interval at any level.

An estimate knows its interval at every level, so that a correction for many claims can ask for a
wider one, and the p-value of "it lies beyond this effect" follows: the smallest error rate at which
the interval still excludes the effect.

Holm's correction over some forty measures asks for error rates near 0.001, of which each side has
half. There the percentile bootstrap misses several times as often as it says, for few runs or many
ties, and is sure of any value that two runs share. So intervals are exact where there is an exact
one (shares, medians, pairs of outcomes), and else of Student's kind over runs, which are what is
independent: never over the spikes or plateaus within them. Values that are NaN are left out.
`tests/studies/test_coverage.py` measures how often each misses. Those of two numbers of
each run are in `paired_estimates.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.extras import needing

with needing("study", "study", "scipy"):
    from scipy import stats

Array = npt.NDArray[Any]
Interval = tuple[float, float]

NOWHERE: Interval = (-np.inf, np.inf)  # the interval of what says nothing

_FINEST = 1e-9  # a p-value below it is told as "below"; no approximation is good as far


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


def too_few(runs: int, error: float) -> bool:
    """Whether so few runs may all lie on one side of the truth, by chance, more often than an
    interval may miss it: what looks like no spread is then no knowledge.

    >>> too_few(5, 0.05), too_few(6, 0.05), too_few(10, 0.001), too_few(11, 0.001)
    (True, False, True, False)
    """
    return 2.0 ** (1 - runs) > error


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
    """So many of so many; the exact interval of Clopper and Pearson (1934).

    Wilson's is shorter, but where a share near 0 or 1 is tested at a small error rate it misses
    several times too often: 20 of 500 against 2% has p = 0.0035, and by Wilson's score 0.0007.

    >>> [round(x, 3) for x in Share(8, 10).interval()]
    [0.444, 0.975]
    """

    count: int
    runs: int
    method = "Clopper-Pearson"

    @property
    def value(self) -> float:  # type: ignore[override]
        return self.count / self.runs if self.runs else float("nan")

    def p_above(self, effect: float) -> float:
        """That of the binomial test, which the interval inverts."""
        return min(0.5, float(stats.binom.sf(self.count - 1, self.runs, effect)))

    def p_below(self, effect: float) -> float:
        return min(0.5, float(stats.binom.cdf(self.count, self.runs, effect)))

    def interval(self, error: float = 0.05) -> Interval:
        hits, misses = self.count, self.runs - self.count
        low = float(stats.beta.ppf(error / 2, hits, misses + 1)) if hits else 0.0
        high = float(stats.beta.isf(error / 2, hits + 1, misses)) if misses else 1.0
        return low, high


def _skewed_ends(value: float, spread: float, skewness: float, t: float) -> Interval:
    """The ends of Student's interval, or farther out where the mean is skewed: by Hall's
    transformation (1992), which makes t symmetric. With a tail on one side, Student's misses on the
    other ten times as often as it says, at 20 runs and small error rates."""
    low, high = t, -t  # standard errors from the truth to the mean, if that is at the end
    if abs(skewness) > 1e-6:
        low, high = (
            3 / skewness * (np.cbrt(1 + skewness * (at - skewness / 6)) - 1) for at in (t, -t)
        )
    return float(value - max(t, low) * spread), float(value - min(-t, high) * spread)


def _third_moment(values: Array) -> float:
    return float(np.mean((values - values.mean()) ** 3))


@dataclass(frozen=True, eq=False)
class Mean(Measured):
    """The mean of a value of each run; Student's interval (1908), wider where it is skewed."""

    values: Array  # [runs]
    method = "Student's t"

    @property
    def runs(self) -> int:  # type: ignore[override]
        return len(self.values)

    @cached_property
    def value(self) -> float:  # type: ignore[override]
        return float(np.mean(self.values)) if self.runs else float("nan")

    @cached_property
    def _spread(self) -> float:
        """The standard error."""
        return float(np.std(self.values, ddof=1) / np.sqrt(self.runs))

    def interval(self, error: float = 0.05) -> Interval:
        if too_few(self.runs, error):
            return NOWHERE
        t = float(stats.t.isf(error / 2, self.runs - 1))
        return _skewed_ends(self.value, self._spread, self._skewness, t)

    @cached_property
    def _skewness(self) -> float:
        """Of the mean."""
        third = _third_moment(self.values) / self.runs**2
        return third / self._spread**3 if self._spread > 0 else 0.0


def mean(values: Array) -> Mean:
    return Mean(known(values))


def paired(ones: Array, others: Array) -> Mean:
    """The mean of what a run gains over its pair, with the same seed. For numbers; what is only
    true or false is for `paired_outcomes`."""
    return mean(np.asarray(ones, float) - np.asarray(others, float))


@dataclass(frozen=True, eq=False)
class Median(Measured):
    """The median over runs, between two of its values: those that the sign test does not exclude,
    whatever the distribution."""

    values: Array  # [runs], rising
    method = "order statistics"

    @property
    def runs(self) -> int:  # type: ignore[override]
        return len(self.values)

    @property
    def value(self) -> float:  # type: ignore[override]
        return float(np.median(self.values)) if self.runs else float("nan")

    def p_above(self, effect: float) -> float:
        """That of the sign test; a value at the effect counts against."""
        return self._sign_test(int(np.sum(self.values > effect)))

    def p_below(self, effect: float) -> float:
        return self._sign_test(int(np.sum(self.values < effect)))

    def _sign_test(self, beyond: int) -> float:
        return min(0.5, float(stats.binom.sf(beyond - 1, self.runs, 0.5)))

    def interval(self, error: float = 0.05) -> Interval:
        if too_few(self.runs, error):
            return NOWHERE
        place = int(stats.binom.ppf(error / 2, self.runs, 0.5))  # cdf(place - 1) < error / 2
        return float(self.values[place - 1]), float(self.values[-place])


def median(values: Array) -> Median:
    return Median(np.sort(known(values)))


def known(values: Array) -> Array:
    """Without what runs lack."""
    numbers = np.asarray(values, float)
    return np.asarray(numbers[~np.isnan(numbers)])


@dataclass(frozen=True, eq=False)
class Jackknifed(Measured):
    """A positive statistic of rows, one for each run, that has no interval of its own: Student's
    interval of its logarithm, whose standard error is the jackknife's over runs (Tukey 1958)."""

    rows: Array  # [runs, ...]
    statistic: Callable[[Array], float]
    method = "jackknife over runs"

    @property
    def runs(self) -> int:  # type: ignore[override]
        return len(self.rows)

    @cached_property
    def value(self) -> float:  # type: ignore[override]
        return self.statistic(self.rows) if self.runs else float("nan")

    @cached_property
    def _spread(self) -> float:
        """The standard error of the logarithm; NaN where that is none."""
        without = np.array([self.statistic(np.delete(self.rows, i, 0)) for i in range(self.runs)])
        return jackknife_error(np.log(without)) if np.all(without > 0) else float("nan")

    def interval(self, error: float = 0.05) -> Interval:
        if too_few(self.runs, error) or not self.value > 0 or np.isnan(self._spread):
            return NOWHERE
        reach = float(stats.t.isf(error / 2, self.runs - 1)) * self._spread
        return self.value * float(np.exp(-reach)), self.value * float(np.exp(reach))


def jackknife_error(without: Array) -> float:
    """The standard error of a statistic, from what it is without each of the runs."""
    return float(np.sqrt((len(without) - 1) * np.mean((without - without.mean()) ** 2)))


def difference_of_means(ones: Array, others: Array) -> "TwoGroups":
    """How much larger the mean of one group of runs is."""
    return TwoGroups(known(ones), known(others))


@dataclass(frozen=True, eq=False)
class TwoGroups(Measured):
    """The difference of two groups' means, of different runs; Welch's interval (1947), wider where
    it is skewed."""

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
        if too_few(min(len(self.ones), len(self.others)), error):
            return NOWHERE
        parts = [np.var(each, ddof=1) / len(each) for each in (self.ones, self.others)]
        spread = float(np.sqrt(sum(parts)))
        if not spread:
            return self.value, self.value
        freedom = sum(parts) ** 2 / sum(
            part**2 / (len(each) - 1)
            for part, each in zip(parts, (self.ones, self.others), strict=True)
        )
        thirds = [_third_moment(each) / len(each) ** 2 for each in (self.ones, self.others)]
        t = float(stats.t.isf(error / 2, freedom))
        return _skewed_ends(self.value, spread, (thirds[0] - thirds[1]) / spread**3, t)


@dataclass(frozen=True)
class Exact(Measured):
    """A number that is not a sample: computed, or counted over everything that there is."""

    value: float
    runs: int = 1
    method = "exact"

    def interval(self, error: float = 0.05) -> Interval:
        return (self.value, self.value) if self.value == self.value else (-np.inf, np.inf)
