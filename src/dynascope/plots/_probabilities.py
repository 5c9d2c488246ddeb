"""Class probabilities: a segment for two classes, a simplex for three, a heat map for more."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.colors import LinearSegmentedColormap

from dynascope.plots._drawn import DrawnPanel
from dynascope.plots._look import show_grid, size_of
from dynascope.plots._markers import MarkedPoints, point_radius
from dynascope.plots._points import sequence_keys
from dynascope.plots.view import View

Array = npt.NDArray[Any]

_ROW = 6.5  # points that a name needs
SIMPLEX = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 3**0.5 / 2]])  # class 0 left, 1 right, 2 on top


class DrawnProbabilities(DrawnPanel):
    """The probability of each class, for each sequence."""

    square = False

    def make(self, view: View) -> None:
        classes = view.config.embeddings
        self._place = places_on_simplex if classes == 3 else places_on_segment
        if classes > 3:
            self._make_heat(view)
            return
        if classes == 3:
            self._triangle()
        else:
            self._segment(view)
        styles, places = self.palette.sequences(view.sequences), self._place(view)
        look = {"alpha": 0.85, "clip_on": False, "linewidths": 0}
        radius = 0.9 * point_radius(size_of(self.ax)[0])
        self.points = MarkedPoints(self.ax, places, styles, radius, **look)

    def update(self, view: View) -> None:
        if view.config.embeddings > 3:
            self.image.set_data(view.activations.probabilities[self._order])
            return
        self.points.move(self._place(view))

    @classmethod
    def columns(cls, panel: str, view: View) -> Mapping[str, Any]:
        found = view.activations.probabilities
        classes = found.shape[1]
        keys = {
            name: np.repeat(np.array(column, object), classes).tolist()
            for name, column in sequence_keys(view).items()
        }
        return {
            **keys,
            "class": np.tile(np.arange(classes), len(found)).tolist(),
            "probability": found.ravel(),
        }

    def _segment(self, view: View) -> None:
        names = view.sequences.group_names
        self.ax.set(xlim=(-0.03, 1.03), ylim=(len(names), 0), xticks=[0, 0.5, 1])
        self.ax.set_xticklabels(["0", "0.5", "1"])
        self.ax.axvline(0.5, color=self.palette["faint"], lw=0.5, ls=(0, (3, 3)), zorder=1)
        show_grid(self.ax, self.palette, "x")
        self._group_names(view, np.arange(len(names)) + 0.5)

    def _group_names(self, view: View, middles: Array) -> None:
        """As many names along y as can be read."""
        names = view.sequences.group_names
        room = max(1, int(size_of(self.ax)[1] / _ROW))
        each = -(-len(names) // room)
        self.ax.set_yticks(middles[::each], list(names)[::each])
        self.ax.tick_params(axis="y", length=0)

    def _triangle(self) -> None:
        corners = np.concatenate([SIMPLEX, SIMPLEX[:1]])
        self.ax.plot(*corners.T, color=self.palette["faint"], lw=0.5, zorder=1)
        middle = SIMPLEX.mean(axis=0)
        for i in range(3):
            half = (SIMPLEX[i] + SIMPLEX[(i + 1) % 3]) / 2
            line = np.stack([middle, half]).T
            self.ax.plot(*line, color=self.palette["grid"], lw=0.6, ls=(0, (3, 3)), zorder=1)
            out = SIMPLEX[i] + 0.1 * (SIMPLEX[i] - middle)
            self.ax.text(
                out[0], out[1], str(i), ha="center", va="center", fontweight="bold", fontsize=5.5
            )
        self.ax.set(xlim=(-0.12, 1.12), ylim=(-0.14, 1.1 * 3**0.5 / 2))
        self.ax.set_aspect("equal", adjustable="box")
        self.ax.set_axis_off()

    def _make_heat(self, view: View) -> None:
        """A row for each sequence, those of a multiset side by side; a dot where the target is."""
        sequences, classes = view.sequences, view.config.embeddings
        self._order = np.argsort(sequences.group, kind="stable")
        shades = [self.palette["panel"], self.palette["accent"]]
        count = len(sequences)
        self.image = self.ax.imshow(
            view.activations.probabilities[self._order],
            cmap=LinearSegmentedColormap.from_list("probability", shades),
            vmin=0,
            vmax=1,
            aspect="auto",
            interpolation="nearest",
            extent=(-0.5, classes - 0.5, count - 0.5, -0.5),
        )
        told = sequences.targets[self._order]
        rows = np.flatnonzero(told >= 0)
        self.ax.scatter(told[rows], rows, s=0.6, color=self.palette["query"], linewidths=0)
        self.ax.set_xticks(range(0, classes, -(-classes // 12)))
        groups = sequences.group[self._order]
        count_of = range(len(sequences.group_names))
        self._group_names(view, np.array([np.flatnonzero(groups == g).mean() for g in count_of]))


def places_on_segment(view: View) -> Array:
    """[n, 2]: the probability of the last class; rows of groups, in which equal ones are spread."""
    group = view.sequences.group
    sizes = np.bincount(group)
    place = np.arange(len(group)) - np.concatenate([[0], np.cumsum(sizes)[:-1]])[group]
    y = group + 0.2 + 0.6 * (place + 0.5) / sizes[group]
    return np.column_stack([view.activations.probabilities[:, -1], y])


def places_on_simplex(view: View) -> Array:
    """[n, 2]: the corners, weighed by the probabilities."""
    return np.asarray(np.asarray(view.activations.probabilities, np.float64) @ SIMPLEX)
