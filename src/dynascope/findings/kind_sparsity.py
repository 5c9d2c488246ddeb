"""How many of the feed-forward's activations are next to nothing, for limits a decade apart."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from dynascope.analysis.sparsity import Sparsity, run_sparsity
from dynascope.analysis.thresholds import SPARSITY_DECADES
from dynascope.findings.kind import Cells, Kind, Listing, RunRow, RunRows, Totals
from dynascope.findings.medians import cell, medians, medians_text
from dynascope.number_text import percent
from dynascope.run import Run


def _spelt(eps: float) -> str:
    return f"{eps:.10f}".rstrip("0").rstrip(".")


_COLUMNS = {_spelt(eps): f"sparsity_{_spelt(eps).replace('.', '_')}" for eps in SPARSITY_DECADES}
_TOLD = ("0.001", "0.01", "0.1", "1")  # where solved and other runs differ, says the paper


def _share(column: str, row: RunRow) -> str:
    return percent(row[column])


class SparsityKind(Kind[Sparsity]):
    title = "Sparsity after epoch {epoch}"
    of_epoch = True
    parts = ("sparsity",)

    def make(self, run: Run, epoch: int = -1) -> Sparsity:
        return run_sparsity(run, epoch)

    def row(self, found: Sparsity) -> dict[str, Any]:
        return dict(zip(_COLUMNS.values(), found.share, strict=True))

    def text(self, found: Sparsity) -> Iterator[str | Listing]:
        yield f"hidden activations of {found.sequences} sequences that are smaller than eps"
        shares = [percent(share) for share in found.share]
        yield Listing({"eps": list(_COLUMNS), "share": shares}, "share: of all units and sequences")

    def json(self, found: Sparsity) -> dict[str, Any]:
        return {"sparsity": found}

    # ---- many runs

    cells = tuple(
        Cells(f"< {eps}", 6 + i, partial(_share, _COLUMNS[eps]), True, "sparsity" * (i == 0))
        for i, eps in enumerate(_TOLD)
    )
    brief = cells[1]

    def totals(self, rows: RunRows) -> Totals:
        return medians(rows, dict.fromkeys(_COLUMNS.values(), cell))

    def totals_text(self, totals: Totals) -> Iterator[str]:
        for eps in _TOLD:
            yield from medians_text(
                f"hidden activations below {eps}", totals[_COLUMNS[eps]], percent
            )


KIND = SparsityKind()
