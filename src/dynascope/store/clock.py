"""Times that order what is in a store.

A clock that was once ahead, here or on another machine, must not make everything that comes later
count for nothing: a new time is later than every one that is known, whatever the clock says.
"""

import time
from collections.abc import Iterable

LAST = 2**63 - 1  # nanoseconds since 1970, in the year 2262; no time is later


def later_than(known: Iterable[int]) -> int:
    """Now, in nanoseconds since 1970; at least one more than the largest known.

    >>> later_than([5]) > 10**18, later_than([LAST - 1]) == LAST
    (True, True)
    """
    return max(time.time_ns(), max(known, default=0) + 1)


def is_time(value: object) -> bool:
    """Whether it can be a time of ours."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LAST
