"""Width: how often does training succeed, by the length of embeddings?"""

from typing import TYPE_CHECKING

import numpy as np

from dynascope.studies.claims import Claim
from dynascope.studies.counting import of_each, solved, success
from dynascope.studies.estimates import Measured
from dynascope.studies.paired_estimates import rank_correlation
from dynascope.studies.shared_sweeps import NARROW, WIDTH, WIDTHS
from dynascope.studies.study import Study, StudyFigure
from dynascope.studies.study_sparsity import shaped
from dynascope.studies.table import Tables

if TYPE_CHECKING:
    from dynascope.plots import PublicationFigure


def _success(tables: Tables, dim: int) -> Measured:
    return success(shaped(tables, dim, WIDTHS[dim]))


def _rises(tables: Tables) -> Measured:
    runs = tables[WIDTH.name]
    hidden = np.array([WIDTHS[int(dim)] for dim in runs["dim"]])
    wanted = runs.where(runs["hidden"] == hidden)
    return rank_correlation(wanted["dim"], solved(wanted))


_ALL = 0.95  # "all", as far as 300 runs can tell, among nine measures
CLAIMS = (
    Claim(
        "all from d=8 on",
        "from d=8 on all models are successful",
        "appendix A.4",
        "share of runs with test accuracy above 0.9, by d",
        of_each("d={}", [dim for dim in WIDTHS if dim >= 8], _success),
        effect=_ALL,
    ),
    Claim(
        "not all below",
        "in the plane, and for small d, training often fails",
        "appendix A.4",
        "share of runs with test accuracy above 0.9, by d",
        of_each("d={}", [dim for dim in WIDTHS if dim < 8], _success),
        effect=_ALL,
        side="below",
    ),
    Claim(
        "success rises with d",
        "the longer the embeddings, the more often a model succeeds",
        "appendix A.4",
        "rank correlation over runs of d with success",
        _rises,
        effect=0.1,
    ),
)


def _draw_width(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    figure, ax = plots.subplots(width="column")
    for shapes, label in ((WIDTHS, "h = 32, then 4d"), (NARROW, "h = 4d")):
        found = [success(shaped(tables, *shape)) for shape in shapes.items()]
        counts, totals = [each.count for each in found], [each.runs for each in found]
        plots.rates([*shapes], counts, totals, ax, label=label, scale="log", x_label="d")
    return figure


STUDY = Study(
    "width",
    "How often does training succeed, by the length of embeddings?",
    "appendix A.4",
    (WIDTH,),
    CLAIMS,
    figures=(
        StudyFigure("width", "Share of runs with test accuracy above 0.9, by d.", _draw_width),
    ),
    notes=(
        "The paper gives h for d = 2 alone. Claims are judged with h = 32 up to d = 8, then 4d; "
        "h = 4d for small d was tried as well, and is in the figure.",
    ),
)
