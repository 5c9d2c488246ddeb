"""Where a fall halts: a rate over time, cut into the stretches between its shelves.

Each stretch is compared with its neighbours alone. So a drop of medium speed stays one between two
much faster ones, which a comparison with the highest rates of the whole fall would call a halt.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Stretch = tuple[int, int]  # first and last index


class _Shelf(NamedTuple):
    lowest: float  # its rate, as a share of the lower one of the peaks beside it
    span: Stretch | None  # None: too high or too short for a shelf


def between_shelves(rate: Array, share: float, least: int) -> list[Stretch]:
    """The stretches of a rate between shelves: where it is below `share` of the lower one of the
    two peaks beside it, for at least `least` places.

    Peaks that no shelf parts become one, beginning with those between which it falls least.

    >>> between_shelves(np.array([1.0, 8, 2, 2, 2, 5, 1]), 0.5, 3)
    [(0, 2), (4, 6)]
    >>> between_shelves(np.array([1.0, 8, 3, 3, 3, 5, 1]), 0.5, 3)
    [(0, 6)]
    """
    peaks = _peaks(rate)
    shelves = [_shelf(rate, *pair, share, least) for pair in pairwise(peaks)]
    while no_shelf := [(shelf.lowest, i) for i, shelf in enumerate(shelves) if not shelf.span]:
        _, i = max(no_shelf)
        del peaks[i if rate[peaks[i]] < rate[peaks[i + 1]] else i + 1], shelves[i]
        for j in {max(i - 1, 0), min(i, len(shelves) - 1)} if shelves else ():
            shelves[j] = _shelf(rate, peaks[j], peaks[j + 1], share, least)
    spans = [shelf.span for shelf in shelves if shelf.span]
    begins = [0, *(last for _, last in spans)]
    return list(zip(begins, [*(first for first, _ in spans), len(rate) - 1], strict=True))


def _peaks(rate: Array) -> list[int]:
    """Where the rate is higher than before and after; where it stays there, the first place."""
    first = np.flatnonzero(np.concatenate([[True], np.diff(rate) != 0]))
    sides = np.concatenate([[-np.inf], rate[first], [-np.inf]])
    highest = (sides[1:-1] > sides[:-2]) & (sides[1:-1] > sides[2:])
    return [int(place) for place in first[highest]]


def _shelf(rate: Array, left: int, right: int, share: float, least: int) -> _Shelf:
    """The stretch below the limit, around the lowest place between two peaks."""
    lower = min(rate[left], rate[right])
    bottom = left + int(np.argmin(rate[left : right + 1]))
    high = rate[left : right + 1] >= share * lower
    high[[0, -1]] = True  # the peaks themselves, whatever the share
    if high[bottom - left]:
        return _Shelf(float(rate[bottom] / lower), None)
    first = left + int(np.flatnonzero(high[: bottom - left])[-1]) + 1
    last = bottom + int(np.flatnonzero(high[bottom - left :])[0]) - 1
    long = last - first + 1 >= least
    return _Shelf(float(rate[bottom] / lower), (first, last) if long else None)
