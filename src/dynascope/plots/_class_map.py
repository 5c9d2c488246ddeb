"""Class probabilities over a plane, with lines where the likeliest class changes.

A cell has the colours of its two likeliest classes, mixed by how far one is ahead.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.contour import QuadContourSet
from matplotlib.text import Text

from dynascope.extras import needing
from dynascope.plots._extents import Extent
from dynascope.plots._look import size_of
from dynascope.plots.palette import Palette
from dynascope.plots.view import MAPS, ClassMap, View

Array = npt.NDArray[Any]

_LINE = 0.45  # alpha of the lines between classes
_ROOM = 6.0  # points around a class's number
_LEAST = 2  # points along an axis that lines can be drawn through


class MapPanel(Protocol):
    """The panel that a map lies in."""

    panel: str
    ax: Axes
    palette: Palette


class DrawnMap:
    """The picture below the points of a map."""

    def __init__(self, panel: MapPanel, view: View, extent: Extent) -> None:
        self._panel, self._extent = panel, extent
        self._lines: list[QuadContourSet] = []
        found = view.class_map(panel.panel, extent)
        self.image = panel.ax.imshow(
            colours_of(found.logits, panel.palette),
            extent=extent,
            origin="lower",
            aspect="equal",
            interpolation="bilinear",
            zorder=0,
        )
        self._names: dict[int, Text] = {}
        self._draw_lines(found)
        self._name_classes(found, view)

    def update(self, view: View) -> None:
        found = view.class_map(self._panel.panel, self._extent)
        self.image.set_data(colours_of(found.logits, self._panel.palette))
        for lines in self._lines:  # matplotlib cannot move level lines
            lines.remove()
        self._draw_lines(found)
        self._name_classes(found, view)

    @staticmethod
    def columns(panel: str, view: View, extent: Extent) -> Mapping[str, Any]:
        found = view.class_map(panel, extent)
        height, width, classes = found.logits.shape
        x, y = found.centres
        return {
            "x": np.tile(np.repeat(x, classes), height),
            "y": np.repeat(y, width * classes),
            "class": np.tile(np.arange(classes), height * width).tolist(),
            "logit": found.logits.ravel(),
        }

    def _draw_lines(self, found: ClassMap) -> None:
        self._lines = []
        x, y = found.centres
        if len(y) <= _LEAST:  # on a line: up and down all of it
            y = np.array(self._extent[2:])
        classes = found.logits.shape[-1]
        for c in range(1 if classes == 2 else classes):
            ahead = _ahead(found.logits, c)
            if np.isfinite(ahead).all() and (ahead > 0).any() and (ahead < 0).any():
                self._lines.append(
                    self._panel.ax.contour(
                        x,
                        y,
                        ahead,
                        [0.0],
                        colors=[self._panel.palette["ink"]],
                        linewidths=0.5,
                        alpha=_LINE,
                        zorder=1,
                    )
                )

    def _name_classes(self, found: ClassMap, view: View) -> None:
        """The number of each class where there is most room for it: fills are equally light, so
        that print without colours would not tell them apart."""
        for text in self._names.values():
            text.set_visible(False)
        for c, (x, y, room) in roomiest(found, view.points(MAPS[self._panel.panel])).items():
            wide = room * size_of(self._panel.ax)[0] / found.logits.shape[1]
            if wide < _ROOM:
                continue
            if c not in self._names:
                look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6, "zorder": 2}
                self._names[c] = self._panel.ax.text(
                    0, 0, str(c), color=self._panel.palette["quiet"], **look
                )
            self._names[c].set(position=(x, y), visible=True)


def roomiest(found: ClassMap, points: Array) -> dict[int, tuple[float, float, float]]:
    """For each class, the place of the map that is farthest from other classes, from points and
    from the edge, and how many cells that is."""
    with needing("plots", "plots", "scipy"):
        from scipy.ndimage import distance_transform_edt

    height, width, classes = found.logits.shape
    if height <= _LEAST or not np.isfinite(found.logits).all():
        return {}
    x0, x1, y0, y1 = found.extent
    sound = points[np.isfinite(points).all(axis=1)]
    columns = np.floor((sound[:, 0] - x0) / (x1 - x0) * width).astype(int)
    rows = np.floor((sound[:, 1] - y0) / (y1 - y0) * height).astype(int)
    inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
    best = found.logits.argmax(axis=-1)
    best[rows[inside], columns[inside]] = -1
    made = {}
    for c in range(classes):
        free = np.pad(best == c, 1)
        far = distance_transform_edt(free)[1:-1, 1:-1]
        row, column = np.unravel_index(int(far.argmax()), far.shape)
        x, y = found.centres
        made[c] = (float(x[column]), float(y[row]), float(far[row, column]))
    return made


def colours_of(logits: Array, palette: Palette) -> Array:
    """[height, width, 3], from 0 to 1: between the fills of the two likeliest classes."""
    classes = logits.shape[-1]
    fills = np.array([palette.map_fill(c) for c in range(classes)]) / 255
    if classes == 1:
        return np.broadcast_to(fills[0], (*logits.shape[:2], 3))
    sound = np.nan_to_num(np.asarray(logits, np.float64))
    order = np.argsort(-sound, axis=-1, kind="stable")[..., :2]
    best = np.take_along_axis(sound, order, axis=-1)
    share = 1 / (1 + np.exp(-np.clip(best[..., :1] - best[..., 1:], 0, 700)))
    return np.asarray(fills[order[..., 0]] * share + fills[order[..., 1]] * (1 - share))


def _ahead(logits: Array, c: int) -> Array:
    """By how much the logit of a class is above that of the best other one."""
    others = np.delete(logits, c, axis=-1).max(axis=-1)
    return np.asarray(logits[..., c] - others, np.float64)
