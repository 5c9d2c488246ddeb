"""How far embeddings are from others, apart from a rotation of the plane.

Rotating all embeddings along with everything that reads them changes nothing that a model says, so
distances are taken after the rotation that makes them smallest (the orthogonal Procrustes problem:
with A^T B = U S W^T, the best Q in |A Q - B| is U W^T; for a proper rotation, with the sign of the
last singular direction set so that det Q = 1).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dynascope.analysis._sequences import activations, given, own_sequences, sequences
from dynascope.analysis.checks import check_fit, check_run, sound_parameters
from dynascope.config import Config
from dynascope.config_input import ConfigLike
from dynascope.errors import unknown
from dynascope.near_misses import guided
from dynascope.parameters import Parameters
from dynascope.run import Run

Array = npt.NDArray[Any]
Of = Literal["embeddings", "token", "position", "sequence"]

_GROUPS: Mapping[str, tuple[str, ...]] = {
    "embeddings": ("token_embedding", "position_embedding"),
    "token": ("token_embedding",),
    "position": ("position_embedding",),
}


@dataclass(frozen=True, eq=False)
class EmbeddingDistance:
    """Root of the summed squares of all differences, before and after the best rotation."""

    before: float  # |A - B|
    after: float  # |A rotation - B|, the smallest there is
    rotation: Array  # [dim, dim], applied from the right to rows
    norm: float  # |A|, after centring

    @property
    def relative_before(self) -> float:
        """`before` over the length of the first embeddings; NaN where that is 0."""
        return self.before / self.norm if self.norm else float("nan")

    @property
    def relative(self) -> float:
        """`after` over the length of the first embeddings; NaN where that is 0."""
        return self.after / self.norm if self.norm else float("nan")

    @property
    def reflected(self) -> bool:
        """Whether the rotation turns left into right."""
        return bool(np.linalg.det(self.rotation) < 0)


@guided
def embedding_distance(
    a: Parameters,
    b: Parameters,
    config: ConfigLike,
    of: Of = "embeddings",
    reflections: bool = False,
    centred: bool = False,
    tokens: npt.ArrayLike | None = None,
) -> EmbeddingDistance:
    """The distance between the embeddings of two models of one config.

    `of`: "token", "position", "embeddings" (both, under one rotation, since the model adds them) or
    "sequence" (of all sequences, or of the test set of seed 0 where more than 2**20 exist; with
    `tokens`, of these).
    `centred`: the means of tokens and of positions are taken off first, each from its own, so that
    what is moved from all tokens to all positions, of which the model knows nothing, does not
    count; as given, it counts.

    >>> import dynascope as ds
    >>> config = ds.Config(precision="float64")
    >>> p = ds.initial_parameters(config)
    >>> quarter = np.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> turned = p.replace(
    ...     token_embedding=p.token_embedding @ quarter,
    ...     position_embedding=p.position_embedding @ quarter,
    ... )
    >>> got = embedding_distance(p, turned, config)
    >>> round(got.relative_before, 6), round(got.after, 6)
    (1.414214, 0.0)
    """
    (one, known), (two, _) = check_fit(a, config, "a"), check_fit(b, config, "b")
    if of not in (*_GROUPS, "sequence"):
        raise unknown("of", of, (*_GROUPS, "sequence"), kind="embedding")
    rows = [_rows(parameters, known, of, centred, tokens) for parameters in (one, two)]
    return procrustes(rows[0], rows[1], reflections)


@guided
def travelled(
    run: Run,
    first: int = 0,
    last: int = -1,
    of: Of = "embeddings",
    reflections: bool = False,
    centred: bool = False,
) -> EmbeddingDistance:
    """`embedding_distance` between two epochs of a run (-1: the last that is sound).

    Of a run with data of its own, `sequence` means those of its train set.
    """
    run = check_run(run)
    start, end = (sound_parameters(run, epoch) for epoch in (first, last))
    tokens = own_sequences(run)
    return embedding_distance(start, end, run.config, of, reflections, centred, tokens)


def procrustes(a: Array, b: Array, reflections: bool = False) -> EmbeddingDistance:
    """The distance between the rows of two matrices, before and after the best rotation."""
    u, _, w = np.linalg.svd(a.T @ b)
    if not reflections and np.linalg.det(u @ w) < 0:
        u[:, -1] *= -1  # the least singular value is the cheapest to give up
    rotation = u @ w
    return EmbeddingDistance(
        before=float(np.linalg.norm(a - b)),
        # Not to turn is a rotation, too: where nothing moved, rounding must not say otherwise.
        after=float(min(np.linalg.norm(a @ rotation - b), np.linalg.norm(a - b))),
        rotation=rotation,
        norm=float(np.linalg.norm(a)),
    )


def _rows(
    parameters: Parameters, config: Config, of: str, centred: bool, tokens: npt.ArrayLike | None
) -> Array:
    if of == "sequence":
        chosen = sequences(config) if tokens is None else given(tokens, config)
        pieces = activations(parameters, chosen, config)
        groups = [np.concatenate([got.sequence for got in pieces])]
    else:
        groups = [parameters[name] for name in _GROUPS[of]]
    wide = [group.astype(float) for group in groups]
    return np.concatenate([rows - rows.mean(axis=0) if centred else rows for rows in wide])
