"""Estimates from two numbers of each run: outcomes of pairs, rank correlations, ratios."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.extras import needing
from dynascope.studies.estimates import NOWHERE, Interval, Measured, jackknife_error, too_few

with needing("study", "study", "scipy"):
    from scipy import stats

Array = npt.NDArray[Any]


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
    runs. If the mean of the others may itself be 0, no ratio is excluded. Of numbers that are never
    below 0, neither is their ratio.
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
        low, high = _around(self.value, (b - root) / a, (b + root) / a)
        return (max(low, 0.0) if np.all(rows >= 0) else low), high


def ratio_of_means(ones: Array, others: Array) -> Ratio:
    """How many times the mean of the others a group has; both of the same seeds, row by row."""
    return Ratio(_complete(ones, others), np.zeros((0, 2)))


class EventShare(Ratio):
    """A ratio that is a share, and so cannot lie outside of 0 to 1."""

    method = "Fieller, of a share"

    def interval(self, error: float = 0.05) -> Interval:
        low, high = super().interval(error)
        return (low, high) if (low, high) == NOWHERE else (max(low, 0.0), min(high, 1.0))


def share_of_events(hits: Array, events: Array) -> EventShare:
    """Of what happens in runs, any number of times each, the share of some kind.

    As Agresti and Coull (1998) add successes and failures to a share, the interval counts two more
    runs of a usual number of events, one with hits alone and one with none: else events that are
    all of one kind would have no spread.
    """
    rows = _complete(hits, events)
    usual = float(rows[rows[:, 1] > 0, 1].mean()) if np.any(rows[:, 1] > 0) else 0.0
    return EventShare(rows, np.array([[usual, usual], [0.0, usual]]))


def _around(value: float, low: float, high: float) -> Interval:
    """An interval with its value in it, also where it was made for a value nearer to the middle."""
    return min(value, float(low)), max(value, float(high))


def _complete(ones: Array, others: Array) -> Array:
    """[runs, 2], of runs that have both."""
    rows = np.column_stack([np.asarray(ones, float), np.asarray(others, float)])
    return np.asarray(rows[~np.isnan(rows).any(axis=1)])
