"""The loss of a run's model on its train set, in double precision, over the weights it trains."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis.amplification import TrainSet
from dynascope.cached import cached_property
from dynascope.errors import DynascopeError
from dynascope.frozen_weights import frozen_mask
from dynascope.model import loss_and_gradient
from dynascope.parameters import Parameters
from dynascope.run import Run
from dynascope.second_order import hessian, hessian_products
from dynascope.theory import curvature_thresholds as t
from dynascope.theory.spectrum import Spectrum, image_length, spectrum, spectrum_by_products
from dynascope.theory.symmetry import flat_directions, shifts

Array = npt.NDArray[Any]


class Surface:
    """One data set and one model for all places of a run."""

    def __init__(self, run: Run) -> None:
        self.run, self.config = run, run.config
        self.train_set = TrainSet.of(run)
        masks = frozen_mask(run.config.training.frozen, run.config.shapes)
        self.free = ~np.concatenate([mask.ravel() for mask in masks.values()])
        if not self.free.any():
            raise DynascopeError(
                "training.frozen: all weights are frozen; leave at least one trained weight."
            )

    @property
    def size(self) -> int:
        """Weights that are trained."""
        return int(self.free.sum())

    @cached_property
    def groups(self) -> dict[str, Array]:
        """The places, among the free weights, of each parameter that has some."""
        ends = np.cumsum([int(np.prod(shape)) for shape in self.config.shapes.values()])
        owner = np.searchsorted(ends, np.flatnonzero(self.free), side="right")
        each = {name: np.flatnonzero(owner == i) for i, name in enumerate(self.config.shapes)}
        return {name: places for name, places in each.items() if len(places)}

    def at(self, weights: Array) -> "Place":
        """The place with these weights (packed, all of them)."""
        return Place(self, weights)

    def losses(self, weights: Array, moves: Array) -> Array:
        """[m]: the loss after each of these moves [m, free] of the free weights."""
        rows = np.tile(np.asarray(weights, np.float64), (len(moves), 1))
        rows[:, self.free] += moves
        return self.train_set.losses(rows)


class Place:
    """One point of the surface. All vectors are over the free weights."""

    def __init__(self, surface: Surface, weights: Array) -> None:
        self.surface = surface
        exact = np.asarray(weights, np.float64)
        self.parameters = Parameters.from_flat(exact, surface.config.shapes)
        self._data = (surface.train_set.tokens, surface.train_set.targets, surface.config)

    @cached_property
    def loss_and_gradient(self) -> tuple[float, Array]:
        loss, gradient = loss_and_gradient(self.parameters, *self._data)
        return loss, gradient.flat[self.surface.free]

    @property
    def gradient_norm(self) -> float:
        return float(np.linalg.norm(self.loss_and_gradient[1]))

    def descended_norm(self, decay: float) -> float:
        """Of the gradient with the weight decay that an optimizer adds to it."""
        weights = self.parameters.flat[self.surface.free]
        return float(np.linalg.norm(self.loss_and_gradient[1] + decay * weights))

    @property
    def dense(self) -> bool:
        """The whole matrix is within reach."""
        return len(self.parameters.flat) <= t.DENSE_WEIGHTS

    @cached_property
    def hessian(self) -> Array:
        """[free, free]"""
        free = self.surface.free
        return np.ascontiguousarray(hessian(self.parameters, *self._data)[np.ix_(free, free)])

    def products(self, rows: Array) -> Array:
        """[m, free]: the Hessian times each of these rows."""
        if self.dense:
            return np.asarray(rows @ self.hessian)
        wide = np.zeros((len(rows), len(self.parameters.flat)))
        wide[:, self.surface.free] = rows
        return hessian_products(self.parameters, wide, *self._data)[:, self.surface.free]

    @cached_property
    def shifts(self) -> Array:
        return shifts(self.parameters, self.surface.free)

    @cached_property
    def flat(self) -> Array:
        """Tangents of all known symmetries, orthonormal; of a large model only the shifts, since
        the others, which are zero where the gradient is, are too many."""
        if not self.dense:
            return self.shifts
        return flat_directions(self.parameters, self.surface.config.model, self.surface.free)

    def spectrum(
        self,
        directions: int,
        scale: Array | None = None,
        without: Array | None = None,
        decay: float = 0.0,
    ) -> Spectrum:
        """Of D^-1/2 (H + decay) D^-1/2 with D = `scale`, on the complement of the rows `without`,
        which are orthonormal; in their place there are zeros."""
        root = np.ones(self.surface.size) if scale is None else np.sqrt(scale)
        aside = np.zeros((0, len(root))) if without is None else without

        def bent(rows: Array) -> Array:
            return np.asarray((self.products(rows / root) + decay * rows / root) / root)

        def product(rows: Array) -> Array:
            made = bent(rows - rows @ aside.T @ aside)
            return np.asarray(made - made @ aside.T @ aside)

        floor = 0.0 if decay else image_length(bent, self.shifts * root, len(root))
        if not self.dense:
            return spectrum_by_products(product, len(root), directions=directions, floor=floor)
        made = product(np.eye(len(root)))
        return spectrum((made + made.T) / 2, directions=directions, floor=floor)
