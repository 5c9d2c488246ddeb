"""Every panel by its name on the page: its title, and what draws it.

Figures, layouts, animations and the command line iterate over `PANELS`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes

from dynascope.errors import DynascopeError, none_given, unknown
from dynascope.glossary import panel_titles
from dynascope.plots._attention import DrawnAttention
from dynascope.plots._curves import DrawnCurves, legend_rows
from dynascope.plots._drawn import DrawnPanel, PanelDrawing
from dynascope.plots._neurons import DrawnNeurons
from dynascope.plots._points import SPECS, DrawnPoints
from dynascope.plots._probabilities import DrawnProbabilities
from dynascope.plots._spectrum import DrawnSpectrum
from dynascope.plots.numbers import PanelNumbers
from dynascope.plots.view import View


def give_title(ax: Axes, title: str) -> None:
    """Above an axes, and above the legend that may be there."""
    legend = ax.get_legend()
    names = [] if legend is None else [text.get_text() for text in legend.get_texts()]
    rows = legend_rows(ax, names) if names else 0
    ax.set_title(title, loc="left", fontweight="bold", fontsize=6.5, pad=3 + 6.6 * rows)


class Panel(NamedTuple):
    """A kind of picture of a model, or of a run."""

    id: str  # as on the page, and in its address
    title: str
    drawn: type[DrawnPanel]

    def draw(self, view: View, how: PanelDrawing, title: bool = True) -> DrawnPanel:
        if self.id == "shares" and view.sequences.positions is None:
            raise no_groups("shares", view)
        made = self.drawn(self.id, view, how)
        if title:
            give_title(how.ax, self.title)
        return made

    def numbers(self, view: View) -> PanelNumbers:
        """What it shows, as numbers."""
        run = "" if view.run is None else view.run.id
        epoch = None if self.drawn.has_run else view.epoch
        return PanelNumbers(self.id, self.drawn.columns(self.id, view), run, epoch)


def _drawn_by(panel: str) -> type[DrawnPanel]:
    if panel == "neurons":
        return DrawnNeurons
    if panel in SPECS:
        return DrawnPoints
    return {
        "attention": DrawnAttention,
        "probabilities": DrawnProbabilities,
        "hessian": DrawnSpectrum,
    }.get(panel, DrawnCurves)


# In the order in which the page lays them out: that of the data's way through the model.
PANELS = {name: Panel(name, title, _drawn_by(name)) for name, title in panel_titles().items()}

# What `panels` shows unless told: all that needs no minute, and what a view has.
_SLOW = "hessian"


def check_panels(names: object, view: View | None = None) -> list[Panel]:
    """The panels of these names: a list, or text with commas between them; None: what `view` can
    show at once."""
    if names is None:
        return [each for each in PANELS.values() if _applies(each, view)]
    given = names.split(",") if isinstance(names, str) else names
    if not isinstance(given, Sequence) or not len(given):
        raise none_given("panels", "panel")
    for name in given:
        if name not in PANELS:
            raise unknown("panels", name, PANELS, kind="panel")
    return [PANELS[name] for name in given]


def _applies(panel: Panel, view: View | None) -> bool:
    if panel.id == _SLOW or (panel.drawn.has_run and (view is None or view.run is None)):
        return False
    if panel.id == "shares":
        return view is not None and _has_shares(view)
    if panel.id == "gradients":
        return view is not None and view.run is not None and "grad_norm/query" in view.run.curves
    return True


def _has_shares(view: View) -> bool:
    run = view.run
    return run is not None and run.data is None and run.config.record.weights_every > 0


def no_groups(what: str, view: View) -> DynascopeError:
    """The error for a picture of groups of a run with data of its own."""
    of = "these data" if view.run is None else f"run {view.run.id}"
    return DynascopeError(
        f"{what}: expected a task whose symmetries are known, but {of} has data of its own."
    )
