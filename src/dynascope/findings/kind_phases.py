"""In which phases a run learnt: drops of its loss, clustering before fitting."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from dynascope.analysis.phases import Phases, phases
from dynascope.analysis.thresholds import DROP_LEAST
from dynascope.findings.kind import Cells, Kind, Listing, RunRow, RunRows, Totals
from dynascope.findings.words import and_more, many, share, share_in_words
from dynascope.plain import plain
from dynascope.run import Run

_MOST, _MOST_BRIEF = 3, 2  # drops that a cell names


def _drops(row: RunRow, most: int) -> str:
    """Where the loss drops; a question mark where two methods do not agree on it."""
    drops = row["drops"]
    if drops is None:
        return "-"
    doubt = " ?" if row["drops_agree"] is False else ""
    return (" ".join(map(str, drops[:most])) or "none") + and_more(drops, most) + doubt


def _lead(row: RunRow) -> str:
    return "-" if row["lead"] is None else f"{row['lead']:+d}"


class PhasesKind(Kind[Phases]):
    title = "Phases"
    parts = ("phases",)

    def make(self, run: Run, epoch: int = -1) -> Phases:
        return phases(run)

    def row(self, found: Phases) -> dict[str, Any]:
        return {
            "drops": [drop.epoch for drop in found.by_slope],
            "drops_agree": found.agree if found.measured_to + 1 >= DROP_LEAST else None,
            "clustered_epoch": found.clustered_epoch,
            "fitted_epoch": found.fitted_epoch,
            "lead": found.lead,
        }

    def text(self, found: Phases) -> Iterator[str | Listing]:
        yield from found.describe().splitlines()

    def json(self, found: Phases) -> dict[str, Any]:
        return {"phases": {**plain(found), "told": found.describe()}}

    # ---- many runs

    cells = (
        Cells("drops", 5, lambda row: _drops(row, _MOST)),
        Cells("lead", 8, _lead, True, "epochs from clustering to fitting"),
    )
    brief = Cells("drops at", 0, lambda row: _drops(row, _MOST_BRIEF), right=True)

    def legend(self, rows: RunRows, short: bool = False) -> str:
        """What the signs in the cells of drops mean, of those that are there."""
        most = _MOST_BRIEF if short else _MOST
        several = any(len(row.get("drops") or ()) > most for row in rows)
        doubted = any(row.get("drops_agree") is False for row in rows)
        told = ["+1: one more"] if several else []
        told += ["?: two methods disagree"] if doubted else []
        return f"drops of the loss: {', '.join(told)}" if told else ""

    def totals(self, rows: RunRows) -> Totals:
        judged = [row["drops_agree"] for row in rows if row["drops_agree"] is not None]
        leads = [
            row["fitted_epoch"] - row["clustered_epoch"]
            for row in rows
            if row["fitted_epoch"] is not None and row["clustered_epoch"] is not None
        ]
        drops = Counter(len(row["drops"]) for row in rows if row["drops"] is not None)
        return {
            "drops": {str(count): runs for count, runs in sorted(drops.items())},
            "drops_agree": share(sum(judged), len(judged)),
            "clustered_first": share(sum(lead > 0 for lead in leads), len(leads)),
            "together": sum(lead == 0 for lead in leads),
            "median_lead": float(np.median(leads)) if leads else None,
        }

    def totals_text(self, totals: Totals) -> Iterator[str]:
        agree, first = totals["drops_agree"], totals["clustered_first"]
        if agree["of"]:
            yield f"drops of the loss: two methods agree in {share_in_words(agree)}"
        if first["of"]:
            lead = f"; median lead {totals['median_lead']:g} epochs"
            did = share_in_words(first, " that did both")
            yield f"clustering came before fitting in {did}{lead}"
        elif agree["of"]:
            yield "clustering and fitting: no run did both"

    def introduction(self, totals: Totals) -> Iterator[str]:
        first = totals["clustered_first"]
        if first["of"]:
            yield (
                f"In {first['count']} of the {first['of']} runs in which both rose, sequence "
                "embeddings clustered by the tokens that count before the accuracy rose."
            )

    def story(self, row: RunRow) -> tuple[int, str]:
        drops = len(row["drops"] or ())
        return int(drops >= 2), f"{many(drops, 'drop')} of the loss"


KIND = PhasesKind()
