"""What claims count in tables of runs: solved ones, shares of them, entries of lists."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.run import SOLVED_ACCURACY
from dynascope.studies.claims import Measure
from dynascope.studies.estimates import Measured, Share, median
from dynascope.studies.study import Tables
from dynascope.studies.table import Table

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


def of_each(values: Iterable[Any], measure: Callable[[Tables, Any], Measured], name: str) -> Any:
    """A measure for each value of something: conditions that are listed beforehand.

    >>> measures = of_each([2, 3], lambda tables, d: success(tables["width"]), "d={}")
    >>> list(measures)
    ['d=2', 'd=3']
    """

    def at(value: Any) -> Measure:
        return lambda tables: measure(tables, value)

    return {name.format(value): at(value) for value in values}


def median_of(values: Array) -> Measured:
    """Of the runs that have a value."""
    return median(values[~np.isnan(values)])
