"""Two phases of learning: do embeddings cluster before the feed-forward fits?"""

import numpy as np

from dynascope.analysis.thresholds import LEAD_PAIRS
from dynascope.studies.claims import Claim, Measure
from dynascope.studies.counting import listed, of_each, share_of, solved_runs
from dynascope.studies.estimates import Measured, known, median
from dynascope.studies.shared_sweeps import DEFAULT
from dynascope.studies.study import Study, Tables
from dynascope.studies.table import Table

_JUMP = 1.5  # times the speed around it: what the eye would call a jump
_SOON = 100  # epochs, a tenth of the run
_DROPS = {"first drop": 0, "second drop": 1}
_HEIGHTS = {
    f"{sums} of the sum, {right} of accuracy": place
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
STUDY = Study(
    "two-phase",
    "Do embeddings cluster before the feed-forward fits, and do the weights jump at the drops?",
    "figure 8, section 4.3",
    (DEFAULT,),
    CLAIMS,
)
