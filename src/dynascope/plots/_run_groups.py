"""Runs as points with a group each, and what is told of the runs of a group at each x."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope.plots._many_input import groups_of, runs_of

Array = npt.NDArray[Any]


class GroupedRuns(NamedTuple):
    """Points that are runs."""

    x: Array
    y: Array
    addresses: Sequence[str]  # of all, or none
    groups: Sequence[str]

    @classmethod
    def of(cls, x: Array, y: Array, runs: Any, groups: Any, label: str) -> "GroupedRuns":
        return cls(x, y, runs_of(runs, len(x)), groups_of(groups, len(x), label))

    @property
    def seen(self) -> Array:
        """Which have both numbers."""
        return np.isfinite(self.x) & np.isfinite(self.y)

    @property
    def names(self) -> list[str]:
        """Of groups, in the order in which they come."""
        return list(dict.fromkeys(self.groups))

    def by_group(self) -> Iterator[tuple[int, str, "GroupedRuns"]]:
        """Number, name and points of each group that has any to draw."""
        for number, name in enumerate(self.names):
            mask = np.array([group == name for group in self.groups], bool) & self.seen
            if mask.any():
                rows = np.flatnonzero(mask).tolist()
                addresses = [self.addresses[row] for row in rows] if self.addresses else []
                yield number, name, GroupedRuns(self.x[mask], self.y[mask], addresses, [name])

    def columns(self) -> dict[str, Any]:
        """For CSV: what every point has beside its numbers."""
        return {**({"run": self.addresses} if self.addresses else {}), "group": self.groups}


class RunSummary(NamedTuple):
    """The middle of the runs at each x, and a band around it."""

    x: Array
    middle: Array
    low: Array
    high: Array
    runs: Array

    @classmethod
    def of(cls, points: GroupedRuns, middle: str, scale: str) -> "RunSummary":
        at = np.unique(points.x)
        parts = [points.y[points.x == x] for x in at]
        middles, lows, highs = np.array([_summed_up(part, middle, scale) for part in parts]).T
        return cls(at, middles, lows, highs, np.array([len(part) for part in parts]))


def _summed_up(values: Array, middle: str, scale: str) -> Array:
    """The middle and the ends of the band; one run alone has no band. On a logarithmic axis mean
    and deviation are those of the logarithms: a band that reached below 0 could not be drawn."""
    if middle == "median":
        return np.asarray(np.quantile(values, [0.5, 0.25, 0.75]))
    given = np.log(values) if scale == "log" else values
    spread = float(given.std(ddof=1)) if len(given) > 1 else 0.0
    ends: Array = given.mean() + spread * np.array([0.0, -1.0, 1.0])
    return np.exp(ends) if scale == "log" else ends
