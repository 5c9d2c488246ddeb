"""How far a run's embeddings are from where they started, with and without a rotation."""

from collections.abc import Iterator
from typing import Any

from dynascope.analysis.geometry import EmbeddingDistance, Of, travelled
from dynascope.findings.kind import Cells, Kind, Listing, RunRow, RunRows, Totals
from dynascope.findings.medians import cell, medians, medians_text, number
from dynascope.plain import plain
from dynascope.run import Run

_COLUMNS: dict[Of, str] = {
    "embeddings": "embeddings_travelled",
    "token": "tokens_travelled",
    "position": "positions_travelled",
}
_BOTH = ("embeddings_travelled", "embeddings_travelled_rotated")
_NAMES = {"embeddings": "E and P", "token": "E", "position": "P"}
Distances = dict[Of, EmbeddingDistance]


def _cells(row: RunRow) -> str:
    return number(row[_BOTH[0]])


def _rotated(row: RunRow) -> str:
    return number(row[_BOTH[1]])


class TravelledKind(Kind[Distances]):
    title = "Embeddings from the start to epoch {epoch}"
    of_epoch = True
    parts = ("travelled",)

    def make(self, run: Run, epoch: int = -1) -> Distances:
        return {of: travelled(run, 0, epoch, of) for of in _COLUMNS}

    def row(self, found: Distances) -> dict[str, Any]:
        row = {}
        for of, column in _COLUMNS.items():
            row[column] = found[of].relative_before
            row[f"{column}_rotated"] = found[of].relative
        return row

    def note(self, found: Distances) -> str | None:
        nothing = [_NAMES[of] for of in found if not found[of].norm]
        return f"the length at the start is 0 ({', '.join(nothing)})" if nothing else None

    def text(self, found: Distances) -> Iterator[str | Listing]:
        measures = {
            "of": [_NAMES[of] for of in found],
            "distance": [number(each.before) for each in found.values()],
            "over length": [number(plain(each.relative_before)) for each in found.values()],
            "rotated": [number(plain(each.relative)) for each in found.values()],
        }
        yield "distance from the start"
        yield Listing(measures, "over length: at the start; rotated: after the best rotation")

    def json(self, found: Distances) -> dict[str, Any]:
        told = {
            of: {**plain(each), "relative_before": each.relative_before, "relative": each.relative}
            for of, each in found.items()
        }
        return {"travelled": told}

    # ---- many runs

    cells = (
        Cells("travelled", 6, _cells, True, "of E and P, over their length at the start"),
        Cells("rotated", 8, _rotated, True, "the same after the best rotation"),
    )
    brief = cells[0]

    def totals(self, rows: RunRows) -> Totals:
        return medians(rows, dict.fromkeys(_BOTH, cell))

    def totals_text(self, totals: Totals) -> Iterator[str]:
        what = "distance of the embeddings from their start, over their length"
        yield from medians_text(what, totals[_BOTH[0]])
        yield from medians_text("... after the best rotation", totals[_BOTH[1]])


KIND = TravelledKind()
