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
from dynascope.plots._look import dress, show_grid, style
from dynascope.plots._many_axes import remember, runs_picture
from dynascope.plots.numbers import PanelNumbers
from dynascope.plots.palette import palette_of
from dynascope.plots.panel_registry import give_title
from dynascope.plots.panels import SCALES, check_axes
from dynascope.plots.threshold_lines import threshold_lines
from dynascope.plots.view import ModelSource, View, view
from dynascope.run import SOLVED_ACCURACY, Run, Runs

Array = npt.NDArray[Any]

_SOLVED, _NOT_SOLVED = f"accuracy above {SOLVED_ACCURACY}", "not solved"


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
        remember(on, PanelNumbers(curve, {"epoch": epochs.tolist(), **names}))
    return on


@guided
def sparsity(
    runs: Runs | list[ModelSource] | ModelSource, ax: Axes | None = None, *, theme: str = "light"
) -> Axes:
    """The share of hidden activations below each threshold, a line for each model, and the
    mean of those that solve the task and of the others."""
    given: Any = runs if isinstance(runs, Runs | list) else [runs]
    views = [view(each) for each in given]
    if not views:
        raise none_given("runs", "run")
    colours = palette_of(theme).colours["curves"]
    shades = {_SOLVED: colours["train"], _NOT_SOLVED: colours["test"]}
    found = [sparsity_of(each.parameters, each.config) for each in views]
    with runs_picture(ax, theme) as picture:
        shares = np.stack([each.share for each in found])
        threshold_lines(picture, found[0].eps, shares, list(map(_outcome, views)), shades)
        picture.show_numbers_along("x", "log", found[0].eps, room=0.0)
        told = [
            PanelNumbers(
                "sparsity",
                {"eps": one.eps, "share": one.share},
                "" if of.run is None else of.run.id,
                of.epoch,
            )
            for of, one in zip(views, found, strict=True)
        ]
        texts = {"x_label": "threshold", "title": "Activations below the threshold"}
        picture.finish(*told, grid="both", **texts)
    return picture.ax


def _outcome(of: View) -> str:
    """Weights without a run were built to solve the task."""
    solved = of.run is None or of.run.summary()["accuracy"] > SOLVED_ACCURACY  # type: ignore[operator]
    return _SOLVED if solved else _NOT_SOLVED


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
