"""Two phases of learning: do embeddings cluster before the feed-forward fits?"""

from dynascope.studies.claims import Claim, Measure
from dynascope.studies.counting import median_of, share_of, solved_runs
from dynascope.studies.shared_sweeps import DEFAULT
from dynascope.studies.study import Study, Tables
from dynascope.studies.table import Table

_EPOCHS = 1000
_HEIGHTS = ("half and half", "nine tenths and half", "half and a tenth", "nine tenths and a tenth")


def _learnt(tables: Tables) -> Table:
    return solved_runs(tables[DEFAULT.name])


def _of_two_drops(tables: Tables) -> Table:
    runs = _learnt(tables)
    return runs.where(runs.nth("drop_epochs", 1) > 0)


def _earlier(heights: int) -> Measure:
    """How often the sum comes before the accuracy, of the runs in which both are told."""

    def measure(tables: Tables):  # type: ignore[no-untyped-def]
        leads = _learnt(tables).nth("sum_leads", heights)
        return share_of(leads[leads == leads] > 0)

    return measure


def _speed(column: str, drop: int) -> Measure:
    return lambda tables: median_of(_of_two_drops(tables).nth(column, drop))


CLAIMS = (
    Claim(
        "two drops",
        "the loss falls in two drops",
        "section 3.3, figure 8",
        "share of solved runs with two drops or more between shelves of the loss",
        lambda tables: share_of(_learnt(tables).nth("drop_epochs", 1) > 0),
        effect=0.5,
    ),
)
STUDY = Study(
    "two-phase",
    "Do embeddings cluster before the feed-forward fits, and do the weights jump at the drops?",
    "figure 8, section 3.3",
    (DEFAULT,),
    CLAIMS,
)
