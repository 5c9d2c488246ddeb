"""How much longer runs take that are analysed. `run_cost` has how long they take by themselves."""

from collections.abc import Iterable

from dynascope.analysis_columns import DECLARATIONS


def analysing_share(kinds: Iterable[str]) -> float:
    """How much longer runs take that are analysed.

    >>> analysing_share([]), analysing_share(["phases", "circuit"])
    (0.0, 0.34)
    """
    return round(sum((DECLARATIONS[kind].cost for kind in kinds), 0.0), 6)
