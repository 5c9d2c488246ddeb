"""Two phases of learning: do embeddings cluster before the feed-forward fits?"""

from typing import TYPE_CHECKING

import numpy as np

from dynascope.analysis.thresholds import LEAD_PAIRS
from dynascope.analysis_columns import PARTS
from dynascope.number_text import percent
from dynascope.run import Run
from dynascope.studies.claims import Claim, Measure
from dynascope.studies.counting import listed, of_each, share_of, solved_runs
from dynascope.studies.estimates import Measured, known, median
from dynascope.studies.examples import most_of
from dynascope.studies.shared_sweeps import DEFAULT
from dynascope.studies.study import Study, StudyFigure
from dynascope.studies.table import Table, Tables

if TYPE_CHECKING:
    from dynascope.plots import PublicationFigure


_JUMP = 1.5  # times the speed around it: what the eye would call a jump
_EPOCHS = 1000
_SOON = 100  # epochs, a tenth of the run
_LEARNT, _ROOM = 0.99, 700  # of accuracy; epoch before which the clearest run drops twice
_SHELF = (0.2, 0.8)  # of the first loss: between the drops of the clearest run
_RISE = 10.0  # times the lowest loss so far: as high as it may rise afterwards
_DROPS = {"first drop": 0, "second drop": 1}
_HEIGHTS = {
    f"{percent(sums, places=0)} of the sum, {percent(right, places=0)} of accuracy": place
    for place, (sums, right) in enumerate(LEAD_PAIRS)
}


def _solved(tables: Tables) -> Table:
    return solved_runs(tables[DEFAULT.name])


def _of_two_drops(tables: Tables) -> Table:
    runs = _solved(tables)
    return runs.where(runs.nth("drop_epochs", 1) > 0)


def _two_drops(tables: Tables) -> Measured:
    return share_of(listed(_solved(tables), "drop_epochs").nth("drop_epochs", 1) > 0)


def _sum_first(tables: Tables, heights: str) -> Measured:
    """Of runs in which both are told; equal epochs are not "before"."""
    return share_of(known(_solved(tables).nth("sum_leads", _HEIGHTS[heights])) > 0)


def _gap(tables: Tables) -> Measured:
    runs = _of_two_drops(tables)
    return median(runs.nth("drop_epochs", 1) - runs.nth("drop_epochs", 0))


def _at(column: str, drop: int) -> Measure:
    return lambda tables: median(_of_two_drops(tables).nth(column, drop))


def _clusters_at_first(tables: Tables) -> Measured:
    """Whether the sum is half there by the middle between the drops."""
    runs = _of_two_drops(tables)
    middle = (runs.nth("drop_epochs", 0) + runs.nth("drop_epochs", 1)) / 2
    halves = runs["sum_half"]
    there = ~np.isnan(halves)
    return share_of(halves[there] <= middle[there])


CLAIMS = (
    Claim(
        "two drops",
        "the loss falls in two drops",
        "section 4.3, figure 8",
        "share of solved runs with two drops or more between shelves of the loss",
        _two_drops,
        effect=0.5,
    ),
    Claim(
        "clustering first",
        "embeddings cluster first, then the feed-forward fits",
        "section 4.3",
        "share of solved runs in which the share of the final sum reaches a height before the "
        "accuracy does, for four pairs of heights",
        of_each("{}", _HEIGHTS, _sum_first),
        effect=0.6,
    ),
    Claim(
        "the first drop clusters",
        "the first drop coincides with the learning of the sequence embeddings",
        "section 4.3",
        "share of solved runs of two drops in which the final sum is halfway there before the "
        "middle between the drops",
        _clusters_at_first,
        effect=0.5,
    ),
    Claim(
        "soon after",
        "the second drop follows soon after the first",
        "section 4.3",
        "epochs between the first two drops of solved runs that have two, median",
        _gap,
        effect=_SOON,
        side="below",
    ),
    Claim(
        "weights jump at the first drop",
        "at the first drop all weights move rapidly",
        "section 4.3",
        "speed of the weights in the first drop over that around it, median of solved runs of two "
        "drops",
        _at("speed_at_drops", 0),
        effect=_JUMP,
    ),
    Claim(
        "no jump at the second",
        "the second drop is no clear change in the dynamics of the weights",
        "section 4.3",
        "speed of the weights in the second drop over that around it, median of solved runs of two "
        "drops",
        _at("speed_at_drops", 1),
        effect=_JUMP,
        side="below",
    ),
    Claim(
        "a steady feed-forward",
        "the feed-forward moves at a steady speed, also while the loss drops",
        "section 4.3",
        "speed of the feed-forward in a drop over that around it, median of solved runs of two "
        "drops",
        {name: _at("speed_at_drops_feed_forward", drop) for name, drop in _DROPS.items()},
        effect=_JUMP,
        side="below",
    ),
)


