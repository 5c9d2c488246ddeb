"""In which phases a run learnt: drops of its loss, clustering before fitting."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from dynascope.analysis.drops import METHODS
from dynascope.analysis.phases import Phases, phases_by_multisets
from dynascope.analysis.thresholds import DROP_LEAST
from dynascope.findings.kind import Cells, Kind, Listing, RunRow, RunRows, Totals
from dynascope.findings.words import and_more, many, share, share_in_words
from dynascope.plain import plain
from dynascope.run import Run

_MOST = 3  # drops that a cell names
ALL_VOTES = len(METHODS)


def _drop_epochs(row: RunRow) -> list[int] | None:
    """Where the loss drops; by slope in rows of a time when nothing else was known."""
    epochs: list[int] | None = row.get("drop_epochs")
    return row.get("drops") if epochs is None else epochs


def _drops(row: RunRow) -> str:
    """Where the loss drops; a question mark at a drop that not all methods see."""
    epochs = _drop_epochs(row)
    if epochs is None:
        return "-"
    votes = row["drop_votes"] or [ALL_VOTES] * len(epochs)
    drops = [f"{e}{'' if v == ALL_VOTES else '?'}" for e, v in zip(epochs, votes, strict=True)]
    return (" ".join(drops[:_MOST]) or "none") + and_more(drops, _MOST)


def _lead(row: RunRow) -> str:
    return "-" if row["lead"] is None else f"{row['lead']:+d}"


def _runs_by_count(rows: RunRows, column: str) -> dict[str, int]:
    """How many runs have how many drops."""
    counts = Counter(len(row[column]) for row in rows if row[column] is not None)
    return {str(count): runs for count, runs in sorted(counts.items())}


class PhasesKind(Kind[Phases]):
    title = "Phases"
    parts = ("phases",)
    story_part = "phases"

    def make(self, run: Run, epoch: int = -1) -> Phases:
        return phases_by_multisets(run)  # the rest is an analysis of its own, `progress`

    def row(self, found: Phases) -> dict[str, Any]:
        return {
            "drops": [drop.epoch for drop in found.by_slope],
            "drops_agree": found.agree if found.measured_to + 1 >= DROP_LEAST else None,
            "drop_epochs": [drop.epoch for drop in found.drops],
            "drop_votes": [drop.votes for drop in found.drops],
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
        Cells("drops", 5, _drops),
        Cells("lead", 8, _lead, True, "epochs from clustering to fitting"),
    )
    brief = None

    def legend(self, rows: RunRows) -> str:
        """What the signs in the cells of drops mean, of those that are there."""
        several = any(len(_drop_epochs(row) or ()) > _MOST for row in rows)
        doubted = any(set((row.get("drop_votes") or ())[:_MOST]) - {ALL_VOTES} for row in rows)
        told = ["+1: one more"] if several else []
        told += ["?: not all methods see it"] if doubted else []
        return f"drops of the loss: {', '.join(told)}" if told else ""

    def totals(self, rows: RunRows) -> Totals:
        judged = [row["drops_agree"] for row in rows if row["drops_agree"] is not None]
        leads = [
            row["fitted_epoch"] - row["clustered_epoch"]
            for row in rows
            if row["fitted_epoch"] is not None and row["clustered_epoch"] is not None
        ]
        votes = [vote for row in rows for vote in row["drop_votes"] or ()]
        return {
            "drops": _runs_by_count(rows, "drops"),
            "drops_agree": share(sum(judged), len(judged)),
            "drop_epochs": _runs_by_count(rows, "drop_epochs"),
            "drop_votes": share(votes.count(ALL_VOTES), len(votes)),
            "clustered_first": share(sum(lead > 0 for lead in leads), len(leads)),
            "together": sum(lead == 0 for lead in leads),
            "median_lead": float(np.median(leads)) if leads else None,
        }

    def totals_text(self, totals: Totals) -> Iterator[str]:
        agree, first = totals["drops_agree"], totals["clustered_first"]
        votes = totals["drop_votes"]
        if votes["of"]:
            yield f"drops of the loss: all methods see {share_in_words(votes, what='drop')}"
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
        drops = len(_drop_epochs(row) or ())
        return int(drops >= 2), f"{many(drops, 'drop')} of the loss"


KIND = PhasesKind()
