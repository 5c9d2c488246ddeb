"""Stores of every format open, are replayed and resumed, bit for bit: those in tests/data/stores,
which stand for what people have on their disks.

Neither they nor these tests are ever changed: a version that cannot pass them loses people's runs.
A new format adds a folder beside the others (see make_stores.py there), which this file finds.
Everything that is read, replayed and resumed is compared bit for bit with what the version that
wrote the store said.
"""

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from showing import show, tiny_client

import dynascope as ds
from dynascope.cli import main

STORES = Path(__file__).parents[1] / "data" / "stores"
FORMATS = sorted(folder.name for folder in STORES.glob("format-*"))
_SPEC = importlib.util.spec_from_file_location("make_stores", STORES / "make_stores.py")
assert _SPEC
assert _SPEC.loader
make_stores = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(make_stores)

each_format = pytest.mark.parametrize("name", FORMATS)
each_store = pytest.mark.parametrize("store", ["runs", "sweep"])


def expected(name: str, store: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((STORES / name / "expected.json").read_bytes())[store]
    return found


def copied(name: str, store: str, to: Path) -> Path:
    return shutil.copytree(STORES / name / store, to / f"{name}-{store}")


def files(folder: Path) -> dict[str, bytes]:
    parts = ("runs", "trajectories", "analyses", "marks")
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for part in parts
        for file in sorted((folder / part).glob("*"))
    }


def test_formats() -> None:
    """Each store is of the format that its folder says."""
    assert FORMATS[:2] == ["format-1", "format-2"]
    for name in FORMATS:
        for file in (STORES / name).glob("*/runs/*.parquet"):
            about = json.loads(pq.read_metadata(file).metadata[b"dynascope"])
            assert f"format-{about['format']}" == name


