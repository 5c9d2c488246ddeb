"""Ablations: how does success hang on batch, hidden units, learning rate and discount?"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope.run import SOLVED_ACCURACY
from dynascope.studies.claims import Claim
from dynascope.studies.counting import more_success, of_each
from dynascope.studies.estimates import Exact, Jackknifed, Measured, mean
from dynascope.studies.run_pictures import ACCURACIES
from dynascope.studies.sources import ENDS_ONLY, PAPER, QUICK, StudySweep
from dynascope.studies.study import Study, StudyFigure
from dynascope.studies.table import Table, Tables

if TYPE_CHECKING:
    from dynascope.plots import PublicationFigure


Array = npt.NDArray[Any]
BLOCK = "ablations"
ROWS = 3  # of the embedding, in the released code's grids


def _hidden(low: float, high: float) -> list[int]:
    """Those of 20 values, logarithmic from 10 to 10,000, that lie between."""
    values = np.unique(np.round(np.geomspace(10, 10_000, 20)).astype(int))
    return [int(each) for each in values if low <= each <= high]


class Ablation(NamedTuple):
    """One option: the sweeps that vary it, the first of them with most seeds."""

    column: str
    standard: float  # the paper's value
    ends: tuple[float, ...]  # values far from it
    sweeps: tuple[StudySweep, ...]
    with_rows: StudySweep  # with three rows of the embedding


_LEAST = {**ENDS_ONLY, "record.gradients": False}


def _sweep(name: str, option: str, values: Any, seeds: dict[str, int], quick: Any) -> StudySweep:
    grid = {"base": _LEAST, "grid": {option: values}}
    return StudySweep(f"ablation-{name}", grid, seeds, BLOCK, quick={"grid": {option: quick}})


def _with_rows(name: str, option: str, values: Any, quick: Any) -> StudySweep:
    grid = {"base": {**_LEAST, "model.embeddings": ROWS}, "grid": {option: values}}
    seeds = {QUICK: 3, PAPER: 20}
    name = f"ablation-rows-{name}"
    return StudySweep(name, grid, seeds, BLOCK, quick={"grid": {option: quick}})


def _varied(
    option: str, values: Any, quick: Any, standard: float, ends: tuple[float, ...]
) -> Ablation:
    column = option.rpartition(".")[2]
    sweep = _sweep(column, option, values, {QUICK: 6, PAPER: 100}, quick)
    return Ablation(column, standard, ends, (sweep,), _with_rows(column, option, values, quick))


def _of_hidden() -> Ablation:
    """The more units, the fewer seeds: a run of 10,000 takes as long as 150 of 32."""
    option, few = "model.hidden", [10, 30, 127, 379]
    sweeps = (
        _sweep("hidden", option, _hidden(0, 500), {QUICK: 6, PAPER: 100}, few),
        _sweep("hidden-large", option, _hidden(500, 2000), {QUICK: 1, PAPER: 20}, [1624]),
        _sweep("hidden-largest", option, _hidden(2000, 10_000), {QUICK: 1, PAPER: 5}, [2336]),
    )
    rows = _with_rows("hidden", option, _hidden(0, 2000), few)
    return Ablation("hidden", 30, (10, 1624), sweeps, rows)


ABLATIONS = {
    "batch": _varied(
        "training.batch", [2**i for i in range(12)], [1, 8, 32, 256, 2048], 32, (1, 2048)
    ),
    "hidden units": _of_hidden(),
    "learning rate": _varied(
        "training.lr",
        {"logspace": [1e-4, 1, 20]},
        {"logspace": [1e-4, 1, 5]},
        3e-3,
        (1e-4, 1),
    ),
    "discount": _varied(
        "training.mlp_lr_discount",
        {"logspace": [1e-2, 1e2, 20]},
        {"logspace": [1e-2, 1e2, 5]},
        1,
        (1e-2, 1e2),
    ),
}
_FAR = 0.1  # of accuracy: neighbours that differ by more
_GUESS = 0.5  # the accuracy of a run that diverged, beside others of its seed
_UNKNOWN = Exact(float("nan"), 0)


def runs_of(tables: Tables, name: str) -> list[Table]:
    """The tables of an ablation's sweeps."""
    return [tables[sweep.name] for sweep in ABLATIONS[name].sweeps]


def nearest(values: Array, wanted: float) -> float:
    """The value of the grid that is nearest, by ratio."""
    found = np.unique(values)
    if not len(found):
        return wanted
    return float(found[np.argmin(np.abs(np.log(found / wanted)))])


def by_seed(runs: Table, column: str, what: str = "accuracy") -> Array:
    """[seeds, values]: by seed and by value of the option, both rising; without seeds of which all
    runs diverged."""
    parts = [part.in_order_of("seed")[what] for _, part in runs.by(column)]
    rows = np.column_stack(parts) if parts else np.zeros((0, 0))
    rows = rows[~np.isnan(rows).all(axis=1)]
    return np.where(np.isnan(rows), _GUESS, rows)


def _unsteady(tables: Tables, name: str) -> Measured:
    """How often the accuracy of one seed jumps between neighbouring values of the option."""
    accuracy = by_seed(runs_of(tables, name)[0], ABLATIONS[name].column)
    return (
        mean((np.abs(np.diff(accuracy, axis=1)) > _FAR).mean(axis=1)) if accuracy.size else _UNKNOWN
    )


def _smoother(tables: Tables, name: str) -> Measured:
    """The steps of the mean over seeds, over the steps of single seeds."""
    accuracy = by_seed(runs_of(tables, name)[0], ABLATIONS[name].column)
    return Jackknifed(accuracy, _smoothness) if accuracy.size else _UNKNOWN


