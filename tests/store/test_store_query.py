"""SQL over stored runs: the same answers with only the columns that a query needs."""

import re
from pathlib import Path
from typing import Any

import pytest
from store_cases import few, plain, query_module

import dynascope as ds
from dynascope.cli import main

# A query, and the columns that it needs (None: all, because it cannot be known). None that adds up
# fractions: DuckDB's threads add in the order in which they happen to end, so last digits vary.
QUERIES: list[tuple[str, set[str] | None]] = [
    ("SELECT * FROM runs ORDER BY id", set(query_module._ALL)),
    ("SELECT count(*) FROM runs", {"id"}),
    ("SELECT count(*) FROM runs WHERE lr > 0.01", {"lr"}),
    ("SELECT lr, max(accuracy) FROM runs GROUP BY lr ORDER BY lr", {"lr", "accuracy"}),
    ("WITH x AS (SELECT lr AS l, seed FROM runs) SELECT l FROM x ORDER BY l", {"lr"}),
    (
        "WITH x AS MATERIALIZED (SELECT lr AS l, seed FROM runs) SELECT a.l, b.seed FROM x a, x b "
        "WHERE a.seed < b.seed ORDER BY ALL",
        {"lr", "seed"},
    ),
    (
        "SELECT a.id, b.accuracy FROM runs a JOIN runs b ON a.seed = b.seed ORDER BY ALL",
        {"id", "accuracy", "seed"},
    ),
    ("SELECT id FROM runs NATURAL JOIN (SELECT id, lr FROM runs) ORDER BY id", {"id", "lr"}),
    (
        "SELECT seed, rank() OVER (PARTITION BY dim ORDER BY accuracy, id) FROM runs ORDER BY ALL",
        {"seed", "dim", "accuracy", "id"},
    ),
    (
        "SELECT id FROM runs r WHERE accuracy >= (SELECT max(accuracy) FROM runs "
        "WHERE dim = r.dim) ORDER BY id",
        {"id", "accuracy", "dim"},
    ),
    (
        "SELECT seed FROM runs r WHERE EXISTS (FROM runs WHERE parent = r.id) ORDER BY 1",
        {"seed", "parent", "id"},
    ),
    ("SELECT train_loss[-1], len(test_loss) FROM runs ORDER BY ALL", {"train_loss", "test_loss"}),
    ("SELECT unnest(train_loss) AS x FROM runs ORDER BY x LIMIT 3", {"train_loss"}),
    (
        'SELECT max("grad_norm/query"[-1]) FROM runs WHERE NOT isnan("grad_norm/query"[-1])',
        {"grad_norm/query"},
    ),
    ("SELECT LR FROM Runs WHERE Seed = 1 ORDER BY 1", {"lr", "seed"}),
    ("SELECT seed, tags, note FROM runs WHERE len(tags) = 0 ORDER BY 1", {"seed", "tags", "note"}),
    ("SELECT COLUMNS('norm_.*') FROM runs ORDER BY ALL", None),
    ("SELECT lr FROM runs UNION SELECT accuracy FROM runs ORDER BY 1", {"lr", "accuracy"}),
    ("SELECT lr FROM runs WHERE false UNION ALL SELECT seed FROM runs ORDER BY 1", None),
    ("SELECT r FROM (SELECT id, seed FROM runs) r ORDER BY 1", {"id", "seed"}),
    ("PIVOT runs ON precision USING max(seed) GROUP BY dim ORDER BY dim", None),
    ("SUMMARIZE SELECT precision, activation FROM runs", None),
    ("DESCRIBE runs", None),
    ("FROM runs SELECT seed ORDER BY seed LIMIT 1", {"seed"}),
    ("SELECT 42", None),
    ("SELECT 1; SELECT max(seed) FROM runs", None),
    ("CREATE TABLE x AS SELECT seed FROM runs; SELECT sum(seed) FROM x", None),
    ("CREATE MACRO twice(x) AS 2 * x; SELECT twice(seed) FROM runs ORDER BY 1;", None),
    ("EXPLAIN SELECT seed FROM runs", None),
    ("SELECT now() > '2020-01-01'::TIMESTAMPTZ; VALUES (1)", None),
]


class TestQuery:
    @pytest.mark.parametrize(("sql", "needed"), QUERIES, ids=[sql for sql, _ in QUERIES])
    def test_as_with_all_columns(
        self, few_folder: Path, monkeypatch: pytest.MonkeyPatch, sql: str, needed: set[str] | None
    ) -> None:
        asked = []
        real = query_module._needed
        monkeypatch.setattr(query_module, "_needed", lambda s: asked.append(real(s)) or asked[-1])
        got = ds.query(few_folder, sql)
        monkeypatch.setattr(query_module, "_needed", lambda _: list(query_module._ALL))
        assert plain(got) == plain(ds.query(few_folder, sql)) == plain(ds.query(few(), sql))
        assert needed is None or set(asked[0]) == needed

    def test_against_python(self, few_folder: Path) -> None:
        got = ds.query(few_folder, "SELECT precision AS p, count(*) AS n FROM runs GROUP BY 1")
        for row in got.to_pylist():
            assert row["n"] == sum(run.config.precision == row["p"] for run in few())

    def test_a_question_changes_nothing(self, few_folder: Path, tmp_path: Path) -> None:
        shard = next((few_folder / "runs").iterdir())
        before = shard.read_bytes()
        for sql in (
            f"COPY (SELECT 1 AS x) TO '{shard}' (FORMAT parquet)",
            f"COPY runs TO '{tmp_path / 'runs.csv'}'",
            f"ATTACH '{tmp_path / 'new.db'}'",
            f"SELECT * FROM read_csv('{tmp_path}/x.csv')",
            "SET enable_external_access = true",
        ):
            with pytest.raises(ds.DynascopeError):
                ds.query(few_folder, sql)
        assert shard.read_bytes() == before
        assert not list(tmp_path.iterdir())

    def test_equal_names(self, few_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        for form, told in (([], "1   2"), (["--json"], '{"a": 1, "a_1": 2}'), (["--csv"], "1,2")):
            assert main(["query", str(few_folder), "SELECT 1 AS a, 2 AS a", *form]) == 0
            assert told in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("sql", "text"),
        [
            ("SELEC", "syntax error at or near"),
            ("SELECT sed FROM runs", 'Referenced column "sed" not found'),
            ("SELECT * FROM run", "Table with name run does not exist"),
            ("SELECT sum(train_loss) FROM runs", "test_loss[-1] is the last one."),
            ("SELECT CAST(id AS INT) FROM runs", "Could not convert string"),
            ("SELECT 1; SELECT nix FROM runs", 'Referenced column "nix"'),
            ("", "expected an SQL query"),
            (" ; -- nothing", "expected an SQL query"),
            ("SELECT '\ud800'", "expected an SQL query"),
            (None, "expected an SQL query"),
        ],
    )
    def test_errors_are_one_sentence(self, few_folder: Path, sql: Any, text: str) -> None:
        with pytest.raises(ds.DynascopeError, match=re.escape(text)) as failed:
            ds.query(few_folder, sql)
        told = str(failed.value)
        assert told.startswith("query: ")
        assert "\n" not in told
        assert told.endswith((".", "!", "?"))

    def test_a_bad_condition(self, few_folder: Path) -> None:
        for condition in ("nix > 1", "lr >", "lr > 1) OR (1 = 1", "train_loss > 'a'", "", 3):
            with pytest.raises(ds.DynascopeError, match=r"query: |condition: "):
                ds.load(few_folder).where(condition)
