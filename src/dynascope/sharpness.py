"""How sharp the loss is as an optimizer sees it, against the most that its rule can take.

The sharpness is the top eigenvalue of D^-1/2 H D^-1/2, with H the Hessian of the mean loss and D
the optimizer's metric (`optimizer_metric`, which also has the limit). From the limit on, steps grow
instead of shrink: the edge of stability. Only the top eigenvalue is found, to about a thousandth,
by products with few directions: a whole Hessian takes several times as long.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.config import Config
from dynascope.data import Examples
from dynascope.errors import DynascopeError
from dynascope.frozen_weights import frozen_mask
from dynascope.optimizer_metric import metric
from dynascope.parameters import Parameters
from dynascope.second_order import hessian_products

Array = npt.NDArray[Any]

_BLOCK = 8  # directions at a time: the kernel takes little longer for eight than for two
_MOST = 40  # blocks; with a thousandth as the aim, four to six are the rule
_CLOSE = 1e-3  # of the eigenvalue: a block that changes it by less is the last


def relative_sharpness(config: Config, steps: int, state: Array, train: Examples) -> float | None:
    """The sharpness on the train set over its limit; 1 is the edge of stability.

    `state` is [weights, first, second moments] after so many steps. None where there is no limit
    (the rule is not linear in gradients), where the metric is not known (Adam before its first
    step) or where the Hessian overflows.
    """
    masks = frozen_mask(config.training.frozen, config.shapes)
    free = ~np.concatenate([mask.ravel() for mask in masks.values()])
    own = metric(config, steps, state, np.zeros(len(free)))
    if own.limit is None or not own.known or not free.any():
        return None
    root = np.ones(len(free)) if own.scale is None else np.sqrt(own.scale)
    weights = Parameters.from_flat(np.asarray(state[0], np.float64), config.shapes)

    def product(rows: Array) -> Array:
        wide = np.zeros((len(rows), len(free)))
        wide[:, free] = rows / root[free]
        bent = hessian_products(weights, wide, *train, config) + own.decay * wide
        return np.asarray(bent[:, free] / root[free])

    try:
        return top_eigenvalue(product, int(free.sum())) / own.limit
    except DynascopeError:
        return None


def top_eigenvalue(product: Callable[[Array], Array], size: int) -> float:
    """The largest eigenvalue of a symmetric matrix [size, size], by block Lanczos.

    `product` takes rows [m, size] to their products with the matrix.

    >>> wide = np.linspace(-9, 3, 300)
    >>> round(top_eigenvalue(lambda rows: rows * wide, 300), 2)
    3.0
    """
    chance = np.random.Generator(np.random.PCG64(0))  # the same every time
    block = _orthonormal(chance.standard_normal((min(_BLOCK, size), size)), np.zeros((0, size)))
    basis, images = np.zeros((0, size)), np.zeros((0, size))
    top = -np.inf
    for _ in range(_MOST):
        basis, images = np.vstack([basis, block]), np.vstack([images, product(block)])
        small = basis @ images.T
        last, top = top, float(np.linalg.eigvalsh((small + small.T) / 2)[-1])
        block = _orthonormal(images[-len(block) :], basis)
        if abs(top - last) <= _CLOSE * abs(top) or not len(block):
            break
    return top


def _orthonormal(rows: Array, besides: Array) -> Array:
    """An orthonormal basis of what the rows have outside the span of `besides` (orthonormal)."""
    left = rows
    for _ in range(2):  # once leaves what rounding lets through
        left = left - left @ besides.T @ besides
    _, lengths, basis = np.linalg.svd(left, full_matrices=False)
    return np.asarray(basis[lengths > 1e-12 * np.linalg.norm(rows)])
