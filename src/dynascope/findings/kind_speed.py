"""How fast a run's weights move at the drops of its loss, against around them."""

from collections.abc import Iterator
from typing import Any

from dynascope.analysis.parts import ALL
from dynascope.analysis.speed import Speed, speed
from dynascope.findings.kind import Cells, Kind, Listing, RunRow, RunRows, Totals
from dynascope.findings.medians import at, medians, medians_text, number, numbers
from dynascope.findings.parts_of_model import listing, without_holes, zero_before
from dynascope.findings.words import many
from dynascope.plain import plain
from dynascope.run import Run

_FED = "speed_at_drops_feed_forward"


def _all(row: RunRow) -> str:
    return numbers(row["speed_at_drops"])


def _fed(row: RunRow) -> str:
    return numbers(row[_FED])


class SpeedKind(Kind[Speed]):
    title = "Speed of the weights"
    parts = ("speed",)

    def make(self, run: Run, epoch: int = -1) -> Speed:
        return speed(run)

    def row(self, found: Speed) -> dict[str, Any]:
        return {
            "speed_median": found.overall[ALL],
            **without_holes("speed_at_drops", found.at_drops),
            "speed_resolution": found.resolution,
        }

    def note(self, found: Speed) -> str | None:
        nothing = (
            []
            if found.overall[ALL] == found.overall[ALL]
            else ["there is no epoch that moved anything"]
        )
        told = nothing + zero_before(found.at_drops, "no movement to compare with around a drop")
        return ", and ".join(told) or None

    def text(self, found: Speed) -> Iterator[str | Listing]:
        resolution = many(found.resolution, "epoch")
        yield f"movement per epoch: median {number(plain(found.overall[ALL]))}"
        if found.resolution > 1:
            yield f"measured between weights that are {resolution} apart"
        if found.drops:
            epochs = [drop.epoch for drop in found.drops]
            yield listing("drop at", epochs, found.at_drops, "speed in a drop, over that around it")
        else:
            yield "no drops"

    def json(self, found: Speed) -> dict[str, Any]:
        return {"speed": {**plain(found), "at_drops": plain(found.at_drops)}}

    # ---- many runs

    cells = (
        Cells(
            "speed at drops", 7, _all, meaning="of the weights in each drop, over that around it"
        ),
        Cells("feed-forward", 9, _fed, meaning="the same of the feed-forward"),
    )
    brief = cells[0]

    def totals(self, rows: RunRows) -> Totals:
        return {
            name: medians(rows, {"speed_at_drops": at(place), _FED: at(place)})
            for place, name in enumerate(_DROPS)
        }

    def totals_text(self, totals: Totals) -> Iterator[str]:
        for drop in _DROPS:
            for column, what in (("speed_at_drops", "weights"), (_FED, "feed-forward")):
                told = f"speed of the {what} in the {drop} drop, over that around it"
                yield from medians_text(told, totals[drop][column])


_DROPS = ("first", "second")
KIND = SpeedKind()
