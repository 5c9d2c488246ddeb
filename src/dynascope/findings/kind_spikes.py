"""The spikes of a run's loss and what they came from."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from dynascope.analysis.spikes import Spikes, spikes
from dynascope.findings.kind import Cells, Kind, Listing, RunRow, RunRows, Totals
from dynascope.findings.words import counted, many
from dynascope.plain import plain
from dynascope.run import Run


def _count(row: RunRow) -> str:
    return "-" if row["spikes"] is None else str(row["spikes"])


def _causes(row: RunRow) -> str:
    causes = Counter(map(str, row["spike_causes"] or ()))
    return ", ".join(f"{count} {cause}" for cause, count in causes.most_common()) or "-"


class SpikesKind(Kind[Spikes]):
    title = "Spikes"
    parts = ("spikes",)

    def make(self, run: Run, epoch: int = -1) -> Spikes:
        return spikes(run)

    def row(self, found: Spikes) -> dict[str, Any]:
        causes = [spike.cause.verdict if spike.cause else "unexplained" for spike in found.spikes]
        return {
            "spikes": len(found.spikes),
            "spike_epochs": [spike.peak for spike in found.spikes],
            "spike_rises": [spike.rise for spike in found.spikes],
            "spike_causes": causes,
        }

    def text(self, found: Spikes) -> Iterator[str | Listing]:
        yield from found.describe().splitlines()

    def json(self, found: Spikes) -> dict[str, Any]:
        told = [
            {**plain(spike), "rise": spike.rise, "told": spike.describe()} for spike in found.spikes
        ]
        return {"spikes": {**plain(found), "spikes": told}}

    # ---- many runs

    cells = (
        Cells("spikes", 6, _count, right=True),
        Cells("causes", 10, _causes),
    )
    brief = Cells("spikes", 0, _count, right=True)

    def totals(self, rows: RunRows) -> Totals:
        counts = [row["spikes"] for row in rows if row["spikes"] is not None]
        causes = Counter(cause for row in rows for cause in row["spike_causes"] or ())
        return {
            "spikes": sum(counts),
            "runs_with": sum(count > 0 for count in counts),
            "runs": len(counts),
            "causes": {str(cause): count for cause, count in causes.most_common()},
        }

    def totals_text(self, totals: Totals) -> Iterator[str]:
        of = many(totals["runs"], "run")
        if totals["spikes"]:
            runs = f"{totals['spikes']} in {totals['runs_with']} of {of}"
            yield f"loss spikes: {runs}; causes: {counted(totals['causes'])}"
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
