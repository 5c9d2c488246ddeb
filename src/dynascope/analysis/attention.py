"""Where a model looks, as a table, and how alike two such tables are.

There is one query, so a score belongs to a token at a position, whatever else is in the sequence;
attention depends on the rest only through the softmax's sum. Its mean over the rest makes a table
of the size of the scores in which a constant added to all scores does not show.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis._sequences import given, own_sequences, sequences
from dynascope.analysis.checks import check_fit, check_run, sound_epoch, sound_parameters
from dynascope.analysis.correlation import rank_correlation
from dynascope.analysis.thresholds import ATTENTION_ALL, ATTENTION_SAMPLE
from dynascope.config import named_task
from dynascope.config_input import ConfigLike
from dynascope.data import Tokens
from dynascope.errors import expected
from dynascope.model import forward
from dynascope.near_misses import guided
from dynascope.parameters import Parameters
from dynascope.run import Run

Array = npt.NDArray[Any]

_AT_ONCE = 2**22  # numbers in memory together
_SPREAD = 600.0  # of scores: with less between them, no exponential underflows (e^-745 does)
_MOST = 2**28  # numbers in all: with a large vocabulary, fewer sequences are sampled


@guided
def attention_map(
    parameters: Parameters, config: ConfigLike, tokens: npt.ArrayLike | None = None
) -> Array:
    """[vocab, length]: the mean attention on a position if a token stands there.

    The mean is over all that the other positions can hold, exactly, while at most 2**16 sequences
    exist; else over a fixed sample, which is the same for every model of the task. With `tokens`
    it is over what these sequences have there.

    >>> import dynascope as ds
    >>> config = ds.Config()
    >>> even = ds.initial_parameters(config)
    >>> even.query = [0, 0]
    >>> bool(np.allclose(attention_map(even, config), 1 / 12))
    True
    """
    fitting, config = check_fit(parameters, config)
    vocab, length = config.task.vocab, config.task.length
    constant = np.repeat(np.arange(vocab, dtype=np.int32)[:, None], length, axis=1)
    scores = forward(fitting, constant, config.model).scores.astype(float)
    near = np.ptp(scores) < _SPREAD
    if tokens is None and near and named_task(config.task).sequences <= ATTENTION_ALL:
        return _mean_attention(scores)
    table = vocab * length
    sample = min(ATTENTION_SAMPLE, max(_MOST // table, 16))
    contexts = sequences(config, ATTENTION_ALL, sample) if tokens is None else given(tokens, config)
    size = max(1, _AT_ONCE // table)
    parts = (contexts[start : start + size] for start in range(0, len(contexts), size))
    return np.asarray(sum(_attention(scores, part) for part in parts) / len(contexts))


def _mean_attention(scores: Array) -> Array:
    """[vocab, length]: the mean over every sequence with the token at the position.

    Attention is w / sum with w = e^score of the token at its place and one sum for each sequence,
    so it is w times the mean of 1 / sum.
    """
    vocab, length = scores.shape
    weights = np.exp(scores - scores.max())
    sums = np.zeros(1)  # of every sequence, the last position changing fastest
    for t in range(length):
        sums = (sums[:, None] + weights[:, t]).ravel()
    shares, means = 1 / sums, np.empty_like(weights)
    for t in reversed(range(length)):
        by_token = shares.reshape(-1, vocab).T  # the token at t; later positions are summed over
        means[:, t] = [row.sum() for row in by_token]
        shares = by_token.sum(axis=0)
    return np.asarray(weights * means / vocab ** (length - 1))


def _attention(scores: Array, contexts: Tokens) -> Array:
    """[vocab, length]: attention on each token at each position, summed over the contexts.

    A token takes the place of what the context has there; the other positions keep theirs.
    """
    if np.ptp(scores) < _SPREAD:
        weights = np.exp(scores - scores.max())
        chosen = weights[contexts, np.arange(scores.shape[1])]  # [n, length]
        others = _sums_of_others(chosen)
        return np.asarray((weights / (weights + others[:, None, :])).sum(axis=0))
    return _attention_of_far_scores(scores, contexts)


def _sums_of_others(values: Array) -> Array:
    """Of each value of a row the sum of all others: of those before and after it, since the sum
    of all less the value itself would lose what is small beside it.

    >>> _sums_of_others(np.array([[1.0, 2.0, 4.0]])).tolist()
    [[6.0, 5.0, 3.0]]
    """
    none = np.zeros((len(values), 1))
    before = np.hstack([none, values[:, :-1].cumsum(axis=1)])
    after = np.hstack([values[:, :0:-1].cumsum(axis=1)[:, ::-1], none])
    return np.asarray(before + after)


def _attention_of_far_scores(scores: Array, contexts: Tokens) -> Array:
    """`_attention` by logarithms, where exponentials would underflow."""
    length = scores.shape[1]
    theirs = scores[contexts, np.arange(length)]  # [n, length]
    others = np.full_like(theirs, -np.inf)  # log of the sum over the other positions
    for t in range(length):
        rest = np.delete(theirs, t, axis=1)
        if rest.size:
            top = rest.max(axis=1)
            others[:, t] = top + np.log(np.exp(rest - top[:, None]).sum(axis=1))
    with np.errstate(over="ignore"):  # an infinite ratio is an attention of 0
        return np.asarray((1 / (1 + np.exp(others[:, None, :] - scores))).sum(axis=0))


@dataclass(frozen=True, eq=False)
class AttentionSimilarity:
    """How much the attention map of a run at one epoch is like that at another.

    For chance: the same numbers between the later map and the maps that other runs had at the
    earlier epoch. Maps are positive, so even unrelated ones have a high cosine: compare. Others
    whose number is NaN (a map with equal entries has no ranks) are left out of means and p-value.
    """

    first: int
    last: int
    cosine: float
    rank_correlation: float  # Spearman's; NaN if all entries of a map are equal
    other_cosines: Array  # [others]
    other_rank_correlations: Array  # [others]; NaN likewise

    @property
    def chance_cosine(self) -> float | None:
        """The mean over the other runs; None without any that has the number."""
        return _mean(self.other_cosines)

    @property
    def chance_rank_correlation(self) -> float | None:
        return _mean(self.other_rank_correlations)

    @property
    def p_value(self) -> float | None:
        """How often chance gives such a rank correlation: (1 + others as high) / (1 + others)."""
        others = _told(self.other_rank_correlations)
        if not len(others) or np.isnan(self.rank_correlation):
            return None
        return float((1 + (others >= self.rank_correlation).sum()) / (1 + len(others)))


@guided
def attention_similarity(
    run: Run, first: int = 0, last: int = -1, others: Sequence[Run] | None = None
) -> AttentionSimilarity:
    """Compare the attention maps of two epochs of a run (-1: the last that is sound).

    `others` are runs of the same task with other seeds; the run itself, if it is among them, is
    left out, and so are those that had diverged by `first`. Of runs with data of their own the
    maps are means over the train set.

    >>> import dynascope as ds
    >>> config = ds.Config().replace({"training.epochs": 2})
    >>> runs = ds.train(config, seeds=range(3), progress=False)
    >>> alike = attention_similarity(runs[0], others=runs)
    >>> alike.last, len(alike.other_cosines), alike.cosine > 0.99
    (2, 2, True)
    """
    run = check_run(run)
    begin, end = sound_epoch(run, first), sound_epoch(run, last)
    final, start = _map_at(run, end), _map_at(run, begin)
    compared = [other for other in _comparable(run, others) if _reaches(other, begin)]
    return map_similarity(start, final, [_map_at(other, begin) for other in compared], begin, end)


def map_similarity(
    start: Array, final: Array, others: Sequence[Array], first: int, last: int
) -> AttentionSimilarity:
    """How alike two maps are, and the later one and each of the `others`."""
    end = _ranked(final)
    return AttentionSimilarity(
        first=first,
        last=last,
        cosine=_cosine(start, final),
        rank_correlation=rank_correlation(_ranked(start), end),
        other_cosines=np.array([_cosine(other, final) for other in others]),
        other_rank_correlations=np.array([rank_correlation(_ranked(m), end) for m in others]),
    )


def _ranked(table: Array) -> Array:
    """What ranks go by: entries that differ by rounding alone share their rank."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(table).round(9))


def _map_at(run: Run, epoch: int) -> Array:
    return attention_map(sound_parameters(run, epoch), run.config, own_sequences(run))


def _comparable(run: Run, others: Sequence[Run] | None) -> list[Run]:
    def which(run: Run) -> dict[str, Any]:
        task = run.config.task
        sizes = {"vocab": task.vocab, "length": task.length}
        if run.data is not None:
            return {**sizes, "data": run.data.digest()[:8]}
        return {**sizes, "relevant": task.relevant}

    wanted = which(run)
    for i, other in enumerate(others or ()):
        got = which(check_run(other, f"others[{i}]"))
        if got != wanted:
            raise expected(f"others[{i}]", f"a run of the same task, {wanted}", got)
    return [other for other in others or () if other.id != run.id]


def _reaches(run: Run, epoch: int) -> bool:
    return run.diverged is None or epoch < run.diverged


def _cosine(a: Array, b: Array) -> float:
    return float((a * b).sum() / (np.linalg.norm(a) * np.linalg.norm(b)))


def _told(values: Array) -> Array:
    """Those that are numbers."""
    return values[~np.isnan(values)]


def _mean(values: Array) -> float | None:
    told = _told(values)
    return float(told.mean()) if len(told) else None
