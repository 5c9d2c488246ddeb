"""The report of many runs for people: a row each, as many columns as fit, and what it comes to."""

import math
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dynascope.cli.marking import many
from dynascope.cli.report_totals import SUMMARY, Rows, Totals, is_solved, totals
from dynascope.cli.table import MOST_ROWS, SOLVED_STYLE, stdout
from dynascope.run import SOLVED_ACCURACY

Row = Mapping[str, Any]
_GAP = 2  # columns of a terminal between two of the table
_NOTES = 5  # that are told one by one
_FIRST_OPTIONS = 2  # that come before what was found of the runs


class Column(NamedTuple):
    """A column of the report; of those that do not all fit, the lower ranks are shown."""

    name: str
    rank: int
    cell: Callable[[Row], str]
    right: bool = False


def print_report(rows: Rows, kinds: Sequence[str]) -> None:
    """A table of the first forty runs, then what all of them come to."""
    console = stdout()
    left_out = _print_rows(rows[:MOST_ROWS], _columns(rows, kinds), console)
    hidden = len(rows) - MOST_ROWS
    more = [f"... and {many(hidden, 'more run')}"] if hidden > 0 else []
    more += [f"no room for: {', '.join(left_out)}"] if left_out else []
    if more:
        console.print(wrapped(f"{'; '.join(more)}; --json has all", console))
    for told in _legends(rows, kinds):
        console.print(wrapped(told, console))
    for line in describe(totals(rows, kinds)):
        console.print(wrapped(line, console))


def _legends(rows: Rows, kinds: Sequence[str]) -> Iterator[str]:
    """What the columns mean, for whoever sees them for the first time."""
    if "circuit" in kinds:
        yield (
            "variance % of the sequence embedding: between groups of relevant tokens / between "
            "their orderings / between irrelevant tokens; clusters: found/expected"
        )
    if "phases" in kinds and (told := legend(rows)):
        yield told


def _print_rows(rows: Rows, columns: list[Column], console: Console) -> list[str]:
    """Print what fits; returns the names of the columns that do not."""
    cells = {column.name: [column.cell(row) for row in rows] for column in columns}
    shown = _fitting(columns, cells, console.width)
    table = Table(box=None, pad_edge=False, padding=(0, 0, 0, _GAP), header_style="bold")
    for column in shown:
        table.add_column(column.name, justify="right" if column.right else "left", no_wrap=True)
    for i, row in enumerate(rows):
        style = SOLVED_STYLE if is_solved(row) else ""
        table.add_row(*(Text(cells[column.name][i], style=style) for column in shown))
    console.print(table)
    return [column.name for column in columns if column not in shown]


def _fitting(columns: list[Column], cells: Mapping[str, list[str]], width: int) -> list[Column]:
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
        line, console.width, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
    )


# Columns.


def _columns(rows: Rows, kinds: Sequence[str]) -> list[Column]:
    """In the order of the table. `variance` is between groups, their orderings and suffixes."""
    of_kind = {"circuit": _CIRCUIT, "phases": _PHASES, "spikes": _SPIKES}
    return [
        Column("id", 12, lambda row: row["id"][:8]),
        Column("seed", 0, lambda row: str(row["seed"]), right=True),
        *(
            Column(name, 2 if i < _FIRST_OPTIONS else 7, partial(_option, name), right=True)
            for i, name in enumerate(_options(rows))
        ),
        Column("accuracy", 1, accuracy),
        *(column for kind in kinds for column in of_kind[kind]),
    ]


def _options(rows: Rows) -> Iterator[str]:
    """The options in which the runs differ: what a row has before the columns of analyses."""
    for name in rows[0]:
        if name == "analysis_note" or name in _ANALYSED:
            return
        if name not in SUMMARY:
            yield name


def accuracy(row: Row) -> str:
    """Cut off, not rounded: 1.000 is to mean that nothing was wrong."""
    if row["diverged"] is not None:
        return f"diverged {row['diverged']}"
    return "-" if row["accuracy"] is None else f"{math.floor(1000 * row['accuracy']) / 1000:.3f}"


def drops(row: Row, most: int = 3) -> str:
    """Where the loss drops; a question mark where two methods do not agree on it."""
    if row["drops"] is None:
        return "-"
    doubt = " ?" if row["drops_agree"] is False else ""
    return (" ".join(map(str, row["drops"][:most])) or "none") + _more(row["drops"], most) + doubt


