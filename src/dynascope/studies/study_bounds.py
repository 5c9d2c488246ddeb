"""Bounds and closed forms of the theory, along runs in its own setting."""

from typing import TYPE_CHECKING

import numpy as np

from dynascope.studies.claims import Claim, Measure
from dynascope.studies.counting import share_of
from dynascope.studies.estimates import Measured, known
from dynascope.studies.sources import PAPER, QUICK, StudySweep
from dynascope.studies.study import Study, StudyFigure
from dynascope.studies.table import Tables

if TYPE_CHECKING:
    from dynascope.plots import PublicationFigure


IN_THEORY = StudySweep(
    "bounds",
    {
        "base": {
            "model.norm": "unit",
            "model.bias": False,
            "training.frozen": ["token_embedding", "position_embedding"],
            "precision": "float64",
        },
        "analyse": ["bounds"],
    },
    {QUICK: 6, PAPER: 100},
)
_ROUNDING = 1e-9


def _never_fails(column: str) -> Measure:
    return lambda tables: share_of(known(tables[IN_THEORY.name][column]) == 0)


def _agrees(tables: Tables) -> Measured:
    return share_of(known(tables[IN_THEORY.name]["closed_form_difference"]) < _ROUNDING)


CLAIMS = (
    Claim(
        "closed forms",
        "the gradients have these closed forms",
        "appendix B.1",
        "share of runs along which they differ from the computed gradient by less than 1e-9",
        _agrees,
        effect=0.9,
    ),
    Claim(
        "the paper's bound",
        "the gradient norm stays below the bound all along training",
        "appendix B.3",
        "share of runs at none of whose looked-at epochs the gradient exceeds the bound",
        _never_fails("paper_bound_fails"),
        effect=0.9,
    ),
    Claim(
        "a bound that holds",
        "(ours) the corrected bound is never exceeded",
        "not in the paper",
        "share of runs at none of whose looked-at epochs the gradient exceeds it",
        _never_fails("bound_fails"),
        effect=0.9,
    ),
)


def _draw_bounds(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    figure, ax = plots.subplots(width="column")
    runs = tables[IN_THEORY.name]
    columns = {
        "paper's, median": "paper_bound_over_gradient",
        "paper's, least": "paper_bound_least",
        "ours, median": "bound_over_gradient",
        "ours, least": "bound_least",
    }
    names = [name for name in columns for _ in range(len(runs))]
    values = np.concatenate([runs[column] for column in columns.values()])
    look = {"scale_y": "log", "middle": "median", "y_label": "bound over gradient norm"}
    plots.dots(names, values, ax, runs=runs.addresses() * len(columns), **look)
    return figure


STUDY = Study(
    "bounds",
    "Do the closed forms and the bound on the gradient hold along training?",
    "appendix B",
    (IN_THEORY,),
    CLAIMS,
    figures=(
        StudyFigure(
            "bounds",
            "Bounds on the gradient norm over the norm itself, along each run.",
            _draw_bounds,
        ),
    ),
    notes=(
        "The bound's proof takes a matrix for a projection that is one only where sequence "
        "embeddings have length 1; near the origin it breaks. Along ordinary runs they seldom "
        "come so near: whether it held there says nothing about all weights.",
    ),
)
