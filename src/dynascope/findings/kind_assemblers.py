"""How heavy and how alike the assemblers of a run are."""

from collections.abc import Iterator
from typing import Any

from dynascope.analysis.assemblers import Assemblers, assemblers
from dynascope.analysis.checks import sound_epoch, sound_parameters
from dynascope.findings.kind import Cells, Kind, Listing, RunRow, RunRows, Totals
from dynascope.findings.medians import cell, medians, medians_text, number
from dynascope.run import Run

_RATIO, _CORRELATION = "heaviest_assembler_ratio", "assembler_correlation"


def _ratio(row: RunRow) -> str:
    return number(row[_RATIO])


def _correlation(row: RunRow) -> str:
    return number(row[_CORRELATION])


class AssemblersKind(Kind[Assemblers]):
    title = "Assemblers after epoch {epoch}"
    of_epoch = True
    parts = ("assemblers",)

    def make(self, run: Run, epoch: int = -1) -> Assemblers:
        return assemblers(sound_parameters(run, sound_epoch(run, epoch)), run.config)

    def row(self, found: Assemblers) -> dict[str, Any]:
        return {
            "heaviest_assembler": found.heaviest,
            _RATIO: found.heaviness,
            _CORRELATION: found.correlation,
            "assembler_correlation_most": found.largest,
        }

    def note(self, found: Assemblers) -> str | None:
        told = [] if found.heaviness is not None else ["the median length of assemblers is 0"]
        told += [] if found.pair is not None else ["there are no two assemblers to compare"]
        return ", and ".join(told) or None

    def text(self, found: Assemblers) -> Iterator[str | Listing]:
        ratio = number(found.heaviness)
        yield f"the heaviest is that of unit {found.heaviest}: {ratio} times the median length"
        if found.pair is not None:
            yield f"mean cosine of two, weighted by their lengths: {number(found.correlation)}"
            first, second = found.pair
            largest = number(found.largest)
            yield f"largest product: units {first} and {second}, {largest} of the heaviest's square"

    def json(self, found: Assemblers) -> dict[str, Any]:
        return {"assemblers": found}

    # ---- many runs

    cells = (
        Cells("heaviest", 6, _ratio, True, "length of the heaviest assembler over the median"),
        Cells("cosine", 8, _correlation, True, "mean cosine of assemblers, weighted by length"),
    )
    brief = cells[0]

    def totals(self, rows: RunRows) -> Totals:
        return medians(rows, dict.fromkeys((_RATIO, _CORRELATION), cell))

    def totals_text(self, totals: Totals) -> Iterator[str]:
        yield from medians_text("heaviest assembler over the median length", totals[_RATIO])
        yield from medians_text("mean cosine of assemblers", totals[_CORRELATION])


KIND = AssemblersKind()
