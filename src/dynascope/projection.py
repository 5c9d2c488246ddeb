"""The plane on which points of more than two dimensions are shown; the browser shows the same.

The kernel finds it (`kernel/projection.hpp`, which also says what happens in odd cases).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope import _kernel
from dynascope.errors import Description, expected

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Plane:
    """Two principal axes."""

    axes: Array  # [2, d], of length 1; for d <= 2 those of the coordinates
    mean: Array  # [d]
    shares: Array  # [2]: of the variance, that each axis keeps

    def project(self, points: npt.ArrayLike) -> Array:
        """Coordinates [..., 2] of points [..., d] on the plane, whose origin is the mean."""
        return np.asarray((np.asarray(points, np.float64) - self.mean) @ self.axes.T)


def plane(points: npt.ArrayLike) -> Plane:
    """The plane of points [n, d] that keeps most of their variance.

    >>> found = plane([[0, 0, 0], [0, 3, 4], [0, 6, 8]])
    >>> found.axes[0].round(6).tolist(), found.shares.round(6).tolist()
    ([0.0, 0.6, 0.8], [1.0, 0.0])
    """
    try:
        given = np.ascontiguousarray(points, np.float64)
    except (TypeError, ValueError):
        raise expected("points", "numbers of shape [n, d]", points) from None
    if given.ndim != 2 or not given.size:
        raise expected("points", "numbers of shape [n, d]", Description(f"shape {given.shape}"))
    try:
        return Plane(*_kernel.plane(given))
    except ValueError:  # infinite or NaN, or so far apart that their difference is
        raise expected("points", "finite numbers", Description("others")) from None
