"""A spike, before and after: where things moved, and what the feed-forward made of it."""

from dynascope.analysis import spikes
from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.analysis.spikes import Spike
from dynascope.errors import DynascopeError
from dynascope.near_misses import guided
from dynascope.option_rules import Whole
from dynascope.plots._curves import lines_of, show_epochs
from dynascope.plots._layout_panels import shared_extent
from dynascope.plots._look import PublicationFigure, style, width_in_inches
from dynascope.plots._page import LEGEND, FigurePage, Sheet, legend_of
from dynascope.plots.figure_sources import FigureSource, one_run
from dynascope.plots.palette import palette_of
from dynascope.plots.panel_registry import PANELS
from dynascope.plots.view import View, view
from dynascope.run import Run

SHOWN = ("normalized", "decision_map", "assemblers", "feed_forward")
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
    sheet = Sheet(
        inches,
        2,
        len(SHOWN) + 1,
        headings,
        legend_of(shown, views, palette),
        curves={0: LEGEND, 1: LEGEND},
    )
    with style(palette):
        page = FigurePage(sheet, palette)
        _loss(page, before, 0, None)
        _loss(page, after, 0, chosen)
        for row, each in enumerate(views):
            for column, panel in enumerate(shown):
                extent, ax = shared_extent(panel, each, views), page.axes(row, column + 1)
                page.draw(panel, each, ax, extent=extent, before=before if row else None)
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


def _loss(page: FigurePage, seen: View, column: int, around: Spike | None) -> None:
    """Of the whole run, or around the spike."""
    ax = page.axes(0 if around is None else 1, column)
    page.draw(PANELS["loss"], seen, ax)
    if around is None:
        return
    run = seen.checked_run("spike")
    low, high = max(0, around.start - _AROUND), min(run.epochs, around.peak + _AROUND)
    show_epochs(ax, lines_of("loss", run, page.palette), low, high)
