"""How a report says what was measured: numbers, intervals, verdicts."""

import math

from dynascope.number_text import MISSING, percent, significant
from dynascope.studies.claims import FAILS, HOLDS, IN_PART, OPEN, VERDICTS, Claim, Judged
from dynascope.studies.estimates import Interval, Share
from dynascope.studies.paired_estimates import EventShare

_SIGNS = {HOLDS: "✓", IN_PART: "◐", FAILS: "✗", OPEN: "?"}
_CLASSES = {HOLDS: "holds", IN_PART: "in-part", FAILS: "fails", OPEN: "open"}
_ROUNDING = 1e-12  # what is smaller comes of adding up in floating point
_OF_SHARES = (Share.method, EventShare.method)
assert {*_SIGNS} == {*_CLASSES} == {*VERDICTS}


def sign(verdict: str) -> str:
    """A verdict for those who do not see its colour."""
    return _SIGNS[verdict]


def style_class(verdict: str) -> str:
    return _CLASSES[verdict]


def number(value: float, method: str) -> str:
    """What was measured by a method: shares as percent.

    >>> number(0.25, Share.method), number(1.23456, "Welch"), number(float("nan"), "Welch")
    ('25.0%', '1.23', '-')
    >>> number(8.3e-18, "Welch")
    '0'
    """
    if math.isnan(value):
        return MISSING
    value = 0.0 if abs(value) < _ROUNDING else value
    return percent(value) if method in _OF_SHARES else significant(value, 3)


def interval(ends: Interval, method: str) -> str:
    """
    >>> interval((0.1, 0.25), Share.method), interval((-math.inf, math.inf), "Welch")
    ('10.0% to 25.0%', 'not known')
    """
    if not all(map(math.isfinite, ends)):
        return "not known"
    low, high = (number(end, method) for end in ends)
    return low if low == high else f"{low} to {high}"


def rule(claim: Claim, method: str) -> str:
    """When the claim holds, as it was laid down before the runs."""
    other = "below" if claim.side == "above" else "above"
    effect = number(claim.effect, method)
    return (
        f"Holds where the interval lies {claim.side} {effect}; does not hold where it lies "
        f"wholly {other}."
    )


def method_of(measures: tuple[Judged, ...]) -> str:
    """By which its effect is told: that of the first."""
    return measures[0].method


def of_many(verdict: str) -> str:
    """A verdict on several claims.

    >>> [of_many(each) for each in VERDICTS]
    ['hold', 'hold in part', 'do not hold', 'not decidable here']
    """
    return verdict.replace("holds", "hold").replace("does not", "do not")


def confidence(error: float) -> str:
    """
    >>> confidence(0.05), confidence(0.0017)
    ('95%', '99.83%')
    """
    return f"{100 * (1 - error):.4g}%"


def counted(count: int, word: str) -> str:
    """
    >>> counted(1, "run"), counted(12345, "run")
    ('1 run', '12,345 runs')
    """
    return f"{count:,} {word}{'' if count == 1 else 's'}"
