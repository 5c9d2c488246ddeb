"""SQL over runs, by DuckDB; the table is called `runs`.

DuckDB is given Arrow tables, not files: every column it sees has had its checksum checked. Which
columns a query needs is asked of DuckDB itself, so a group-by over a store of any size reads
megabytes, not curves. Of runs in memory nothing is known that analyses would find; a query that
names such a column is refused.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from dynascope.errors import DynascopeError, expected
from dynascope.near_misses import guided
from dynascope.run import Runs
from dynascope.store.files import PathLike
from dynascope.store.marks import is_text
from dynascope.store.schema import CURVES
from dynascope.store.sidecar_columns import SHOWN
from dynascope.store.stored import StoredRuns, load
from dynascope.store.tables import COLUMNS, refuse_analyses, schema_of

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
    import duckdb

    if not is_text(sql) or not sql.strip():
        raise expected("query", "an SQL query such as SELECT count(*) FROM runs", sql)
    runs = source if isinstance(source, Runs) else load(source)
    with _in_one_sentence("query"):
        statements = duckdb.extract_statements(sql)
        if not statements:
            raise expected("query", "an SQL query", sql)
        with duckdb.connect() as connection:
            connection.register("runs", _filled(runs, statements))
            # A question changes nothing: no COPY over a shard, no files, no network.
            connection.execute("SET enable_external_access = false")
            for statement in statements[:-1]:
                connection.execute(statement).fetchall()  # to its end, or the next cannot begin
            result = connection.sql(statements[-1].query)
            return pa.table({}) if result is None else result.to_arrow_table()


def matching(runs: Runs, condition: str) -> list[str]:
    """The ids of the runs for which an SQL condition holds."""
    found: list[str] = query(runs, _selection(condition))["id"].to_pylist()
    return found


def columns_in(condition: str) -> list[str]:
    """The columns that are read to tell for which runs an SQL condition holds.

    >>> columns_in("lr > 0.01 AND verdict = 'ideal'")
    ['id', 'lr', 'verdict']
    """
    import duckdb

    with _in_one_sentence("query"):
        selection = duckdb.extract_statements(_selection(condition))
        return _needed(selection)


def _selection(condition: str) -> str:
    """The query that a condition stands for."""
    import duckdb

    if not is_text(condition) or not condition.strip():
        raise expected("condition", "one in SQL, such as accuracy > 0.9", condition)
    with _in_one_sentence("condition"):
        duckdb.SQLExpression(condition)  # exactly one expression: no way out of the brackets
    return f"SELECT id FROM runs WHERE ({condition}\n)"


def _filled(runs: Runs, statements: Sequence[Any]) -> pa.Table:
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


def _check_in_memory(statements: Sequence[Any]) -> None:
    """Refuse statements that name columns of analyses: those that would not bind without them."""
    import duckdb

    try:
        _scanned(statements, [name for name in _ALL if name not in SHOWN])
    except duckdb.BinderException:
        refuse_analyses(_needed(statements))


def _needed(statements: Sequence[Any]) -> list[str]:
    """The columns that the statements read; all of them where that cannot be known."""
    return _scanned(statements, _ALL)


def _scanned(statements: Sequence[Any], names: Sequence[str]) -> list[str]:
    """The same of a table that has these columns."""
    import duckdb

    found: set[str] = set()
    with duckdb.connect() as connection:
        connection.register("runs", schema_of(names).empty_table())
        known = {row[0] for row in connection.execute("FROM duckdb_optimizers()").fetchall()}
        unwanted = ",".join(name for name in _UNWANTED if name in known)
        connection.execute(f"SET disabled_optimizers = '{unwanted}'")
        for statement in statements:
            if statement.type.name != "SELECT":
                return list(names)
            text = f"EXPLAIN (FORMAT json) {statement.query}"
            plan = json.loads(connection.execute(text).fetchall()[0][1])
            scans = list(_scans(plan))
            if not all(set(scan) <= set(names) for scan in scans):
                return list(names)
            found |= {name for scan in scans for name in scan}
    return [name for name in names if name in found]


def _scans(plan: Any) -> Iterator[list[str]]:
    """The columns of every scan of `runs` in a plan."""
    for node in plan:
        if "ARROW_SCAN" in node["name"]:
            names = node["extra_info"].get("Projections", [])
            yield [names] if isinstance(names, str) else names
        yield from _scans(node["children"])


@contextmanager
def _in_one_sentence(field: str) -> Iterator[None]:
    """Within its block what DuckDB cannot do is an error of ours."""
    import duckdb

    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except (duckdb.Error, pa.ArrowException, RuntimeError) as error:
        raise DynascopeError(f"{field}: {_sentence(error)}") from None


def _sentence(error: Exception) -> str:
    """What DuckDB says, without its drawing of where."""
    text = str(error)
    for end in ("\n\nLINE ", "\nLINE ", "You might need to add explicit", "Candidate functions:"):
        text = text.partition(end)[0]
    text = " ".join(text.split())
    if "[]'" in text or "[])" in text:
        text += " Curves are lists, from before training to the end: test_loss[-1] is the last one."
    return text if text.endswith((".", "!", "?")) else f"{text}."
