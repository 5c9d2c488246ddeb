"""Points on a plane: the one painter behind eleven panels and both maps."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.collections import LineCollection
from matplotlib.patches import Circle

from dynascope.number_text import percent
from dynascope.plots._class_map import DrawnMap
from dynascope.plots._drawn import DrawnPanel
from dynascope.plots._extents import Extent, framed
from dynascope.plots._labels import Label, PlacedLabels
from dynascope.plots._look import show_grid, size_of
from dynascope.plots._markers import MarkedPoints, point_radius
from dynascope.plots.palette import PointStyle
from dynascope.plots.view import MAPS, UNITS_OVER, View

Array = npt.NDArray[Any]

_MOST_LABELS = 24  # numbers of tokens and positions in a small panel
_MOST_NAMES = (10, 60)  # of multisets, in a small panel and in a large one
_LARGE = 180.0  # points wide


class PointSpec(NamedTuple):
    """What a panel of points shows."""

    kind: str  # of thing that a point stands for: token, position, pair, sequence, unit
    scale: float = 1.0  # of the points' radius
    groups: bool = False  # the multisets are named
    circle: bool = False  # of normalised vectors
    spokes: bool = False  # lines from the origin
    query: bool = False


SPECS = {
    "tokens": PointSpec("token", 1.25),
    "positions": PointSpec("position", 1.1),
    "embeddings": PointSpec("pair"),
    "normalized": PointSpec("pair", circle=True, query=True),
    "values": PointSpec("pair"),
    "sequence": PointSpec("sequence", groups=True),
    "decision_map": PointSpec("sequence"),
    "sequence_normalized": PointSpec("sequence", circle=True),
    "receptors": PointSpec("unit", spokes=True),
    "assemblers": PointSpec("unit", spokes=True),
    "neurons": PointSpec("sequence", 0.6, circle=True),
    "feed_forward": PointSpec("sequence"),
    "output": PointSpec("sequence", groups=True),
    "output_map": PointSpec("sequence"),
}


class DrawnPoints(DrawnPanel):
    """A panel of points, or a map with points on it."""

    @property
    def points_of(self) -> str:
        """The panel whose points these are."""
        return UNITS_OVER if self.panel == "neurons" else MAPS.get(self.panel, self.panel)

    def make(self, view: View) -> None:
        spec, ax = SPECS[self.panel], self.ax
        self._styles = styles_of(self.panel, view, self.palette)
        framing = self.points_of if self.panel in MAPS else self.panel
        extent = self.how.extent or framed(view.extent(framing))
        self._extent = Extent(*extent)
        ax.set(xlim=extent[:2], ylim=extent[2:])
        ax.set_aspect("equal", adjustable="box")
        ax.locator_params(nbins=4, steps=[1, 2, 5, 10])
        self._radius = point_radius(size_of(ax)[0]) * spec.scale
        self._map = DrawnMap(self, view, self._extent) if self.panel in MAPS else None
        if self._map is None:
            show_grid(ax, self.palette)
        if view.config.model.dim == 1:
            ax.set_yticks([])
        self._scaffold(view, spec)
        pair = {"linewidths": 0.3 * self._radius} if spec.kind == "pair" else {}
        places = view.points(self.points_of)
        self.points = MarkedPoints(ax, places, self._styles, self._radius, **pair)
        self._make_arrows(view, spec)
        self._labels = PlacedLabels(ax, self._radius, 5.5)
        self._name(view)
        self._note(view)

    def update(self, view: View) -> None:
        points = view.points(self.points_of)
        if self._map is not None:
            self._map.update(view)
        self.points.move(points)
        if self._spokes is not None:
            self._spokes.set_segments(spokes(points))
        if self._query is not None:
            (x, y) = view.query[0]
            self._query.set_UVC([x], [y])
        if self._moved is not None and self.how.before is not None:
            before = self.how.before.points(self.points_of)
            self._moved.set_UVC(*(points - before).T)
        self._name(view)

    @classmethod
    def columns(cls, panel: str, view: View) -> Mapping[str, Any]:
        if panel in MAPS:
            return DrawnMap.columns(panel, view, framed(view.extent(MAPS[panel])))
        keys, points = keys_of(panel, view), view.points(panel)
        if panel == "normalized":
            points = np.concatenate([points, view.query])
            keys = {
                name: [*column, "query" if name == "token" else ""] for name, column in keys.items()
            }
        return {**keys, "x": points[:, 0], "y": points[:, 1]}

    # ---- artists --------------------------------------------------------------------------------
    def _scaffold(self, view: View, spec: PointSpec) -> None:
        """What points are to be seen against: a circle, the origin, lines from it."""
        colours, radius = self.palette, view.shown.radius if spec.circle else None
        if radius:
            ring = Circle((0, 0), radius, fill=False, ec=colours["faint"], lw=0.5, ls=(0, (3, 3)))
            self.ax.add_patch(ring)
        if radius or spec.spokes or self.panel == "values":
            self.ax.plot(0, 0, ".", color=colours["quiet"], ms=0.8 * self._radius + 1, zorder=2)
        self._spokes = None
        if spec.spokes:
            fills = [style.fill for style in self._styles]
            lines = spokes(view.points(self.points_of))
            self._spokes = LineCollection(lines, colors=fills, linewidths=0.5, alpha=0.4, zorder=2)
            self.ax.add_collection(self._spokes, autolim=False)

    def _make_arrows(self, view: View, spec: PointSpec) -> None:
        how: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1}
        self._query = self._moved = None
        if spec.query:
            (x, y) = view.query[0]
            self._query = self.ax.quiver(
                [0], [0], [x], [y], color=self.palette["query"], width=0.012, zorder=4, **how
            )
        if self.how.before is not None:
            before = self.how.before.points(self.points_of)
            self._moved = self.ax.quiver(
                *before.T,
                *(view.points(self.points_of) - before).T,
                color=[style.fill for style in self._styles],
                alpha=0.55,
                width=0.006,
                zorder=2.5,
                **how,
            )

    def _note(self, view: View) -> None:
        """How much of the variance a plane keeps."""
        share = view.shown.plane(self.points_of).share
        if share is not None:
            self.ax.text(
                0.98,
                0.985,
                f"plane, {percent(share, 0)}",
                transform=self.ax.transAxes,
                ha="right",
                va="top",
                fontsize=5,
                color=self.palette["quiet"],
                zorder=6,
            )

    # ---- names ----------------------------------------------------------------------------------
    def _name(self, view: View) -> None:
        points = view.points(self.points_of)
        self._labels.obstacles = points
        self._labels.labels = [*self._query_name(view), *self._names(view, points)]

    def _query_name(self, view: View) -> list[Label]:
        if not SPECS[self.panel].query or not self.how.labels:
            return []
        return [Label("q", view.query, self.palette["query"])]

    def _names(self, view: View, points: Array) -> list[Label]:
        spec, ink, large = SPECS[self.panel], self.palette["ink"], self.how.all_labels
        large = large or size_of(self.ax)[0] >= _LARGE
        if not self.how.labels or (self._map is not None):
            return []
        if spec.groups:
            sequences = view.sequences
            if len(sequences.group_names) > _MOST_NAMES[large]:
                return []
            return [
                Label(name, points[sequences.group == i], self.palette.group_of(sequences, i))
                for i, name in enumerate(sequences.group_names)
            ]
        names = point_names(self.panel, view)
        few = spec.kind in ("token", "position") and len(names) <= _MOST_LABELS
        if not names or not (few or self.how.all_labels):
            return []
        return [Label(name, points[i : i + 1], ink) for i, name in enumerate(names)]


def styles_of(panel: str, view: View, palette: Any) -> list[PointStyle]:
    """How each point of a panel looks."""
    shown, kind = view.shown, SPECS[panel].kind
    if kind == "token":
        return list(palette.tokens(shown.tokens))
    if kind == "unit":
        return list(getattr(palette, panel)(shown.units))
    if kind == "sequence":
        return list(palette.sequences(view.sequences))
    every = palette.positions(view.config.task.length, view.sequences.positions)
    chosen = [every[t] for t in shown.positions]
    if kind == "position":
        return chosen
    return [palette.pair(int(token), style) for token in shown.pair_tokens for style in chosen]


def point_names(panel: str, view: View) -> Sequence[str]:
    """What each point is called; sequences and units have no names of their own."""
    shown, kind = view.shown, SPECS[panel].kind
    if kind == "token":
        return [str(each) for each in shown.tokens]
    if kind == "position":
        return [str(each) for each in shown.positions]
    if kind == "pair":
        return [f"{token} at {t}" for token in shown.pair_tokens for t in shown.positions]
    return []


def keys_of(panel: str, view: View) -> dict[str, Sequence[Any]]:
    """The columns that say what each point stands for."""
    shown, kind = view.shown, SPECS[panel].kind
    if kind == "token":
        return {"token": shown.tokens.tolist()}
    if kind == "unit":
        return {"unit": shown.units.tolist()}
    if kind == "sequence":
        return sequence_keys(view)
    if kind == "pair":
        count = len(shown.positions)
        return {
            "token": np.repeat(shown.pair_tokens, count).tolist(),
            "position": np.tile(shown.positions, len(shown.pair_tokens)).tolist(),
        }
    known, positions = view.sequences.positions, shown.positions.tolist()
    relevant = {} if known is None else {"relevant": [int(t in known) for t in positions]}
    return {"position": positions, **relevant}


def sequence_keys(view: View) -> dict[str, Sequence[Any]]:
    targets = [None if each < 0 else each for each in view.sequences.targets.tolist()]
    return {"sequence": view.sequences.names(), "target": targets}


def spokes(points: Array) -> list[Array]:
    """From the origin to each point."""
    return list(np.stack([np.zeros_like(points), points], axis=1))
