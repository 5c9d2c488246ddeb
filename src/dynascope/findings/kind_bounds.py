"""The bounds on the gradient along a run, and its closed forms against the kernel's.

The paper's bound is about frozen embeddings, among other things: of other runs its columns are
null. The others hold in every setting; the gradient is that over q, V, W, U (and b1, b2).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.findings.kind import Cells, Kind, Listing, RunRow, RunRows, Totals
from dynascope.findings.medians import cell, medians, medians_text, number
from dynascope.findings.words import many
from dynascope.frozen_weights import frozen_mask
from dynascope.number_text import MISSING
from dynascope.plain import plain
from dynascope.run import Run
from dynascope.theory.bounds import BoundCurves, BoundName, bounds_along

_EMBEDDINGS = ("token_embedding", "position_embedding")
_COLUMNS: dict[BoundName, str] = {
    "paper": "paper_bound",
    "corrected": "bound",
    "tight": "tight_bound",
}
_DIFFERENCE = "closed_form_difference"


@dataclass(frozen=True, eq=False)
class BoundsOfRun:
    """The bounds along a run, and why the paper's claims nothing about it ("": it does)."""

    curves: BoundCurves
    outside: str


def _outside(run: Run, curves: BoundCurves) -> str:
    """Why a run is not within the paper's theory."""
    masks = frozen_mask(run.config.training.frozen, run.config.shapes)
    trained = [name for name in _EMBEDDINGS if not masks[name].all()]
    frozen = f"about frozen embeddings, but {' and '.join(trained)} are trained" if trained else ""
    return ", and ".join(why for why in (curves.paper_why_not, frozen) if why)


def _bound_row(curves: BoundCurves, name: BoundName) -> tuple[int, float | None, float | None]:
    """Failures; median and least ratio, None where there is no gradient."""
    ratios = curves.over_gradient(name)
    if not len(ratios):
        return 0, None, None
    return len(curves.fails(name)), float(np.median(ratios)), float(ratios.min())


def _largest(differences: npt.NDArray[Any]) -> float:
    return float(differences.max())


def _paper_fails(row: RunRow) -> str:
    fails = row["paper_bound_fails"]
    return MISSING if fails is None else f"{fails}/{row['bounds_epochs']}"


def _ratio(row: RunRow) -> str:
    return number(row["bound_over_gradient"])


def _difference(row: RunRow) -> str:
    return number(row[_DIFFERENCE])


class BoundsKind(Kind[BoundsOfRun]):
    title = "Bounds on the gradient along the run"
    parts = ("bounds",)

    def make(self, run: Run, epoch: int = -1) -> BoundsOfRun:
        curves = bounds_along(run)
        return BoundsOfRun(curves, _outside(run, curves))

    def row(self, found: BoundsOfRun) -> dict[str, Any]:
        row: dict[str, Any] = {"bounds_epochs": len(found.curves.epochs)}
        for name, column in _COLUMNS.items():
            covered = name != "paper" or not found.outside
            told = _bound_row(found.curves, name) if covered else (None, None, None)
            keys = (f"{column}_fails", f"{column}_over_gradient", f"{column}_least")
            row |= zip(keys, told, strict=True)
        return {**row, _DIFFERENCE: _largest(found.curves.closed_form_difference)}

    def note(self, found: BoundsOfRun) -> str | None:
        curves, told = found.curves, []
        if found.outside:
            told.append(f"the paper's bound does not cover it: {found.outside}")
        if not (curves.gradient_norm > 0).any():
            told.append("there is no gradient to compare with")
        elif not all(np.isfinite(np.median(curves.over_gradient(name))) for name in _COLUMNS):
            told.append("where a norm has no derivative, a bound is infinite")
        if not np.isfinite(_largest(curves.closed_form_difference)):
            told.append("the kernel's gradient is 0 or overflows where the closed form does not")
        return ", and ".join(told) or None

    def text(self, found: BoundsOfRun) -> Iterator[str | Listing]:
        yield found.curves.describe()
        largest = number(plain(_largest(found.curves.closed_form_difference)))
        yield f"closed forms and the kernel's gradient: relative difference at most {largest}"

    def json(self, found: BoundsOfRun) -> dict[str, Any]:
        return {"bounds": {**plain(found.curves), "outside": found.outside}}

    # ---- many runs

    cells = (
        Cells("paper fails", 6, _paper_fails, True, "epochs at which its bound is too low/all"),
        Cells("bound", 7, _ratio, True, "the corrected one over the gradient, the median"),
        Cells("closed form", 8, _difference, True, "largest relative difference to the kernel's"),
    )
    brief = cells[1]

    def totals(self, rows: RunRows) -> Totals:
        told = [f"{column}_over_gradient" for column in _COLUMNS.values()]
        failures = {name: _failures(rows, f"{column}_fails") for name, column in _COLUMNS.items()}
        return {**medians(rows, dict.fromkeys((*told, _DIFFERENCE), cell)), "fails": failures}

    def totals_text(self, totals: Totals) -> Iterator[str]:
        for name, column in _COLUMNS.items():
            which = f"the {name} bound" if name != "paper" else "the paper's bound"
            yield from medians_text(f"{which} over the gradient", totals[f"{column}_over_gradient"])
            fails = totals["fails"][name]
            if fails["of"]:
                where = f"{fails['epochs']} of {many(fails['of'], 'epoch')}"
                yield f"{which} is below the gradient at {where}, in {many(fails['runs'], 'run')}"
        difference = "closed forms and the kernel's gradient, largest relative difference"
        yield from medians_text(difference, totals[_DIFFERENCE])


def _failures(rows: RunRows, column: str) -> Totals:
    """At how many epochs, of how many that were looked at, and in how many runs."""
    known = [row for row in rows if row[column] is not None]
    return {
        "epochs": sum(row[column] for row in known),
        "of": sum(row["bounds_epochs"] for row in known),
        "runs": sum(row[column] > 0 for row in known),
    }


KIND = BoundsKind()
