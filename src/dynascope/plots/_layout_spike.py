"""A spike, before and after: where things moved, and what the feed-forward made of it."""

from matplotlib.axes import Axes

from dynascope.analysis import spikes
from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.analysis.spikes import Spike
from dynascope.errors import DynascopeError
from dynascope.near_misses import guided
from dynascope.option_rules import Whole
from dynascope.plots._curves import lines_of, show_epochs
from dynascope.plots._layout_panels import shared_extent
from dynascope.plots._look import PublicationFigure, style, width_in_inches
from dynascope.plots._page import Blocks, FigurePage, legend_of
from dynascope.plots.figure_sources import FigureSource, one_run
from dynascope.plots.palette import Palette, palette_of
from dynascope.plots.panel_registry import PANELS
from dynascope.plots.view import View, view
from dynascope.run import Run

SHOWN = ("loss", "normalized", "decision_map", "assemblers", "feed_forward")
_AROUND = 25  # epochs on both sides of a spike


@guided
def spike(
    *sources: FigureSource,
    epoch: int | None = None,
    width: str | float = "page",
    theme: str = "light",
) -> PublicationFigure:
    """A run just before a spike of its loss (above) and at its peak (below), with arrows from where
    things were. `epoch`: the spike nearest to it (None: the one with the largest rise)."""
    run, named = one_run(sources, "spike")
    chosen, palette = spike_near(run, named if epoch is None else epoch), palette_of(theme)
    inches = width_in_inches(width)
    before, after = around(run, chosen)
    views = [before, after]
    shown = [PANELS[name] for name in SHOWN]
    rise = f"the loss has risen from {chosen.before:.2g} to {chosen.height:.2g}"
    headings = [f"{before.name}: before", f"{after.name}: {rise}"]
    blocks = Blocks(inches, len(views), len(shown))
    with style(palette):
        page = FigurePage(blocks.sheet(shown, headings, legend_of(shown, views, palette)), palette)
        for row, each in enumerate(views):
            for i, panel in enumerate(shown):
                ax, extent = page.axes(*blocks.place(row, i)), shared_extent(panel, each, views)
                page.draw(panel, each, ax, extent=extent, before=before if row else None)
                if panel.id == "loss" and row:
                    _zoom(ax, run, chosen, palette)
    return page.figure


def spike_near(run: Run, epoch: int | None) -> Spike:
    """The spike nearest to an epoch, or the one with the largest rise."""
    found = spikes(run, why=False).spikes
    if not found:
        raise DynascopeError(f"spike: run {run.id} has no spike of its loss; take another run.")
    if epoch is None:
        return max(found, key=lambda each: each.rise)
    Whole(0, last_sound_epoch(run)).check("epoch", epoch)
    return min(found, key=lambda each: abs(each.peak - epoch))


def around(run: Run, chosen: Spike) -> tuple[View, View]:
    """Just before the loss began to rise, and at its peak; where a run cannot be replayed, at the
    kept epochs around."""
    start = max(0, chosen.start - 1)
    peak = max(chosen.peak, start + 1)
    if not run.replayable:
        kept = [int(each) for each in run.weight_epochs if each <= last_sound_epoch(run)]
        start = max((each for each in kept if each <= start), default=kept[0])
        peak = min((each for each in kept if each >= peak), default=kept[-1])
    first = view(run, start)
    return first, first.at(peak)


def _zoom(ax: Axes, run: Run, spike: Spike, palette: Palette) -> None:
    """The loss around the spike."""
    low, high = max(0, spike.start - _AROUND), min(run.epochs, spike.peak + _AROUND)
    show_epochs(ax, lines_of("loss", run, palette), low, high)
