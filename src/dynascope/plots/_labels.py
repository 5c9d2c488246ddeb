"""Names beside points, placed where nothing is in the way when the figure is drawn.

As on the page (web/src/drawing/labels.ts): names are placed one after another, on the first side
that is free; one that finds no place is left out. Nor does one stand where it would be read as
another's: of all middles its own is the nearest. Placing needs pixels, so it happens at every
drawing, for whatever size and resolution that is.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.text import Text
from matplotlib.transforms import Bbox, IdentityTransform

Array = npt.NDArray[Any]

# Sides in the order of liking: right, left, above, below, then the corners.
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))
_GAP = 2.2  # points from what is named to its name
_FAR = 10.0  # points from the middle of many points to where their name may begin
_WIDEST = 1 / 3  # of a panel: points spread over more than this have no place for one name
_NEAREST = 18.0  # points: a name farther from all its points would be read as another's


class Label(NamedTuple):
    """A name, and the points [n, 2] that it names."""

    text: str
    points: Array
    colour: str


class PlacedLabel(NamedTuple):
    """Where a name came to stand, in pixels."""

    text: str
    box: Bbox


class PlacedLabels(Artist):
    """The names of a panel's points."""

    def __init__(self, ax: Axes, radius: float, size: float) -> None:
        super().__init__()
        self.labels: Sequence[Label] = ()
        self.obstacles: Array = np.zeros((0, 2))  # points [n, 2] that no name may cover
        self.placed: list[PlacedLabel] = []  # at the last drawing
        self._radius = radius  # of the points, in points
        self._text = Text(
            fontsize=size, fontweight="bold", va="bottom", transform=IdentityTransform()
        )
        self.set_zorder(5)
        self.set_in_layout(False)
        ax.add_artist(self)
        self._text.set_figure(ax.figure)

    def draw(self, renderer: Any) -> None:
        """Find the places, and write."""
        self.placed = []
        if not self.get_visible() or not self.labels:
            return
        assert self.axes is not None
        scale, transform = renderer.points_to_pixels(1.0), self.axes.transData
        middles = [self._named(label, scale) for label in self.labels]
        centres = np.array([m.centre for m in middles if m is not None]).reshape(-1, 2)
        dots = transform.transform(self.obstacles) if len(self.obstacles) else np.zeros((0, 2))
        dots = dots[np.isfinite(dots).all(axis=1)]
        for label, named in zip(self.labels, middles, strict=True):
            if named is not None:
                self._write(renderer, label, named, centres, dots, scale)

    def _write(
        self,
        renderer: Any,
        label: Label,
        named: "_Named",
        centres: Array,
        dots: Array,
        scale: float,
    ) -> None:
        assert self.axes is not None
        text = self._text
        text.set(text=label.text, color=label.colour, position=(0, 0))
        size = text.get_window_extent(renderer)
        width, height = size.width + 2 * scale, size.height
        reach = 0.7 * self._radius * scale
        bounds = self.axes.bbox
        for side in _SIDES:
            box = named.beside(side, width, height, _GAP * scale)
            if not (
                box.x0 >= bounds.x0
                and box.x1 <= bounds.x1
                and box.y0 >= bounds.y0
                and box.y1 <= bounds.y1
            ):
                continue
            if any(_meet(box, other.box) for other in self.placed) or _covers(box, dots, reach):
                continue
            if _distance(box, centres).min() < _distance(box, named.centre[None])[0] - 1e-9:
                continue
            self.placed.append(PlacedLabel(label.text, box))
            text.set_position((box.x0 + scale - size.x0, box.y0 - size.y0))
            text.draw(renderer)
            return

    def _named(self, label: Label, scale: float) -> "_Named | None":
        """What a label names, in pixels; None where it has no place for one name."""
        assert self.axes is not None
        points = label.points[np.isfinite(label.points).all(axis=1)]
        if not len(points):
            return None
        pixels = self.axes.transData.transform(points)
        centre = pixels.mean(axis=0)
        squares = ((pixels - centre) ** 2).sum(axis=1)
        bounds = self.axes.bbox
        if 2 * np.sqrt(squares.mean()) > _WIDEST * min(bounds.width, bounds.height):
            return None
        if squares.min() > (_NEAREST * scale) ** 2:
            return None
        far = np.stack([centre - pixels.min(axis=0), pixels.max(axis=0) - centre])
        return _Named(centre, self._radius * scale + np.clip(far, 0, _FAR * scale))


class _Named(NamedTuple):
    """What a label names, in pixels."""

    centre: Array  # [2]
    reach: Array  # [2, 2]: to the left and below, to the right and above

    def beside(self, side: tuple[int, int], width: float, height: float, gap: float) -> Bbox:
        gap = 0.4 * gap if side[0] and side[1] else gap
        low, high = self.centre - self.reach[0] - gap, self.centre + self.reach[1] + gap
        x = {-1: low[0] - width, 0: self.centre[0] - width / 2, 1: high[0]}[side[0]]
        y = {-1: low[1] - height, 0: self.centre[1] - height / 2, 1: high[1]}[side[1]]
        return Bbox.from_bounds(x, y, width, height)


def _meet(a: Bbox, b: Bbox) -> bool:
    return bool(a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1)


def _covers(box: Bbox, dots: Array, reach: float) -> bool:
    x, y = dots.T
    inside = (
        (x + reach > box.x0) & (x - reach < box.x1) & (y + reach > box.y0) & (y - reach < box.y1)
    )
    return bool(inside.any())


def _distance(box: Bbox, places: Array) -> Array:
    """Squared, from a box to each of these."""
    x, y = places.T
    dx = np.maximum(np.maximum(box.x0 - x, x - box.x1), 0)
    dy = np.maximum(np.maximum(box.y0 - y, y - box.y1), 0)
    return np.asarray(dx * dx + dy * dy)
