"""The learning rate of a run against the shortest vector that is normalised."""

from collections.abc import Iterator
from typing import Any

from dynascope.analysis.step_over_length import StepOverLength, step_over_length
from dynascope.findings.kind import Cells, Kind, Listing, RunRow, RunRows, Totals
from dynascope.findings.medians import cell, medians, medians_text, number
from dynascope.findings.words import many
from dynascope.plain import plain
from dynascope.run import Run

_END, _MOST, _UNSAFE = "step_over_length", "step_over_length_most", "unsafe_epochs"


def _end(row: RunRow) -> str:
    return number(row[_END])


def _most(row: RunRow) -> str:
    return number(row[_MOST])


class StepOverLengthKind(Kind[StepOverLength]):
    title = "Learning rate over the shortest vector"
    parts = ("step_over_length",)

    def make(self, run: Run, epoch: int = -1) -> StepOverLength:
        return step_over_length(run)

    def row(self, found: StepOverLength) -> dict[str, Any]:
        return {
            _END: found.ratio,
            _MOST: found.most,
            "step_over_length_most_epoch": found.most_epoch,
            _UNSAFE: found.unsafe_epochs,
            "shortest_embedding": found.shortest_embedding,
            "shortest_sequence": found.shortest_sequence,
        }

    def note(self, found: StepOverLength) -> str | None:
        told = []
        if plain(found.ratio) is None or (found.most is not None and plain(found.most) is None):
            told.append("a vector of length 0 has no ratio")
        if found.most is None:
            told.append("there is no epoch whose shortest vectors were recorded")
        return ", and ".join(told) or None

    def text(self, found: StepOverLength) -> Iterator[str | Listing]:
        yield (
            f"at the end {number(plain(found.ratio))}: the shortest E + P has length "
            f"{number(found.shortest_embedding)}, the shortest sequence embedding "
            f"{number(found.shortest_sequence)}"
        )
        if found.most is not None:
            epochs = many(found.unsafe_epochs or 0, "epoch")
            most = number(plain(found.most))
            yield f"at most {most}, in epoch {found.most_epoch}; 1 or more in {epochs}"

    def json(self, found: StepOverLength) -> dict[str, Any]:
        return {"step_over_length": found}

    # ---- many runs

    cells = (
        Cells("lr/length", 6, _end, True, "learning rate over the shortest vector, at the end"),
        Cells("at most", 7, _most, True, "the largest of an epoch"),
    )
    brief = cells[1]

    def totals(self, rows: RunRows) -> Totals:
        unsafe = [row[_UNSAFE] for row in rows if row[_UNSAFE] is not None]
        return {
            **medians(rows, dict.fromkeys((_END, _MOST), cell)),
            "unsafe_runs": sum(count > 0 for count in unsafe),
            "runs": len(unsafe),
        }

    def totals_text(self, totals: Totals) -> Iterator[str]:
        yield from medians_text("learning rate over the shortest vector, at the end", totals[_END])
        yield from medians_text("... the largest of an epoch", totals[_MOST])
        if totals["runs"]:
            runs = f"{totals['unsafe_runs']} of {many(totals['runs'], 'run')}"
            yield f"the learning rate reached the length of the shortest vector in {runs}"


KIND = StepOverLengthKind()
