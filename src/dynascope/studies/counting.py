"""What claims count in tables of runs: solved ones, shares of them, entries of lists."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.run import SOLVED_ACCURACY
from dynascope.studies.claims import Measure
from dynascope.studies.estimates import Measured, Share
from dynascope.studies.paired_estimates import Outcomes, paired_outcomes, share_of_events
from dynascope.studies.table import Table, Tables

Array = npt.NDArray[Any]


def solved(runs: Table) -> Array:
    """[runs]: whether the test accuracy at the end is above 0.9, the paper's success. A run that
    diverged has none, and did not succeed."""
    return np.asarray(runs["accuracy"] > SOLVED_ACCURACY)


def solved_runs(runs: Table) -> Table:
    return runs.where(solved(runs))


def share_of(mask: Array) -> Share:
    return Share(int(np.sum(mask)), len(mask))


def success(runs: Table) -> Share:
    """Of no runs if all diverged: then it is the setting that fails, not what is asked of it."""
    learnt = solved(runs)
    return share_of(learnt[:0] if ended_nowhere(runs).all() else learnt)


def ended_nowhere(runs: Table) -> Array:
    """[runs]: whether it diverged, and has no accuracy at the end."""
    return np.isnan(runs["accuracy"])


def more_success(runs: Table, others: Table) -> Outcomes:
    """How much more often runs are solved than their pairs, row by row, without the pairs of which
    both diverged."""
    there = ~(ended_nowhere(runs) & ended_nowhere(others))
    return paired_outcomes(solved(runs)[there], solved(others)[there])


def of_each(
    name: str, values: Iterable[Any], measure: Callable[[Tables, Any], Measured]
) -> dict[str, Measure]:
    """A measure for each value of something: conditions that are listed beforehand.

    >>> list(of_each("d={}", [2, 3], lambda tables, d: success(tables["width"])))
    ['d=2', 'd=3']
    """

    def at(value: Any) -> Measure:
        return lambda tables: measure(tables, value)

    return {name.format(value): at(value) for value in values}


def named(values: Array, *words: str) -> Share:
    """Of the runs that have a word there, the share with one of these. What was not analysed does
    not count as another word.

    >>> named(np.array(["ideal", None, "fuzzy", "fuzzy"], object), "ideal")
    Share(count=1, runs=3)
    """
    return share_of(np.isin([each for each in values if isinstance(each, str)], words))


def listed(runs: Table, column: str) -> Table:
    """The runs that have a list there, be it an empty one."""
    return runs.where(np.array([isinstance(each, list) for each in runs[column]], bool))


def entries_share(runs: Table, column: str, word: str) -> Measured:
    """Of all entries of a column of lists, the share that names a word (joined by +); over runs,
    since the entries of one run are not independent."""
    lists = runs.lists(column)
    hits = np.array([sum(word in str(each).split("+") for each in own) for own in lists], float)
    return share_of_events(hits, np.array([len(own) for own in lists], float))
