"""Counts and shares in words, with the interval that belongs to a share."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dynascope.findings.kind import Totals
from dynascope.number_text import fraction, percent
from dynascope.run import SOLVED_ACCURACY
from dynascope.share_interval import wilson


def is_solved(row: Mapping[str, Any]) -> bool:
    return (row.get("accuracy") or 0) > SOLVED_ACCURACY


def many(number: int, what: str) -> str:
    """
    >>> many(1, "run"), many(3, "shard")
    ('1 run', '3 shards')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"


def counted(counts: Mapping[str, int]) -> str:
    """
    >>> counted({"ideal": 3, "fuzzy": 1})
    '3 ideal, 1 fuzzy'
    """
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"


def and_more(listed: Sequence[Any], most: int) -> str:
    """
    >>> and_more([3, 5, 8], 2), and_more([3], 2)
    (' +1', '')
    """
    return f" +{len(listed) - most}" if len(listed) > most else ""


def share(successes: int, trials: int) -> Totals:
    """A share as counts, with its 95% interval.

    >>> [round(bound, 3) for bound in share(20, 20)["interval"]]
    [0.839, 1.0]
    """
    interval = list(wilson(successes, trials)) if trials else None
    return {"count": int(successes), "of": trials, "interval": interval}


def share_in_words(share: Totals, which: str = "", what: str = "run") -> str:
    """
    >>> share_in_words({"count": 9, "of": 20, "interval": [0.258, 0.658]})
    '9 of 20 runs (45%; 95% interval 26% to 66%)'
    """
    low, high = share["interval"]
    of = many(share["of"], what)
    part = percent(share["count"] / share["of"], places=0)
    interval = f"95% interval {percent(low, places=0)} to {percent(high, places=0)}"
    return f"{share['count']} of {of}{which} ({part}; {interval})"


def outcomes_in_words(accuracies: Sequence[float], diverged: Sequence[int | None]) -> str:
    """How many of many runs solved the task, the median of those that came to an end, and how many
    diverged.

    >>> outcomes_in_words([0.5, 1.0, float("nan")], [None, None, 7])
    '1 of 3 runs above 0.9 (33%; 95% interval 6% to 79%), median 0.750, 1 diverged'
    """
    solved = sum(accuracy > SOLVED_ACCURACY for accuracy in accuracies)
    ended = [each for each, end in zip(accuracies, diverged, strict=True) if end is None]
    parts = [share_in_words(share(solved, len(accuracies)), f" above {SOLVED_ACCURACY}")]
    parts += [f"median {fraction(float(np.median(ended)))}"] if ended else []
    parts += [f"{len(accuracies) - len(ended)} diverged"] if len(ended) < len(accuracies) else []
    return ", ".join(parts)
