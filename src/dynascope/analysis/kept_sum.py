"""The sum that a circuit keeps: what its sequence embedding still knows of the tokens.

A sequence embedding is a quotient of two sums over positions, so it depends on what tokens add up
to; and modulo p many sums tell the target, not the plain one alone. Of two tokens -1 is 1 and 2 is
0: odd weights on relevant positions and even ones elsewhere are all as good. Of more tokens, the
multiset of (x_t + c_t) mod p is as good as that of x_t. A circuit that keeps such a sum depends on
the order of relevant tokens and on irrelevant ones, and yet nothing is missing: it is finished.

The search, and the reason for its one threshold, are the kernel's (`sum_search.hpp`).

Limits: modular addition of at most 16 tokens. Folds are looked for up to seven tokens.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope import _kernel
from dynascope.analysis.checks import check_fit
from dynascope.analysis.run_epochs import check_symmetries
from dynascope.analysis.sum_words import told
from dynascope.analysis.thresholds import RELEVANT_ATTENTION, ROUNDING, SUM_SHARE
from dynascope.catalog import LIMITS
from dynascope.config import Config, named_task
from dynascope.config_input import ConfigLike
from dynascope.data import Tokens, check_tokens
from dynascope.errors import DynascopeError, expected
from dynascope.model import config_shape
from dynascope.near_misses import guided
from dynascope.number_text import percent
from dynascope.parameters import Parameters
from dynascope.run import Run
from dynascope.tasks import task_of

Array = npt.NDArray[Any]

MOST_CANDIDATES = 2**20  # of an exhaustive search: some seconds


@dataclass(frozen=True, eq=False)
class KeptSum:
    """The simplest sum that explains the sequence embedding or, if none does, the best one.

    `kind` is one of `catalog.SUM_KINDS`, the simplest first:

    - `plain`: the sum, or multiset, of the relevant tokens;
    - `signed`: with signs (of more than two tokens: shifts) on relevant positions;
    - `folded`: irrelevant tokens join without a trace modulo p (of two tokens: with weight 2);
    - `split`: one of these, and one or two tokens kept apart beside it;
    - `two`: two sums, of which the embedding is determined by both together;
    - `unexplained`: none reaches the threshold.
    """

    kind: str
    share: float  # of the variance of the sequence embedding that lies between values of the sum
    corrected: float  # what decides: 1 - (1 - share) values / values of the plain sum
    told_apart: float  # share of its values that the embedding tells apart; a tenth is enough
    values: int  # how many different ones the sum has
    apart: tuple[int, ...]  # positions whose tokens are kept beside the sum
    terms: Array  # [sums, length, p, p]: what token x at t adds to the count of j
    positions: tuple[int, ...]  # the relevant ones
    best: Mapping[str, float]  # the corrected share that each kind reached; those that were tried
    tried: int  # candidates
    by: str | None = None  # of `plain`: attentive, or value-corrected: who leaves the others out

    @property
    def holds(self) -> bool:
        """Whether the embedding depends on hardly anything else."""
        return self.kind != "unexplained"

    @property
    def margin(self) -> float:
        """How far `corrected` is from the threshold: 0 is a toss-up, 1 as far as it can be."""
        room = 1 - SUM_SHARE if self.corrected >= SUM_SHARE else SUM_SHARE
        return min(1.0, abs(self.corrected - SUM_SHARE) / room)

    @property
    def culprits(self) -> tuple[int, ...]:
        """The positions that make it another sum than the plain one: shifted, folded or apart."""
        vocab = self.terms.shape[-1]
        plain = np.zeros_like(self.terms[0])
        plain[list(self.positions)] = np.eye(vocab, dtype=plain.dtype)
        other = (self.terms != plain).any(axis=(0, 2, 3))
        return tuple(int(t) for t in np.flatnonzero(other))

    @property
    def weights(self) -> tuple[int, ...] | None:
        """[length], of two tokens: what a one adds at each position; the first that is odd is 1.
        Of `two`, those of the first sum."""
        return self._weights(0)

    @property
    def second_weights(self) -> tuple[int, ...] | None:
        """[length]: the weights of the other sum of `two`."""
        return self._weights(1) if len(self.terms) > 1 else None

    def _weights(self, which: int) -> tuple[int, ...] | None:
        if self.terms.shape[-1] != 2:
            return None
        ones = self.terms[which, :, :, 1]
        return tuple(int(w) for w in ones[:, 1] - ones[:, 0])

    @property
    def shifts(self) -> tuple[int | None, ...]:
        """[length]: by what the token of each position is shifted before it is counted; None where
        it is irrelevant or kept apart. Of `two`, in the first sum."""
        counted = [t in self.positions and t not in self.apart for t in range(self.terms.shape[1])]
        image = self.terms[0, :, 0].argmax(axis=-1)  # of token 0
        return tuple(int(c) if own else None for c, own in zip(image, counted, strict=True))

    def labels(self, tokens: npt.ArrayLike) -> Array:
        """[count]: the number of the value that each sequence has, from 0; equal values, equal
        numbers. Of two tokens and one sum, the numbers rise with the sum."""
        rows = check_tokens("tokens", tokens, self.terms.shape[-1])
        if rows.shape[1] != self.terms.shape[1]:
            raise expected("tokens", f"sequences of length {self.terms.shape[1]}", rows.shape[1])
        return np.unique(self._values(rows), axis=0, return_inverse=True)[1].reshape(-1)

    def _values(self, tokens: Tokens) -> Array:
        """[count, numbers]: what each sequence is told by."""
        at = np.arange(tokens.shape[1])
        counts = [one[at, tokens].sum(axis=1)[:, 1:] for one in self.terms]  # [count, p - 1]
        return np.concatenate([*counts, tokens[:, list(self.apart)]], axis=1)

    def describe(self) -> str:
        """
        >>> import dynascope as ds
        >>> head = ds.theory.ideal_head(ds.Config())
        >>> print(kept_sum(head.parameters, head.config).describe())
        x0 + x1 + x2 + x3 + x4 (plain, attentive) explains >99.9% of the variance with 6 values
        """
        share = f"{percent(self.share)} of the variance with {self.values} values"
        if not self.holds:
            return f"no sum explains enough; the best, {self.formula()}, explains {share}"
        kind = f"{self.kind}, {self.by}" if self.by else self.kind
        return f"{self.formula()} ({kind}) explains {share}"

    def formula(self) -> str:
        """The sum as people write it."""
        return told(self.terms, self.positions, self.apart)


@guided
def kept_sum(
    parameters: Parameters, config: ConfigLike, exhaustive: bool = False
) -> KeptSum | None:
    """The sum that a model keeps; None if its sequence embedding does not vary, and of another task
    than modular addition of at most 16 tokens.

    `exhaustive` (two tokens only) tries every sum, and every choice of tokens kept apart, instead
    of a guided choice of them; pairs of sums are always guided.

    >>> import dynascope as ds
    >>> kept_sum(ds.initial_parameters(ds.Config(), seed=0), ds.Config()).kind
    'unexplained'
    """
    fitting, known = check_fit(parameters, config)
    if not isinstance(exhaustive, bool):
        raise expected("exhaustive", "True or False", exhaustive)
    if exhaustive:
        _check_exhaustive(known)
    if not is_summed(known):
        return None
    return kept_sums(np.ascontiguousarray(fitting.flat)[None], known, exhaustive)[0]


def is_summed(config: Config) -> bool:
    """Whether sums are looked for in models of this config."""
    task = named_task(config.task)
    return task.name == "modular-addition" and task.vocab <= LIMITS["summed"]


def check_summed(run: Run) -> None:
    """Refuse a run for an analysis that is about the sum that it keeps."""
    check_symmetries(run)
    if not is_summed(run.config):
        raise DynascopeError(
            f"run {run.id}: sums are looked for in modular addition of at most "
            f"{LIMITS['summed']} tokens."
        )


def kept_sums(rows: Array, config: Config, exhaustive: bool = False) -> list[KeptSum | None]:
    """The sums of packed weights, a model in each row."""
    wide = np.ascontiguousarray(rows, np.float64)
    shape, task = config_shape(config), config.task.kernel
    found = _kernel.kept_sums(wide, shape, task, SUM_SHARE, ROUNDING, exhaustive)
    return [
        None if one is None else _with_attention(_kept(one, config.task.positions), row, config)
        for one, row in zip(found, wide, strict=True)
    ]


def _with_attention(kept: KeptSum, row: Array, config: Config) -> KeptSum:
    """Of a plain sum: whether attention alone leaves the irrelevant tokens out, or values do."""
    if kept.kind != "plain":
        return kept
    design = task_of(config).design().arguments
    found = _kernel.circuits(row[None], config_shape(config), *design, ["attention"])["attention"]
    attentive = found[0][list(kept.positions)].sum() >= RELEVANT_ATTENTION
    return replace(kept, by="attentive" if attentive else "value-corrected")


def _kept(found: tuple[Any, ...], positions: tuple[int, ...]) -> KeptSum:
    kind, terms, sums, apart, share, corrected, told_apart, values, best, tried = found
    return KeptSum(
        kind=kind,
        share=share,
        corrected=corrected,
        told_apart=told_apart,
        values=values,
        apart=apart,
        terms=terms[:sums],
        positions=positions,
        best={name: reached for name, reached in best.items() if not np.isnan(reached)},
        tried=tried,
    )


def sum_shares(rows: Array, config: Config, kept: KeptSum) -> Array:
    """[rows]: the share of the variance that a given sum explains in each of these packed weights;
    NaN where nothing varies."""
    wide = np.ascontiguousarray(rows, np.float64)
    length, vocab = kept.terms.shape[1:3]
    both = np.zeros((2, length, vocab, vocab), np.int32)
    both[: len(kept.terms)] = kept.terms
    shape, task = config_shape(config), config.task.kernel
    given = (both, len(kept.terms), list(kept.apart), ROUNDING)
    return _kernel.sum_shares(wide, shape, task, *given)[0]


def _check_exhaustive(config: Config) -> None:
    task = named_task(config.task)
    if task.name != "modular-addition" or task.vocab != 2:
        raise expected("exhaustive", "False for other tasks than addition modulo 2", True)
    relevant = len(task.positions)
    count = 2 ** (relevant - 1) * 3 ** (task.length - relevant)
    if count > MOST_CANDIDATES:
        what = f"False where there are more than {MOST_CANDIDATES} sums"
        raise expected("exhaustive", what, True, f"here there are {count}")