def legend(rows: Rows, most: int = 3) -> str:
    """What the signs in `drops` mean, of those that are there."""
    several = any(len(row.get("drops") or ()) > most for row in rows)
    told = ["+1: one more"] if several else []
    told += ["?: two methods disagree"] if any(r.get("drops_agree") is False for r in rows) else []
    return f"drops of the loss: {', '.join(told)}" if told else ""


def spikes(row: Row) -> str:
    return "-" if row["spikes"] is None else str(row["spikes"])


def _verdict(row: Row) -> str:
    return row["verdict"] or "-"


def _variance(row: Row) -> str:
    shares = [row[f"{name}_share"] for name in ("between", "permutation", "suffix")]
    return "-" if None in shares else "/".join(f"{100 * share:.0f}" for share in shares)


def _clusters(row: Row) -> str:
    return "-" if row["clusters"] is None else f"{row['clusters']}/{row['expected_clusters']}"


def _culprits(row: Row) -> str:
    found = row["culprits"] or []
    return " ".join(map(str, found[:3])) + _more(found, 3) or "-"


def _causes(row: Row) -> str:
    counted = Counter(map(str, row["spike_causes"] or ()))
    return ", ".join(f"{count} {cause}" for cause, count in counted.most_common()) or "-"


def _option(name: str, row: Row) -> str:
    return _value(row[name])


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return ",".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def _more(listed: Sequence[Any], most: int) -> str:
    return f" +{len(listed) - most}" if len(listed) > most else ""


def _signed(value: int | None) -> str:
    return "-" if value is None else f"{value:+d}"


_CIRCUIT = [
    Column("verdict", 3, _verdict),
    Column("margin", 9, lambda row: _value(row["verdict_margin"]), right=True),
    Column("variance %", 7, _variance),
    Column("clusters", 4, _clusters, right=True),
    Column("culprits", 11, _culprits),
]
_PHASES = [
    Column("drops", 5, drops),
    Column("lead", 8, lambda row: _signed(row["lead"]), right=True),
]
_SPIKES = [
    Column("spikes", 6, spikes, right=True),
    Column("causes", 10, _causes),
]
_ANALYSED = {"verdict", "drops", "spikes"}  # the first column of each kind


# Totals in words.


def describe(found: Totals) -> Iterator[str]:
    """What all runs come to, a line each."""
    yield ""
    if "circuit" in found:
        yield from _circuits(found)
    if "phases" in found:
        yield from _phases(found["phases"])
    if "spikes" in found:
        yield _all_spikes(found["spikes"])
    notes = found["notes"]
    for note, runs in list(notes.items())[:_NOTES]:
        yield f"{many(runs, 'run')}: {note}"
    if len(notes) > _NOTES:
        yield f"... and {len(notes) - _NOTES} more such notes"


def _circuits(found: Totals) -> Iterator[str]:
    for name, how in (("solved", "above"), ("other", "not above")):
        verdicts = found["circuit"][name]
        if verdicts:
            runs = many(sum(verdicts.values()), "run")
            yield f"circuits of {runs} {how} {SOLVED_ACCURACY}: {counted(verdicts)}"
    if other := found["circuit"]["other_sum"]:
        yield f"{other} of the solved compute another sum that is the same modulo 2 (see --run)"


def _phases(found: Totals) -> Iterator[str]:
    agree, first = found["drops_agree"], found["clustered_first"]
    if agree["of"]:
        yield f"drops of the loss: two methods agree in {in_words(agree)}"
    if first["of"]:
        lead = f"; median lead {found['median_lead']:g} epochs"
        yield f"clustering came before fitting in {in_words(first, ' that did both')}{lead}"
    elif agree["of"]:
        yield "clustering and fitting: no run did both"


def _all_spikes(found: Totals) -> str:
    if not found["spikes"]:
        return f"loss spikes: none in {many(found['runs'], 'run')}"
    runs = f"{found['spikes']} in {found['runs_with']} of {many(found['runs'], 'run')}"
    return f"loss spikes: {runs}; causes: {counted(found['causes'])}"


def in_words(share: Totals, which: str = "") -> str:
    """
    >>> in_words({"count": 9, "of": 20, "interval": [0.258, 0.658]})
    '9 of 20 runs (45%; 95% interval 26% to 66%)'
    """
    low, high = share["interval"]
    of = many(share["of"], "run")
    part = f"{share['count'] / share['of']:.0%}; 95% interval {low:.0%} to {high:.0%}"
    return f"{share['count']} of {of}{which} ({part})"


def counted(counts: Mapping[str, int]) -> str:
    """
    >>> counted({"ideal": 3, "fuzzy": 1})
    '3 ideal, 1 fuzzy'
    """
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"