def _smoothness(rows: Array) -> float:
    """Of [seeds, values]; NaN where no accuracy differs. The mean of so many seeds still has some
    of their noise: it is a little larger than of all seeds that there could be."""
    together = np.abs(np.diff(rows.mean(axis=0))).mean()
    alone = np.abs(np.diff(rows, axis=1)).mean()
    return float(together / alone) if alone else float("nan")


_ENDS = {f"{name} {end:g}": (name, end) for name, each in ABLATIONS.items() for end in each.ends}


def _worse_at(tables: Tables, where: str) -> Measured:
    """Success at the paper's value minus that of the same seeds at the end."""
    name, end = _ENDS[where]
    column, parts = ABLATIONS[name].column, runs_of(tables, name)
    first = parts[0].where(parts[0][column] == nearest(parts[0][column], ABLATIONS[name].standard))
    for part in parts:
        last = part.where(part[column] == end)
        if len(last):
            return more_success(last.matched(first), last)
    return _UNKNOWN


def _costs(tables: Tables, name: str) -> Measured:
    """Success with two rows minus that with three, mean over the option's values, by seed."""
    each = ABLATIONS[name]
    three = tables[each.with_rows.name]
    two = [part.where(np.isin(part["seed"], three["seed"])) for part in runs_of(tables, name)]
    kept = [part for part in two if len(part) and {*part["seed"]} == {*three["seed"]}]
    if not kept:
        return _UNKNOWN
    values = set(np.concatenate([part[each.column] for part in kept]).tolist())
    shared = three.where(np.isin(three[each.column], [*values]))
    gains = _success_by_seed(kept, each.column) - _success_by_seed([shared], each.column)
    return mean(gains)


def _success_by_seed(parts: list[Table], column: str) -> Array:
    """[seeds]: the share of solved runs of each; NaN if all of them diverged."""
    rows = np.column_stack(
        [part.in_order_of("seed")["accuracy"] for each in parts for _, part in each.by(column)]
    )
    unknown = np.isnan(rows).all(axis=1)
    return np.where(unknown, np.nan, (rows > SOLVED_ACCURACY).mean(axis=1))


CLAIMS = (
    Claim(
        "one seed is unsteady",
        "of one seed, the accuracy after 1000 epochs varies highly when an option varies slightly",
        "appendix A.3, figure 16",
        f"share of neighbouring values between which the accuracy of a seed changes by over "
        f"{_FAR:g}, mean over seeds",
        of_each("{}", ABLATIONS, _unsteady),
        effect=0.1,
    ),
    Claim(
        "the mean is regular",
        "over many seeds there is more regularity",
        "appendix A.3, figure 16",
        "mean step between neighbouring values of the mean accuracy over seeds, over that of "
        "single seeds",
        of_each("{}", ABLATIONS, _smoother),
        effect=0.5,
        side="below",
    ),
    Claim(
        "options matter",
        "whether training leaves the saddle in time depends highly on the options",
        "appendix A.3",
        "share of solved runs at the paper's value minus that of the same seeds at an end",
        of_each("{}", _ENDS, _worse_at),
        effect=0.1,
    ),
    Claim(
        "a third row costs success",
        "(ours) the released code's third row of the embedding, never right, costs success",
        "not in the paper; its code has it everywhere",
        "share of solved runs with two rows minus that with three, mean over values, by seed",
        of_each("{}", ABLATIONS, _costs),
        effect=0.02,
    ),
)


def _points(parts: list[Table], column: str) -> tuple[Array, Array, list[str]]:
    """Of all runs: the option's value, the accuracy, the address."""
    x, accuracy = (np.concatenate([part[each] for part in parts]) for each in (column, "accuracy"))
    return x, accuracy, [address for part in parts for address in part.addresses()]


def _draw_ablations(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    figure, axes = plots.subplots(2, 2, sharey=True)
    for ax, (name, each) in zip(axes.flat, ABLATIONS.items(), strict=True):
        groups = {"two rows": runs_of(tables, name), "three rows": [tables[each.with_rows.name]]}
        for label, parts in groups.items():
            x, accuracy, where = _points(parts, each.column)
            look = {"scale": "log", "x_label": name, "y_label": "test accuracy"}
            plots.dots(x, accuracy, ax, runs=where, label=label, **look)
        ax.set_ylim(*ACCURACIES)
    return figure


def _draw_one_seed(tables: Tables) -> "PublicationFigure":
    """The first seed of the block."""
    from dynascope import plots

    figure, axes = plots.subplots(2, 2, sharey=True)
    for ax, (name, each) in zip(axes.flat, ABLATIONS.items(), strict=True):
        parts = [part.where(part["seed"] == part["seed"].min()) for part in runs_of(tables, name)]
        x, accuracy, where = _points(parts, each.column)
        plots.dots(x, accuracy, ax, runs=where, scale="log", x_label=name, y_label="test accuracy")
        ax.set_ylim(*ACCURACIES)
    return figure


STUDY = Study(
    "ablations",
    "How does success hang on batch, hidden units, learning rate and discount?",
    "figure 16, appendix A.3",
    tuple(source for each in ABLATIONS.values() for source in (*each.sweeps, each.with_rows)),
    CLAIMS,
    figures=(
        StudyFigure(
            "mean",
            "Test accuracy after 1000 epochs: every run, means and deviations; with two rows of "
            "the embedding (100 seeds, fewer above h = 500) and with three (20 seeds).",
            _draw_ablations,
        ),
        StudyFigure("one-seed", "The same of one seed.", _draw_one_seed),
    ),
    notes=(
        "The released code's grids have three rows of the embedding for p=2; the paper's text has "
        "two. Both were tried, three rows with 20 seeds and h up to 2000.",
    ),
)
