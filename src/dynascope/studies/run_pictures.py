"""Pictures that several studies draw of their tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dynascope.studies.counting import named
from dynascope.studies.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACCURACIES = (-0.03, 1.05)  # the range of an axis, whatever the runs have
SUM_KINDS = ("plain", "signed", "folded", "split", "two", "unexplained")


def draw_counts(runs: Table, column: str, words: Sequence[str], ax: "Axes", title: str) -> None:
    """How many runs have each of several words in a column."""
    from dynascope import plots

    found = [named(runs[column], word) for word in words]
    plots.bars(
        words, [each.count for each in found], ax, of=[each.runs for each in found], title=title
    )
