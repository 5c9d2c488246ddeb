"""What is measured for a claim: a number with an interval at any level.

An estimate knows its interval at every level, so that a correction for many claims can ask for a
wider one, and the p-value of "it lies beyond this effect" follows: the smallest error rate at which
the interval still excludes the effect.

Holm's correction over some forty measures asks for error rates near 0.001, of which each side has
half. There the percentile bootstrap misses several times as often as it says, for few runs or many
ties, and is sure of any value that two runs share. So intervals are exact where there is an exact
one (shares, medians, pairs of outcomes), and else of Student's kind over runs, which are what is
independent: never over the spikes or plateaus within them. Values that are NaN are left out.
`tests/studies/test_coverage.py` measures how often each misses.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
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
class Outcomes(Measured):
    """The share of pairs that one wins minus that which it loses; an exact interval, by bets.

    Pairs that differ may be few, or none: then there is no spread to reckon with, but there may be
    rare losses that nobody saw. Gains are -1, 0 or 1. Whoever doubts that their mean is as low as
    m bets a part f of a purse on each pair, at odds that are fair for m:
    1 - f + f (gain + 1) / (m + 1). If m is true, the purse is not expected to grow, so it
    reaches 1/p with a probability of p at most (Markov). The purse is shared out over many f, so
    none need be chosen (Waudby-Smith and Ramdas 2024). Twenty pairs without a difference give
    what Clopper and Pearson have for 0 of 20, a little less sure.
    """

    gains: Array  # [pairs], each -1, 0 or 1
    method = "exact, by bets"

    @property
    def runs(self) -> int:  # type: ignore[override]
        return len(self.gains)

    @property
    def value(self) -> float:  # type: ignore[override]
        return float(np.mean(self.gains)) if self.runs else float("nan")

    def p_above(self, effect: float) -> float:
        return min(0.5, float(np.exp(-_log_purse(self._counts, effect))))

    def p_below(self, effect: float) -> float:
        return min(0.5, float(np.exp(-_log_purse(self._counts[::-1], -effect))))

    @cached_property
    def _counts(self) -> Array:
        """How many lose, tie and win."""
        return np.array([np.sum(self.gains == gain) for gain in (-1, 0, 1)], float)

    def interval(self, error: float = 0.05) -> Interval:
        need = -np.log(error / 2)
        low = _where_purse_is(self._counts, need)
        return low, -_where_purse_is(self._counts[::-1], need)


_PARTS = np.geomspace(1e-3, 1, 40)  # of a purse, that are bet on one pair


def _log_purse(counts: Array, m: float) -> float:
    """What bets on a mean above m have made of 1."""
    if m <= -1:
        return 0.0  # no odds
    returns = 1 - _PARTS[:, None] + _PARTS[:, None] * np.array([0, 1, 2]) / (m + 1)  # [parts, 3]
    with np.errstate(divide="ignore"):  # all is lost: log 0
        logs = np.log(returns)
    grown = np.where(counts > 0, logs, 0) @ np.where(counts > 0, counts, 0)
    return float(np.logaddexp.reduce(grown) - np.log(len(_PARTS)))


def _where_purse_is(counts: Array, need: float) -> float:
    """The m up to which it reaches what is needed: it falls as m rises."""
    low, high = -1.0, 1.0
    if _log_purse(counts, low + 1e-9) < need:
        return low
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if _log_purse(counts, middle) > need else (low, middle)
    return low


def paired_outcomes(ones: Array, others: Array) -> Outcomes:
    """How much more often it is so than in the pair, with the same seed; both true or false."""
    return Outcomes(np.asarray(ones, int) - np.asarray(others, int))


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


@dataclass(frozen=True, eq=False)
class RankCorrelation(Measured):
    """Spearman's, over runs; Student's interval of Fisher's z = artanh r.

    The standard error of z is the larger of two: Bonett and Wright's (2000), for what rises
    together smoothly, and the jackknife's over runs, which sees ties and uneven spread. For the
    interval, r counts as at most 1 - 2 / runs: some runs in order do not make it certain.
    """

    rows: Array  # [runs, 2]
    method = "Fisher's z"

    @property
    def runs(self) -> int:  # type: ignore[override]
        return len(self.rows)

    @cached_property
    def value(self) -> float:  # type: ignore[override]
        return _spearman(self.rows) if self.runs else float("nan")

    @cached_property
    def _spread(self) -> float:
        """The standard error of z; NaN if a run decides alone whether there is a correlation."""
        n = self.runs
        without = np.array([_spearman(np.delete(self.rows, i, 0)) for i in range(n)])
        smooth = float(np.sqrt((1 + self.value**2 / 2) / (n - 3)))
        return max(jackknife_error(self._z(without)), smooth)

    def _z(self, r: Array) -> Array:
        most = 1 - 2 / self.runs
        return np.asarray(np.arctanh(np.clip(r, -most, most)))

    def interval(self, error: float = 0.05) -> Interval:
        if self.runs < 5 or np.isnan(self.value) or np.isnan(self._spread):
            return -1.0, 1.0
        middle = float(self._z(np.array(self.value)))
        reach = float(stats.t.isf(error / 2, self.runs - 3)) * self._spread
        return _around(self.value, np.tanh(middle - reach), np.tanh(middle + reach))


def rank_correlation(ones: Array, others: Array) -> RankCorrelation:
    """Of the runs that have both."""
    return RankCorrelation(_complete(ones, others))


def _spearman(rows: Array) -> float:
    """Of [runs, 2]; NaN where one of the two does not vary."""
    ranks = stats.rankdata(rows, axis=0)
    centred = ranks - ranks.mean(axis=0)
    spread = float(np.sqrt(np.prod(np.sum(centred**2, axis=0))))
    return float(np.sum(centred[:, 0] * centred[:, 1]) / spread) if spread else float("nan")


@dataclass(frozen=True, eq=False)
class Ratio(Measured):
    """The mean of one number of a run over that of another; Fieller's interval (1954).

    Those ratios r are in it for which the mean of `ones - r others` may be 0, by Student's t over
    runs. If the mean of the others may itself be 0, no ratio is excluded.
    """

    rows: Array  # [runs, 2]
    imagined: Array  # [0 or 2, 2]: runs that count in the interval alone
    method = "Fieller"

    @property
    def runs(self) -> int:  # type: ignore[override]
        return len(self.rows)

    @property
    def value(self) -> float:  # type: ignore[override]
        one, other = self.rows.mean(axis=0) if self.runs else (np.nan, 0.0)
        return float(one / other) if other else float("nan")

    def interval(self, error: float = 0.05) -> Interval:
        telling = np.sum(self.rows[:, 1] > 0)  # without the other there is nothing to compare
        if too_few(int(telling), error):
            return NOWHERE
        rows = np.concatenate([self.rows, self.imagined])
        (one, other), covariance = rows.mean(axis=0), np.cov(rows.T) / len(rows)
        t2 = float(stats.t.isf(error / 2, len(rows) - 1)) ** 2
        # (one - r other)^2 = t^2 (var one - 2 r cov + r^2 var other), a quadratic in r
        a = other**2 - t2 * covariance[1, 1]
        b = one * other - t2 * covariance[0, 1]
        c = one**2 - t2 * covariance[0, 0]
        if a <= 0:
            return NOWHERE
        root = float(np.sqrt(max(b * b - a * c, 0.0)))
        return _around(self.value, (b - root) / a, (b + root) / a)


def ratio_of_means(ones: Array, others: Array) -> Ratio:
    """How many times the mean of the others a group has; both of the same seeds, row by row."""
    return Ratio(_complete(ones, others), np.zeros((0, 2)))


def share_of_events(hits: Array, events: Array) -> Ratio:
    """Of what happens in runs, any number of times each, the share of some kind.

    As Agresti and Coull (1998) add successes and failures to a share, the interval counts two more
    runs of a usual number of events, one with hits alone and one with none: else events that are
    all of one kind would have no spread.
    """
    rows = _complete(hits, events)
    usual = float(rows[rows[:, 1] > 0, 1].mean()) if np.any(rows[:, 1] > 0) else 0.0
    return Ratio(rows, np.array([[usual, usual], [0.0, usual]]))


def _around(value: float, low: float, high: float) -> Interval:
    """An interval with its value in it, also where it was made for a value nearer to the middle."""
    return min(value, float(low)), max(value, float(high))


def known(values: Array) -> Array:
    """Without what runs lack."""
    numbers = np.asarray(values, float)
    return np.asarray(numbers[~np.isnan(numbers)])


def _complete(ones: Array, others: Array) -> Array:
    """[runs, 2], of runs that have both."""
    rows = np.column_stack([np.asarray(ones, float), np.asarray(others, float)])
    return np.asarray(rows[~np.isnan(rows).any(axis=1)])


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
