"""What a circuit is called: from its measures and the thresholds, with the margin.

unsolved          too few sequences right
ideal             sequence embeddings depend on the group of relevant tokens alone, with no
                  position that breaks it, and attention leaves the irrelevant positions out
value-corrected   they do, although attention does not: values make up for it
partial           they do not, but fall into clear clusters: some invariance was not learnt, and
                  the feed-forward sees to the rest
fuzzy             they do not even do that, and yet the task is solved
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis.thresholds import (
    CLEAR_GAP,
    CULPRIT_SHARE,
    INVARIANT_SHARE,
    RELEVANT_ATTENTION,
)
from dynascope.run import SOLVED_ACCURACY

Array = npt.NDArray[Any]

VERDICTS = ("ideal", "value-corrected", "partial", "fuzzy", "unsolved")


@dataclass(frozen=True)
class Verdict:
    """What a circuit is called, how clearly, and which positions are to blame.

    `margin`: how far the nearest deciding measure is from its threshold, from 0 (a toss-up) to 1
    (as far as it can be); of the gap between clusters and of effects, which have no upper end, as
    a share of the larger of measure and threshold.
    """

    name: str  # one of VERDICTS
    margin: float
    decided_by: str  # the measure with that margin
    breaks_permutation: tuple[int, ...]  # relevant positions unlike the others, the worst first
    breaks_suffix: tuple[int, ...]  # irrelevant positions that matter

    @property
    def culprits(self) -> tuple[int, ...]:
        """All positions that break an invariance."""
        return (*self.breaks_permutation, *self.breaks_suffix)


def judge(
    *,
    accuracy: float,
    between: float | None,  # None: the sequence embeddings do not vary at all
    relevant_attention: float,
    cluster_gap: float,
    swap_effect: Array,  # [k, k]; NaN where an exchange is not a symmetry of the task
    redraw_effect: Array,  # [length]
    positions: Sequence[int],
) -> Verdict:
    """The verdict that these measures amount to.

    >>> nothing = {"swap_effect": np.zeros((2, 2)), "redraw_effect": np.zeros(4)}
    >>> judge(accuracy=1, between=0.99, relevant_attention=0.6, cluster_gap=20,
    ...       positions=(0, 1), **nothing).name
    'value-corrected'
    """
    irrelevant = [t for t in range(len(redraw_effect)) if t not in set(positions)]
    unlike = unlike_the_others(swap_effect)
    matter = [t for t in irrelevant if redraw_effect[t] >= CULPRIT_SHARE]
    worst = max([_unlikeness(swap_effect), *(float(redraw_effect[t]) for t in irrelevant)])
    solved = _above("accuracy", accuracy, SOLVED_ACCURACY)
    invariant = _all_of(
        _above("between_share", between or 0.0, INVARIANT_SHARE),
        _Finding("largest_effect", worst < CULPRIT_SHARE, _apart(worst, CULPRIT_SHARE)),
    )
    attentive = _above("relevant_attention", relevant_attention, RELEVANT_ATTENTION)
    clear = _Finding("cluster_gap", cluster_gap >= CLEAR_GAP, _apart(cluster_gap, CLEAR_GAP))
    if not solved.holds:
        name, reasons = "unsolved", [solved]
    elif invariant.holds:
        name = "ideal" if attentive.holds else "value-corrected"
        reasons = [solved, invariant, attentive]
    else:
        name = "partial" if clear.holds else "fuzzy"
        reasons = [solved, invariant, clear]
    nearest = min(reasons, key=lambda finding: finding.margin)
    return Verdict(
        name,
        nearest.margin,
        nearest.name,
        tuple(int(positions[i]) for i in unlike),
        tuple(sorted(matter, key=lambda t: -redraw_effect[t])),
    )


def unlike_the_others(swap_effect: Array) -> list[int]:
    """Places among the relevant positions whose tokens cannot be exchanged with others'.

    The one with the greatest effect on average is taken away, and so on, until the rest can be
    exchanged. Where two are equally to blame, as of two positions in all, both are named.
    """
    left, found = list(range(len(swap_effect))), []
    while (worst := _unlikeness(swap_effect[np.ix_(left, left)])) >= CULPRIT_SHARE:
        effect = _mean_effects(swap_effect[np.ix_(left, left)])
        blamed = [i for i, own in zip(left, effect, strict=True) if own >= worst * (1 - 1e-9)]
        found += blamed
        left = [i for i in left if i not in blamed]
    return found


def _unlikeness(swap_effect: Array) -> float:
    """The greatest effect on average of exchanging one position's token with the others'."""
    return float(_mean_effects(swap_effect).max()) if len(swap_effect) else 0.0


def _mean_effects(swap_effect: Array) -> Array:
    """Of each position, over those with which an exchange is a symmetry; 0 where there are none."""
    others = np.isfinite(swap_effect).sum(axis=1) - 1
    return np.asarray(np.nansum(swap_effect, axis=1) / np.maximum(others, 1))


@dataclass(frozen=True)
class _Finding:
    name: str
    holds: bool
    margin: float


def _above(name: str, value: float, threshold: float) -> _Finding:
    above = value > threshold if name == "accuracy" else value >= threshold
    room = 1 - threshold if above else threshold
    return _Finding(name, above, min(1.0, abs(value - threshold) / room))


def _all_of(*findings: _Finding) -> _Finding:
    """That all hold is as clear as the least clear; that not, as the clearest one that fails."""
    failing = [finding for finding in findings if not finding.holds]
    if failing:
        return max(failing, key=lambda finding: finding.margin)
    return min(findings, key=lambda finding: finding.margin)


def _apart(a: float, b: float) -> float:
    return abs(a - b) / max(a, b)
