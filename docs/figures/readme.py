"""Draw the README's picture, `readme.svg`, from twenty real runs.

    python docs/figures/readme.py

Needs matplotlib, which dynascope itself does not. Left: the test accuracy of all twenty, those that
solve the task in blue. Right: the solved run with the tightest clusters, its sequence embeddings at
four epochs and its loss. The shading behind the embeddings is the model's own answer: points of a
grid take the place of the sequence embedding (`patch`), and what follows is computed as always.
"""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from style import BLUE, FAINT, INK, MARK, QUIET, card, save

import dynascope as ds
from dynascope.run import SOLVED_ACCURACY

OUT = Path(__file__).with_name("readme.svg")
SHOWN = 400  # sequences in a panel
SMOOTH = 15  # epochs of the running median: accuracies of unsolved runs jump up and down
CLASSES = ["#f5f6f8", "#e1e6eb"]
# Steps of viridis: told apart, and in their order, with every kind of colour vision.
COUNTS = mpl.colormaps["viridis"](np.linspace(0, 0.95, 6))


def main() -> None:
    runs = ds.train(seeds=20, progress=False)
    solved = [run for run in runs if run.curves["test_accuracy"][-1] > SOLVED_ACCURACY]
    chosen = min(solved, key=_spread)
    epochs = _moments(chosen)
    figure = card(10.4, 4.5)
    _words(figure, len(solved), len(runs), chosen)
    _accuracies(figure.add_axes((0.067, 0.145, 0.283, 0.65)), runs, chosen)
    for i, epoch in enumerate(epochs):
        _embeddings(figure.add_axes((0.425 + 0.1385 * i, 0.435, 0.1295, 0.3)), chosen, epoch)
    _loss(figure.add_axes((0.425, 0.145, 0.545, 0.2)), chosen, epochs)
    save(figure, OUT)
    print(f"{OUT.name}: seed {chosen.seed} at epochs {epochs}; {len(solved)} of {len(runs)} solved")


def _first_above(run: ds.Run, accuracy: float) -> int:
    return int(np.flatnonzero(run.curves["test_accuracy"] > accuracy)[0])


def _moments(run: ds.Run) -> list[int]:
    """Before training, when learning sets in, when the task is solved, and the end."""
    return [0, _first_above(run, 0.6), _first_above(run, 0.99), run.epochs]


def _spread(run: ds.Run) -> float:
    """The share of the sequence embeddings' variance that is within sequences of equal count."""
    tokens = ds.dataset(run.config.task, split="all")[0]
    xi, ones = ds.forward(run.parameters(), tokens).sequence, _ones(run, tokens)
    centers = np.stack([xi[ones == count].mean(axis=0) for count in range(len(COUNTS))])
    return float(((xi - centers[ones]) ** 2).sum() / ((xi - xi.mean(axis=0)) ** 2).sum())


def _ones(run: ds.Run, tokens: Any) -> Any:
    """How many of the relevant tokens are 1."""
    return tokens[:, list(run.config.task.positions)].sum(axis=1)


def _words(figure: Figure, solved: int, runs: int, chosen: ds.Run) -> None:
    small: dict[str, Any] = {"fontsize": 9, "color": QUIET, "va": "top"}
    bold: dict[str, Any] = {"fontsize": 11, "fontweight": "bold", "va": "top"}
    figure.text(0.03, 0.94, f"{runs} seeds, {solved} solve the task", **bold)
    figure.text(0.03, 0.885, f"test accuracy, running median over {SMOOTH} epochs", **small)
    figure.text(0.425, 0.94, f"Inside seed {chosen.seed}", **bold)
    figure.text(0.425, 0.885, "sequence embeddings, by the number of ones to add", **small)
    for count, colour in enumerate(COUNTS):
        x = 0.793 + 0.031 * count
        figure.text(x, 0.885, "●", fontsize=9, color=colour, va="top")
        figure.text(x + 0.0135, 0.885, str(count), **small)


def _accuracies(axes: Axes, runs: ds.Runs, chosen: ds.Run) -> None:
    for run in sorted(runs, key=lambda run: float(run.curves["test_accuracy"][-1])):
        good = run.curves["test_accuracy"][-1] > SOLVED_ACCURACY
        line = {"lw": 0.9, "alpha": 0.9, "zorder": 1 + good}
        axes.plot(*_smoothed(run), color=BLUE if good else FAINT, **line)
    axes.plot(*_smoothed(chosen), color=INK, lw=1.5, zorder=3)
    axes.text(_first_above(chosen, 0.99), 1.013, f"seed {chosen.seed}", fontsize=8)
    axes.set(xlim=(0, 1000), ylim=(0.45, 1.04), xlabel="epoch")
    axes.set_xticks([0, 500, 1000])
    axes.set_yticks([0.5, 0.75, 1.0], ["50%", "75%", "100%"])


def _smoothed(run: ds.Run) -> tuple[Any, Any]:
    """Every fifth epoch, and the median around it."""
    padded = np.pad(run.curves["test_accuracy"], SMOOTH // 2, mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, SMOOTH)
    return np.arange(run.epochs + 1)[::5], np.median(windows, axis=1)[::5]


def _loss(axes: Axes, run: ds.Run, epochs: list[int]) -> None:
    loss = run.curves["train_loss"]
    axes.plot(loss, color=INK, lw=1.0)
    axes.set(yscale="log", xlim=(-8, run.epochs + 8), xlabel="epoch")
    axes.text(0.995, 0.86, "train loss", color=QUIET, ha="right", transform=axes.transAxes)
    axes.plot(epochs, loss[epochs], "o", ms=5, color=MARK, clip_on=False, zorder=3)
    axes.minorticks_off()


def _embeddings(axes: Axes, run: ds.Run, epoch: int) -> None:
    parameters = run.parameters(epoch)
    tokens = ds.dataset(run.config.task, run.seed, "test")[0][:SHOWN]
    xi, ones = ds.forward(parameters, tokens).sequence, _ones(run, tokens)
    middle = (xi.max(axis=0) + xi.min(axis=0)) / 2
    reach = 0.62 * float(np.ptp(xi, axis=0).max())
    x, y = (np.linspace(m - reach, m + reach, 120, dtype=np.float32) for m in middle)
    axes.contourf(x, y, _class_one(parameters, x, y), [0, 0.5, 1], colors=CLASSES, zorder=0)
    axes.scatter(*xi.T, s=9, c=COUNTS[ones], edgecolors="white", linewidths=0.25, clip_on=False)
    axes.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.set_title(f"epoch {epoch}", fontsize=9, color=MARK, pad=4)


def _class_one(parameters: ds.Parameters, x: Any, y: Any) -> Any:
    """The probability of class 1 where the sequence embedding is (x, y)."""
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    tokens = np.zeros((len(grid), len(parameters.position_embedding)), dtype=np.int32)
    patched = ds.forward(parameters, tokens, patch={"sequence": grid})
    return patched.probabilities[:, 1].reshape(len(y), len(x))


if __name__ == "__main__":
    main()
