"""Which sum a model computes, if not the one that it was asked for (two tokens only).

Modulo 2 the sum of the relevant tokens is the same as any sum with odd weights on relevant
positions and even weights on irrelevant ones: 1 and -1 are both odd, 0, 2 and -2 all even. A model
may embed such a sum instead of the plain one. Its embeddings then depend on the order of relevant
tokens and on irrelevant ones, and yet nothing is missing: this invariance was not half learnt, it
is another circuit that solves the task. The number of different sums is the number of its clusters.

Limits: modular addition of two tokens (of more, clusters are multisets, not sums); weights of at
most 2, since with larger ones every sequence has a sum of its own, and all would be explained.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope import _kernel
from dynascope.analysis._sequences import sequences
from dynascope.analysis.checks import check_fit
from dynascope.analysis.shares import is_variance
from dynascope.analysis.thresholds import ALIAS_SHARE
from dynascope.config import named_task
from dynascope.config_input import ConfigLike
from dynascope.data import Tokens
from dynascope.model import config_shape
from dynascope.near_misses import guided
from dynascope.number_text import percent
from dynascope.parameters import Parameters

Array = npt.NDArray[Any]

_ALL = 2**14  # sequences: up to here all are looked at
_SAMPLE = 4096  # else so many of them: a hundred for each sum, so a mean explains little by chance
_ROUNDS = 8  # of the search; it ends by itself after two or three


@dataclass(frozen=True)
class Alias:
    """The sum of weights times tokens that tells most about the sequence embedding."""

    weights: tuple[int, ...]  # [length]: odd where relevant, even elsewhere; the first odd one is 1
    share: float  # of the embedding's variance that lies between different sums
    sums: int  # how many different ones there are

    @property
    def holds(self) -> bool:
        """Whether the embedding depends on hardly anything else."""
        return self.share >= ALIAS_SHARE

    @property
    def plain(self) -> bool:
        """Whether it is the sum of the relevant tokens itself."""
        return set(self.weights) <= {0, 1}

    def describe(self) -> str:
        """
        >>> print(Alias((1, -1, 0, 2), 0.994, 5).describe())
        x0 - x1 + 2 x3 explains 99.4% of the variance
        """
        terms = [
            f"{'-' if w < 0 else '+'} {f'{abs(w)} ' if abs(w) > 1 else ''}x{t}"
            for t, w in enumerate(self.weights)
            if w
        ]
        text = " ".join(terms).removeprefix("+ ")
        return f"{text} explains {percent(self.share)} of the variance"


@guided
def alias(parameters: Parameters, config: ConfigLike) -> Alias | None:
    """The sum that a model computes; None of another task than modular addition, of more than two
    tokens, or without variance.

    >>> import dynascope as ds
    >>> head = ds.theory.ideal_head(ds.Config())
    >>> print(alias(head.parameters, head.config).describe())
    x0 + x1 + x2 + x3 + x4 explains >99.9% of the variance
    """
    fitting, config = check_fit(parameters, config)
    if named_task(config.task).vocab != 2 or config.task.name != "modular-addition":
        return None
    tokens = sequences(config, _ALL, _SAMPLE)
    flat = np.ascontiguousarray(fitting.flat, np.float64)
    xi = _kernel.inspect(flat, config_shape(config), tokens, {})["sequence"]
    mean = xi.mean(axis=0)
    away = xi - mean
    variance = float((away**2).sum(axis=1).mean())
    if not is_variance(variance, float(mean @ mean)):
        return None
    search = _Search(
        tokens, away / np.sqrt(variance), np.isin(range(config.task.length), config.task.positions)
    )
    weights, share = search.best()
    return Alias(tuple(int(w) for w in weights), share, len(np.unique(tokens @ weights)))


class _Search:
    """From a guess by regression, one weight after another to where it explains most."""

    def __init__(self, tokens: Tokens, away: Array, relevant: npt.NDArray[np.bool_]) -> None:
        self._tokens, self._away, self._relevant = tokens.astype(np.int64), away, relevant

    def best(self) -> tuple[npt.NDArray[np.int64], float]:
        weights = self._guess()
        share = self._share(weights)
        for _ in range(_ROUNDS):
            before = share
            for t in range(len(weights)):
                for new in (-1, 1) if self._relevant[t] else (-2, 0, 2):
                    other = weights.copy()
                    other[t] = new
                    found = self._share(other)
                    if found > share + 1e-9:
                        weights, share = other, found
            if share == before:
                break
        first = weights[np.argmax(self._relevant)]
        return weights * first, share

    def _guess(self) -> npt.NDArray[np.int64]:
        """What each token adds along the direction in which embeddings vary most."""
        _, _, axes = np.linalg.svd(self._away, full_matrices=False)
        along = self._away @ axes[0]
        adds = (self._tokens - self._tokens.mean(axis=0)).T @ along
        unit = np.median(np.abs(adds[self._relevant])) or 1.0
        even = np.clip(2 * np.round(adds / unit / 2), -2, 2)
        return np.where(self._relevant, np.where(adds < 0, -1, 1), even).astype(np.int64)

    def _share(self, weights: npt.NDArray[np.int64]) -> float:
        """Of a variance of 1: the mean squared length of the means over equal sums."""
        sums = self._tokens @ weights
        sums -= sums.min()
        count = np.bincount(sums)
        totals = np.array([np.bincount(sums, column) for column in self._away.T])
        return float((totals**2 / np.maximum(count, 1)).sum() / len(sums))
