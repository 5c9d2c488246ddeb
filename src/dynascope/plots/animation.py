"""A training as a film, without a browser: matplotlib's own animation of panels.

Artists are moved, not drawn again, and axes are fixed over the run, so that anything that seems to
move does move.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.animation import FuncAnimation

from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.errors import expected, none_given
from dynascope.findings.spread import spread
from dynascope.near_misses import guided
from dynascope.option_rules import Real
from dynascope.plots._extents import Extent, framed, over_run
from dynascope.plots._look import style, width_in_inches
from dynascope.plots._page import Blocks, FigurePage, legend_of
from dynascope.plots.figure_sources import FigureSource, one_run
from dynascope.plots.palette import palette_of
from dynascope.plots.panel_registry import Panel, check_panels
from dynascope.plots.view import MAPS, View, check_epoch, view

SHOWN = ("attention", "sequence", "decision_map", "probabilities", "loss")
_FRAMES = 200  # unless told
_SAMPLED = 64  # epochs that decide the axes


@guided
def animate(
    run: FigureSource,
    panels: str | Sequence[str] = SHOWN,
    *,
    epochs: Iterable[int] | None = None,
    fps: float = 20,
    width: str | float = "page",
    theme: str = "light",
) -> FuncAnimation:
    """A film of panels over the epochs of a run (None: at most 200 kept ones, evenly).

    Save it with whatever writer you have: `animate(run).save("run.gif")`, or "run.mp4" with ffmpeg.
    """
    one, _ = one_run([run], "animate")
    times = _epochs(one, epochs)
    Real(0, above=True).check("fps", fps)
    first, palette, inches = view(one, times[0]), palette_of(theme), width_in_inches(width)
    chosen = check_panels(panels)
    blocks, legend = Blocks(inches, 1, len(chosen)), legend_of(chosen, [first], palette)
    with style(palette):
        page = FigurePage(blocks.sheet(chosen, [first.name], legend), palette)
        extents = _extents(chosen, first, times)
        for i, panel in enumerate(chosen):
            ax = page.axes(*blocks.place(0, i))
            page.draw(panel, first, ax, extent=extents.get(panel.id))
    heading = page.figure.texts[0]

    def show(epoch: int) -> list[Any]:
        now = first if epoch == first.epoch else first.at(epoch)
        heading.set_text(now.name)
        with style(palette):
            for _, drawn in page.drawn:
                drawn.update(now)
        return []

    return FuncAnimation(
        page.figure, show, frames=times, interval=1000 / fps, blit=False, cache_frame_data=False
    )


def _epochs(run: Any, epochs: Iterable[int] | None) -> list[int]:
    if epochs is None:
        last = last_sound_epoch(run)
        return spread([int(each) for each in run.weight_epochs if each <= last], _FRAMES)
    if not isinstance(epochs, Iterable):
        raise expected("epochs", "epochs, such as range(0, 500, 5)", epochs)
    chosen = [check_epoch(run, each) for each in epochs]
    if not chosen:
        raise none_given("epochs", "epoch")
    return chosen


def _extents(panels: Sequence[Panel], first: View, times: list[int]) -> dict[str, Extent]:
    """Of the axes of panels of points: over the whole film."""
    pointed = {each.id: MAPS.get(each.id, each.id) for each in panels if each.drawn.square}
    if not pointed:
        return {}
    found: dict[str, list[Extent]] = {name: [] for name in set(pointed.values())}
    for epoch in spread(times, _SAMPLED):
        now = first.at(epoch)
        for name, extents in found.items():
            extents.append(now.extent(name))
    return {panel: framed(over_run(found[name])) for panel, name in pointed.items()}
