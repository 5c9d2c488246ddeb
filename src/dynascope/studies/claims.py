"""A claim of the paper that can be counted, and the rule that judges it.

The rule stands here, before any run: a claim says on which side of which smallest effect its number
should lie. Over the claims of one study the error rate is Holm's (1979): the surest claim is tested
at 5% over all of them, the next at 5% over the rest, and so on.

- `holds`: the interval lies beyond the effect, on the claimed side;
- `does not hold`: it lies wholly on the other side;
- `holds in part`: of the conditions that were listed beforehand, some hold and some do not;
- `not decidable here`: neither.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from dynascope.claim_verdicts import FAILS as FAILS
from dynascope.claim_verdicts import HOLDS as HOLDS
from dynascope.claim_verdicts import IN_PART as IN_PART
from dynascope.claim_verdicts import OPEN as OPEN
from dynascope.claim_verdicts import VERDICTS as VERDICTS
from dynascope.studies.estimates import Interval, Measured
from dynascope.studies.table import Tables

ERROR = 0.05  # of all claims of a study together

Measure = Callable[[Tables], Measured]


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper, in our words."""

    name: str
    says: str
    place: str  # where the paper says it
    counted: str  # what is measured, in words
    measure: Measure | Mapping[str, Measure]  # one, or one for each condition listed beforehand
    effect: float  # the smallest that counts
    side: Literal["above", "below"] = "above"

    @property
    def conditions(self) -> Mapping[str, Measure]:
        return {"": self.measure} if callable(self.measure) else self.measure


@dataclass(frozen=True)
class Judged:
    """One measure of a claim, and what it shows."""

    condition: str
    value: float
    interval: Interval  # corrected
    error: float  # that the interval allows
    runs: int
    method: str
    verdict: str


@dataclass(frozen=True)
class Judgement:
    """What became of a claim."""

    claim: Claim
    measures: tuple[Judged, ...]
    verdict: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", joint_verdict([each.verdict for each in self.measures]))


def joint_verdict(verdicts: Sequence[str]) -> str:
    """Of a claim by those of its conditions.

    >>> joint_verdict([HOLDS]), joint_verdict([HOLDS, FAILS]), joint_verdict([HOLDS, OPEN])
    ('holds', 'holds in part', 'holds in part')
    >>> joint_verdict([FAILS, FAILS]), joint_verdict([FAILS, OPEN])
    ('does not hold', 'not decidable here')
    """
    found = set(verdicts)
    if len(found) == 1:
        return found.pop()
    return IN_PART if HOLDS in found else OPEN


def judge(claims: Sequence[Claim], tables: Tables) -> list[Judgement]:
    """All claims of a study, together."""
    measured = [
        (claim, condition, measure(tables))
        for claim in claims
        for condition, measure in claim.conditions.items()
    ]
    surest = [
        min(one.p_above(claim.effect), one.p_below(claim.effect)) for claim, _, one in measured
    ]
    errors = holm_errors(surest)
    judged = [
        (claim, _judged(claim, condition, one, error))
        for (claim, condition, one), error in zip(measured, errors, strict=True)
    ]
    return [Judgement(claim, tuple(one for of, one in judged if of is claim)) for claim in claims]


def _judged(claim: Claim, condition: str, one: Measured, error: float) -> Judged:
    low, high = one.interval(error)
    above, below = low > claim.effect, high < claim.effect
    verdict = OPEN
    if above or below:
        verdict = HOLDS if above == (claim.side == "above") else FAILS
    return Judged(condition, one.value, (low, high), error, one.runs, one.method, verdict)


def holm_errors(p_values: Sequence[float], error: float = ERROR) -> list[float]:
    """The error rate of each interval: the k-th surest of m has error / (m - k + 1), and from the
    first on that does not reach it all have the same.

    >>> [round(each, 4) for each in holm_errors([0.001, 0.3, 0.012])]
    [0.0167, 0.05, 0.025]
    >>> [round(each, 4) for each in holm_errors([0.3, 0.02, 0.4])]
    [0.0167, 0.0167, 0.0167]
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    errors, allowed, stopped = [0.0] * len(p_values), error, False
    for k, i in enumerate(order):
        if not stopped:
            allowed = error / (len(order) - k)
            stopped = 2 * p_values[i] > allowed  # two sides
        errors[i] = allowed
    return errors
