"""A run: what it was to learn, how it ended, and its loss."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.notebook import drawing
from dynascope.notebook.card import Card, Fact, cut, number
from dynascope.notebook.drawing import PixelScale
from dynascope.notebook.html_tags import Html, joined, lines, tag
from dynascope.number_text import fraction
from dynascope.run import SOLVED_ACCURACY, Origin, Run

Array = npt.NDArray[Any]

_WIDTH, _HEIGHT = 280, 116
_LEFT, _TOP, _BOTTOM = 46, 16, 16  # of the picture, for labels


def run_card(run: Run) -> Card:
    card = Card("Run")
    with card.reading():
        card.title = f"Run {run.id}"
    with card.reading():
        card.beside = run.task.describe()
    with card.reading():
        card.facts += _outcome(run)
    with card.reading():
        card.facts += _making(run)
    with card.reading():
        card.facts += _marks(run)
    with card.reading():
        card.picture = loss_picture(run)
    return card


def accuracy_text(accuracy: float | None) -> Html | None:
    """An accuracy, marked where it solves the task; None where there is none."""
    if accuracy is None or np.isnan(accuracy):
        return None
    solved = accuracy > SOLVED_ACCURACY
    return tag("span", fraction(accuracy), class_="dynascope-good" if solved else None)


def _outcome(run: Run) -> list[Fact]:
    row: dict[str, Any] = run.summary()
    learning, lowest, diverged = row["learning_epoch"], row["lowest_loss"], row["diverged"]
    bad = f"at epoch {diverged}"
    return [
        Fact("seed", str(row["seed"])),
        Fact("epochs.last", str(run.epochs)),
        Fact("accuracy", accuracy_text(row["accuracy"])),
        Fact("learning_epoch", "never" if learning is None else str(learning)),
        Fact("lowest_loss", None if lowest is None or np.isnan(lowest) else number(lowest)),
        Fact("diverged", None if diverged is None else tag("span", bad, class_="dynascope-bad")),
    ]


def _making(run: Run) -> list[Fact]:
    config = run.config
    training, model = config.training, config.model
    rule = f"{training.optimizer}, {number(training.lr, 4)}, {training.batch}"
    return [
        Fact("training", rule),
        Fact("model-size", f"{model.dim}, {model.hidden}"),
        Fact("origin", origin_text(run.origin)),
    ]


def origin_text(origin: Origin | None) -> str | None:
    """Where a run came from, in a few words."""
    if origin is None:
        return None
    parent = f" of {origin.parent}" if origin.parent else ""
    return f"{origin.kind}{parent}" + ("" if origin.epoch is None else f", epoch {origin.epoch}")


def _marks(run: Run) -> list[Fact]:
    """What people said of a stored run; no other has marks. (Its class is not imported: Arrow.)"""
    if not hasattr(type(run), "tags"):
        return []
    tags, note = getattr(run, "tags"), getattr(run, "note")  # noqa: B009
    return [
        Fact("tags", cut(", ".join(tags)) if tags else None),
        Fact("note", lines(cut(note)) if note else None),
    ]


def loss_picture(run: Run) -> Html | None:
    """The losses over the epochs, on a logarithmic scale; None where none is a number."""
    losses = {
        name: _logarithm(run.curves[f"{name}_loss"])
        for name in ("train", "test")
        if f"{name}_loss" in run.curves
    }
    known = np.concatenate([loss[np.isfinite(loss)] for loss in losses.values()])
    if not len(known):
        return None
    x = PixelScale(0, run.epochs, _LEFT, _WIDTH - 4)
    y = PixelScale(float(known.min()), float(known.max()), _HEIGHT - _BOTTOM - 2, _TOP)
    return drawing.svg(
        _WIDTH,
        _HEIGHT,
        "loss over the epochs",
        _axes(x, y, run.epochs),
        *(drawing.curve(loss, x, y, name) for name, loss in reversed(losses.items())),
        _legend(list(losses)),
        _end_of(run, x),
    )


def _logarithm(loss: Array) -> Array:
    """Of a loss; one of exactly 0 is drawn at the lowest that is not."""
    some = loss[np.isfinite(loss) & (loss > 0)]
    if not len(some):
        return np.full(len(loss), np.nan)
    # Not `maximum` alone, which keeps NaN: what is infinite ends the line as well.
    raised = np.where(np.isfinite(loss), np.maximum(loss, some.min()), np.nan)
    return np.asarray(np.log10(raised.astype(np.float64)))


def _axes(x: PixelScale, y: PixelScale, epochs: int) -> Html:
    decades = range(int(np.ceil(y.low)), int(np.floor(y.high)) + 1)
    grid = [drawing.straight(x.start, y(d), x.end, y(d), "grid") for d in decades]
    bottom, beside = _HEIGHT - 3, x.start - 5
    return joined(
        [
            *grid,
            drawing.label(number(10**y.high, 2), beside, y.end + 4, "end"),
            *([drawing.label(number(10**y.low, 2), beside, y.start, "end")] if y.span else []),
            drawing.label("0", x.start, bottom),
            drawing.label(f"epoch {epochs}", x.end, bottom, "end"),
        ]
    )


def _legend(names: list[str]) -> Html:
    begin = {"train": _LEFT, "test": _LEFT + 60}
    return joined(drawing.label(f"{name} loss", begin[name], 9, ink=name) for name in names)


def _end_of(run: Run, x: PixelScale) -> Html:
    """Where a run diverged."""
    if run.diverged is None:
        return Html("")
    at = x(run.diverged)
    line = drawing.straight(at, _TOP, at, _HEIGHT - _BOTTOM, "bad")
    return joined([line, drawing.label("diverged", x.end, 9, "end", "bad")])
