"""Runs as a table for people: a row per run, the course of its accuracy in small blocks."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dynascope.cli.console import PlainTextConsole
from dynascope.findings.words import outcomes_in_words
from dynascope.number_text import fraction
from dynascope.run import SOLVED_ACCURACY, Array, Run, Runs

MOST_ROWS = 40
_BLOCKS = "▁▂▃▄▅▆▇█"
_NARROWEST = 57  # columns of a terminal: what everything but the blocks takes
_ACCURACY = 6  # columns of `>0.999`: the blocks of all rows begin below each other
_BEFORE = 35  # of them until further columns begin
_WIDEST = 40  # blocks of a row
SOLVED_STYLE = "green"  # a terminal's own sixteen colours are readable on its own background


def stdout() -> Console:
    """Where tables go; without colours and control codes when that is not a terminal."""
    console = PlainTextConsole(soft_wrap=True)
    console.width = max(console.width, _NARROWEST)  # a narrower terminal wraps lines; none is cut
    return console


class Further(NamedTuple):
    """A column besides those that every run has."""

    name: str
    cells: Sequence[str]  # of all runs
    right: bool = True


def print_table(runs: Runs, console: Console, further: Sequence[Further] | None = None) -> None:
    """The first forty runs, a row each; `further` columns instead of loss and time."""
    measured = "test" if "test_accuracy" in runs[0].curves else "train"
    further = _loss_and_time(runs[:MOST_ROWS]) if further is None else further
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    table.add_column("seed", justify="right")
    table.add_column(f"{measured} accuracy", no_wrap=True)
    table.add_column(_learning(runs[:MOST_ROWS]), justify="right")
    for column in further:
        table.add_column(column.name, justify="right" if column.right else "left", no_wrap=True)
    taken = _BEFORE + sum(max(map(len, (each.name, *each.cells))) + 3 for each in further)
    width = max(0, min(_WIDEST, console.width - taken)) if _has_blocks(console) else 0
    for i, run in enumerate(runs[:MOST_ROWS]):
        row = run.summary()
        since = row["learning_epoch"]
        table.add_row(
            str(run.seed),
            _accuracy(run, float(row["accuracy"] or 0), width),
            "never" if since is None else f"epoch {since}",
            *(column.cells[i] for column in further),
        )
    console.print(table)
    if len(runs) > MOST_ROWS:
        console.print(f"... and {len(runs) - MOST_ROWS} more")


def _learning(runs: Runs) -> str:
    """The heading of the epochs at which runs began to learn."""
    levels = {run.task.learning_accuracy for run in runs}
    return f"above {levels.pop():.3g}" if len(levels) == 1 else "learning"


def _loss_and_time(runs: Runs) -> list[Further]:
    return [
        Further("lowest loss", [f"{run.summary()['lowest_loss']:.3g}" for run in runs]),
        Further("time", [duration(run.seconds) for run in runs]),
    ]


def summary(runs: Runs, seconds: float) -> str:
    """All runs: how many solved the task, and how fast it went."""
    if len(runs) == 1:
        return f"1 run in {duration(seconds)}"
    accuracies = [float(run.summary()["accuracy"] or 0) for run in runs]
    outcomes = outcomes_in_words(accuracies, [run.diverged for run in runs])
    return f"{outcomes}\n{duration(seconds)}, {len(runs) / seconds:.3g} runs/s"


def duration(seconds: float) -> str:
    """
    >>> duration(0.3123), duration(31.23), duration(312.3)
    ('0.31 s', '31.2 s', '312 s')
    """
    return f"{seconds:.{2 if seconds < 10 else 1 if seconds < 100 else 0}f} s"


def sparkline(curve: Array, width: int, low: float) -> str:
    """A curve between `low` and 1 as blocks, each the mean over its part; blank where it is NaN.

    >>> sparkline(np.array([0.5, 0.5, 0.75, 1.0]), width=4, low=0.5)
    '▁▁▅█'
    """
    parts = np.array_split(curve, min(width, len(curve)))
    means = [float(part.mean()) for part in parts]
    levels = [(mean - low) / (1 - low) * len(_BLOCKS) for mean in means]
    return "".join(
        " " if math.isnan(level) else _BLOCKS[max(0, min(int(level), len(_BLOCKS) - 1))]
        for level in levels
    )


def _accuracy(run: Run, accuracy: float, width: int) -> Text:
    if run.diverged is not None:
        return Text(f"diverged at epoch {run.diverged}")
    solved = accuracy > SOLVED_ACCURACY
    text = f"{fraction(accuracy):>{_ACCURACY}} {'*' if solved else ' '}"
    if width:
        curve = run.curves.get("test_accuracy", run.curves["train_accuracy"])
        blocks = sparkline(curve, width, low=_guessing(run))
        text = f"{text.replace('*', '✓')} {blocks}"
    return Text(text, style=SOLVED_STYLE if solved else "")


def _guessing(run: Run) -> float:
    """The accuracy at the bottom of a curve: chance, unless it is not known or never wrong."""
    chance = run.task.chance
    return 1 / run.config.task.vocab if chance is None or chance == 1 else chance


def _has_blocks(console: Console) -> bool:
    try:
        (_BLOCKS + "✓").encode(console.encoding)
    except (UnicodeError, LookupError):
        return False
    return True
