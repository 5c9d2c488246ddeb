"""The Jacobian of a norm: how far a small step of a vector moves the normalised vector.

Every norm is y = g(r) x with r = |x|. A step across x is stretched by g, a step along x by (r g)':

    M = across I + (along - across) x̂ x̂ᵀ,   x̂ = x / r

            across = g              along = (r g)'              length of y, at most
    rms     1 / (r/√d + eps)        eps / (r/√d + eps)²         √d
    unit    1 / (r + eps)           eps / (r + eps)²            1
    smooth  √d s(r/tau) / r         √d s'(r/tau) / tau          √d
    none    1                       1                           r
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope.config import ModelConfig

Array = npt.NDArray[Any]


class Jacobian(NamedTuple):
    """M at n vectors; at 0 its limit, and 0 where there is none, as in the kernel."""

    across: Array  # [n]
    along: Array  # [n]
    direction: Array  # [n, dim]: x̂, or 0 at x = 0
    exists: Array  # [n]: False where M has no limit (x = 0 with eps = 0)

    def times(self, vectors: Array) -> Array:
        """[n, k, dim]: M v for each of k vectors at each of the n."""
        x = self.direction[:, None]
        across, along = self.across[:, None, None], self.along[:, None, None]
        part = (vectors * x).sum(axis=-1, keepdims=True) * x
        return np.asarray(across * vectors + (along - across) * part)

    def operator_norm(self) -> Array:
        """[n]: |M|_op, exactly: the larger stretch, infinite where M has no limit.

        In one dimension there is no step across.
        """
        only_along = self.direction.shape[1] == 1
        largest = self.along if only_along else np.maximum(self.across, self.along)
        return np.where(self.exists, largest, np.inf)


def jacobian(x: Array, model: ModelConfig) -> Jacobian:
    """The Jacobian of the model's norm at each of the vectors [n, dim].

    >>> at = jacobian(np.array([[3.0, 4.0], [0.0, 0.0]]), ModelConfig(norm="unit", norm_eps=0.0))
    >>> at.times(np.array([[[4.0, -3.0]], [[1.0, 0.0]]]))[:, 0].tolist()  # one across, one at 0
    [[0.8, -0.6], [0.0, 0.0]]
    >>> at.operator_norm().tolist()
    [0.2, inf]
    """
    length = np.linalg.norm(x, axis=1)
    safe = np.where(length > 0, length, 1.0)
    direction = np.where(length > 0, 1.0, 0.0)[:, None] * x / safe[:, None]
    everywhere = np.ones(len(x), dtype=bool)
    if model.norm == "none":
        return Jacobian(np.ones(len(x)), np.ones(len(x)), direction, everywhere)
    if model.norm == "smooth":
        return Jacobian(*_smooth(length, model), direction, everywhere)
    below = length / longest(model) + model.norm_eps
    exists = below > 0
    across = np.divide(1.0, below, out=np.zeros_like(below), where=exists)
    return Jacobian(across, model.norm_eps * across * across, direction, exists)


def longest(model: ModelConfig) -> float:
    """The length that no normalised vector exceeds."""
    return {"unit": 1.0, "none": math.inf}.get(model.norm, math.sqrt(model.dim))


def _smooth(length: Array, model: ModelConfig) -> tuple[Array, Array]:
    """s(t) = t³ (6t² - 15t + 10), so s(t)/t has no pole and s'(t) = 30 t² (1-t)²."""
    t = length / model.norm_tau
    scale = math.sqrt(model.dim) / model.norm_tau
    inside = np.minimum(t, 1.0)
    outside = np.maximum(t, 1.0)
    across = scale * inside**2 * ((6 * inside - 15) * inside + 10) / outside
    return across, scale * 30 * inside**2 * (1 - inside) ** 2


def stretch_limit(length: Array, model: ModelConfig) -> Array:
    """[n]: a limit of |M|_op in terms of |x| alone, infinite at 0 where M has no limit.

    rms, unit: 1 / (r/L + eps) is below L/r and below 1/eps. smooth: s <= 1 and t s'(t) =
    30 t³ (1-t)² <= 1.0368 (at t = 3/5) bound both stretches by 1.0368 √d/r; s(t)/t <= 1.2 and
    s'(t) <= 30/16 bound them by 1.875 √d/tau.
    """
    if model.norm == "none":
        return np.ones_like(length)
    steepest, at_zero = longest(model), model.norm_eps
    if model.norm == "smooth":
        at_zero = model.norm_tau / (1.875 * steepest)
        steepest *= 1.0368
    with np.errstate(divide="ignore", over="ignore"):
        return np.minimum(steepest / length, np.divide(1.0, at_zero))


def lengths(rows: Array) -> Array:
    """[...]: the lengths of the vectors along the last axis, without overflow or underflow."""
    top = np.abs(rows).max(axis=-1, keepdims=True, initial=0.0)
    scaled = rows / np.where(top > 0, top, 1.0)
    return np.asarray(top[..., 0] * np.sqrt((scaled * scaled).sum(axis=-1)))
