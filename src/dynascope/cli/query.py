"""`dynascope query`: SQL about runs."""

import sys
from argparse import ArgumentParser, Namespace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dynascope.number_text import significant
from dynascope.printing import print, printable

if TYPE_CHECKING:
    import pyarrow as pa

ABOUT = """\
Query runs in SQL (DuckDB's dialect). The table is called `runs` and has a row
per run: its options (lr, batch, dim, ...), seed, accuracy, learning_epoch,
diverged, tags, note, and the curves as lists (test_loss[1] is before training,
test_loss[-1] the end)."""

EXAMPLES = """\
examples:
  dynascope query runs/first "SELECT seed, accuracy FROM runs ORDER BY 2 DESC"
  dynascope query runs/grid "SELECT lr, avg(accuracy), count(*) FROM runs GROUP BY lr"
  dynascope query runs/grid "DESCRIBE runs"
  dynascope query runs/grid "FROM runs WHERE accuracy > 0.9" --csv > good.csv
"""
_MOST_ROWS = 40
_WIDEST = 40  # characters of a value
# What makes a formula of a spreadsheet's cell (https://owasp.org/www-community/attacks/CSV_Injection;
# tabs and carriage returns are escaped anyway), and the apostrophe that says it is none.
_FORMULAS = tuple("=+-@＝＋－＠'")


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="a folder of runs")
    parser.add_argument("sql", metavar="SQL", help="the query")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="print all rows as CSV")
    form.add_argument("--json", action="store_true", help="print all rows as JSON, one per line")
    parser.add_argument("--strict", action="store_true", help="treat damaged files as an error")


def run(options: Namespace) -> int:
    """Answer, as a table for people or as text for programs."""
    from dynascope.store import load, query

    table = query(load(options.folder, strict=options.strict), options.sql)
    if options.csv:
        _print_csv(table)
    elif options.json:
        _print_json(table)
    elif table.num_columns:
        _print_table(table)
    return 0


def _print_csv(table: "pa.Table") -> None:
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(map(_csv_cell, table.column_names))
    for batch in table.to_batches(max_chunksize=1000):
        cells = (map(_csv_cell, column.to_pylist()) for column in batch.columns)
        writer.writerows(zip(*cells, strict=True))


def _csv_cell(value: Any) -> Any:
    """Numbers as they are; text so that no terminal and no spreadsheet takes it for a command.

    >>> [_csv_cell(value) for value in (-0.5, "-0.5", "=A1", "'", "a=b", None)]
    [-0.5, "'-0.5", "'=A1", "''", 'a=b', None]
    """
    if value is None or isinstance(value, int | float | Decimal):
        return value
    text = printable(value)
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULAS) else text


def _print_json(table: "pa.Table") -> None:
    import json

    names = _distinct(table.column_names)
    for batch in table.to_batches(max_chunksize=1000):
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            print(json.dumps(dict(zip(names, map(_plain, row), strict=True)), default=str))


def _distinct(names: list[str]) -> list[str]:
    """JSON wants each name once; a join may give it twice.

    >>> _distinct(["seed", "seed", "lr"])
    ['seed', 'seed_1', 'lr']
    """
    return [f"{n}_{names[:i].count(n)}" if n in names[:i] else n for i, n in enumerate(names)]


def _plain(value: Any) -> Any:
    """NaN and infinity become None, since JSON has no word for them; decimals are numbers.

    >>> _plain(Decimal("12")), _plain([Decimal("1.50"), float("nan")])
    (12, [1.5, None])
    """
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float) and value - value != 0:
        return None
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _print_table(table: "pa.Table") -> None:
    from rich.table import Table

    from dynascope.cli.run_table import stdout

    console = stdout()
    rows = list(zip(*map(_texts, table.slice(0, _MOST_ROWS).columns), strict=True))
    names = list(map(printable, table.column_names))
    fitting = _fitting(names, rows, console.width)
    shown = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    for name, column in zip(names[:fitting], table.columns, strict=False):
        number = str(column.type) not in ("string", "bool") and "list" not in str(column.type)
        shown.add_column(name, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        shown.add_row(*row[:fitting])
    console.width = max(console.width, 10_000)  # what fits is chosen; nothing is broken or cut
    console.print(shown)
    more = [f"{len(table) - _MOST_ROWS} more rows"] if len(table) > _MOST_ROWS else []
    more += [f"{table.num_columns - fitting} more columns"] if table.num_columns > fitting else []
    if more:
        print(f"... and {' and '.join(more)}; --csv prints all")
    elif not len(table):
        print("(no rows)")


def _fitting(names: list[str], rows: list[tuple[str, ...]], width: int) -> int:
    """How many columns fit into a terminal; all of them into anything else, but at least one."""
    if not sys.stdout.isatty():
        return len(names)
    used = 0
    for i, name in enumerate(names):
        used += 3 + max([len(name), *(len(row[i]) for row in rows)])
        if used - 3 > width:
            return max(1, i)
    return len(names)


def _texts(column: Any) -> list[str]:
    return [_text(value) for value in column.to_pylist()]


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return significant(value, 6)
    if isinstance(value, list):
        ends = [_text(each) for each in (value[:2] if len(value) > 4 else value)]
        rest = [f"... {_text(value[-1])}"] if len(value) > 4 else []
        return f"[{', '.join(ends + rest)}]"
    text = printable(value)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."
