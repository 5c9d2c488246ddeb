"""Queries and conditions reach the table of runs and nothing else, and always end."""

import ast
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import hostile_sql
import pyarrow as pa
import pyarrow.parquet
import pytest
from canary import Canary
from processes import COMMAND, environment, finished
from store_cases import few

import dynascope as ds
from dynascope.store.query import columns_in
from dynascope.store.sql_connection import memory_limit, open_connection

# A process that tries every statement of a list in one way, and tells what came of it.
TRY_ALL = """
import json, sys
import pyarrow
import dynascope as ds
from dynascope.cli import main
from dynascope.store.query import columns_in

folder, way, texts = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
canary = pyarrow.table({"secret": [1]})
ways = {
    "query": lambda text: ds.query(folder, text),
    "where": lambda text: ds.load(folder).where(text),
    "columns_in": columns_in,
    "dynascope query": lambda text: main(["query", folder, text]),
    "dynascope report": lambda text: main(["report", folder, "--where", text]),
    "dynascope tag": lambda text: main(["tag", folder, "x", "--where", text]),
}
for text in texts:
    try:
        code = ways[way](text)
        told = "refused" if type(code) is int and code == 2 else "answered"
    except ds.DynascopeError as error:
        told = str(error)
    print(json.dumps([text, told]), flush=True)
"""


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Canary]:
    there = tmp_path / "there"
    (there / ".duckdb" / "extensions").mkdir(parents=True)
    (there / "data.csv").write_text("a,b\n1,2\n")
    (there / "data.json").write_text('[{"a": 1}]')
    pyarrow.parquet.write_table(pa.table({"a": [1]}), there / "data.parquet")
    (there / "x.duckdb_extension").write_bytes(b"\x7fELF")
    os.mkfifo(there / "pipe.csv")
    watched = Canary(there)
    watched.watch()
    yield watched
    watched.close()


def filled(text: str, canary: Canary) -> str:
    return text.replace("{there}", str(canary.folder)).replace("{port}", str(canary.port))


