"""Pictures for papers: every panel of the sandbox on a matplotlib axes, and whole figures.

from dynascope import plots
plots.sequence(run, ax, epoch=400)     # one panel
plots.figure("phases", run).savefig("phases.pdf")
"""

from typing import TYPE_CHECKING

from dynascope.extras import needing as _needing
from dynascope.near_misses import no_attribute as _no_attribute

with _needing("plots", "plots", "matplotlib"):
    import matplotlib as _matplotlib  # noqa: F401

from dynascope.plots import layouts as layouts
from dynascope.plots._look import PublicationFigure as PublicationFigure
from dynascope.plots.animation import animate as animate
from dynascope.plots.effects import effects as effects
from dynascope.plots.figure import LAYOUTS as LAYOUTS
from dynascope.plots.figure import figure as figure
from dynascope.plots.many import band as band
from dynascope.plots.many import sparsity as sparsity
from dynascope.plots.palette import Palette as Palette
from dynascope.plots.panel_registry import PANELS as PANELS
from dynascope.plots.panels import FUNCTIONS as _FUNCTIONS
from dynascope.plots.rates import bars as bars
from dynascope.plots.rates import rates as rates
from dynascope.plots.run_links import run_link as run_link
from dynascope.plots.run_points import cloud as cloud
from dynascope.plots.run_points import dots as dots
from dynascope.plots.subplots import subplots as subplots
from dynascope.plots.threshold_lines import thresholds as thresholds
from dynascope.plots.view import View as View
from dynascope.plots.view import view as view

if TYPE_CHECKING:
    from dynascope.plots.panels import PanelFunction


def __getattr__(name: str) -> "PanelFunction":
    """A panel by its name."""
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    if name.startswith("_"):
        raise AttributeError(f"module 'dynascope.plots' has no attribute {name!r}")
    raise _no_attribute("dynascope.plots", name, __dir__(), {})


def __dir__() -> list[str]:
    return sorted({*globals(), *_FUNCTIONS})
