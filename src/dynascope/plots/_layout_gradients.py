"""Gradient norms over the epochs, beside the loss, with its drops and spikes."""

from matplotlib.axes import Axes

from dynascope.analysis import loss_drops, spikes
from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.errors import none_given
from dynascope.near_misses import guided
from dynascope.option_rules import Choice
from dynascope.plots._look import PublicationFigure, style, width_in_inches
from dynascope.plots._page import WIDE_LEGEND, FigurePage, Sheet
from dynascope.plots.figure_sources import FigureSource, views_of
from dynascope.plots.palette import Palette, palette_of
from dynascope.plots.panel_registry import PANELS
from dynascope.plots.panels import SCALES
from dynascope.plots.view import View
from dynascope.run import Run


@guided
def gradients(
    *sources: FigureSource,
    scale: str | None = None,
    width: str | float = "page",
    theme: str = "light",
) -> PublicationFigure:
    """Loss, accuracy and the gradient norm of each parameter, a row for each run. Drops of the loss
    are shaded, and spikes have a mark on top. `scale`: of the norms, "log" or "linear" (None:
    both, side by side)."""
    views, inches, palette = views_of(sources), width_in_inches(width), palette_of(theme)
    if not views:
        raise none_given("runs", "run")
    scales = SCALES if scale is None else (Choice(SCALES).check("scale", scale),)
    drawn = [("loss", "log"), ("accuracy", "linear"), *(("gradients", each) for each in scales)]
    headings = [f"seed {each.checked_run('gradients').seed}" for each in views]
    across = 2 if inches < 5 else len(drawn)
    blocks = -(-len(drawn) // across)
    named = [each for heading in headings for each in (heading, *[""] * (blocks - 1))]
    rows = len(views) * blocks
    sheet = Sheet(
        inches,
        rows,
        across,
        named if len(views) > 1 else (),
        curves=dict.fromkeys(range(rows), WIDE_LEGEND),
    )
    with style(palette):
        page = FigurePage(sheet, palette)
        for v, each in enumerate(views):
            for i, (panel, how) in enumerate(drawn):
                ax = page.axes(v * blocks + i // across, i % across)
                _draw(page, ax, each, panel, how)
    return page.figure


def _draw(page: FigurePage, ax: Axes, each: View, panel: str, scale: str) -> None:
    title = f"{PANELS[panel].title}, {scale}" if panel == "gradients" else ""
    page.draw(PANELS[panel], each, ax, title, scale=scale, marked=[])
    mark_events(ax, each.checked_run(panel), page.palette)


def mark_events(ax: Axes, run: Run, palette: Palette) -> None:
    """Drops of the loss as bands, spikes as marks along the top."""
    last = last_sound_epoch(run)
    for drop in loss_drops(run.curves["train_loss"][: last + 1]):
        ax.axvspan(drop.start, drop.end, color=palette.colours["phases"][2], lw=0, zorder=0)
    peaks = [each.peak for each in spikes(run, why=False).spikes]
    ax.plot(
        peaks,
        [1.0] * len(peaks),
        "v",
        transform=ax.get_xaxis_transform(),
        color=palette["bad"],
        ms=2.2,
        mew=0,
        clip_on=False,
        zorder=5,
    )
