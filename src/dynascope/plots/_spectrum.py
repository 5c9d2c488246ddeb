"""The Hessian's eigenvalues as bars, from the lowest to the highest, on a scale that is linear near
0 and logarithmic beyond, so that both signs are seen."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.ticker import SymmetricalLogLocator

from dynascope.plots._drawn import DrawnPanel
from dynascope.plots._look import show_grid, size_of
from dynascope.plots.view import View
from dynascope.theory import Spectrum, curvature


class DrawnSpectrum(DrawnPanel):
    """The spectrum at the view's epoch."""

    square = False

    def make(self, view: View) -> None:
        self.ax.axhline(0, color=self.palette["faint"], lw=0.5, zorder=1)
        self._bars = LineCollection([], zorder=2)
        self.ax.add_collection(self._bars, autolim=False)
        self.ax.set(xticks=[], xlabel="eigenvalues, rising")
        show_grid(self.ax, self.palette, "y")
        self._told = self.ax.text(
            0.02,
            0.98,
            "",
            transform=self.ax.transAxes,
            va="top",
            fontsize=5,
            color=self.palette["quiet"],
        )
        found = spectrum_of(view)
        unit = max(found.tolerance, 1e-12)
        self.ax.set_yscale("asinh", linear_width=unit)
        powers = SymmetricalLogLocator(base=10, linthresh=30 * unit)
        powers.set_params(numticks=5)
        self.ax.yaxis.set_major_locator(powers)
        values = found.eigenvalues
        low, high = min(float(values[0]), 0.0), max(float(values[-1]), unit)
        self.ax.set(xlim=(-0.5, len(values) - 0.5), ylim=(1.6 * low - unit, 6 * high))
        self._show(found)

    def update(self, view: View) -> None:
        self._show(spectrum_of(view))

    def _show(self, found: Spectrum) -> None:
        values, unit, colours = found.eigenvalues, max(found.tolerance, 1e-12), self.palette
        x = np.arange(len(values))
        bars = np.stack([np.column_stack([x, 0 * values]), np.column_stack([x, values])], axis=1)
        fills = np.where(
            values < -unit,
            colours["bad"],
            np.where(values > unit, colours["accent"], colours["faint"]),
        )
        width = size_of(self.ax)[0]
        self._bars.set(
            segments=bars, colors=fills.tolist(), linewidths=max(0.4, 0.7 * width / len(x))
        )
        self._told.set_text(f"{found.negative} negative of {len(values)}")

    @classmethod
    def columns(cls, panel: str, view: View) -> Mapping[str, Any]:
        values = spectrum_of(view).eigenvalues
        return {"rank": list(range(len(values))), "eigenvalue": values}


def spectrum_of(view: View) -> Spectrum:
    run = view.checked_run("hessian")
    assert view.epoch is not None
    return curvature(run, view.epoch, progress=False).spectrum
