"""Many runs in one picture: a curve as its median and a band, and the sparsity of each."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from dynascope.analysis import sparsity as sparsity_of
from dynascope.errors import expected, none_given
from dynascope.near_misses import guided
from dynascope.option_rules import Choice
from dynascope.plots._curves import epoch_axis
from dynascope.plots._look import PublicationFigure, dress, show_grid, style
from dynascope.plots.numbers import PanelNumbers
from dynascope.plots.palette import palette_of
from dynascope.plots.panel_registry import give_title
from dynascope.plots.panels import SCALES, check_axes
from dynascope.plots.view import ModelSource, view
from dynascope.run import SOLVED_ACCURACY, Run, Runs

Array = npt.NDArray[Any]


@guided
def band(
    runs: Runs | Sequence[Run],
    curve: str = "test_accuracy",
    ax: Axes | None = None,
    *,
    between: tuple[float, float] = (0.25, 0.75),
    scale: str = "linear",
    colour: str | None = None,
    label: str | None = None,
    theme: str = "light",
) -> Axes:
    """A curve of many runs: the median at each epoch, and the band between two quantiles.

    Runs that diverged count up to their last number. Call it again on the same axes, with another
    `colour` and `label`, to compare groups of runs.
    """
    low, high = _checked_shares(between)
    values = _together(runs, curve)
    Choice(SCALES).check("scale", scale)
    palette = palette_of(theme)
    with style(palette):
        on = check_axes(ax, theme)
        dress(on, palette)
        shade = colour or palette.colours["curves"]["train"]
        quantiles = _quantiles_of(values, (0.5, low, high))
        epochs = np.arange(values.shape[1])
        on.fill_between(epochs, *quantiles[1:], color=shade, alpha=0.25, lw=0, zorder=2)
        name = label or f"median of {len(values)} runs"
        on.plot(epochs, quantiles[0], color=shade, lw=1, label=name, zorder=3)
        show_grid(on, palette)
        on.set_yscale(scale)
        epoch_axis(on, values.shape[1] - 1)
        give_title(on, curve.replace("_", " ").replace("/", ", ").capitalize())
        names = {"median": quantiles[0], "low": quantiles[1], "high": quantiles[2]}
        _remember(on, PanelNumbers(curve, {"epoch": epochs.tolist(), **names}))
    return on


@guided
def sparsity(
    runs: Runs | list[ModelSource] | ModelSource, ax: Axes | None = None, *, theme: str = "light"
) -> Axes:
    """The share of hidden activations below each threshold, a line for each model: solved runs in
    one colour, the others in another."""
    given: Any = runs if isinstance(runs, Runs | list) else [runs]
    views = [view(each) for each in given]
    if not views:
        raise none_given("runs", "run")
    palette = palette_of(theme)
    with style(palette):
        on = check_axes(ax, theme)
        dress(on, palette)
        named: set[str] = set()
        for each in views:
            solved = each.run is None or each.run.summary()["accuracy"] > SOLVED_ACCURACY  # type: ignore[operator]
            name = f"accuracy above {SOLVED_ACCURACY}" if solved else "not solved"
            found = sparsity_of(each.parameters, each.config)
            shade = palette.colours["curves"]["train" if solved else "test"]
            label = "" if name in named else name
            on.plot(found.eps, found.share, color=shade, lw=0.7, alpha=0.8, label=label or None)
            named.add(name)
            run = "" if each.run is None else each.run.id
            columns = {"eps": found.eps, "share": found.share}
            _remember(on, PanelNumbers("sparsity", columns, run, each.epoch))
        on.set(xscale="log", xlabel="threshold", ylim=(-0.02, 1.02))
        show_grid(on, palette)
        on.legend(loc="lower right")
        give_title(on, "Activations below the threshold")
    return on


def _together(runs: Runs | Sequence[Run], curve: str) -> Array:
    """[runs, epochs + 1]"""
    if not isinstance(runs, Runs):
        if not isinstance(runs, Sequence) or not all(isinstance(each, Run) for each in runs):
            raise expected("runs", "ds.Runs", runs)
        runs = Runs(runs)
    if not len(runs):
        raise none_given("runs", "run")
    return np.asarray(runs.curve(curve), np.float64)


def _quantiles_of(values: Array, shares: tuple[float, ...]) -> Array:
    """[shares, epochs + 1]: over the runs that have a number there; NaN where none has."""
    found = np.full((len(shares), values.shape[1]), np.nan)
    known = ~np.isnan(values).all(axis=0)
    found[:, known] = np.nanquantile(values[:, known], shares, axis=0)
    return found


def _checked_shares(between: object) -> tuple[float, float]:
    if isinstance(between, tuple | list) and len(between) == 2:
        low, high = between
        numbers = all(isinstance(each, int | float) for each in (low, high))
        if numbers and 0 <= low < high <= 1:
            return float(low), float(high)
    raise expected("between", "two rising shares, such as (0.25, 0.75)", between)


def _remember(ax: Axes, numbers: PanelNumbers) -> None:
    figure = ax.get_figure(root=True)
    if isinstance(figure, PublicationFigure):
        figure.show_numbers(lambda: numbers)
