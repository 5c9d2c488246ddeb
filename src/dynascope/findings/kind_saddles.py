"""The plateaus of a run: whether they are saddles, and how it left them."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from dynascope.findings.curvature_json import plateau_json
from dynascope.findings.kind import Cells, Kind, Listing, RunRow, RunRows, Totals
from dynascope.findings.medians import at, medians, medians_text, numbers
from dynascope.findings.words import many
from dynascope.number_text import MISSING
from dynascope.run import Run
from dynascope.theory.escape import Alignment, Escape
from dynascope.theory.saddles import Plateau, SaddleVerdict, saddles

Plateaus = tuple[Plateau, ...]
_RATIO, _ESCAPE, _CHANCE = "plateau_gradient_ratio", "plateau_escape_five", "plateau_escape_chance"
_IN_A_CELL: dict[SaddleVerdict, str] = {
    "fitted": "fitted",
    "slope": "slope",
    "flat or minimum": "flat",
    "saddle, no drop follows": "saddle",
    "saddle, escaped along negative directions": "saddle down",
    "saddle, escaped otherwise": "saddle aside",
}


def _verdicts(row: RunRow) -> str:
    verdicts = row["plateau_verdicts"]
    if verdicts is None:
        return MISSING
    return ", ".join(_IN_A_CELL.get(verdict, str(verdict)) for verdict in verdicts) or "none"


def _escapes(row: RunRow) -> str:
    return numbers(row[_ESCAPE])


def _share(way: Escape | None, share: Callable[[Alignment], float]) -> float | None:
    return None if way is None else share(way.deciding)


class SaddlesKind(Kind[Plateaus]):
    title = "Plateaus"
    parts = ("saddles",)

    def make(self, run: Run, epoch: int = -1) -> Plateaus:
        return saddles(run, threads=1, progress=False)  # runs are shared out, not their plateaus

    def row(self, found: Plateaus) -> dict[str, Any]:
        return {
            "plateau_epochs": [each.epoch for each in found],
            "plateau_verdicts": [each.verdict for each in found],
            _RATIO: [each.gradient_ratio for each in found],
            "plateau_negative": [each.negative for each in found],
            _ESCAPE: [_share(each.escape, lambda way: way.escape.five) for each in found],
            _CHANCE: [_share(each.escape, lambda way: way.chance.five) for each in found],
            "plateau_exit_five": [_share(each.exit, lambda way: way.escape.five) for each in found],
        }

    def text(self, found: Plateaus) -> Iterator[str | Listing]:
        for each in found:
            yield each.describe()

    def json(self, found: Plateaus) -> dict[str, Any]:
        return {"saddles": [plateau_json(each) for each in found]}

    # ---- many runs

    cells = (
        Cells(
            *("plateaus", 6, _verdicts),
            meaning="what each is; a saddle left down: along negative directions; aside: otherwise",
        ),
        Cells("down", 8, _escapes, meaning="share of the way off each along the five lowest"),
    )
    brief = cells[0]

    def totals(self, rows: RunRows) -> Totals:
        known = [row["plateau_verdicts"] for row in rows if row["plateau_verdicts"] is not None]
        verdicts = Counter(str(verdict) for each in known for verdict in each)
        return {
            "runs": len(known),
            "plateaus": verdicts.total(),
            "verdicts": dict(verdicts.most_common()),
            **medians(rows, dict.fromkeys((_RATIO, _ESCAPE, _CHANCE), at(0))),
        }

    def totals_text(self, totals: Totals) -> Iterator[str]:
        where = f"plateaus: {totals['plateaus']} in {many(totals['runs'], 'run')}"
        each = "; ".join(f"{count} {verdict}" for verdict, count in totals["verdicts"].items())
        yield f"{where}: {each}" if each else where
        least = "gradient in the first plateau, over the largest in the drop that follows"
        yield from medians_text(least, totals[_RATIO])
        way = "way off the first plateau, share along the five most negative directions"
        yield from medians_text(way, totals[_ESCAPE])
        yield from medians_text("... of a random way", totals[_CHANCE])


KIND = SaddlesKind()
