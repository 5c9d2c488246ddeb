"""What the rows of many runs come to: counts, each with its interval where it is a share."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dynascope.analysis.alias import Alias
from dynascope.run import SOLVED_ACCURACY

Rows = Sequence[Mapping[str, Any]]
Totals = dict[str, Any]
SUMMARY = ("id", "seed", "accuracy", "learning_epoch", "diverged")  # of each run, in a row


def totals(rows: Rows, kinds: Sequence[str]) -> Totals:
    """All totals of these kinds, as JSON takes them.

    >>> rows = [{"accuracy": 1.0, "verdict": "ideal"}, {"accuracy": 0.5, "verdict": "unsolved"}]
    >>> totals(rows, ["circuit"])["circuit"]["solved"]
    {'ideal': 1}
    """
    found: Totals = {"runs": len(rows), "solved": sum(map(is_solved, rows))}
    makers = {"circuit": _circuit, "phases": _phases, "spikes": _spikes}
    for kind in kinds:
        found[kind] = makers[kind](rows)
    notes = Counter(row["analysis_note"] for row in rows if row.get("analysis_note"))
    return found | {"notes": dict(notes.most_common())}


def _circuit(rows: Rows) -> Totals:
    named: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for row in rows:
        if row["verdict"]:
            named[is_solved(row)][row["verdict"]] += 1
    other_sum = [r for r in rows if is_solved(r) and r.get("alias_holds") and not _is_plain(r)]
    return {
        "solved": dict(named[True].most_common()),
        "other": dict(named[False].most_common()),
        "other_sum": len(other_sum),
    }


def _is_plain(row: Mapping[str, Any]) -> bool:
    """Whether the sum that a run computes is that of its relevant tokens, each once."""
    return Alias(tuple(row["alias_weights"]), row["alias_share"], sums=0).plain


def _phases(rows: Rows) -> Totals:
    judged = [row["drops_agree"] for row in rows if row["drops_agree"] is not None]
    both = [
        row["fitted_epoch"] - row["clustered_epoch"]
        for row in rows
        if row["fitted_epoch"] is not None and row["clustered_epoch"] is not None
    ]
    drops = Counter(len(row["drops"]) for row in rows if row["drops"] is not None)
    return {
        "drops": {str(count): runs for count, runs in sorted(drops.items())},
        "drops_agree": share(sum(judged), len(judged)),
        "clustered_first": share(sum(epochs > 0 for epochs in both), len(both)),
        "together": sum(epochs == 0 for epochs in both),
        "median_lead": float(np.median(both)) if both else None,
    }


def _spikes(rows: Rows) -> Totals:
    counts = [row["spikes"] for row in rows if row["spikes"] is not None]
    causes = Counter(cause for row in rows for cause in row["spike_causes"] or ())
    return {
        "spikes": sum(counts),
        "runs_with": sum(count > 0 for count in counts),
        "runs": len(counts),
        "causes": {str(cause): count for cause, count in causes.most_common()},
    }


def share(successes: int, trials: int) -> Totals:
    """A share as counts, with its 95% interval.

    >>> share(9, 20)["interval"]
    [0.258, 0.658]
    """
    from dynascope.cli.table import wilson

    interval = [round(bound, 3) for bound in wilson(successes, trials)] if trials else None
    return {"count": int(successes), "of": trials, "interval": interval}


def is_solved(row: Mapping[str, Any]) -> bool:
    return (row.get("accuracy") or 0) > SOLVED_ACCURACY
