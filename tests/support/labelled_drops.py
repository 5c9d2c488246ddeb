"""Losses with drops marked by eye (`tests/analysis/labelled_curves`), and which method agrees.

Run as a script, it prints the table of docs/analysis.md.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import methodcaller
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope.analysis.drop_votes import SeenDrop, with_votes
from dynascope.analysis.drops import METHODS, Drop, Method, loss_drops
from dynascope.share_interval import wilson

FOLDER = Path(__file__).parents[1] / "analysis" / "labelled_curves"
TO_TUNE = 60  # the first curves; the others are to judge by
EYE = 0.01  # of the run: as exactly as begin and end can be read from the pictures


class Label(NamedTuple):
    """A drop that was marked by eye."""

    begin: int
    end: int
    sure: bool


@dataclass(frozen=True)
class LabelledCurve:
    number: int
    setting: str
    seed: int
    chance: float
    loss: npt.NDArray[np.float32]
    labels: tuple[Label, ...]

    def drops(self, method: Method) -> tuple[Drop, ...]:
        return loss_drops(self.loss, method, ceiling=self.chance)

    def seen_drops(self) -> tuple[SeenDrop, ...]:
        others: tuple[Method, ...] = ("change", "slope")
        return with_votes(self.drops("shelves"), {name: self.drops(name) for name in others})


class Agreement(NamedTuple):
    """How far found drops are the labelled ones, over some curves."""

    matched: int
    found: int
    labelled: int
    same: int  # curves with the same drops
    same_but_unsure: int  # ... or whose only differences are labels that were unsure
    curves: int


def labelled_curves() -> tuple[list[LabelledCurve], list[LabelledCurve]]:
    """Those to tune a method with, and those to judge it by."""
    told: list[dict[str, Any]] = json.loads((FOLDER / "labels.json").read_text())
    with np.load(FOLDER / "curves.npz") as arrays:
        losses = np.split(arrays["train_loss"], np.cumsum([row["epochs"] + 1 for row in told])[:-1])
    curves = [
        LabelledCurve(
            row["curve"], row["setting"], row["seed"], row["chance"], loss,
            tuple(Label(**label) for label in row["drops"]),
        )
        for row, loss in zip(told, losses, strict=True)
    ]  # fmt: skip
    return curves[:TO_TUNE], curves[TO_TUNE:]


def same_drop(drop: Drop, label: Label, epochs: int) -> bool:
    """The middle of the drop lies within the label, and at least half of the shorter one of the two
    within the longer; edges are as uncertain as the eye.
    """
    eye = EYE * epochs
    shared = min(drop.end, label.end) - max(drop.start, label.begin) + 2 * eye
    shorter = min(drop.end - drop.start, label.end - label.begin) + 2 * eye
    return label.begin - eye <= drop.epoch <= label.end + eye and shared >= shorter / 2


def matches(drops: Sequence[Drop], labels: Sequence[Label], epochs: int) -> list[tuple[int, int]]:
    """Indices of drops and labels that are the same; as many pairs as possible, in order."""
    best: list[list[tuple[int, int]]] = [[] for _ in range(len(labels) + 1)]
    for i, drop in enumerate(drops):
        row: list[list[tuple[int, int]]] = [[]]
        for j, label in enumerate(labels):
            choices = [best[j + 1], row[j]]
            if same_drop(drop, label, epochs):
                choices.append([*best[j], (i, j)])
            row.append(max(choices, key=len))
        best = row
    return best[-1]


def agreement(
    curves: Iterable[LabelledCurve], found: Callable[[LabelledCurve], Sequence[Drop]]
) -> Agreement:
    total = np.zeros(len(Agreement._fields), int)
    for curve in curves:
        drops, labels = found(curve), curve.labels
        pairs = matches(drops, labels, len(curve.loss) - 1)
        missing = set(range(len(labels))) - {j for _, j in pairs}
        none_more = len(pairs) == len(drops)
        same = none_more and not missing
        same_but_unsure = none_more and not any(labels[j].sure for j in missing)
        total += [len(pairs), len(drops), len(labels), same, same_but_unsure, 1]
    return Agreement(*total.tolist())


def labelled_by_votes(curves: Iterable[LabelledCurve]) -> dict[int, tuple[int, int]]:
    """For each number of votes: how many such drops were marked, and how many there are."""
    votes = dict.fromkeys(range(1, len(METHODS) + 1), (0, 0))
    for curve in curves:
        drops = curve.seen_drops()
        seen = {i for i, _ in matches(drops, curve.labels, len(curve.loss) - 1)}
        for i, drop in enumerate(drops):
            there, of = votes[drop.votes]
            votes[drop.votes] = there + (i in seen), of + 1
    return votes


def _share(count: int, of: int) -> str:
    low, high = wilson(count, of)
    return f"{count} of {of} ({count / of:.0%}; {low:.0%} to {high:.0%})"


def table() -> str:
    """The agreement of each method, as Markdown, with 95% intervals."""
    lines = ["| curves | method | found drops that were marked | marked drops that were found |"]
    lines[0] += " curves with the same drops |"
    lines += ["|---|---|---|---|---|"]
    for name, curves in zip(("to tune", "to judge"), labelled_curves(), strict=True):
        for method in METHODS:
            told = agreement(curves, methodcaller("drops", method))
            shares = (
                _share(told.matched, told.found),
                _share(told.matched, told.labelled),
                _share(told.same, told.curves),
            )
            lines += [f"| {name} | {method} | {' | '.join(shares)} |"]
    lines += ["", "| curves | votes | drops that were marked |", "|---|---|---|"]
    for name, curves in zip(("to tune", "to judge"), labelled_curves(), strict=True):
        for votes, (count, of) in labelled_by_votes(curves).items():
            lines += [f"| {name} | {votes} | {_share(count, of)} |"]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
