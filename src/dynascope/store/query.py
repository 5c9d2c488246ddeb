"""SQL over runs, by DuckDB; the table is called `runs`.

DuckDB is given Arrow tables, not files: every column it sees has had its checksum checked. Which
columns a query needs is asked of DuckDB itself, so a group-by over a store of any size reads
megabytes, not curves. Of runs in memory nothing is known that analyses would find; a query that
names such a column is refused.
"""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dynascope.errors import DynascopeError, expected
from dynascope.near_misses import guided
from dynascope.run import Runs
from dynascope.store.files import PathLike
from dynascope.store.marks import is_text
from dynascope.store.schema import CURVES
from dynascope.store.sidecar_columns import SHOWN
from dynascope.store.sql_connection import (
    finished,
    import_duckdb,
    memory_limit,
    open_connection,
)
from dynascope.store.sql_errors import in_one_sentence
from dynascope.store.sql_questions import Statement, questions
from dynascope.store.stored import StoredRuns, load
from dynascope.store.tables import COLUMNS, refuse_analyses, schema_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

_ALL = (*COLUMNS, *CURVES)
# What would move a column out of the scan's own list, or drop the scan of an empty table.
_UNWANTED = ("filter_pushdown", "statistics_propagation", "empty_result_pullup")


@guided
def query(source: Runs | PathLike, sql: str) -> pa.Table:
    """The result of an SQL query over runs, as an Arrow table; `.to_pandas()` makes a data frame.

    `source`: a folder, or runs. Columns: options (`lr`, `dim`), `seed`, `accuracy`, `tags`, curves
    as lists, and so on; `SELECT * FROM runs LIMIT 1` shows them.

    >>> import dynascope as ds
    >>> runs = ds.train(ds.Config().replace({"training.epochs": 2}), seeds=3, progress=False)
    >>> ds.query(runs, "SELECT seed, len(train_loss) AS n FROM runs WHERE seed > 0").to_pylist()
    [{'seed': 1, 'n': 3}, {'seed': 2, 'n': 3}]
    """
    if not is_text(sql) or not sql.strip():
        raise expected("query", "an SQL query such as SELECT count(*) FROM runs", sql)
    runs = source if isinstance(source, Runs) else load(source)
    with in_one_sentence("query"), open_connection(threads=1) as connection:
        statements = questions(connection, sql)
    return _answer(runs, statements)


def matching(runs: Runs, condition: str) -> list[str]:
    """The ids of the runs for which an SQL condition holds."""
    found: list[str] = _answer(runs, [_selection(condition)])["id"].to_pylist()
    return found


def columns_in(condition: str) -> list[str]:
    """The columns that are read to tell for which runs an SQL condition holds.

    >>> columns_in("lr > 0.01 AND verdict = 'ideal'")
    ['id', 'lr', 'verdict']
    """
    return _needed([_selection(condition)])


def _selection(condition: str) -> Statement:
    """The query that a condition stands for."""
    if not is_text(condition) or not condition.strip():
        raise expected("condition", "one in SQL, such as accuracy > 0.9", condition)
    with in_one_sentence("condition"), open_connection(threads=1) as connection:
        # Only what has its own brackets in pairs can be parsed within both kinds of them.
        for brackets in ("SELECT [{}\n]", "SELECT ({}\n)"):
            connection.extract_statements(brackets.format(condition))
    return Statement("SELECT", f"SELECT id FROM runs WHERE ({condition}\n)")


def _answer(runs: Runs, statements: Sequence[Statement]) -> pa.Table:
    """The result of the last statement, after the others."""
    table = _filled(runs, statements)
    with in_one_sentence("query"), open_connection() as connection:
        connection.register("runs", table)
        return finished(connection, lambda: _executed(connection, statements))


def _executed(connection: "Connection", statements: Sequence[Statement]) -> pa.Table:
    for statement in statements[:-1]:
        for _ in _batches(connection, statement):  # to its end, or the next cannot begin
            pass
    rows, size, most = _batches(connection, statements[-1]), 0, memory_limit()
    schema, batches = next(rows), []
    for batch in rows:
        size += batch.nbytes
        if size > most:
            raise DynascopeError(
                f"query: the answer has more than {most / 2**30:.3g} GiB; ask for fewer columns, "
                "or add a LIMIT."
            )
        batches.append(batch)
    return pa.Table.from_batches(batches, schema)


def _batches(connection: "Connection", statement: Statement) -> Iterator[Any]:
    """The schema of a statement's result, then its rows as they come."""
    result = connection.sql(statement.text)
    if result is None:
        yield pa.schema([])
        return
    reader = pa.RecordBatchReader.from_stream(result)
    yield reader.schema
    yield from reader


def _filled(runs: Runs, statements: Sequence[Statement]) -> pa.Table:
    """The table of the runs: what is needed as it is, the rest null, so that names still bind."""
    needed = _needed(statements)
    if not isinstance(runs, StoredRuns):
        _check_in_memory(statements)
        needed = [name for name in needed if name not in SHOWN]
    table = runs.table(needed or ["id"])
    columns = [
        table[name] if name in needed else pa.nulls(len(table), type_)
        for name, type_ in zip(_ALL, schema_of(_ALL).types, strict=True)
    ]
    return pa.Table.from_arrays(columns, names=list(_ALL))


def _check_in_memory(statements: Sequence[Statement]) -> None:
    """Refuse statements that name columns of analyses: those that would not bind without them."""
    duckdb = import_duckdb()
    with in_one_sentence("query"):
        try:
            _scanned(statements, [name for name in _ALL if name not in SHOWN])
        except duckdb.BinderException:
            refuse_analyses(_needed(statements))


def _needed(statements: Sequence[Statement]) -> list[str]:
    """The columns that the statements read; all of them where that cannot be known."""
    with in_one_sentence("query"):
        return _scanned(statements, _ALL)


def _scanned(statements: Sequence[Statement], names: Sequence[str]) -> list[str]:
    """The same of a table that has these columns."""
    if any(statement.kind != "SELECT" for statement in statements):
        return list(names)
    with open_connection(without=_UNWANTED, threads=1) as connection:
        connection.register("runs", schema_of(names).empty_table())
        scans = finished(connection, lambda: _planned(connection, statements))
    if not all(set(scan) <= set(names) for scan in scans):
        return list(names)
    found = {name for scan in scans for name in scan}
    return [name for name in names if name in found]


def _planned(connection: "Connection", statements: Sequence[Statement]) -> list[list[str]]:
    """The columns of every scan of `runs` that the statements would make."""
    scans: list[list[str]] = []
    for statement in statements:
        text = f"EXPLAIN (FORMAT json) {statement.text}"
        scans += _scans(json.loads(connection.execute(text).fetchall()[0][1]))
    return scans


def _scans(plan: Any) -> Iterator[list[str]]:
    """The columns of every scan of `runs` in a plan."""
    for node in plan:
        if "ARROW_SCAN" in node["name"]:
            names = node["extra_info"].get("Projections", [])
            yield [names] if isinstance(names, str) else names
        yield from _scans(node["children"])
