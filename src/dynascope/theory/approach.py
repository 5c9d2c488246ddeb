"""The ideal clustering head as a limit of stationary points.

The paper says that a clustering head has no gradient. It has: a softmax is never certain, so C_x is
never 0. What is true is a limit. Among ideal heads of rising confidence the gradient falls in
proportion to the doubt, up to logarithms, and so does the Hessian, whose lowest eigenvalues tell
what kind of a limit it is.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.config import Config
from dynascope.config_input import ConfigLike, check_config
from dynascope.data import Examples, dataset
from dynascope.errors import DynascopeError, expected
from dynascope.model import loss_and_gradient
from dynascope.near_misses import guided
from dynascope.second_order import hessian
from dynascope.theory._backward import TRAINED
from dynascope.theory.closed_form import stationarity
from dynascope.theory.ideal import Head, ideal_head
from dynascope.theory.spectrum import Spectrum, spectrum
from dynascope.theory.symmetry import shifts

Array = npt.NDArray[Any]

CONFIDENCES = tuple(1 - 10.0**-k for k in range(1, 10))  # from there on, rounding shows
LEAST = 3  # points: a line through two has no error
MOST_SEQUENCES, SAMPLE = 2**14, 2**12  # all sequences up to so many, else so many of them
MOST_WORK = 2**31  # weights squared times (sequences and 8 per weight): a second or two in all


@dataclass(frozen=True)
class ApproachPoint:
    """An ideal head of one confidence."""

    confidence: float  # that was asked for
    doubt: float  # 1 - the probability of the right class, mean over the sequences
    loss: float
    gradient_norm: float  # of all parameters
    trained_gradient_norm: float  # of q, V, W and U, the paper's
    spectrum: Spectrum | None  # of the Hessian over all parameters; None: too large a model


@dataclass(frozen=True)
class Approach:
    """Ideal heads of rising confidence, and how the gradient falls: like doubt^rate."""

    points: tuple[ApproachPoint, ...]
    rate: float  # slope of log gradient_norm against log doubt
    rate_error: float  # its standard error, from the residuals of the straight line
    sequences: int
    complete: bool  # whether these are all sequences of the task

    @property
    def doubts(self) -> Array:
        return np.array([point.doubt for point in self.points])

    @property
    def gradient_norms(self) -> Array:
        return np.array([point.gradient_norm for point in self.points])

    def describe(self) -> str:
        """What falls, how fast, and what kind of point it is."""
        first, last = self.points[0], self.points[-1]
        which = "all" if self.complete else "a sample of"
        return (
            f"From a doubt of {first.doubt:.2g} to one of {last.doubt:.2g} (over {which} "
            f"{self.sequences} sequences) the gradient of the ideal head falls from "
            f"{first.gradient_norm:.2g} to {last.gradient_norm:.2g}, like "
            f"doubt^{self.rate:.3f} (± {self.rate_error:.3f}); it is never zero. {self._kind()}"
        )

    def _kind(self) -> str:
        seen = [point.spectrum for point in self.points if point.spectrum is not None]
        if not seen:
            return "The model is too large for its Hessian here."
        bent = sum(each.negative > 0 for each in seen)
        if not bent:
            return (
                f"Its Hessian has no negative eigenvalue beyond rounding, and falls to "
                f"{seen[-1].highest:.2g}: a minimum at infinity, as far as the second order tells."
            )
        where = "every one" if bent == len(seen) else f"{bent} of {len(seen)}"
        ratios = [each.lowest / each.highest for each in seen]
        return (
            f"Its Hessian has negative eigenvalues at {where} of these heads "
            f"({seen[-1].negative} negative, {seen[-1].zero} zero, {seen[-1].positive} positive "
            f"at the last), the lowest {min(ratios):.2g} to {max(ratios):.2g} times the highest, "
            f"and all of it falls with the doubt (the highest from {seen[0].highest:.2g} to "
            f"{seen[-1].highest:.2g}): the loss goes to its infimum, 0, through places that are no "
            "minima and no saddles, and reaches it nowhere."
        )


@guided
def approach(config: ConfigLike = None, confidences: Iterable[float] | None = None) -> Approach:
    """Ideal heads of the config (in float64), at rising confidences, measured on all sequences.

    `confidences`: None for 0.9, 0.99, ... 1 - 1e-9, as far as float64 reaches. Where more than
    16384 sequences exist, the first 4096 of the test set of seed 0 stand for them.

    >>> import dynascope as ds
    >>> small = ds.Config().replace({"task.length": 4, "task.relevant": 2})
    >>> found = approach(small, [0.9, 0.99, 0.999, 0.9999])
    >>> bool((np.diff(found.gradient_norms) < 0).all()), 0.9 < found.rate < 1.1
    (True, True)
    """
    exact = check_config(config).replace({"precision": "float64"})
    heads = _within_reach(exact) if confidences is None else _asked_for(exact, confidences)
    examples = _examples(exact)
    points = tuple(_point(confidence, head, examples) for confidence, head in heads)
    rate, error = _line([p.doubt for p in points], [p.gradient_norm for p in points])
    count = len(examples[1])
    return Approach(points, rate, error, count, exact.task.sequences <= MOST_SEQUENCES)


def _asked_for(config: Config, confidences: object) -> list[tuple[float, Head]]:
    what = f"at least {LEAST} rising numbers"
    if not isinstance(confidences, Iterable) or isinstance(confidences, str):
        raise expected("confidences", what, confidences)
    given = list(confidences)
    heads = [(each, ideal_head(config, each)) for each in given]  # refuses what is no confidence
    if len(given) < LEAST or any(b <= a for a, b in pairwise(given)):
        raise expected("confidences", what, given)
    return heads


def _within_reach(config: Config) -> list[tuple[float, Head]]:
    heads: list[tuple[float, Head]] = []
    for confidence in CONFIDENCES:
        try:
            heads.append((confidence, ideal_head(config, confidence)))
        except DynascopeError:
            if len(heads) < LEAST:
                raise
            break
    return heads


def _examples(config: Config) -> Examples:
    if config.task.sequences <= MOST_SEQUENCES:
        return dataset(config.task, split="all")
    return dataset(replace(config.task, test_size=SAMPLE), seed=0, split="test")


def _point(confidence: float, head: Head, examples: Examples) -> ApproachPoint:
    parameters, config = head
    found = stationarity(parameters, *examples, config.model)
    loss, gradient = loss_and_gradient(parameters, *examples, config.model)
    return ApproachPoint(
        confidence=float(confidence),
        doubt=found.total_variation,
        loss=loss,
        gradient_norm=gradient.norm(),
        trained_gradient_norm=math.hypot(*(found.norms[name] for name in TRAINED)),
        spectrum=_spectrum(head, examples),
    )


def _spectrum(head: Head, examples: Examples) -> Spectrum | None:
    parameters, config = head
    size = parameters.flat.size
    if size**2 * (len(examples[1]) + 8 * size) > MOST_WORK:
        return None
    found = hessian(parameters, *examples, config.model)
    return spectrum(found, null=shifts(parameters))


def _line(doubts: list[float], norms: list[float]) -> tuple[float, float]:
    """The slope of the least-squares line in logarithms, and its standard error."""
    x, y = np.log(doubts), np.log(norms)
    x, y = x - x.mean(), y - y.mean()
    slope = float(x @ y / (x @ x))
    left = y - slope * x
    return slope, math.sqrt(float(left @ left) / (len(x) - 2) / float(x @ x))
