"""Losses whose drops a person marked (`tests/analysis/labelled_curves`), and who agrees with them.

Run as a script, it prints the table of docs/analysis.md.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope.analysis.drops import Drop

FOLDER = Path(__file__).parents[1] / "analysis" / "labelled_curves"
EYE = 0.01  # of the run: as exactly as begin and end can be read from the pictures


class Label(NamedTuple):
    """A drop that a person saw."""

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
    return curves[0::2], curves[1::2]


def same_drop(drop: Drop, label: Label, epochs: int) -> bool:
    """The middle of the drop lies within the label, and at least half of the shorter one of the two
    within the longer; edges are as uncertain as the eye.
    """
    eye = EYE * epochs
    shared = min(drop.end, label.end) - max(drop.start, label.begin) + 2 * eye
    shorter = min(drop.end - drop.start, label.end - label.begin) + 2 * eye
    return label.begin - eye <= drop.epoch <= label.end + eye and shared >= shorter / 2


def matched_labels(drops: Sequence[Drop], labels: Sequence[Label], epochs: int) -> list[int]:
    """The indices of the labels that have a drop of their own; as many as possible, in order."""
    best: list[list[int]] = [[] for _ in range(len(labels) + 1)]
    for drop in drops:
        row: list[list[int]] = [[]]
        for j, label in enumerate(labels):
            choices = [best[j + 1], row[j]]
            if same_drop(drop, label, epochs):
                choices.append([*best[j], j])
            row.append(max(choices, key=len))
        best = row
    return best[-1]


def agreement(
    curves: Iterable[LabelledCurve], method: Callable[[LabelledCurve], Sequence[Drop]]
) -> Agreement:
    matched = found = labelled = same = same_but_unsure = count = 0
    for curve in curves:
        drops, labels = method(curve), curve.labels
        pairs = matched_labels(drops, labels, len(curve.loss) - 1)
        missing = [label for j, label in enumerate(labels) if j not in pairs]
        matched, found, labelled = matched + len(pairs), found + len(drops), labelled + len(labels)
        none_more = len(pairs) == len(drops)
        same += none_more and not missing
        same_but_unsure += none_more and not any(label.sure for label in missing)
        count += 1
    return Agreement(matched, found, labelled, same, same_but_unsure, count)
