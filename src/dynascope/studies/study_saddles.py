"""Saddles: are the plateaus of full-batch runs saddles, and how are they left?"""

from typing import TYPE_CHECKING

import numpy as np

from dynascope.studies.claims import Claim
from dynascope.studies.counting import of_each
from dynascope.studies.estimates import Measured
from dynascope.studies.paired_estimates import ratio_of_means, share_of_events
from dynascope.studies.shared_sweeps import FULL_BATCH
from dynascope.studies.study import Study, StudyFigure
from dynascope.studies.table import Table, Tables

if TYPE_CHECKING:
    from dynascope.plots import PublicationFigure


_DIMS = (2, 3)
_ESCAPED = ("saddle, escaped along negative directions", "saddle, escaped otherwise")
_SADDLE = (*_ESCAPED, "saddle, no drop follows")


def _runs(tables: Tables, dim: int) -> Table:
    runs = tables[FULL_BATCH.name]
    return runs.where((runs["dim"] == dim) & (runs["epochs"] == 5000))


def _share(runs: Table, named: tuple[str, ...], among: tuple[str, ...]) -> Measured:
    """Of plateaus with some verdicts, those with others; over runs."""
    lists = runs.lists("plateau_verdicts")
    hits = np.array([sum(each in named for each in own) for own in lists], float)
    return share_of_events(hits, np.array([sum(each in among for each in own) for own in lists]))


def _are_saddles(tables: Tables, dim: int) -> Measured:
    """Of plateaus where something is left to fall."""
    return _share(_runs(tables, dim), _SADDLE, (*_SADDLE, "slope", "flat or minimum"))


def _along_negative(tables: Tables, dim: int) -> Measured:
    return _share(_runs(tables, dim), _ESCAPED[:1], _ESCAPED)


def _more_than_chance(tables: Tables, dim: int) -> Measured:
    """The way off along the five most negative directions, over what a random way has."""
    runs = _runs(tables, dim)
    own, chance = (runs.median_of(f"plateau_escape_{name}") for name in ("five", "chance"))
    return ratio_of_means(own, chance)


CLAIMS = (
    Claim(
        "plateaus are saddles",
        "on a plateau the optimizer is at a saddle: hardly a gradient, and no minimum",
        "section 4.3",
        "of plateaus of full-batch runs where the loss could still fall, the share that the exact "
        "Hessian shows to be saddles",
        of_each("d={}", _DIMS, _are_saddles),
        effect=0.5,
    ),
    Claim(
        "left along negative directions",
        "loss drops are escapes from saddles",
        "section 4.3",
        "of saddles that were left, the share where most of the way is along the five most "
        "negative directions in the optimizer's metric",
        of_each("d={}", _DIMS, _along_negative),
        effect=0.5,
    ),
    Claim(
        "more than chance",
        "the escape follows the directions in which the loss bends down",
        "section 4.3",
        "share of the way off a plateau along these five, over that of a random direction, means",
        of_each("d={}", _DIMS, _more_than_chance),
        effect=2.0,
    ),
)


def _draw_saddles(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    figure, axes = plots.subplots(1, 3, width_ratios=(4, 4, 3), height=2.2)
    every = ("fitted", "slope", "flat or minimum", *reversed(_SADDLE))
    for ax, dim in zip(axes, _DIMS, strict=False):
        found = [each for own in _runs(tables, dim).lists("plateau_verdicts") for each in own]
        counts = [found.count(each) for each in every]
        plots.bars(every, counts, ax, x_label="plateaus", title=f"d={dim}")
    names, values, where = [], [], []
    for dim in _DIMS:
        runs = _runs(tables, dim)
        for column, word in (("five", "own"), ("chance", "random")):
            names += [f"d={dim}, {word}"] * len(runs)
            values.append(runs.median_of(f"plateau_escape_{column}"))
            where += runs.addresses()
    label = "share of the way off"
    plots.dots(names, np.concatenate(values), axes[2], runs=where, middle="median", y_label=label)
    return figure


STUDY = Study(
    "saddles",
    "Are plateaus saddles, and are they left along the directions that bend down?",
    "section 4.3",
    (FULL_BATCH,),
    CLAIMS,
    figures=(
        StudyFigure(
            "plateaus",
            "Verdicts on all plateaus of full-batch runs of 5000 epochs; and the share of the way "
            "off them along the five most negative directions, against that of a random direction.",
            _draw_saddles,
        ),
    ),
    notes=(
        "The optimizer is Adam, which bends the way off a plateau. So directions are those in "
        "Adam's own metric, and the way along the five most negative ones is compared with "
        "that of a random direction.",
        "The paper gives no epochs for full batch: plateaus are looked at in runs of 5000.",
    ),
)
