"""Draw the figures of docs/theory.md: `theory-bounds.svg` and `theory-curvature.svg`.

    python docs/figures/theory.py

Needs matplotlib. The runs are trained here; what 150 runs say is read from benchmarks/saddles.json,
and the ideal heads from benchmarks/theory.json.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from style import BLUE, FAINT, INK, MARK, QUIET, card, heading, note, save

import dynascope as ds
from dynascope.theory import bounds, bounds_along, curvature, landscape, saddles

HERE = Path(__file__).parent
BENCHMARKS = HERE.parent.parent / "benchmarks"
CLAIMED = {"model.norm": "unit", "model.bias": False, "model.norm_eps": 0.0}  # the paper's setting
FULL = {"training.batch": 2048}  # as in the paper's study of saddles
SEED, FULL_SEED = 3, 527
LINES = {"paper": (MARK, "the paper's"), "corrected": (BLUE, "corrected"), "tight": (INK, "tight")}


def main() -> None:
    save(_bounds(), HERE / "theory-bounds.svg")
    save(_curvature(), HERE / "theory-curvature.svg")


# ---- bounds -------------------------------------------------------------------------------------
def _bounds() -> Figure:
    figure = card(10.4, 3.4)
    config = ds.Config().replace(CLAIMED)
    run = ds.train(config, seeds=[SEED], progress=False)[0]
    _along_a_run(figure.add_axes((0.065, 0.185, 0.225, 0.585)), run)
    _near_the_origin(figure.add_axes((0.4, 0.185, 0.225, 0.585)), config)
    _doubt(figure.add_axes((0.735, 0.185, 0.225, 0.585)))
    return figure


def _along_a_run(axes: Axes, run: ds.Run) -> None:
    curves = bounds_along(run)
    for name, (colour, words) in LINES.items():
        axes.plot(curves.epochs, getattr(curves, name), color=colour, lw=1.1)
        last = (run.epochs, getattr(curves, name)[-1])
        note(axes, words, last, (4, {"corrected": 2, "tight": -8}.get(name, -3)), color=colour)
    axes.fill_between(curves.epochs, curves.gradient_norm, 1e-9, color=FAINT, alpha=0.5, lw=0)
    axes.set(yscale="log", xlim=(0, run.epochs), xlabel="epoch")
    low = float(curves.gradient_norm.min())
    axes.set_ylim(low / 3, float(curves.paper.max()) * 3)
    heading(axes, "Bounds along a run", "the gradient is the top of the grey")


def _near_the_origin(axes: Axes, config: ds.Config) -> None:
    """Values scaled down: sequence embeddings come near the origin, where the paper's breaks."""
    start, examples = ds.initial_parameters(config, 0), ds.dataset(config.task, 0)
    scales = np.geomspace(1, 1e-6, 25)
    found = [
        bounds(start.replace(value=start.value * scale), *examples, config) for scale in scales
    ]
    shortest = [each.shortest_sequence for each in found]
    for name, (colour, _) in LINES.items():
        values = [getattr(each, name).value for each in found]
        axes.plot(shortest, values, color=colour, lw=1.1)
    norms = [each.tight.gradient_norm for each in found]
    axes.fill_between(shortest, norms, 1e-3, color=FAINT, alpha=0.5, lw=0)
    axes.set(xscale="log", yscale="log", xlabel="shortest sequence embedding |ξ|")
    axes.set_xlim(max(shortest), min(shortest))
    axes.minorticks_off()
    axes.set_ylim(min(norms) / 3, max(each.corrected.value for each in found) * 2)
    heading(axes, "Near the origin", "small values: the paper's bound breaks")


def _doubt(axes: Axes) -> None:
    heads = json.loads((BENCHMARKS / "theory.json").read_text())["approach"]["heads"]
    doubts = [each["doubt"] for each in heads]
    for name, colour, words in (
        ("highest", BLUE, "highest eigenvalue"),
        ("gradient", INK, "gradient"),
        ("lowest", MARK, "−lowest"),
    ):
        values = [abs(each[name]) for each in heads]
        axes.plot(doubts, values, "o-", color=colour, lw=1.1, ms=3)
        below = name == "gradient"
        offset, side = ((-5, -9), "right") if below else ((5, 3), "left")
        note(axes, words, (doubts[4], values[4]), offset, color=colour, ha=side)
    axes.set(xscale="log", yscale="log", xlabel="doubt")
    axes.invert_xaxis()
    heading(axes, "The ideal head", "all vanishes with the doubt, none is 0")


