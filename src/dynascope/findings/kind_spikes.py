"""The spikes of a run's loss and what they came from."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from dynascope.analysis.spike_explanation import TESTED, Cause
from dynascope.analysis.spikes import Spike, Spikes, spikes
from dynascope.findings.kind import Cells, Kind, Listing, RunRow, RunRows, Totals
from dynascope.findings.words import counted, many
from dynascope.plain import plain
from dynascope.run import Run


def _count(row: RunRow) -> str:
    return "-" if row["spikes"] is None else str(row["spikes"])


def _causes(row: RunRow) -> str:
    causes = Counter(map(str, row["spike_causes"] or ()))
    return ", ".join(f"{count} {cause}" for cause, count in causes.most_common()) or "-"


def _counts(rows: RunRows, column: str) -> dict[str, int]:
    """How often each word is there, the most frequent first."""
    words = Counter(word for row in rows for word in row[column] or ())
    return {str(word): count for word, count in words.most_common()}


def _json(spike: Spike) -> dict[str, Any]:
    """With what follows from the fields: whoever reads it need not know the rules."""
    cause = spike.cause
    made = {**plain(spike), "rise": spike.rise, "small": spike.small, "told": plain(spike.told)}
    if cause is not None:
        own = {"verdict": cause.verdict, "confirmed": cause.confirmed}
        made["cause"] = {**own, **made["cause"], "orders": _orders(cause)}
    return made


def _orders(cause: Cause) -> dict[str, Any]:
    return {**plain(cause.orders), "verdict": cause.orders.verdict}


class SpikesKind(Kind[Spikes]):
    title = "Spikes"
    parts = ("spikes",)
    story_part = "spikes"

    def make(self, run: Run, epoch: int = -1) -> Spikes:
        return spikes(run)

    def row(self, found: Spikes) -> dict[str, Any]:
        each, causes = found.spikes, [spike.cause for spike in found.spikes]
        return {
            "spikes": len(each),
            "spike_epochs": [spike.peak for spike in each],
            "spike_rises": [spike.rise for spike in each],
            "spike_causes": [cause.verdict if cause else "unexplained" for cause in causes],
            "spike_confirmed": [cause.tested if cause else TESTED[None] for cause in causes],
            "spike_small": [spike.small for spike in each],
            "spike_sharpness": [cause.sharpness if cause else None for cause in causes],
        }

    def text(self, found: Spikes) -> Iterator[str | Listing]:
        yield from found.describe().splitlines()

    def json(self, found: Spikes) -> dict[str, Any]:
        return {"spikes": {**plain(found), "spikes": [_json(spike) for spike in found.spikes]}}

    # ---- many runs

    cells = (
        Cells("spikes", 4, _count, right=True),
        Cells("causes", 10, _causes),
    )
    brief = Cells("spikes", 0, _count, right=True)

    def totals(self, rows: RunRows) -> Totals:
        counts = [row["spikes"] for row in rows if row["spikes"] is not None]
        return {
            "spikes": sum(counts),
            "runs_with": sum(count > 0 for count in counts),
            "runs": len(counts),
            "causes": _counts(rows, "spike_causes"),
            "tested": _counts(rows, "spike_confirmed"),
            "small": sum(bool(small) for row in rows for small in row["spike_small"] or ()),
        }

    def totals_text(self, totals: Totals) -> Iterator[str]:
        of = many(totals["runs"], "run")
        if totals["spikes"]:
            runs = f"{totals['spikes']} in {totals['runs_with']} of {of}"
            yield f"loss spikes: {runs}; causes: {counted(totals['causes'])}"
            tested = f"causes by intervention: {counted(totals['tested'])}"
            yield f"{tested}; {totals['small']} of the spikes are small (less than twofold)"
        else:
            yield f"loss spikes: none in {of}"

    def introduction(self, totals: Totals) -> Iterator[str]:
        if totals["spikes"]:
            yield (
                f"{totals['runs_with']} runs had loss spikes, {totals['spikes']} in all; their "
                f"causes: {counted(totals['causes'])}."
            )

    def story(self, row: RunRow) -> tuple[int, str]:
        return row["spikes"] or 0, many(row["spikes"] or 0, "loss spike")


KIND = SpikesKind()
