"""Spikes by cause: how often is a named cause confirmed, and how often is it named for nothing?

Part of `what_happened.py`. Three controls: what an intervention removes of spikes that have another
name, what a random nudge of the weights removes, and the names of matched epochs without a spike.
"""

from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import dynascope as ds
from dynascope.analysis import null_causes, spikes
from dynascope.analysis import thresholds as th
from dynascope.analysis.spike_explanation import TESTED, Cause
from dynascope.analysis.spike_interventions import BELONGS
from dynascope.analysis.spikes import Spike, Spikes
from pages import rows, share

NAMED = {name: cause for cause, name in BELONGS.items()}


def measure(runs: Iterable[ds.Run]) -> dict[str, Any]:
    """Counts, of everything that the tables say."""
    all_spikes: list[Spike] = []
    null: list[Cause | str] = []
    with ThreadPoolExecutor() as pool:
        for found, unnamed in pool.map(_both, runs):
            all_spikes += found.spikes
            null += unnamed
    causes = [spike.cause for spike in all_spikes if spike.cause is not None]
    made = [cause for cause in null if isinstance(cause, Cause)]
    sharpness = [cause.sharpness for cause in causes if cause.sharpness is not None]
    return {
        "spikes": len(all_spikes),
        "unexplained": len(all_spikes) - len(causes),
        "small": sum(spike.small for spike in all_spikes),
        "most_of_the_height": sum(_share_explained(spike) >= 0.5 for spike in all_spikes),
        "tested": {
            verdict: Counter(cause.tested for cause in causes if cause.verdict == verdict)
            for verdict, _ in Counter(cause.verdict for cause in causes).most_common()
        },
        "interventions": {name: _removed(causes, i) for i, name in enumerate(_names(causes))},
        "null": {
            "quiet": _verdicts(c for c in made if c.factor < th.SPIKE_RISE),
            "hidden": _verdicts(c for c in made if c.factor >= th.SPIKE_RISE),
            "unnamed": len(null) - len(made),
        },
        "sharpness": [float(q) for q in np.quantile(sharpness, [0.05, 0.5, 0.95])]
        if sharpness
        else [],
        "beyond_the_limit": [sum(value > 1 for value in sharpness), len(sharpness)],
    }


def _both(run: ds.Run) -> tuple[Spikes, list[Cause | str]]:
    found = spikes(run)
    return found, list(null_causes(run, found))


def _share_explained(spike: Spike) -> float:
    if spike.cause is None:
        return 0.0
    return (spike.cause.high - spike.cause.low) / (spike.height - spike.before)


def _names(causes: list[Cause]) -> list[str]:
    return [made.name for made in causes[0].interventions] if causes else []


def _removed(causes: list[Cause], which: int) -> dict[str, list[int]]:
    """Of spikes with the cause that an intervention belongs to, and of the others: how many it
    removes, and of how many it could be made."""
    counts = {"named": [0, 0], "others": [0, 0]}
    for cause in causes:
        made = cause.interventions[which]
        if made.removes is not None:
            group = counts["named" if NAMED.get(made.name) in cause.named else "others"]
            group[0] += made.removes
            group[1] += 1
    return counts


def _verdicts(causes: Iterable[Cause]) -> dict[str, int]:
    return dict(Counter(cause.verdict for cause in causes).most_common())


def tables(r: dict[str, Any]) -> str:
    """All of it, below the table of causes."""
    return "\n\n".join([_facts(r), _tested(r), _interventions(r), _null(r)])


def _facts(r: dict[str, Any]) -> str:
    low, middle, high = r["sharpness"]
    return (
        f"{r['unexplained']} of {r['spikes']} spikes are unexplained, {r['small']} are small. The "
        f"rise that is explained makes at least half of the height in {r['most_of_the_height']}. "
        f"The preconditioned sharpness before the rise is {middle:.2g} of its limit (median; 5% "
        f"are below {low:.2g}, 5% above {high:.2g}); beyond the limit in "
        f"{' of '.join(map(str, r['beyond_the_limit']))}."
    )


def _tested(r: dict[str, Any]) -> str:
    words = list(TESTED.values())
    cells = [
        (verdict, *(str(counts.get(word, 0) or "") for word in words))
        for verdict, counts in r["tested"].items()
    ]
    return f"Tested by intervention:\n\n{rows(('cause', *words), *cells)}"


def _interventions(r: dict[str, Any]) -> str:
    cells = [
        (name, NAMED.get(name, ""), *(share(*counts[group]) for group in ("named", "others")))
        for name, counts in r["interventions"].items()
    ]
    head = ("intervention", "belongs to", "removes, of spikes so named", "of all others")
    return f"What removes at least half of the rise:\n\n{rows(head, *cells)}"


def _null(r: dict[str, Any]) -> str:
    null = r["null"]
    groups = [null["quiet"], null["hidden"]]
    totals = [sum(group.values()) for group in groups]
    names = sorted({*groups[0], *groups[1]}, key=lambda name: -sum(g.get(name, 0) for g in groups))
    cells = [
        (name, *(share(g.get(name, 0), of) for g, of in zip(groups, totals, strict=True)))
        for name in names
    ]
    head = (
        "name",
        f"quiet throughout ({totals[0]})",
        f"with a rise by {th.SPIKE_RISE} within ({totals[1]})",
    )
    return (
        "The names that matched epochs without a spike would receive "
        f"({null['unnamed']} more have no step that raises the loss):\n\n{rows(head, *cells)}"
    )