@pytest.mark.parametrize(
    ("way", "texts"),
    [
        ("query", hostile_sql.QUERIES),
        ("dynascope query", hostile_sql.QUERIES),
        ("where", hostile_sql.CONDITIONS),
        pytest.param("columns_in", hostile_sql.CONDITIONS, marks=pytest.mark.slow),
        pytest.param("dynascope report", hostile_sql.CONDITIONS, marks=pytest.mark.slow),
        pytest.param("dynascope tag", hostile_sql.CONDITIONS, marks=pytest.mark.slow),
    ],
)
def test_nothing_is_touched(canary: Canary, few_folder: Path, way: str, texts: list[str]) -> None:
    asked = [filled(text, canary) for text in texts]
    done = finished(
        [sys.executable, "-c", TRY_ALL, str(few_folder), way, json.dumps(asked)],
        env=environment(HOME=str(canary.folder)),
        cwd=canary.folder.parent,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert [text for text, _ in told] == asked
    if way != "columns_in":  # which only plans
        assert [text for text, what in told if what == "answered"] == []
    assert not [what for _, what in told if "\n" in what or not what.isprintable()]
    assert canary.touched() == []
    assert [path.name for path in canary.folder.parent.iterdir()] == ["there"]


def test_the_canary_sings(canary: Canary) -> None:
    """Else the test above would show nothing."""
    import socket

    import duckdb

    duckdb.connect().execute(f"EXPLAIN SELECT * FROM '{canary.folder}/data.csv'")
    assert any("data.csv" in what for what in canary.touched())
    socket.create_connection(("127.0.0.1", canary.port)).close()
    assert "the port" in canary.touched()


@pytest.mark.parametrize("statement", hostile_sql.STATEMENTS)
def test_other_statements_are_refused_by_their_kind(statement: str, few_folder: Path) -> None:
    """Before anything is bound: the sentence is about the statement, not what it stumbled over."""
    with pytest.raises(ds.DynascopeError) as refused:
        ds.query(few_folder, statement.replace("{there}", "/nowhere").replace("{port}", "9"))
    told = str(refused.value)
    assert told.startswith("query: ")
    assert "file system operations" not in told
    assert "locked" not in told


def test_a_connection_is_shut_in_from_the_first_moment() -> None:
    with open_connection() as connection:
        settings = dict(connection.execute("SELECT name, value FROM duckdb_settings()").fetchall())
    for name in (
        "enable_external_access",
        "autoload_known_extensions",
        "autoinstall_known_extensions",
        "allow_community_extensions",
        "allow_unsigned_extensions",
        "python_enable_replacements",
        "python_scan_all_frames",
    ):
        assert settings[name] in ("false", "0"), name
    assert settings["lock_configuration"] in ("true", "1")
    assert settings["temp_directory"] == ""
    assert int(settings["threads"]) <= 64
    assert memory_limit() <= 2**32


def test_nobody_else_opens_a_connection() -> None:
    """Whatever is asked of the module `duckdb` itself elsewhere is a type or an error."""
    import duckdb

    package = Path(ds.__file__).parent
    for path in sorted(package.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                allowed = path.name == "sql_connection.py" and node.attr == "connect"
                if node.value.id == "duckdb" and not allowed:
                    assert isinstance(getattr(duckdb, node.attr), type), f"{path}: {node.attr}"
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("duckdb"):
                assert [name.name for name in node.names] == ["DuckDBPyConnection"], path


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("SELECT list(x) FROM range(10_000_000_000) t(x)", "of memory"),
        ("SELECT a.x FROM range(10_000_000_000) a(x)", "add a LIMIT"),
    ],
)
def test_an_answer_has_a_size(
    few_folder: Path, monkeypatch: pytest.MonkeyPatch, sql: str, text: str
) -> None:
    for module in ("sql_connection", "query", "sql_errors"):
        monkeypatch.setattr(sys.modules[f"dynascope.store.{module}"], "memory_limit", lambda: 2**26)
    with pytest.raises(ds.DynascopeError, match=text):
        ds.query(few_folder, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM range(10_000_000_000) a, range(10_000_000) b",
        "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT 1 - x FROM t) SELECT count(*) FROM t",
        "CREATE TABLE x AS SELECT 1; SELECT count(*) FROM range(10_000_000_000), range(9_000_000)",
        # Constants, so that it is already planned for ever; DuckDB cannot be stopped in it.
        "SELECT levenshtein(repeat('a', 10_000_000), repeat('b', 10_000_000))",
    ],
)
def test_ctrl_c_ends_a_query(few_folder: Path, sql: str) -> None:
    process = subprocess.Popen(
        [*COMMAND, "query", str(few_folder), sql],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until_busy(process.pid)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (1, "", "dynascope: stopped.\n")


def wait_until_busy(process: int) -> None:
    """Until DuckDB's thread has run for a while; or the process has ended, which is seen later."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            for thread in Path(f"/proc/{process}/task").iterdir():
                fields = (thread / "stat").read_text().rpartition(")")[2].split()
                if int(thread.name) != process and int(fields[11]) > 30:  # ticks in its own code
                    return
        except FileNotFoundError:
            return
        time.sleep(0.05)


class TestConditions:
    @pytest.mark.parametrize(
        "condition",
        [
            "seed >= 0 -- all of them",
            "(seed >= 0)",
            "seed >= 0 /* ) */",
            "id IN (SELECT id FROM runs)",
            "note IS NULL OR note <> ')'",
            "CASE WHEN seed >= 0 THEN true ELSE false END",
            "seed IN (0, 1, 2, 3, 4, 5, 6, 7) OR seed >= 0",
            "[seed][1] >= 0",
            "len([x FOR x IN train_loss]) > 0",
        ],
    )
    def test_any_single_expression(self, condition: str) -> None:
        assert len(few().where(condition)) == len(few())

    def test_columns(self) -> None:
        assert columns_in("lr > 0.1 AND seed IN (SELECT seed FROM runs)") == ["id", "seed", "lr"]