@each_format
@each_store
class TestRead:
    def test_every_bit(self, name: str, store: str) -> None:
        """Recorded, replayed to every epoch, and resumed."""
        wanted = {run["id"]: run for run in expected(name, store)["runs"]}
        for run in ds.load(STORES / name / store, strict=True):
            assert json.loads(json.dumps(make_stores.described(run))) == wanted.pop(run.id)
        assert not wanted

    def test_marks_and_analyses(self, name: str, store: str) -> None:
        wanted = expected(name, store)
        runs = ds.load(STORES / name / store)
        assert runs.ids == [run["id"] for run in wanted["runs"]]
        assert ds.load(STORES / name / store, deleted=True).ids == wanted["deleted"]
        assert runs.table(["verdict"])["verdict"].to_pylist() == wanted["verdicts"]

    def test_whole(self, name: str, store: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["check", str(STORES / name / store)]) == 0

    def test_one_row_per_run(self, name: str, store: str) -> None:
        runs = ds.load(STORES / name / store)
        table = runs.table(curves=True)
        assert table["id"].to_pylist() == runs.ids
        assert table["config"].to_pylist() == [
            run["config"] for run in expected(name, store)["runs"]
        ]
        for run, row in zip(runs, table.to_pylist(), strict=True):
            assert row["lr"] == run.config.training.lr
            assert np.array_equal(row["train_loss"], run.curves["train_loss"], equal_nan=True)
        sql = "SELECT id FROM runs WHERE optimizer = 'adam' AND epochs > 0"
        wanted = [run.id for run in runs if run.config.training.optimizer == "adam"]
        assert ds.query(runs, sql)["id"].to_pylist() == wanted
        assert runs.where("optimizer = 'adam'").ids == wanted

    def test_reported(
        self, name: str, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = copied(name, store, tmp_path)
        before = files(folder)
        assert main(["report", str(folder)]) == 0
        assert f"{len(ds.load(folder))} runs" in capsys.readouterr().out
        assert before.items() <= files(folder).items()

    def test_shown(self, name: str, store: str, tmp_path: Path) -> None:
        runs = ds.load(STORES / name / store)
        with show(tiny_client(tmp_path), STORES / name / store) as server:
            assert server.get("/api/store").json["runs"] == len(runs)
            listed = server.get("/api/runs").json
            assert listed["columns"]["id"] == runs.ids
            for run in runs:
                told = server.get(f"/api/run/{run.id}").json
                assert told["config"] == run.config.to_dict()
                assert told["weight_epochs"] == run.weight_epochs.tolist()
                weights = server.get(f"/api/run/{run.id}/weights").body
                assert weights == run.weights.tobytes()

    def test_saved_again(self, name: str, store: str, tmp_path: Path) -> None:
        """The same runs in today's format."""
        ds.load(STORES / name / store).save(tmp_path / "again")
        wanted = {run["id"]: run for run in expected(name, store)["runs"]}
        for run in ds.load(tmp_path / "again", strict=True):
            assert json.loads(json.dumps(make_stores.described(run))) == wanted.pop(run.id)
        assert not wanted


@each_format
class TestSweep:
    def test_nothing_is_trained_again(self, name: str, tmp_path: Path) -> None:
        folder = copied(name, "sweep", tmp_path)
        before = files(folder)
        runs = ds.sweep(make_stores.GRID, folder, threads=1, progress=False)
        assert runs.ids == [run["id"] for run in expected(name, "sweep")["runs"]]
        after = files(folder)
        assert before.items() <= after.items()
        # Analyses are made again where a kind has another version by now, or more columns.
        assert {Path(file).parts[0] for file in after.keys() - before.keys()} <= {"analyses"}

    def test_extended(self, name: str, tmp_path: Path) -> None:
        """Only what is new is trained, and parents of an old format have children of today's."""
        folder = copied(name, "sweep", tmp_path)
        before = files(folder)
        chain = {**make_stores.GRID["chain"], "more": {"set": {"training.lr": 0.02}}}
        grid = {**make_stores.GRID, "seeds": 3, "chain": chain}
        runs = ds.sweep(grid, folder, threads=1, progress=False)
        assert before.items() <= files(folder).items()
        assert len(runs) == 3 * (2 + 2 + 2)
        rows = sum(pq.read_metadata(file).num_rows for file in (folder / "runs").iterdir())
        assert rows == len(runs)  # none is there twice
        alone = ds.sweep(grid, tmp_path / "alone", threads=1, progress=False)
        assert set(runs.ids) == set(alone.ids)
        by_id = {run.id: run for run in alone}
        for run in runs:
            assert np.array_equal(run.weights, by_id[run.id].weights)
        assert runs.table(["verdict"])["verdict"].null_count == 0


class TestTogether:
    def test_merged(self, tmp_path: Path) -> None:
        """Stores of all formats in one folder are one table; the same run counts once."""
        folders = [STORES / name / store for name in FORMATS for store in ("runs", "sweep")]
        ds.merge(folders, tmp_path / "all")
        runs = ds.load(tmp_path / "all", strict=True)
        stores = [expected(name, store) for name in FORMATS for store in ("runs", "sweep")]
        wanted = {run["id"] for store in stores for run in store["runs"]}
        assert set(runs.ids) == wanted
        assert len(runs) == len(wanted)
        assert set(runs.table()["id"].to_pylist()) == wanted
        (row,) = ds.query(
            runs, "SELECT count(*) AS n, count(DISTINCT config) AS c FROM runs"
        ).to_pylist()
        assert row["n"] == len(wanted)
        assert main(["check", str(tmp_path / "all")]) == 0

    def test_continued_into_an_old_store(self, tmp_path: Path) -> None:
        folder = copied("format-1", "runs", tmp_path)
        run = ds.load(folder)[0]
        ds.Runs([run.continued(9)]).save(folder, append=True)
        runs = ds.load(folder, strict=True)
        assert len(runs) == 1 + len(expected("format-1", "runs")["runs"])
        assert len(runs.table(curves=True)) == len(runs)

    def test_without_dynascope(self) -> None:
        pattern = str(STORES / "*" / "*" / "runs" / "*.parquet")
        sql = f"SELECT count(*), count(edits) FROM read_parquet('{pattern}', union_by_name = true)"
        rows, edited = duckdb.sql(sql).fetchall()[0]
        counts = [
            len(expected(name, store)["runs"]) + len(expected(name, store)["deleted"])
            for name in FORMATS
            for store in ("runs", "sweep")
        ]
        assert rows == sum(counts)
        assert edited == 2 * (len(FORMATS) - 1)  # format 1 knows none


class TestFormat2:
    """What format 1 does not have."""

    def test_options_that_changed(self) -> None:
        first, second = ds.load(STORES / "format-2" / "runs").where("edits IS NOT NULL")
        assert first.edits[0].options == {"training.batch": 5, "training.lr": 0.02}
        assert [edit.step for edit in second.edits] == [8, 32, 35]
        assert [first.steps_done(epoch) for epoch in range(6)] == [0, 4, 8, 16, 24, 32]
        assert second.config_at(8).training.optimizer == "adamw"
        assert second.edits[2].parameters == second.origin.start  # type: ignore[union-attr]
        assert second.trainer().step == 8 + 6 * 8
