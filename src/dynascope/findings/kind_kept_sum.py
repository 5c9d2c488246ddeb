"""The sum that a run's circuit keeps: what its embedding still knows of the tokens."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from dynascope.analysis.kept_sum import KeptSum, check_summed, kept_sum
from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.analysis.thresholds import SUM_SHARE
from dynascope.catalog import SUM_KINDS
from dynascope.findings.kind import Cells, Kind, Listing, RunRow, RunRows, Totals
from dynascope.findings.words import counted, is_solved, share, share_in_words
from dynascope.number_text import percent
from dynascope.run import Run


def _sum(row: RunRow) -> str:
    return row["sum_kind"] or "-"


def _values(row: RunRow) -> str:
    kept = row["sum_kind"] not in (None, "unexplained")
    return str(row["sum_values"]) if kept else "-"


class SumKind(Kind[KeptSum | None]):
    title = "The sum that it keeps after epoch {epoch}"
    of_epoch = True
    parts = ("sum",)
    story_part = "kept"

    def make(self, run: Run, epoch: int = -1) -> KeptSum | None:
        check_summed(run)
        weights = run.parameters(last_sound_epoch(run) if epoch == -1 else epoch)
        return kept_sum(weights, run.config)

    def row(self, found: KeptSum | None) -> dict[str, Any]:
        if found is None:
            return {}
        return {
            "sum_kind": found.kind,
            "sum_formula": found.formula(),
            "sum_weights": found.weights,
            "sum_share": found.share,
            "sum_corrected": found.corrected,
            "sum_values": found.values,
            "sum_apart": found.apart,
            "sum_by": found.by,
        }

    def text(self, found: KeptSum | None) -> Iterator[str | Listing]:
        if found is None:
            yield "none: its sequence embeddings do not vary"
            return
        yield found.describe()
        if found.kind in _WHY_RIGHT:
            yield _WHY_RIGHT[found.kind]
        reached = ", ".join(f"{name} {percent(best)}" for name, best in found.best.items())
        yield f"corrected for the number of values: {reached} ({percent(SUM_SHARE)} is enough)"

    def json(self, found: KeptSum | None) -> dict[str, Any]:
        if found is None:
            return {"sum": None}
        told = {
            "formula": found.formula(),
            "told": found.describe(),
            "holds": found.holds,
            "margin": found.margin,
            "culprits": found.culprits,
        }
        return {"sum": {**self.row(found), **told, "best": dict(found.best)}}

    # ---- many runs

    cells = (
        Cells("sum", 2, _sum, meaning="which sum of the tokens the embedding keeps"),
        Cells("values", 7, _values, True, "that this sum has"),
    )
    brief = Cells("sum", 0, _sum)

    def totals(self, rows: RunRows) -> Totals:
        named: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        for row in rows:
            if row["sum_kind"]:
                named[is_solved(row)][row["sum_kind"]] += 1
        explained = {solved: _explained(names) for solved, names in named.items()}
        return {
            "solved": _in_order(named[True]),
            "other": _in_order(named[False]),
            "explained": share(explained[True], sum(named[True].values())),
        }

    def totals_text(self, totals: Totals) -> Iterator[str]:
        if totals["explained"]["of"]:
            solved = share_in_words(totals["explained"], " that solve the task")
            yield f"a sum of the tokens explains {solved}: {counted(totals['solved'])}"
        if totals["other"]:
            yield f"sums of the others: {counted(totals['other'])}"

    def introduction(self, totals: Totals) -> Iterator[str]:
        of = totals["explained"]
        if of["of"]:
            yield (
                f"{of['count']} of the {of['of']} that solve the task keep a sum of the tokens: "
                f"{counted(totals['solved'])}."
            )


_WHY_RIGHT = {
    "signed": "a sign changes no remainder: -1 is 1 modulo 2 (of more tokens, a shift is undone)",
    "folded": "folded tokens leave no trace in the remainder: 2 is 0 modulo 2",
}


def _explained(names: Counter[str]) -> int:
    return sum(count for name, count in names.items() if name != "unexplained")


def _in_order(names: Counter[str]) -> dict[str, int]:
    return {kind: names[kind] for kind in SUM_KINDS if names[kind]}


KIND = SumKind()
