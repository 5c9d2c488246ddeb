"""When a run found the sum that it ends with, and in which order it clustered and fitted."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from dynascope.analysis.sum_progress import DatedRise, SumProgress, sum_progress
from dynascope.analysis.thresholds import LEAD_PAIRS
from dynascope.findings.kind import Cells, Kind, Listing, RunRow, RunRows, Totals
from dynascope.findings.words import share, share_in_words
from dynascope.plain import plain
from dynascope.run import Run


def _lead(row: RunRow) -> str:
    return "-" if row["sum_lead"] is None else f"{row['sum_lead']:+d}"


def _crossings(rise: DatedRise, name: str) -> dict[str, int | None]:
    return {
        f"{name}_{height}{suffix}": crossing and getattr(crossing, which)
        for height, crossing in (("half", rise.half), ("nine_tenths", rise.nine_tenths))
        for suffix, which in (("", "first"), ("_last", "last"))
    }


class ProgressKind(Kind[SumProgress | None]):
    title = "Towards its sum"
    parts = ("progress",)
    story_part = "progress"

    def make(self, run: Run, epoch: int = -1) -> SumProgress | None:
        return sum_progress(run)

    def row(self, found: SumProgress | None) -> dict[str, Any]:
        if found is None:
            return {}
        leads = {lead[:2]: lead.epochs for lead in found.leads}
        return {
            **_crossings(found.clustering, "sum"),
            **_crossings(found.fitting, "accuracy"),
            "sum_lead": found.lead,
            "sum_leads": [leads[pair] for pair in LEAD_PAIRS if pair in leads],
        }

    def text(self, found: SumProgress | None) -> Iterator[str | Listing]:
        yield "none: its sequence embeddings do not vary" if found is None else found.describe()

    def json(self, found: SumProgress | None) -> dict[str, Any]:
        if found is None:
            return {"progress": None}
        rises = {"clustering": plain(found.clustering), "fitting": plain(found.fitting)}
        leads = [lead._asdict() for lead in found.leads]
        return {"progress": {**rises, "leads": leads, "told": found.describe()}}

    # ---- many runs

    cells = (Cells("sum lead", 8, _lead, True, "epochs from half of clustering to half accuracy"),)
    brief = None

    def totals(self, rows: RunRows) -> Totals:
        dated = [row["sum_leads"] for row in rows if row["sum_leads"]]
        halves = [leads[0] for leads in dated]
        strict = [leads[-1] for leads in dated if len(leads) == len(LEAD_PAIRS)]
        return {
            "clustered_first": share(sum(lead > 0 for lead in halves), len(halves)),
            "clustered_first_strictly": share(sum(lead > 0 for lead in strict), len(strict)),
            "together": sum(lead == 0 for lead in halves),
            "median_lead": float(np.median(halves)) if halves else None,
        }

    def totals_text(self, totals: Totals) -> Iterator[str]:
        halves, strict = totals["clustered_first"], totals["clustered_first_strictly"]
        if not halves["of"]:
            yield "clustering and fitting: no run did both"
            return
        lead = f"; median lead {totals['median_lead']:g} epochs"
        did = share_in_words(halves, " that did both")
        yield (
            "half of clustering, by the run's own sum, came before half of the accuracy in "
            f"{did}{lead}"
        )
        if strict["of"]:
            did = share_in_words(strict)
            yield f"nine tenths of it came before a tenth of the accuracy in {did}"

    def introduction(self, totals: Totals) -> Iterator[str]:
        first = totals["clustered_first"]
        if first["of"]:
            yield (
                f"In {first['count']} of the {first['of']} runs in which both rose, sequence "
                "embeddings were halfway to their sum before the accuracy was halfway up."
            )


KIND = ProgressKind()
