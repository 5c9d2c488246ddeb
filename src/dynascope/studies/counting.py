"""What claims count in tables of runs: solved ones, shares of them, entries of lists."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.run import SOLVED_ACCURACY
from dynascope.studies.claims import Measure
from dynascope.studies.estimates import Measured, Share, median, ratio_of_means
from dynascope.studies.table import Table, Tables

Array = npt.NDArray[Any]


def solved(runs: Table) -> Array:
    """[runs]: whether the test accuracy at the end is above 0.9, the paper's success."""
    return np.asarray(runs["accuracy"] > SOLVED_ACCURACY)


def solved_runs(runs: Table) -> Table:
    return runs.where(solved(runs))


def share_of(mask: Array) -> Share:
    return Share(int(np.sum(mask)), len(mask))


def success(runs: Table) -> Share:
    return share_of(solved(runs))


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


def median_of(values: Array) -> Measured:
    """Of the runs that have a value."""
    return median(values[~np.isnan(values)])


def known(values: Array) -> Array:
    """Without what runs lack."""
    return np.asarray(values[~np.isnan(values.astype(float))])


def is_one_of(values: Array, *words: str) -> Array:
    return np.isin(values.astype(str), words)


def entries_share(runs: Table, column: str, word: str) -> Measured:
    """Of all entries of a column of lists, the share that names a word (joined by +); resampled by
    runs, since the entries of one run are not independent."""
    lists = [values if isinstance(values, list) else [] for values in runs[column]]
    named = np.array([sum(word in str(each).split("+") for each in own) for own in lists], float)
    return ratio_of_means(named, np.array([len(own) for own in lists], float))
