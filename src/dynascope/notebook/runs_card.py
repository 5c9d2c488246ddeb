"""Many runs: how they ended, and the first of them in rows, with the options that differ."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynascope.catalog import OPTIONS
from dynascope.config import column_name
from dynascope.findings.words import many, outcomes_in_words
from dynascope.notebook import drawing
from dynascope.notebook.card import (
    Card,
    CardColumn,
    and_more_line,
    cut,
    heading,
    number,
    plain_heading,
)
from dynascope.notebook.drawing import PixelScale
from dynascope.notebook.html_tags import Child, Html, lines, tag
from dynascope.notebook.run_card import accuracy_text
from dynascope.number_text import MISSING
from dynascope.run import SOLVED_ACCURACY, Runs

if TYPE_CHECKING:
    import pyarrow

Array = npt.NDArray[Any]

MOST_RUNS = 10
MOST_OPTIONS = 4
_SUMMARY = ["seed", "accuracy", "learning_epoch", "lowest_loss", "diverged", "tags", "note"]
_CURVES = ["test_accuracy", "train_accuracy"]
# What each option is, by its column; how a run is recorded makes no difference to what happens.
_OPTIONS = {
    column_name(name): option.meaning
    for name, option in OPTIONS.items()
    if option.section != "record"
}
_LONGEST_MARK = 80  # characters of tags or of a note in a row
_BINS = 20
_WIDTH, _HEIGHT, _BOTTOM = 220, 54, 14


def runs_card(runs: Runs) -> Card:
    card = Card(many(len(runs), "run") if len(runs) else "No runs")
    if not len(runs):
        return card
    with card.reading():
        everyone = runs.table(["accuracy", "diverged", *_OPTIONS])
        shown = runs[:MOST_RUNS].table([*_SUMMARY, *_OPTIONS, *_CURVES])
        differing = _differing(everyone)
        accuracies = everyone["accuracy"].to_numpy()
        if len(everyone) > 1:
            card.beside = outcomes_in_words(accuracies, everyone["diverged"].to_pylist())
            card.picture = accuracy_picture(accuracies)
        card.columns = _columns(shown.to_pylist(), differing[:MOST_OPTIONS])
        card.lines += and_more_line(len(shown), len(everyone), "runs")
        card.lines += _others(differing[MOST_OPTIONS:])
        card.problems |= _left_out(len(runs) - len(everyone))
    return card


def _left_out(count: int) -> dict[str, None]:
    what = f"{many(count, 'run')} cannot be read: see runs.damage"
    return {what: None} if count else {}


def _others(options: list[str]) -> list[str]:
    return [f"They also differ in {', '.join(options)}."] if options else []


def _differing(table: "pyarrow.Table") -> list[str]:
    """The options that are not the same in all runs."""
    import pyarrow.types as types

    def differs(name: str) -> bool:
        column = table[name]
        if types.is_list(column.type):  # which Arrow does not compare
            return len({str(value) for value in column.to_pylist()}) > 1
        return len(column.unique()) > 1

    return [name for name in _OPTIONS if differs(name)]


def _columns(rows: list[dict[str, Any]], options: list[str]) -> list[CardColumn]:
    columns = [
        CardColumn(heading("seed"), [str(row["seed"]) for row in rows]),
        *(
            CardColumn(
                plain_heading(name, hint=_OPTIONS[name]), [_option(row[name]) for row in rows]
            )
            for name in options
        ),
        CardColumn(heading("accuracy"), [_ended(row) for row in rows]),
        CardColumn(
            heading("accuracy.curve", kind="short"), [_sparkline(row) for row in rows], kind="short"
        ),
        CardColumn(heading("learning_epoch"), [_epoch(row["learning_epoch"]) for row in rows]),
        CardColumn(heading("lowest_loss"), [number(row["lowest_loss"]) for row in rows]),
    ]
    marks: dict[str, Sequence[Child]] = {
        "tags": [cut(", ".join(row["tags"] or ()), _LONGEST_MARK) for row in rows],
        "note": [lines(cut(row["note"] or "", _LONGEST_MARK)) for row in rows],
    }
    return columns + [
        CardColumn(heading(name, kind="words"), cells, kind="words")
        for name, cells in marks.items()
        if any(cells)
    ]


def _option(value: object) -> str:
    if isinstance(value, float):
        return number(value, 4)
    if isinstance(value, list):
        value = " ".join(map(str, value)) or "none"
    return MISSING if value is None else cut(str(value), _LONGEST_MARK)


def _ended(row: dict[str, Any]) -> Child:
    if row["diverged"] is not None:
        return tag("span", f"diverged at epoch {row['diverged']}", class_="dynascope-bad")
    return accuracy_text(row["accuracy"]) or MISSING


def _epoch(epoch: int | None) -> str:
    return "never" if epoch is None else str(epoch)


def _sparkline(row: dict[str, Any]) -> Child:
    """The accuracy from the first epoch to the last, 0 at the bottom and 1 at the top."""
    name = next((name for name in _CURVES if row[name] is not None), None)
    if name is None:
        return ""
    values = np.array(row[name], float).clip(0, 1)  # a file may say anything
    x, y = PixelScale(0, max(1, len(values) - 1), 1, 99), PixelScale(0, 1, 15, 1)
    ink = name.partition("_")[0]
    line = drawing.straight(x.start, y(0), x.end, y(0), "grid")
    return drawing.svg(100, 16, "accuracy", line, drawing.curve(values, x, y, ink))


def accuracy_picture(accuracies: Array) -> Html | None:
    """How many runs ended with which accuracy."""
    known = accuracies[np.isfinite(accuracies)]
    if not len(known):
        return None
    counts, edges = np.histogram(known.clip(0, 1), _BINS, (0, 1))
    x, y = PixelScale(0, 1, 1, _WIDTH - 1), PixelScale(0, int(counts.max()), _HEIGHT - _BOTTOM, 2)
    bars = [
        drawing.box(
            x(low) + 0.5,
            y(count),
            x(high) - x(low) - 1,
            y(0) - y(count),
            "good" if low >= SOLVED_ACCURACY - 1e-9 else "faint",
            f"{many(count, 'run')} from {number(low)} to {number(high)}",
        )
        for count, low, high in zip(counts.tolist(), edges[:-1], edges[1:], strict=True)
        if count
    ]
    return drawing.svg(
        _WIDTH,
        _HEIGHT,
        "runs by accuracy",
        *bars,
        drawing.straight(x(0), y(0), x(1), y(0), "border"),
        drawing.label("0", x(0), _HEIGHT - 2),
        drawing.label("accuracy", _WIDTH / 2, _HEIGHT - 2, "middle"),
        drawing.label("1", x(1), _HEIGHT - 2, "end"),
    )
