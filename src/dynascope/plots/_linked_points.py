"""Points that are runs, each with a link of its own in SVG.

A clipped collection repeats its clip path for every point that has a link, which makes a file of
thousands of runs a quarter larger. So these are not clipped: those outside the axes are left out.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.markers import MarkerStyle
from matplotlib.transforms import IdentityTransform

from dynascope.plots._look import MARKER_SCALE, MARKERS
from dynascope.plots.run_links import run_link

Array = npt.NDArray[Any]
_BEYOND = 1.0  # pixels: a point on the edge is inside


def run_points(
    ax: Axes, places: Array, marker: str, size: float, addresses: Sequence[str], **look: Any
) -> "RunPoints":
    """Put points [n, 2] on an axes; `size` is their diameter in points. With addresses, they are
    links to these runs."""
    shape = MarkerStyle(MARKERS[marker])
    area = (size * MARKER_SCALE.get(marker, 1.0)) ** 2
    outline = shape.get_path().transformed(shape.get_transform())
    look = {"linewidths": 0, "zorder": 3, **look}
    made = RunPoints((outline,), (area,), offsets=places, offset_transform=ax.transData, **look)
    made.set_transform(IdentityTransform())
    if addresses:
        made.set_urls([run_link(each) for each in addresses])
    ax.add_collection(made)
    made.set_clip_on(False)
    return made


class RunPoints(PathCollection):
    """Points of one look."""

    def draw(self, renderer: Any) -> None:
        places, links = np.asarray(self.get_offsets()), self.get_urls()
        shown = self._inside(places)
        if shown.all():
            super().draw(renderer)
            return
        self.set_offsets(places[shown])
        if len(links) == len(places):
            self.set_urls([link for link, wanted in zip(links, shown, strict=True) if wanted])
        super().draw(renderer)
        self.set_offsets(places)
        self.set_urls(links)

    def _inside(self, places: Array) -> Array:
        """Which of these the axes have room for; a legend, which has none, shows all."""
        if self.axes is None or self.get_offset_transform() is not self.axes.transData:
            return np.ones(len(places), bool)
        (x0, y0), (x1, y1) = self.axes.bbox.min, self.axes.bbox.max
        x, y = self.axes.transData.transform(places).T
        across = (x >= x0 - _BEYOND) & (x <= x1 + _BEYOND)
        return np.asarray(across & (y >= y0 - _BEYOND) & (y <= y1 + _BEYOND))
