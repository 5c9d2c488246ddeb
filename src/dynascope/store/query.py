"""SQL over runs, by DuckDB; the table is called `runs`.

DuckDB is given Arrow tables, not files: every column it sees has had its checksum checked. Which
columns a query needs is asked of DuckDB itself, so a group-by over a store of any size reads
megabytes, not curves.
"""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dynascope.errors import DynascopeError, expected
from dynascope.store.files import PathLike
from dynascope.store.marks import is_text
from dynascope.store.schema import CURVES
from dynascope.store.tables import COLUMNS, schema_of

if TYPE_CHECKING:
    from dynascope.run import Runs

_ALL = (*COLUMNS, *CURVES)
# What would move a column out of the scan's own list, or drop the scan of an empty table.
_UNWANTED = ("filter_pushdown", "statistics_propagation", "empty_result_pullup")


def query(source: "Runs | PathLike", sql: str) -> pa.Table:
    """The result of an SQL query over runs, as an Arrow table; `.to_pandas()` makes a data frame.

    `source`: a folder, or runs. Columns: options (`lr`, `dim`), `seed`, `accuracy`, `tags`, curves
    as lists, and so on; `SELECT * FROM runs LIMIT 1` shows them.

    >>> import dynascope as ds
    >>> runs = ds.train(ds.Config().replace({"training.epochs": 2}), seeds=3, progress=False)
    >>> ds.query(runs, "SELECT seed, len(train_loss) AS n FROM runs WHERE seed > 0").to_pylist()
    [{'seed': 1, 'n': 3}, {'seed': 2, 'n': 3}]
    """
    import duckdb

    from dynascope.run import Runs
    from dynascope.store.stored import load

    if not is_text(sql) or not sql.strip():
        raise expected("query", "an SQL query such as SELECT count(*) FROM runs", sql)
    runs = source if isinstance(source, Runs) else load(source)
    try:
        statements = duckdb.extract_statements(sql)
        if not statements:
            raise expected("query", "an SQL query", sql)
        with duckdb.connect() as connection:
            connection.register("runs", _filled(runs, _needed(statements)))
            # A question changes nothing: no COPY over a shard, no files, no network.
            connection.execute("SET enable_external_access = false")
            for statement in statements[:-1]:
                connection.execute(statement).fetchall()  # to its end, or the next cannot begin
            result = connection.sql(statements[-1].query)
            return pa.table({}) if result is None else result.to_arrow_table()
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except (duckdb.Error, pa.ArrowException, RuntimeError) as error:
        raise DynascopeError(f"query: {_sentence(error)}") from None


def matching(runs: "Runs", condition: str) -> list[str]:
    """The ids of the runs for which an SQL condition holds."""
    import duckdb

    if not is_text(condition) or not condition.strip():
        raise expected("condition", "one in SQL, such as accuracy > 0.9", condition)
    try:
        duckdb.SQLExpression(condition)  # exactly one expression: no way out of the brackets
    except duckdb.Error as error:
        raise DynascopeError(f"condition: {_sentence(error)}") from None
    found: list[str] = query(runs, f"SELECT id FROM runs WHERE ({condition}\n)")["id"].to_pylist()
    return found


def _filled(runs: "Runs", needed: Sequence[str]) -> pa.Table:
    """The table of the runs: what is needed as it is, the rest null, so that names still bind."""
    table = runs.table(list(needed) or ["id"])
    columns = [
        table[name] if name in needed else pa.nulls(len(table), type_)
        for name, type_ in zip(_ALL, schema_of(_ALL).types, strict=True)
    ]
    return pa.Table.from_arrays(columns, names=list(_ALL))


def _needed(statements: Sequence[Any]) -> list[str]:
    """The columns that the statements read; all of them where that cannot be known."""
    import duckdb

    found: set[str] = set()
    with duckdb.connect() as connection:
        connection.register("runs", schema_of(_ALL).empty_table())
        known = {row[0] for row in connection.execute("FROM duckdb_optimizers()").fetchall()}
        unwanted = ",".join(name for name in _UNWANTED if name in known)
        connection.execute(f"SET disabled_optimizers = '{unwanted}'")
        for statement in statements:
            if statement.type.name != "SELECT":
                return list(_ALL)
            text = f"EXPLAIN (FORMAT json) {statement.query}"
            plan = json.loads(connection.execute(text).fetchall()[0][1])
            scans = list(_scans(plan))
            if not all(set(scan) <= set(_ALL) for scan in scans):
                return list(_ALL)
            found |= {name for scan in scans for name in scan}
    return [name for name in _ALL if name in found]


def _scans(plan: Any) -> Iterator[list[str]]:
    """The columns of every scan of `runs` in a plan."""
    for node in plan:
        if "ARROW_SCAN" in node["name"]:
            names = node["extra_info"].get("Projections", [])
            yield [names] if isinstance(names, str) else names
        yield from _scans(node["children"])


def _sentence(error: Exception) -> str:
    """What DuckDB says, without its drawing of where."""
    text = str(error)
    for end in ("\n\nLINE ", "\nLINE ", "You might need to add explicit", "Candidate functions:"):
        text = text.partition(end)[0]
    text = " ".join(text.split())
    if "[]'" in text or "[])" in text:
        text += " Curves are lists, from before training to the end: test_loss[-1] is the last one."
    return text if text.endswith((".", "!", "?")) else f"{text}."
