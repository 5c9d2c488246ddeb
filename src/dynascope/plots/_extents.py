"""What axes need to hold. One unit has the same length in x and in y; panels of points are square.

The rules are those of the page (web/src/model/scene/axis-ranges.ts).
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_PADDING = 0.08  # of the size, on each side
_TAIL = 0.05  # of the sampled epochs, at each end, may be blow-ups
_BEYOND = 0.5  # of the size: how far such epochs may still stretch an axis


class Extent(NamedTuple):
    """A rectangle by its sides, in data coordinates."""

    x0: float
    x1: float
    y0: float
    y1: float

    @property
    def empty(self) -> bool:
        return not (self.x1 >= self.x0 and self.y1 >= self.y0)

    def union(self, other: "Extent") -> "Extent":
        return Extent(
            min(self.x0, other.x0),
            max(self.x1, other.x1),
            min(self.y0, other.y0),
            max(self.y1, other.y1),
        )


NOTHING = Extent(math.inf, -math.inf, math.inf, -math.inf)


def extent_of(points: Array) -> Extent:
    """Around points [n, 2]; those that are not finite do not count."""
    sound = points[np.isfinite(points).all(axis=1)]
    if not len(sound):
        return NOTHING
    (x0, y0), (x1, y1) = sound.min(axis=0), sound.max(axis=0)
    return Extent(float(x0), float(x1), float(y0), float(y1))


def circle(radius: float) -> Extent:
    """Around the origin; a radius of 0 is the origin itself."""
    return Extent(-radius, radius, -radius, radius)


def framed(extent: Extent) -> Extent:
    """The extent with room around it, grown to a square."""
    if extent.empty:
        return framed(Extent(-1, 1, -1, 1))
    x0, x1, y0, y1 = extent
    magnitude = max(map(abs, extent))
    least = magnitude * 1e-3 if magnitude > 0 else 1.0  # a single point has a size too
    half = max(y1 - y0, x1 - x0, least) * (0.5 + _PADDING)
    x, y = x0 + (x1 - x0) / 2, y0 + (y1 - y0) / 2
    return Extent(x - half, x + half, y - half, y + half)


def over_run(extents: Sequence[Extent]) -> Extent:
    """One extent for all epochs of a run: blow-ups of a few epochs stretch it by half at most."""
    sound = [each for each in extents if not each.empty]
    if not sound:
        return Extent(-1, 1, -1, 1)
    table = np.array(sound)
    return Extent(*_robust(table[:, 0], table[:, 1]), *_robust(table[:, 2], table[:, 3]))


def _robust(low: Array, high: Array) -> tuple[float, float]:
    low, high = np.sort(low), np.sort(high)
    skip = math.floor(_TAIL * len(low))
    begin, end = float(low[skip]), float(high[len(high) - 1 - skip])
    beyond = _BEYOND * max(end - begin, 0.0)
    return max(float(low[0]), begin - beyond), min(float(high[-1]), end + beyond)
