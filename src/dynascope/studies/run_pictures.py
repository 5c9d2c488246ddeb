"""Pictures that several studies draw of their tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dynascope.studies.counting import is_one_of
from dynascope.studies.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACCURACIES = (-0.03, 1.05)  # the range of an axis, whatever the runs have
SUM_KINDS = ("plain", "signed", "folded", "split", "two", "unexplained")


def draw_counts(runs: Table, column: str, words: Sequence[str], ax: "Axes", title: str) -> None:
    """How many runs have each of several words in a column."""
    from dynascope import plots

    counts = [int(is_one_of(runs[column], word).sum()) for word in words]
    plots.bars(words, counts, ax, of=len(runs), title=title)
