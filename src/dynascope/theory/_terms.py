"""The terms of the bounds: what limits each sequence's part of the gradient."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.cached import cached_property
from dynascope.catalog import ACTIVATIONS
from dynascope.theory._backward import EvaluatedPart, Given
from dynascope.theory._norms import lengths, longest, stretch_limit

Array = npt.NDArray[Any]


class Sizes:
    """What the bounds need of the weights: operator norms and the spread of the embeddings."""

    def __init__(self, given: Given) -> None:
        p, self.model = given.parameters, given.model
        self.value, self.receptors, self.assemblers = (
            float(np.linalg.svd(p[name], compute_uv=False)[0])
            for name in ("value", "receptors", "assemblers")
        )
        self.bias = float(lengths(p.receptor_bias)) if self.model.bias else 0.0
        self.steepest = ACTIVATIONS[self.model.activation].steepest
        self.embedding = p.token_embedding
        self.sums = p.token_embedding, p.position_embedding

    @cached_property
    def diameter(self) -> float:
        """D, the largest distance between two classes' embeddings."""
        return max(float(lengths(self.embedding - row).max()) for row in self.embedding)

    @cached_property
    def longest(self) -> tuple[float, float]:
        """No z_t and no norm(xi) is longer than these."""
        if self.model.norm != "none":
            return (longest(self.model),) * 2
        tokens, places = self.sums
        z = max(float(lengths(tokens + place).max()) for place in places)
        return z, z * self.value

    def carried(self, stretch: Array) -> Array:
        """r_x, above |I + Q^T|: 1 + c |U| |W| |M|, where what is not there is not stretched."""
        product = self.steepest * self.assemblers * self.receptors
        return 1.0 + _product(np.full_like(stretch, product), stretch)


def paper(sizes: Sizes, given: Given, variation: float) -> float:
    """The square root of B-hat times the mean total variation."""
    n, d = given.tokens.shape[1], given.model.dim
    v, w, u = sizes.value, sizes.receptors, sizes.assemblers
    terms = (
        2 * n * math.sqrt(d) * v * (1 + math.sqrt(2 / math.pi) * w * w * u),
        math.sqrt(d) * (1 + 2 * w * u),
        2 * u,
        w,
    )
    entry = float(np.abs(sizes.embedding).max())
    if not entry * variation:
        return 0.0
    return 2 * math.sqrt(d) * entry * math.hypot(*terms) * math.sqrt(variation)


def corrected(piece: EvaluatedPart, sizes: Sizes) -> Array:
    """[n]: what bounds a sequence's part, from its TV_x and |xi| and from norms of weights."""
    z, x = sizes.longest
    u, w, c = sizes.assemblers, sizes.receptors, sizes.steepest
    r = sizes.carried(stretch_limit(np.linalg.norm(piece.act.sequence, axis=1), sizes.model))
    fixed = [c * u * x, x * w + sizes.bias]
    fixed += [c * u, 1.0] if sizes.model.bias else []
    through = math.hypot(z * z * sizes.value / math.sqrt(sizes.model.dim), z)
    return _product(piece.variation * sizes.diameter, np.hypot(r * through, math.hypot(*fixed)))


def tight(piece: EvaluatedPart, sizes: Sizes) -> dict[str, Array]:
    """By parameter, [n]: what bounds the length of a sequence's part."""
    act, error = piece.act, lengths(piece.error)
    carried = sizes.carried(piece.norm.operator_norm())
    spread = (act.attention * (piece.apart**2).sum(axis=-1)).sum(axis=1)  # the trace of Cov_a(z)
    hidden = sizes.steepest * sizes.assemblers
    factors = {
        "query": _product(spread * sizes.value / math.sqrt(sizes.model.dim), carried),
        "value": _product(lengths(piece.mean), carried),
        "receptors": hidden * lengths(act.sequence_normalized),
        "assemblers": lengths(act.hidden),
        "receptor_bias": np.full(len(error), hidden),
        "assembler_bias": np.ones(len(error)),
    }
    return {name: _product(error, factors[name]) for name in piece.given.names}


def _product(small: Array, large: Array) -> Array:
    """small * large, where 0 times infinity is 0: what is not there has no gradient."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(small == 0, 0.0, small * large)
