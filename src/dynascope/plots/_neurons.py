"""Hidden units over the sequences that they respond to: receptors and assemblers as spokes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection

from dynascope.plots._look import size_of
from dynascope.plots._markers import MarkedPoints, point_radius
from dynascope.plots._points import DrawnPoints, spokes
from dynascope.plots.view import UNIT_ENDS, View

_LINES = {"receptors": "-", "assemblers": (0, (3, 2))}


class DrawnNeurons(DrawnPoints):
    """Solid lines lead to receptors, dashed ones to assemblers, in one colour for each unit."""

    def make(self, view: View) -> None:
        super().make(view)
        radius = point_radius(size_of(self.ax)[0])
        self.ax.plot(0, 0, ".", color=self.palette["quiet"], ms=0.8 * radius + 1, zorder=2)
        self.ends: dict[str, MarkedPoints] = {}
        self.lines: dict[str, LineCollection] = {}
        for end in UNIT_ENDS:
            places = view.units(end)
            styles = list(getattr(self.palette, end)(view.shown.units))
            fills = [style.fill for style in styles]
            self.lines[end] = LineCollection(
                spokes(places), colors=fills, linewidths=0.5, alpha=0.4, ls=_LINES[end], zorder=3.2
            )
            self.ax.add_collection(self.lines[end], autolim=False)
            self.ends[end] = MarkedPoints(self.ax, places, styles, radius, zorder=3.5)

    def update(self, view: View) -> None:
        super().update(view)
        for end in UNIT_ENDS:
            places = view.units(end)
            self.ends[end].move(places)
            self.lines[end].set_segments(spokes(places))

    @classmethod
    def columns(cls, panel: str, view: View) -> Mapping[str, Any]:
        places = np.concatenate([view.units(end) for end in UNIT_ENDS])
        units = view.shown.units.tolist()
        ends = [end.removesuffix("s") for end in UNIT_ENDS for _ in units]
        return {"unit": units * 2, "end": ends, "x": places[:, 0], "y": places[:, 1]}
