"""Sparsity: are the hidden activations of successful runs denser?"""

from typing import TYPE_CHECKING

import numpy as np

from dynascope.analysis_columns import DECLARATIONS
from dynascope.studies.claims import Claim
from dynascope.studies.counting import of_each, solved
from dynascope.studies.estimates import Measured, difference_of_means
from dynascope.studies.paired_estimates import rank_correlation
from dynascope.studies.shared_sweeps import DEFAULT, NARROW, WIDTH, WIDTHS
from dynascope.studies.study import Study, StudyFigure
from dynascope.studies.table import Table, Tables

if TYPE_CHECKING:
    from dynascope.plots import PublicationFigure


COLUMNS = {
    float(name.removeprefix("sparsity_").replace("_", ".")): name
    for name in DECLARATIONS["sparsity"].columns
}
"""By threshold."""
_VISIBLE = tuple(eps for eps in COLUMNS if 1e-3 <= eps <= 10)  # the paper's range
_MIDDLE = 0.1
_LESS = -0.01  # of a share: a hundredth of the activations


def shaped(tables: Tables, dim: int, hidden: int) -> Table:
    runs = tables[WIDTH.name]
    return runs.where((runs["dim"] == dim) & (runs["hidden"] == hidden))


def _denser(runs: Table, eps: float) -> Measured:
    """Mean sparsity of solved runs minus that of the others."""
    learnt, values = solved(runs), runs[COLUMNS[eps]]
    return difference_of_means(values[learnt], values[~learnt])


def _at_threshold(tables: Tables, eps: float) -> Measured:
    return _denser(tables[DEFAULT.name], eps)


def _at_width(tables: Tables, dim: int) -> Measured:
    return _denser(shaped(tables, dim, WIDTHS[dim]), _MIDDLE)


def _at_narrow(tables: Tables, dim: int) -> Measured:
    return _denser(shaped(tables, dim, NARROW[dim]), _MIDDLE)


def _with_accuracy(tables: Tables) -> Measured:
    runs = tables[DEFAULT.name]
    return rank_correlation(runs["accuracy"], runs[COLUMNS[_MIDDLE]])


CLAIMS = (
    Claim(
        "denser when successful",
        "successful models have denser activations, visibly for thresholds from 1e-3 to 10",
        "appendix A.1, figure 7",
        "mean share of hidden activations below a threshold, solved runs minus others (d=2)",
        of_each("threshold {:g}", _VISIBLE, _at_threshold),
        effect=_LESS,
        side="below",
    ),
    Claim(
        "denser at any width",
        "the same holds for larger d",
        "appendix A.4, figure 19",
        f"the same at threshold {_MIDDLE:g}, by d (h = 32 up to d = 8, then 4d)",
        of_each("d={}", WIDTHS, _at_width),
        effect=_LESS,
        side="below",
    ),
    Claim(
        "denser with few hidden units",
        "the same holds with h = 4d, which the paper calls typical",
        "section 2; h is not said for d > 2",
        f"the same at threshold {_MIDDLE:g}, with h = 4d",
        of_each("d={}", NARROW, _at_narrow),
        effect=_LESS,
        side="below",
    ),
    Claim(
        "sparsity falls with accuracy",
        "sparsity decreases as the performance increases",
        "appendix A.1, figure 7",
        f"rank correlation over runs of test accuracy with sparsity at threshold {_MIDDLE:g}",
        _with_accuracy,
        effect=-0.1,
        side="below",
    ),
)


def _draw_sparsity(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    shapes = [*WIDTHS.items(), *NARROW.items()]
    shown = {f"d={dim}, h={h}": shaped(tables, dim, h) for dim, h in shapes}
    shown = {"d=2, h=32, default": tables[DEFAULT.name], **shown}
    known_as = plots.Palette("light").colours["curves"]
    shades = {"solved": known_as["train"], "not solved": known_as["test"]}
    figure, axes = plots.subplots(3, 4, height=5.0, sharex=True, sharey=True)
    for ax, (title, runs) in zip(axes.flat, shown.items(), strict=True):
        first = runs.where(np.argsort(~solved(runs), kind="stable"))  # solved ones
        curves = np.column_stack([first[name] for name in COLUMNS.values()])
        groups = np.where(solved(first), "solved", "not solved").tolist()
        where = first.addresses()
        plots.thresholds([*COLUMNS], curves, groups, ax, runs=where, colours=shades, title=title)
    return figure


STUDY = Study(
    "sparsity",
    "Are the hidden activations of successful runs denser?",
    "figures 7 and 19, appendices A.1 and A.4",
    (DEFAULT, WIDTH),
    CLAIMS,
    figures=(
        StudyFigure(
            "sparsity",
            "Share of hidden activations below each threshold: a thin line for each run, thick "
            "ones for the means of solved runs and others.",
            _draw_sparsity,
        ),
    ),
    notes=(
        "The paper defines sparsity in three ways; here it is the share of hidden activations "
        "below a threshold in size, over all test sequences.",
        "Where all runs of a width succeed there is nothing to compare: not decidable here.",
    ),
)
