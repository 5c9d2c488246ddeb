"""A variance in three parts, as the kernel measures it, and when there is none to divide."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope import _kernel
from dynascope.analysis.thresholds import ROUNDING

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Shares:
    """A variance in three parts that sum to one (the nested law of total variance)."""

    between: float  # between groups of relevant tokens (multisets of them, or of pairs)
    permutation: float  # between the orderings of a group
    suffix: float  # between the irrelevant tokens
    variance: float  # that is divided: the mean squared distance to the mean


def is_variance(variance: float, mean_square: float) -> bool:
    """Whether it is more than rounding makes of vectors whose mean has this squared length."""
    return _kernel.is_variance(variance, mean_square, ROUNDING)


def shares_of(parts: Array) -> Shares | None:
    """The kernel's three parts of a variance, and the squared length of the mean, as shares; None
    when nothing varies."""
    found = _kernel.variance_shares(np.ascontiguousarray(parts, np.float64), ROUNDING)
    return None if found is None else Shares(*found)