# ---- curvature ----------------------------------------------------------------------------------
def _curvature() -> Figure:
    figure = card(10.4, 4.6)
    run = ds.train(ds.Config().replace(FULL), seeds=[FULL_SEED], progress=False)[0]
    _loss(figure.add_axes((0.06, 0.665, 0.37, 0.165)), run)
    _eigenvalues(figure.add_axes((0.06, 0.125, 0.37, 0.49)), run)
    _slice(figure.add_axes((0.49, 0.125, 0.225, 0.705)), run)
    _shares(figure.add_axes((0.785, 0.125, 0.185, 0.705)))
    return figure


def _loss(axes: Axes, run: ds.Run) -> None:
    axes.plot(run.curves["train_loss"], color=INK, lw=1)
    axes.set(xlim=(0, run.epochs), ylim=(0, 0.8), xticklabels=[], yticks=[0, 0.4, 0.8])
    note(axes, "train loss", (1, 0.8), (-4, 0), where="axes fraction", ha="right")
    heading(axes, "Every eigenvalue, every tenth epoch", f"full batch, seed {FULL_SEED}")


def _eigenvalues(axes: Axes, run: ds.Run) -> None:
    epochs = range(0, run.epochs + 1, 10)
    found = curvature(run, epochs, progress=False)
    values = np.array([each.spectrum.eigenvalues for each in found])
    tolerance = np.array([each.spectrum.tolerance for each in found])[:, None]
    for column in values.T:
        axes.plot(epochs, column, color=INK, lw=0.35, alpha=0.45)
    axes.plot(epochs, values[:, -1], color=BLUE, lw=1.2)
    axes.plot(epochs, values[:, 0], color=MARK, lw=1.2)
    count = (values < -tolerance).sum(axis=1)
    axes.set_yscale("symlog", linthresh=1e-3, linscale=0.6)
    axes.set(xlim=(0, run.epochs), xlabel="epoch")
    told = f"{count.min()} to {count.max()} of {values.shape[1]} are negative"
    note(axes, told, (1, 0), (-4, 5), where="axes fraction", ha="right")


def _slice(axes: Axes, run: ds.Run) -> None:
    plateau = next(each for each in saddles(run, progress=False) if each.drop is not None)
    assert plateau.drop is not None
    start, end = plateau.drop.start, plateau.drop.end
    found = landscape(
        run, start, directions="epochs", toward=(end, (start + end) // 2), points=81, progress=False
    )
    levels = np.linspace(np.sqrt(found.loss.min()), np.sqrt(min(found.loss.max(), 3.0)), 22) ** 2
    axes.contourf(
        found.along_x, found.along_y, np.minimum(found.loss, levels[-1]), levels, cmap="Blues_r"
    )
    near = (found.path_epochs >= start - 60) & (found.path_epochs <= end + 60)
    axes.plot(*found.path[near].T, color="white", lw=2.2)
    axes.plot(*found.path[near].T, color=INK, lw=1)
    for epoch in (start, end):
        x, y = found.path[list(found.path_epochs).index(epoch)]
        axes.plot(x, y, "o", color=MARK, ms=4.5, zorder=3)
        note(
            axes, f"epoch {epoch}", (x, y), (0, -14), color="white", fontweight="bold", ha="center"
        )
    axes.set(xlim=(found.along_x[0], found.along_x[-1]), ylim=(found.along_y[0], found.along_y[-1]))
    axes.set(aspect="equal", anchor="N", xlabel="distance between weights")
    heading(axes, "Down from the saddle", "the loss around its first drop")


def _shares(axes: Axes) -> None:
    """Of each drop, the share along the five most negative directions where it starts."""
    results: dict[str, Any] = json.loads((BENCHMARKS / "saddles.json").read_text())
    rng = np.random.default_rng(0)
    for place, (name, colour) in enumerate((("batch 32", BLUE), ("full batch", MARK))):
        shares = np.array(results[name]["exit_shares"])
        spread = place + rng.uniform(-0.17, 0.17, len(shares))
        axes.plot(spread, shares, "o", ms=3, color=colour, alpha=0.6, mew=0, clip_on=False)
        axes.plot([place - 0.28, place + 0.28], [np.median(shares)] * 2, color=INK, lw=1.4)
    chance = results["batch 32"]["ways"]["exit, metric"]["five, chance"][1]
    axes.axhline(chance, color=QUIET, lw=0.8, ls=":")
    note(axes, "random", (0.5, chance), (0, 3), ha="center")
    axes.set(xlim=(-0.5, 1.5), ylim=(0, 1))
    axes.set_xticks([0, 1], ["batch 32", "full batch"])
    axes.set_yticks([0, 0.5, 1], ["0", "50%", "100%"])
    heading(axes, "Along what bends down?", "share of a drop, five directions")


if __name__ == "__main__":
    main()
