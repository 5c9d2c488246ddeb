"""How a run's attention changed: its map, the tokens and the positions that it prefers.

The claim to be checked is that a run keeps the attention that it was initialised with: its map at
the end resembles that at the start more than the start maps of other seeds do.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis._sequences import own_sequences
from dynascope.analysis.attention import AttentionSimilarity, attention_map, map_similarity
from dynascope.analysis.checks import check_run, sound_epoch, sound_parameters
from dynascope.analysis.thresholds import ATTENTION_EVEN, ATTENTION_OTHERS
from dynascope.data import MAX_SEED
from dynascope.model import initial_parameters
from dynascope.near_misses import guided
from dynascope.run import Run

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class AttentionAt:
    """Where a model looks after an epoch.

    - `relevant`: the share of attention on relevant positions, every token being as likely as any
      other; None where they are not known.
    - `by_token`: the attention on a relevant position (any position, where the relevant ones are
      not known) if token 0, 1, ... stands there.
    - `preferred`: the token with the most, None where all have the same; `preference`: its part of
      `by_token`, from 1 / vocab (no preference) to 1.
    """

    epoch: int
    map: Array  # [vocab, length]
    relevant: float | None
    by_token: Array  # [vocab]
    preferred: int | None
    preference: float


@dataclass(frozen=True, eq=False)
class AttentionChange:
    """Attention at the start and at the end, and how alike the maps are; `similarity.other_...`
    are those of the maps that other seeds start with."""

    start: AttentionAt
    end: AttentionAt
    similarity: AttentionSimilarity


@guided
def attention(run: Run, epoch: int = -1) -> AttentionChange:
    """How attention changed from the start of a run to an epoch (-1: the last that is sound).

    The other seeds are drawn from the run's own, so that the result depends on the run alone. A run
    that started from given weights is compared with fresh models as well. Of runs with data of
    their own the maps are means over the train set.

    >>> import dynascope as ds
    >>> run = ds.train(ds.Config().replace({"training.epochs": 2}), progress=False)[0]
    >>> found = attention(run)
    >>> found.end.epoch, found.end.map.shape, len(found.similarity.other_cosines)
    (2, (2, 12), 19)
    """
    run = check_run(run)
    start, end = _look(run, 0), _look(run, sound_epoch(run, epoch))
    tokens = own_sequences(run)
    others = [
        attention_map(initial_parameters(run.config, seed), run.config, tokens)
        for seed in other_seeds(run.seed)
    ]
    return AttentionChange(
        start, end, map_similarity(start.map, end.map, others, start.epoch, end.epoch)
    )


def other_seeds(seed: int) -> list[int]:
    """Seeds that have nothing to do with this one, and always the same for it.

    >>> other_seeds(3)[:2], len(set(other_seeds(3)))
    ([3384690471730060, 2962194764324735], 19)
    """
    numbers = range(ATTENTION_OTHERS)
    digests = (hashlib.sha256(f"{seed} {number}".encode()).digest() for number in numbers)
    return [int.from_bytes(digest[:8], "big") % (MAX_SEED + 1) for digest in digests]


def _look(run: Run, epoch: int) -> AttentionAt:
    table = attention_map(sound_parameters(run, epoch), run.config, own_sequences(run))
    positions = run.task.positions
    known = positions is not None
    by_token = table[:, list(positions)].mean(axis=1) if positions else table.mean(axis=1)
    even = np.ptp(by_token) <= ATTENTION_EVEN
    return AttentionAt(
        epoch=epoch,
        map=table,
        relevant=float(table[:, list(positions or ())].mean(axis=0).sum()) if known else None,
        by_token=by_token,
        preferred=None if even else int(by_token.argmax()),
        preference=float(by_token.max() / by_token.sum()),
    )