def _draw_strip(tables: Tables) -> "PublicationFigure":
    """The clearest run: two drops and no more, seen by all methods, no spike, everything learnt
    in time, the loss between them lower than before and never much higher afterwards; where no run
    has all of that, most of it. Of equals, drops that are farthest apart."""
    from dynascope import plots

    runs = _of_two_drops(tables)
    first, second = runs.nth("drop_epochs", 0), runs.nth("drop_epochs", 1)
    virtues = (
        np.isnan(runs.nth("drop_epochs", 2)),
        (runs.nth("drop_votes", 0) == 3) & (runs.nth("drop_votes", 1) == 3),
        runs["spikes"] == 0,
        runs["exact_accuracy"] > _LEARNT,
        second < _ROOM,
    )

    def falls_twice(place: int, run: Run) -> bool:
        loss, one, two = run.curves["train_loss"], int(first[place]), int(second[place])
        shelf = float(np.median(loss[(2 * one + two) // 3 : (one + 2 * two) // 3 + 1]))
        lowest = np.minimum.accumulate(loss[two:])
        steady = bool(np.all(loss[two:] < _RISE * lowest))
        return bool(_SHELF[0] * loss[0] < shelf < _SHELF[1] * loss[0]) and steady

    run = most_of(runs, _EPOCHS * np.sum(virtues, axis=0) + second - first, falls_twice)
    return plots.figure("phases", run) if run else plots.subplots()[0]


def _draw_order(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    figure, axes = plots.subplots(1, 2, width_ratios=(3, 2))
    runs = _solved(tables)
    names = [f"{sums:.0%}, {right:.0%}" for sums, right in LEAD_PAIRS for _ in range(len(runs))]
    leads = np.concatenate([runs.nth("sum_leads", place) for place in _HEIGHTS.values()])
    where = runs.addresses() * len(_HEIGHTS)
    labels = {
        "x_label": "height of the sum, of accuracy",
        "y_label": "epochs from one to the other",
    }
    plots.dots(names, leads, axes[0], runs=where, middle="median", **labels)
    two = _of_two_drops(tables)
    plots.cloud(
        two.nth("drop_epochs", 0),
        two.nth("drop_epochs", 1),
        axes[1],
        runs=two.addresses(),
        x_label="epoch of the first drop",
        y_label="epoch of the second",
    )
    return figure


def _draw_speed(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    figure, ax = plots.subplots(height=2.4)
    runs = _of_two_drops(tables)
    names, values, groups = [], [], []
    for part in ("", *(f"_{part}" for part in PARTS)):
        for drop, place in _DROPS.items():
            names += [(part or "_all weights")[1:].replace("_", " ")] * len(runs)
            values.append(runs.nth(f"speed_at_drops{part}", place))
            groups += [drop] * len(runs)
    where = runs.addresses() * (len(names) // max(len(runs), 1))
    label = "speed in the drop, over around it"
    look = {"scale_y": "log", "middle": "median", "y_label": label}
    plots.dots(names, np.concatenate(values), ax, runs=where, groups=groups, **look)
    return figure


STUDY = Study(
    "two-phase",
    "Do embeddings cluster before the feed-forward fits, and do the weights jump at the drops?",
    "figure 8, section 4.3",
    (DEFAULT,),
    CLAIMS,
    figures=(
        StudyFigure(
            "strip",
            "The clearest run: two drops that all methods see with a shelf of the loss between "
            "them, no spike, everything learnt; of those the one whose drops are farthest apart.",
            _draw_strip,
        ),
        StudyFigure(
            "order",
            "By how many epochs the sum comes before the accuracy, for four pairs of heights; and "
            "the epochs of the first two drops. Solved runs.",
            _draw_order,
        ),
        StudyFigure(
            "speed",
            "Speed of the weights in each of the first two drops, over that around it.",
            _draw_speed,
        ),
    ),
    notes=(
        "The paper judges movement by eye, in one run. Here speed is the way that weights go "
        "in an epoch, in a drop over that around it; from 1.5 times on it is called a jump, "
        "which stood before the runs. A steady speed is one below that, also where it falls.",
        "What comes first depends on where one cuts: clustering is dated by the share of the "
        "final sum in the variance of the embedding, fitting by the accuracy, each at a "
        "height. Four pairs of heights were tried.",
    ),
)
