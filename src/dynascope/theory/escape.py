"""How a way off a plateau lies to the directions in which the loss bends down.

A displacement is split along the eigenvectors of the Hessian where it begins. Its share along k of
them is its squared length there, over all of it. Two things it is compared with: a random
direction, whose share follows Beta(k/2, (n-k)/2) and is k/n on average; and the direction in which
the optimizer was moving anyway.

The same is done in the optimizer's own metric (see `optimizer_metric`), on the eigenvectors of
D^-1/2 H D^-1/2 and for the displacement D^1/2 δ: near a saddle an optimizer grows along these, so
they decide where they are known. Directions that are flat by symmetry (see `symmetry`) change
nothing: they are taken out of everything before, and do not count in n.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope.extras import needing
from dynascope.optimizer_metric import Metric
from dynascope.theory import curvature_thresholds as t
from dynascope.theory._surface import Place
from dynascope.theory.spectrum import Spectrum
from dynascope.theory.symmetry import orthonormal

Array = npt.NDArray[Any]

SOME = 5  # directions between the first and all


class EscapeShares(NamedTuple):
    """Along the most negative direction, the five most negative ones, and all negative ones."""

    first: float
    five: float
    negative: float


@dataclass(frozen=True, eq=False)
class Alignment:
    """Shares of a displacement along negative directions, in one metric.

    `negative` directions of `size`; where the spectrum is not `complete` these are those that were
    found. `chance` is what a random direction has on average, `p_value` the probability that it has
    as much as the displacement. `update` is the optimizer's own direction at the beginning, None
    where it has done no step.
    """

    size: int
    negative: int
    complete: bool
    lowest: float
    highest: float
    escape: EscapeShares
    chance: EscapeShares
    p_value: EscapeShares
    update: EscapeShares | None

    @property
    def aligned(self) -> bool:
        """Most of the way is along at most five directions, more than by chance."""
        return self.escape.five >= t.ALIGNED_SHARE and self.p_value.five <= t.ALIGNED_CHANCE


@dataclass(frozen=True, eq=False)
class Escape:
    """The way from one epoch to another; `idle` is the share of it along flat directions."""

    start: int
    end: int
    distance: float
    idle: float
    plain: Alignment
    metric: Alignment | None  # in the optimizer's own metric

    @property
    def deciding(self) -> Alignment:
        """The metric's where the optimizer has one, else the plain one."""
        return self.plain if self.metric is None else self.metric


class Bends(NamedTuple):
    """The spectra of a place without flat directions: plain, and in the optimizer's metric."""

    plain: Spectrum
    metric: Spectrum | None

    @property
    def deciding(self) -> Spectrum:
        return self.plain if self.metric is None else self.metric


def bends(place: Place, own: Metric) -> Bends:
    """How the loss, with the weight decay that is part of the gradient, bends at a place; with all
    negative directions where they are within reach."""
    metric = None if own.scale is None else _lowest(place, own.scale, own.decay)
    return Bends(_lowest(place, None, own.decay), metric)


def _lowest(place: Place, scale: Array | None, decay: float) -> Spectrum:
    aside = place.flat if scale is None else orthonormal(place.flat * np.sqrt(scale))
    count = place.surface.size if place.dense else t.LANCZOS_DIRECTIONS
    return place.spectrum(count, scale, aside, decay)


def escape(place: Place, own: Metric, bent: Bends, way: Array, start: int, end: int) -> Escape:
    """The way, over the free weights, from a place with this optimizer to another epoch."""
    total = float(way @ way)
    idle = float(((place.flat @ way) ** 2).sum())
    return Escape(
        start=start,
        end=end,
        distance=float(np.sqrt(total)),
        idle=idle / total if total else 0.0,
        plain=alignment(bent.plain, way, own.update, place.flat),
        metric=None if bent.metric is None else _in_metric(place, own, bent.metric, way),
    )


def _in_metric(place: Place, own: Metric, found: Spectrum, way: Array) -> Alignment:
    assert own.scale is not None
    root = np.sqrt(own.scale)
    update = None if own.update is None else own.update * root
    return alignment(found, way * root, update, orthonormal(place.flat * root))


def alignment(found: Spectrum, way: Array, update: Array | None, flat: Array) -> Alignment:
    """Shares of a way in the negative directions of a spectrum; `flat` is orthonormal."""
    count = min(found.negative, len(found.bottom))
    size = len(way) - len(flat)
    counts = [min(k, count) for k in (1, SOME, count)]
    shares = _shares(found.bottom[:count], way, flat, counts)
    return Alignment(
        size=size,
        negative=count,
        complete=found.complete,
        lowest=found.lowest,
        highest=found.highest,
        escape=shares,
        chance=EscapeShares(*(k / size if size else 0.0 for k in counts)),
        p_value=EscapeShares(*map(chance_of, shares, counts, [size] * 3)),
        update=None if update is None else _shares(found.bottom[:count], update, flat, counts),
    )


def _shares(directions: Array, way: Array, flat: Array, counts: list[int]) -> EscapeShares:
    moved = way - flat.T @ (flat @ way)
    total = float(moved @ moved)
    parts = np.concatenate([[0.0], np.cumsum((directions @ moved) ** 2)])
    return EscapeShares(*(float(min(parts[k] / total, 1.0)) if total else 0.0 for k in counts))


def chance_of(share: float, count: int, size: int) -> float:
    """The probability that a random direction of `size` has at least this share along `count`.

    >>> round(chance_of(0.5, 1, 2), 12)  # an angle of at most 45 degrees, in the plane
    0.5
    """
    with needing("theory", "theory", "scipy"):
        from scipy.special import betaincc

    if count == 0 or count >= size:  # it has none of it, or all, always
        return 1.0
    return float(betaincc(count / 2, (size - count) / 2, share))
