"""Points of several markers on an axes: a collection for each, however many points there are."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection

from dynascope.plots._look import MARKER_SCALE, MARKERS
from dynascope.plots.palette import PointStyle

Array = npt.NDArray[Any]


def point_radius(width: float) -> float:
    """Of points, in points, in a panel of this width."""
    return min(4.0, max(1.1, 0.7 + 0.0095 * width))


class MarkedPoints:
    """Points [n, 2] that can be moved together."""

    def __init__(
        self, ax: Axes, places: Array, styles: Sequence[PointStyle], radius: float, **look: Any
    ) -> None:
        self.collections: list[tuple[PathCollection, Array]] = []  # each with its points' numbers
        for marker in dict.fromkeys(style.marker for style in styles):
            rows = np.array([i for i, style in enumerate(styles) if style.marker == marker])
            made = ax.scatter(
                places[rows, 0],
                places[rows, 1],
                s=(2 * radius * MARKER_SCALE.get(marker, 1.0)) ** 2,
                marker=MARKERS[marker],
                facecolors=[styles[i].fill for i in rows],
                edgecolors=[styles[i].stroke for i in rows],
                **{"linewidths": 0.16 * radius, "zorder": 3, **look},
            )
            self.collections.append((made, rows))

    def move(self, places: Array) -> None:
        for collection, rows in self.collections:
            collection.set_offsets(places[rows])
