"""The report of many runs for people: a row each, as many columns as fit, and what it comes to."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dynascope.analysis_columns import columns_of
from dynascope.cli.report_totals import SUMMARY, totals
from dynascope.cli.run_table import MOST_ROWS, SOLVED_STYLE, stdout
from dynascope.findings.kind import Cells, RunRow, RunRows, Totals
from dynascope.findings.registry import kinds as kinds_by_name
from dynascope.findings.words import is_solved, many
from dynascope.number_text import fraction, significant
from dynascope.printing import printable

_GAP = 2  # columns of a terminal between two of the table
_NOTES = 5  # that are told one by one
_FIRST_OPTIONS = 2  # that come before what was found of the runs


def print_report(rows: RunRows, kinds: Sequence[str]) -> None:
    """A table of the first forty runs, then what all of them come to."""
    console = stdout()
    columns = _columns(rows, kinds)
    shown = _print_rows(rows[:MOST_ROWS], columns, console)
    left_out = [column.name for column in columns if column not in shown]
    hidden = len(rows) - MOST_ROWS
    more = [f"... and {many(hidden, 'more run')}"] if hidden > 0 else []
    more += [f"no room for: {', '.join(left_out)}"] if left_out else []
    if more:
        console.print(wrapped(f"{'; '.join(more)}; --json has all", console))
    if meanings := [f"{column.name}: {column.meaning}" for column in shown if column.meaning]:
        console.print(wrapped("; ".join(meanings), console))
    for kind in kinds_by_name(kinds).values():
        if legend := kind.legend(rows):
            console.print(wrapped(legend, console))
    for line in _totals_in_words(totals(rows, kinds), kinds):
        console.print(wrapped(line, console))


def _print_rows(rows: RunRows, columns: list[Cells], console: Console) -> list[Cells]:
    """Print the columns that fit, and return them."""
    cells = {column.name: [printable(column.cell(row)) for row in rows] for column in columns}
    shown = _fitting(columns, cells, console.width)
    table = Table(box=None, pad_edge=False, padding=(0, 0, 0, _GAP), header_style="bold")
    for column in shown:
        table.add_column(column.name, justify="right" if column.right else "left", no_wrap=True)
    for i, row in enumerate(rows):
        style = SOLVED_STYLE if is_solved(row) else ""
        table.add_row(*(Text(cells[column.name][i], style=style) for column in shown))
    console.print(table)
    return shown


def _fitting(columns: list[Cells], cells: Mapping[str, list[str]], width: int) -> list[Cells]:
    """The columns of the lowest ranks that fit together, in their order; at least one."""
    used = 0
    taken: set[str] = set()
    for column in sorted(columns, key=lambda column: column.rank):
        needed = max([len(column.name), *map(len, cells[column.name])]) + _GAP
        if not taken or used + needed - _GAP <= width:
            used += needed
            taken.add(column.name)
    return [column for column in columns if column.name in taken]


def wrapped(line: str, console: Console) -> str:
    """A long line in several, of which the further ones are indented."""
    return textwrap.fill(
        printable(line.replace("\n", " ")),
        console.width,
        subsequent_indent="  ",
        break_on_hyphens=False,
        break_long_words=False,
    )


# Columns.


def _columns(rows: RunRows, kinds: Sequence[str]) -> list[Cells]:
    """In the order of the table."""
    return [
        Cells("id", 12, lambda row: row["id"][:8]),
        Cells("seed", 0, lambda row: str(row["seed"]), right=True),
        *(
            Cells(name, 2 if i < _FIRST_OPTIONS else 7, partial(_option, name), right=True)
            for i, name in enumerate(_options(rows))
        ),
        Cells("accuracy", 1, accuracy, right=True),
        *(cells for kind in kinds_by_name(kinds).values() for cells in kind.cells),
    ]


def _options(rows: RunRows) -> Iterator[str]:
    """The options in which the runs differ: what a row has before the columns of analyses."""
    analysed = columns_of()
    for name in rows[0]:
        if name == "analysis_note" or name in analysed:
            return
        if name not in SUMMARY:
            yield name


def accuracy(row: RunRow) -> str:
    """After the last epoch; 1.000 only where nothing was wrong."""
    if row["diverged"] is not None:
        return f"diverged {row['diverged']}"
    return fraction(row["accuracy"])


def _option(name: str, row: RunRow) -> str:
    return _value(row[name])


def _value(value: Any) -> str:
    if isinstance(value, float):
        return significant(value, 4)
    if isinstance(value, list):
        return ",".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def _totals_in_words(whole: Totals, kinds: Sequence[str]) -> Iterator[str]:
    """What all runs come to, a line each."""
    yield ""
    for name, kind in kinds_by_name(kinds).items():
        yield from kind.totals_text(whole[name])
    notes = whole["notes"]
    for note, runs in list(notes.items())[:_NOTES]:
        yield f"{many(runs, 'run')}: {note}"
    if len(notes) > _NOTES:
        yield f"... and {len(notes) - _NOTES} more such notes"
