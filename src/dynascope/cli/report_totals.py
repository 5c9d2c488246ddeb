"""What the rows of many runs come to: counts, each with its interval where it is a share."""

from collections import Counter
from collections.abc import Sequence

from dynascope.findings.kind import RunRows, Totals
from dynascope.findings.registry import kinds as kinds_by_name
from dynascope.findings.words import is_solved

SUMMARY = ("id", "seed", "accuracy", "learning_epoch", "diverged")  # of each run, in a row


def totals(rows: RunRows, kinds: Sequence[str]) -> Totals:
    """All totals of these kinds, as JSON takes them.

    >>> rows = [{"accuracy": 1.0, "verdict": "ideal"}, {"accuracy": 0.5, "verdict": "unsolved"}]
    >>> totals(rows, ["circuit"])["circuit"]["solved"]
    {'ideal': 1}
    """
    whole: Totals = {"runs": len(rows), "solved": sum(map(is_solved, rows))}
    whole |= {name: kind.totals(rows) for name, kind in kinds_by_name(kinds).items()}
    notes = Counter(row["analysis_note"] for row in rows if row.get("analysis_note"))
    return whole | {"notes": dict(notes.most_common())}
