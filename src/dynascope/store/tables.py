"""Runs as one Arrow table, for pandas and SQL: a row per run."""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from dynascope.errors import DynascopeError, expected, unknown
from dynascope.run import Run
from dynascope.store.marks import Marks
from dynascope.store.schema import CURVES, PLACES, SCALARS, SCHEMA, rows
from dynascope.store.sidecar_columns import SHOWN

MARKS = {"tags": pa.list_(pa.string()), "note": pa.string()}
# Columns for people; those that say where the bytes are appear only when asked for by name.
COLUMNS = (*(name for name in SCALARS.names if name not in PLACES), *MARKS, *SHOWN)
_BESIDE = {**MARKS, **SHOWN}  # what is kept beside the shards


def check_columns(columns: Sequence[str] | None, curves: bool = False) -> list[str]:
    """The names of the columns that were asked for: all but the curves, or those given."""
    if columns is None:
        return [*COLUMNS, *(CURVES if curves else ())]
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise expected("columns", "a list of names", columns)
    names = list(columns)
    if not all(isinstance(name, str) for name in names):
        raise expected("columns", "a list of names", names)
    for name in names:
        if name not in SCHEMA.names and name not in _BESIDE:
            raise unknown("", name, [*SCHEMA.names, *_BESIDE], kind="column")
    return list(dict.fromkeys([*names, *(CURVES if curves else ())]))


def table_of(runs: Sequence[Run], columns: Sequence[str] | None, curves: bool) -> pa.Table:
    """The table of runs in memory; what analyses find of them is nowhere kept."""
    names = check_columns(columns, curves)
    if columns is not None:
        refuse_analyses(names)
    nowhere: dict[str, Any] = {name: [None] * len(runs) for name in PLACES}
    wanted = [name for name in CURVES if name in names]
    table = marked(rows(runs, nowhere, wanted), Marks())
    for name in (name for name in names if name in SHOWN):
        table = table.append_column(name, pa.nulls(len(runs), SHOWN[name]))
    return table.select(names)


def refuse_analyses(names: Iterable[str]) -> None:
    """Refuse to name columns of analyses of runs in memory: nothing would look like an answer."""
    for name in (name for name in names if name in SHOWN):
        raise DynascopeError(
            f"{name}: expected stored runs, as `ds.load` and its `where` give them, but got a list "
            "of runs; only stored runs keep their analyses, so save them first."
        )


def marked(table: pa.Table, marks: Marks) -> pa.Table:
    """The table with what people said of the runs."""
    ids = table["id"].to_pylist() if marks.tags or marks.notes else [""] * len(table)
    tags = [marks.tags.get(run, []) for run in ids]
    notes = [marks.notes.get(run) for run in ids]
    table = table.append_column("tags", pa.array(tags, MARKS["tags"]))
    return table.append_column("note", pa.array(notes, MARKS["note"]))


def schema_of(columns: Sequence[str]) -> pa.Schema:
    """The types of such a table."""
    return pa.schema(
        [SCHEMA.field(n) if n in SCHEMA.names else pa.field(n, _BESIDE[n]) for n in columns]
    )
