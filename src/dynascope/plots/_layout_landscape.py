"""The loss around weights, on a plane of weight space."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.ticker import LogFormatterSciNotation, LogLocator

from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.config_input import ConfigLike
from dynascope.data import dataset
from dynascope.near_misses import guided
from dynascope.number_text import percent
from dynascope.plots._look import PublicationFigure, dress, style, width_in_inches
from dynascope.plots._page import FigurePage, Sheet
from dynascope.plots.figure_sources import FigureSource, views_of
from dynascope.plots.numbers import PanelNumbers
from dynascope.plots.palette import Palette, palette_of
from dynascope.plots.panel_registry import give_title
from dynascope.plots.view import View
from dynascope.progress import Report
from dynascope.projection import plane
from dynascope.theory import Landscape, landscape_around
from dynascope.theory import landscape as landscape_of

_LEVELS = 16
_TAILS = (
    0.01,
    0.99,
)  # of the points of the plane lie beyond the colours: minima are deep, walls high
_SPARE = 1.1  # times the farthest that a run is from the centre
_BAR = 0.42  # inches beside a panel, for the bar of colours


@guided
def landscape(
    *sources: FigureSource,
    directions: Any = "random",
    toward: tuple[int, int] | None = None,
    extent: float | None = None,
    points: int = 41,
    seed: int = 0,
    config: ConfigLike = None,
    width: str | float = "column",
    theme: str = "light",
    progress: bool | Report = True,
) -> PublicationFigure:
    """The train loss on a plane around each model's weights (`ds.theory.landscape`), with the way
    of the run projected onto it.

    `directions`: "random" (of this `seed`, as long as the weights, filter by filter), "negative"
    or "sharp" (of the Hessian), "path" (the principal directions of the kept weights), "epochs"
    (the plane through this epoch and the two of `toward`), or a pair of your own. Weights without
    a run are looked at on the train set of seed 0.
    """
    views, inches, palette = (
        views_of(sources, -1, config),
        width_in_inches(width),
        palette_of(theme),
    )
    how: dict[str, Any] = {"directions": directions, "points": points, "seed": seed}
    how |= {"extent": extent, "progress": progress}
    columns = min(len(views), max(1, int(inches / 2)))
    rows = -(-len(views) // columns)
    with style(palette):
        page = FigurePage(
            Sheet(inches, rows, columns, curves=dict.fromkeys(range(rows), 0.0), right=_BAR),
            palette,
        )
        for i, each in enumerate(views):
            found = _found(each, how, toward)
            draw_landscape(page.axes(i // columns, i % columns), found, palette, each.name)
            page.figure.show_numbers(_numbers(found, each))
    return page.figure


def _found(each: View, how: dict[str, Any], toward: tuple[int, int] | None) -> Landscape:
    if isinstance(how["directions"], str) and how["directions"] == "path":
        how = {**how, **_along_path(each, how["extent"])}
    if each.run is not None and each.epoch is not None:
        return landscape_of(each.run, each.epoch, toward=toward, **how)
    data = dataset(each.config.task, seed=0)
    return landscape_around(each.parameters, *data, each.config.model, **how)


def _along_path(each: View, extent: float | None) -> dict[str, Any]:
    """The two directions that keep most of the variance of a run's kept weights, and an extent that
    holds all of them."""
    run = each.checked_run("landscape")
    kept = run.weights[run.weight_epochs <= last_sound_epoch(run)].astype(np.float64)
    axes = plane(kept).axes
    apart = (kept - each.parameters.flat) @ axes.T
    return {"directions": tuple(axes), "extent": extent or _SPARE * float(np.abs(apart).max())}


def draw_landscape(ax: Axes, found: Landscape, palette: Palette, name: str = "") -> None:
    """Filled level lines of the loss, equally far apart in its logarithm, and the run's way."""
    dress(ax, palette)
    sound = found.loss[np.isfinite(found.loss) & (found.loss > 0)]
    low, high = np.quantile(sound, _TAILS) if len(sound) else (0.1, 1.0)
    levels = np.geomspace(low, max(high, 1.001 * low), _LEVELS)
    cmap = LinearSegmentedColormap.from_list("loss", [*palette.colours["groups"], palette["panel"]])
    loss = np.clip(np.nan_to_num(found.loss, nan=np.inf), levels[0] / 2, levels[-1] * 2)
    how: dict[str, Any] = {"levels": levels, "norm": LogNorm(levels[0], levels[-1])}
    where = (found.along_x, found.along_y, loss)
    filled = ax.contourf(*where, cmap=cmap, extend="both", **how)
    ax.contour(*where, levels, colors=palette["ink"], linewidths=0.25, alpha=0.35)
    _path(ax, found, palette)
    ax.set(xlim=found.along_x[[0, -1]], ylim=found.along_y[[0, -1]])
    ax.set_box_aspect(1)
    ax.locator_params(nbins=4)
    give_title(ax, name or "Train loss")
    _bar(ax, filled)
    if len(found.path_share):
        share = percent(float(np.median(found.path_share)), 0)
        ax.set_xlabel(f"half the steps lie at least {share} in this plane")


def _path(ax: Axes, found: Landscape, palette: Palette) -> None:
    if len(found.path):
        ax.plot(*found.path.T, color=palette["ink"], lw=0.7, zorder=3)
    look: dict[str, Any] = {"mec": palette["panel"], "mew": 0.5, "zorder": 4}
    ax.plot(0, 0, "o", color=palette["query"], ms=4, **look)


def _bar(ax: Axes, filled: Any) -> None:
    """What the colours mean, along the right side."""
    place = ax.inset_axes((1.02, 0.0, 0.035, 1.0))
    figure = ax.get_figure(root=True)
    assert figure is not None
    bar = figure.colorbar(filled, cax=place)
    bar.ax.yaxis.set_major_locator(LogLocator(numticks=5))
    bar.ax.yaxis.set_major_formatter(LogFormatterSciNotation())
    bar.ax.tick_params(labelsize=5, length=1.5, width=0.5)
    bar.outline.set_linewidth(0.4)


def _numbers(found: Landscape, each: View) -> Any:
    run = "" if each.run is None else each.run.id
    return lambda: PanelNumbers("landscape", _columns(found), run, each.epoch)


def _columns(found: Landscape) -> Mapping[str, Any]:
    x, y = np.meshgrid(found.along_x, found.along_y)
    loss, accuracy = found.loss.ravel(), found.accuracy.ravel()
    return {"x": x.ravel(), "y": y.ravel(), "loss": loss, "accuracy": accuracy}
