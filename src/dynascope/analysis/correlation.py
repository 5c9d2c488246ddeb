"""Correlations of values and of their ranks."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def correlation(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Pearson's; NaN where one does not vary."""
    x, y = (np.asarray(values, float).ravel() for values in (a, b))
    x, y = x - x.mean(), y - y.mean()
    length = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / length if length else float("nan")


def rank_correlation(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Spearman's: the correlation of the ranks, equal values sharing their mean rank.

    >>> rank_correlation([1, 2, 3], [10, 100, 1000]), rank_correlation([1, 2], [5, 5])
    (1.0, nan)
    """
    return correlation(_ranks(np.ravel(a)), _ranks(np.ravel(b)))


def _ranks(values: Array) -> Array:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[place.ravel()])
