"""Whether gradients grow in tandem with the spikes and drops of a run's loss."""

from collections.abc import Iterator
from typing import Any

from dynascope.analysis.tandem import GradientTandem, tandem
from dynascope.findings.kind import Cells, Kind, Listing, RunRow, RunRows, Totals
from dynascope.findings.medians import at, cell, medians, medians_text, number, numbers
from dynascope.findings.parts_of_model import listing, without_holes, zero_before
from dynascope.plain import plain
from dynascope.run import Run


def _correlation(row: RunRow) -> str:
    return number(row["tandem_correlation"])


class TandemKind(Kind[GradientTandem]):
    title = "Gradients in tandem with the loss"
    parts = ("tandem",)

    def make(self, run: Run, epoch: int = -1) -> GradientTandem:
        return tandem(run)

    def row(self, found: GradientTandem) -> dict[str, Any]:
        changes = found.changes
        return {
            "tandem_correlation": changes and changes.correlation,
            "tandem_lag": changes and changes.lag,
            "tandem_at_spikes": changes and changes.around_spikes,
            **without_holes("gradient_at_drops", found.at_drops),
            **without_holes("gradient_at_spikes", found.at_spikes),
        }

    def note(self, found: GradientTandem) -> str | None:
        told = [] if found.changes else ["no correlation, as epochs are too few or do not differ"]
        told += zero_before(found.at_drops, "no gradient to compare with around a drop")
        told += zero_before(found.at_spikes, "no gradient to compare with before a spike")
        return ", and ".join(told) or None

    def text(self, found: GradientTandem) -> Iterator[str | Listing]:
        if found.changes is not None:
            where = "around the spikes" if found.changes.around_spikes else "over the whole run"
            correlation = number(found.changes.correlation)
            yield f"changes of loss and gradient norm, rank correlation {where}: {correlation}"
        drops, peaks = [drop.epoch for drop in found.drops], [s.peak for s in found.spikes]
        if drops:
            yield listing(
                "drop at", drops, found.at_drops, "gradient norm in a drop, over around it"
            )
        if peaks:
            yield listing(
                "spike at", peaks, found.at_spikes, "largest norm in a spike, over before"
            )
        if not drops and not peaks:
            yield "no drops and no spikes"

    def json(self, found: GradientTandem) -> dict[str, Any]:
        return {"tandem": plain(found)}

    # ---- many runs

    cells = (
        Cells("tandem", 6, _correlation, True, "rank correlation of loss and gradient norm"),
        Cells(
            *("grad at drops", 8, lambda row: numbers(row["gradient_at_drops"])),
            meaning="gradient norm in each drop, over that around it",
        ),
    )
    brief = cells[0]

    def totals(self, rows: RunRows) -> Totals:
        first = {"gradient_at_drops": at(0), "gradient_at_spikes": at(0)}
        return medians(rows, {"tandem_correlation": cell, **first})

    def totals_text(self, totals: Totals) -> Iterator[str]:
        changes = "changes of loss and gradient norm, rank correlation"
        yield from medians_text(changes, totals["tandem_correlation"])
        drop = "gradient norm in the first drop, over that around it"
        yield from medians_text(drop, totals["gradient_at_drops"])
        spike = "gradient norm in the first spike, over that before"
        yield from medians_text(spike, totals["gradient_at_spikes"])


KIND = TandemKind()
