"""Runs on disk: the same bits as in memory, read lazily, and readable without dynascope."""

import dataclasses
import hashlib
import importlib
import json
import mmap
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file

import dynascope as ds
from dynascope.cli import main
from dynascope.config import OPTIONS
from dynascope.store.parquet_file import column_ranges
from dynascope.store.schema import CONFIG, CURVES, PLACES, SCHEMA
from dynascope.store.sidecar import SCHEMA as SIDECAR

# The package's own names `query` and `save` are functions; these are the modules.
query_module = importlib.import_module("dynascope.store.query")
save_module = importlib.import_module("dynascope.store.save")

SMALL = ds.Config().replace(
    {
        "training.epochs": 4,
        "task.train_size": 64,
        "task.test_size": 32,
        "record.state_every": 2,
    }
)


def train(changes: dict[str, Any] | None = None, seeds: Any = 2, **more: Any) -> ds.Runs:
    return ds.train(SMALL.replace(changes or {}), seeds, progress=False, **more)


def own_data(test: bool) -> ds.Runs:
    train_set, test_set = (ds.dataset(SMALL.task, 5, split) for split in ("train", "test"))
    return train(data=ds.Data(train=train_set, test=test_set if test else None))


def branched() -> ds.Runs:
    """Weights edited at an epoch's end, and in the middle of one."""
    trainer = ds.Trainer(SMALL, seed=3)
    trainer.advance(1)
    trainer.parameters = trainer.parameters * 1.5
    trainer.advance_steps(1)
    trainer.parameters = trainer.parameters * 1.5
    trainer.advance(3)
    return ds.Runs([trainer.run])


def unfinished() -> ds.Runs:
    trainer = ds.Trainer(SMALL.replace({"record.steps": (1, 4)}), seed=3)
    trainer.advance(2)
    return ds.Runs([trainer.run])


CASES: dict[str, Callable[[], ds.Runs]] = {
    "default, short": lambda: train({"task.train_size": 2048}),
    "float64": lambda: train({"precision": "float64"}),
    "no bias": lambda: train({"model.bias": False, "record.full_gradients": True}),
    "more embeddings": lambda: train({"model.embeddings": 5, "task.vocab": 3}),
    "relevant list": lambda: train({"task.relevant": [2, 7, 11]}),
    "options": lambda: train(
        {
            "training.frozen": ["query", "position_embedding[5:]"],
            "training.unit_rows": ["token_embedding"],
            "training.clip": 0.1 + 0.2,
            "training.schedule": "cosine",
            "training.warmup": 2**53 - 1,
            "training.query_limit": 1e-300,
        }
    ),
    "large seeds": lambda: train(seeds=[2**53 - 1, 0]),
    "steps": lambda: train({"record.steps": (1, 3)}),
    "steps, float64, no bias": lambda: train(
        {"record.steps": (0, 4), "model.bias": False, "precision": "float64"}
    ),
    "unseen": lambda: train({"record.unseen": True}),
    "full gradients": lambda: train({"record.full_gradients": True}),
    "gradients off": lambda: train({"record.gradients": False}),
    "few weights": lambda: train({"record.weights_every": 0}),
    "every third": lambda: train({"record.weights_every": 3}),
    "last state": lambda: train({"record.state_every": 0}),
    "diverges": lambda: train({"training.lr": 100.0, "training.epochs": 30}, 4),
    "no epochs": lambda: train({"training.epochs": 0}),
    "own data": lambda: own_data(test=True),
    "own data, no test": lambda: own_data(test=False),
    "fine-tuned": lambda: train({"training.lr": 0.1}, start=train()),
    "branched": branched,
    "unfinished": unfinished,
}


@lru_cache
def runs_of(case: str) -> ds.Runs:
    return CASES[case]()


@lru_cache
def mixed() -> ds.Runs:
    """Every case, in an order that lets shapes and precisions alternate; each run once."""
    seconds = [run for case in CASES for run in runs_of(case)[1:]]
    every = [*(runs_of(case)[0] for case in CASES), *seconds]
    return ds.Runs({run.id: run for run in every}.values())


def bits(array: Any) -> tuple[str, tuple[int, ...], bytes]:
    return array.dtype.str, array.shape, np.ascontiguousarray(array).tobytes()


def steps_of(run: ds.Run) -> Any:
    steps = run.steps
    if steps is None:
        return None
    curves = {name: bits(curve) for name, curve in steps.curves.items()}
    return steps.first_epoch, steps.last_epoch, curves, bits(steps.weights)


# All that can be asked of a run, as values that compare bit for bit.
ACCESSORS: dict[str, Callable[[ds.Run], Any]] = {
    "id": lambda run: run.id,
    "seed": lambda run: run.seed,
    "config": lambda run: run.config,
    "epochs": lambda run: run.epochs,
    "diverged": lambda run: run.diverged,
    "origin": lambda run: run.origin,
    "seconds": lambda run: run.seconds,
    "summary": lambda run: repr(run.summary()),
    "weights": lambda run: bits(run.weights),
    "weight_epochs": lambda run: bits(run.weight_epochs),
    "states": lambda run: bits(run.states),
    "state_epochs": lambda run: bits(run.state_epochs),
    "parameters": lambda run: [bits(run.parameters(int(at)).flat) for at in run.weight_epochs],
    "steps": steps_of,
    "data": lambda run: run.data and [bits(part) for pair in run.data.sets for part in pair],
    "curves": lambda run: {name: bits(curve) for name, curve in run.curves.items()},
    "table": lambda run: bits(run.table),
}


def assert_same(stored: ds.Run, run: ds.Run) -> None:
    for name, value in ACCESSORS.items():
        assert value(stored) == value(run), name


def plain(table: pa.Table) -> str:
    """A table as text: NaN equals NaN there, and -0.0 differs from 0.0."""
    return repr(table.to_pydict())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "runs"
    mixed().save(path)
    return path


class TestRoundTrip:
    @pytest.mark.parametrize("case", CASES)
    def test_every_bit(self, case: str, tmp_path: Path) -> None:
        runs = runs_of(case)
        runs.save(tmp_path / "runs")
        stored = ds.load(tmp_path / "runs", strict=True)
        assert len(stored) == len(runs)
        for one, other in zip(stored, runs, strict=True):
            assert_same(one, other)
        assert len(list((tmp_path / "runs" / "runs").iterdir())) == 1

    def test_the_cases_are_what_they_say(self) -> None:
        assert any(run.diverged is not None for run in runs_of("diverges"))
        kinds = {run.origin.kind for run in mixed() if run.origin}
        assert kinds == {"fine-tune", "branch"}
        assert {run.config.precision for run in mixed()} == {"float32", "float64"}

    def test_mixed_runs_keep_their_order(self, folder: Path) -> None:
        for one, other in zip(ds.load(folder), mixed(), strict=True):
            assert_same(one, other)

    def test_many_shards(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(save_module, "SHARD_RUNS", 2)
        runs = train(seeds=7)
        runs.save(tmp_path / "runs")
        assert len(list((tmp_path / "runs" / "trajectories").iterdir())) == 4
        assert [run.seed for run in ds.load(tmp_path / "runs")] == list(range(7))

    @settings(max_examples=20, deadline=None)
    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["", "float64", "steps", "bias", "lr", "weights"]),
                st.integers(0, 3),
                st.integers(0, 2**53 - 1),
            ),
            min_size=1,
            max_size=5,
            unique_by=lambda drawn: drawn if drawn[0] != "weights" else ("", *drawn[1:]),
        )
    )
    def test_any_list_of_runs(self, drawn: list[tuple[str, int, int]]) -> None:
        options: dict[str, dict[str, Any]] = {
            "": {},
            "float64": {"precision": "float64"},
            "steps": {"record.steps": (0, 1), "training.lr": 1.0},
            "bias": {"model.bias": False},
            "lr": {"training.lr": 100.0},
            "weights": {"record.weights_every": 0},  # the same run as "": recording is not in it
        }
        runs = ds.Runs(
            train({"training.epochs": max(epochs, 1), **options[what]}, [seed])[0]
            for what, epochs, seed in drawn
        )
        runs = ds.Runs({run.id: run for run in runs}.values())
        with tempfile.TemporaryDirectory() as place:
            runs.save(f"{place}/runs")
            for one, other in zip(ds.load(f"{place}/runs"), runs, strict=True):
                assert_same(one, other)

    def test_a_stored_run_goes_on(self, folder: Path) -> None:
        run = runs_of("default, short")[1]
        stored = next(each for each in ds.load(folder) if each.id == run.id)
        assert bits(stored.continued(7).weights) == bits(run.continued(7).weights)
        assert stored.parameters(3) == run.parameters(3)

    def test_ids_do_not_depend_on_recording(self) -> None:
        record = {"record.weights_every": 0, "record.unseen": True, "record.steps": (0, 1)}
        assert train(record)[0].id == train()[0].id
        assert len({run.id for run in (*train(), *train({"training.lr": 0.1}))}) == 4


class TestColumns:
    def test_every_option_has_one_of_its_own(self) -> None:
        assert list(CONFIG) == list(OPTIONS)
        assert {field.name for field in CONFIG.values()} <= set(SCHEMA.names)
        assert len(set(SCHEMA.names)) == len(SCHEMA.names)
        assert len({name.casefold() for name in SCHEMA.names}) == len(SCHEMA.names)  # as in SQL

    def test_every_shard_has_the_same(self, folder: Path) -> None:
        files = sorted((folder / "runs").iterdir())
        assert len(files) > 5
        schemas = [pq.read_schema(file).remove_metadata() for file in files]
        assert all(schema.equals(schemas[0]) for schema in schemas)
        assert schemas[0].names == SCHEMA.names

    def test_curves(self, folder: Path) -> None:
        rows = ds.load(folder).table([*CURVES]).to_pylist()
        for row, run in zip(rows, mixed(), strict=True):
            assert {name for name in CURVES if row[name] is not None} == set(run.curves)
            for name, curve in run.curves.items():
                np.testing.assert_array_equal(np.array(row[name], run.config.precision), curve)

    def test_format_md_lists_them_all(self) -> None:
        """Names, types and order of the table in FORMAT.md."""
        text = (Path(query_module.__file__).parent / "FORMAT.md").read_text()
        told = []
        for name, type_ in re.findall(r"^\| `([^`]+)` \| ([a-z0-9 ]+) \|", text, re.MULTILINE):
            names = [name.replace("NAME", each) for each in ds.PARAMETER_NAMES]
            told += [(each, type_) for each in (names if "NAME" in name else [name])]
        words = {"double": "float64", "bool": "bool", "int64": "int64", "string": "string"}

        def spelled(type_: pa.DataType) -> str:
            if pa.types.is_list(type_):
                return f"list of {words[str(type_.value_type)]}"
            return words[str(type_)]

        assert told == [(field.name, spelled(field.type)) for field in (*SCHEMA, *SIDECAR)]


def poison(file: Path, spared: set[str]) -> None:
    """Overwrite the bytes of all columns but these."""
    contents = bytearray(file.read_bytes())
    for name, ranges in column_ranges(pq.read_metadata(file)).items():
        for begin, end in ranges if name not in spared else ():
            contents[begin:end] = b"\xff" * (end - begin)
    file.write_bytes(contents)


class TestLaziness:
    def test_nothing_but_what_is_asked_for_is_read(self, tmp_path: Path) -> None:
        """All other columns and every trajectory are damaged; warnings are errors here."""
        runs = train(seeds=3)
        runs.save(tmp_path / "runs")
        (parquet,) = (tmp_path / "runs" / "runs").iterdir()
        (tensors,) = (tmp_path / "runs" / "trajectories").iterdir()
        poison(parquet, {"id", "position", "last_epoch", "seed", "train_loss"})
        contents = tensors.read_bytes()
        start = 8 + int.from_bytes(contents[:8], "little")
        tensors.write_bytes(contents[:start] + b"\xff" * (len(contents) - start))
        stored = ds.load(tmp_path / "runs", strict=True)
        assert stored.ids == [run.id for run in runs]
        assert stored.table(["seed"])["seed"].to_pylist() == [0, 1, 2]
        assert len(stored[1:].table(["train_loss"])["train_loss"]) == 2
        assert ds.query(stored, "SELECT max(seed) AS m FROM runs").to_pylist() == [{"m": 2}]
        assert len(stored.where("train_loss[1] > 0")) == 3
        with pytest.raises(ds.DynascopeError, match=f"{parquet.name}: expected as written, but"):
            stored.table(["lr"])

    def test_weights_are_mapped_read_only(self, folder: Path) -> None:
        run = ds.load(folder)[0]
        for name, array in run._tensors.items():
            owner = array
            while isinstance(owner, np.ndarray):
                owner = owner.base
            assert isinstance(owner, mmap.mmap), name
        for array in (*run._tensors.values(), run.weights, run.table, run.curves["train_loss"]):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0

    def test_curves_of_own_data_need_no_trajectory(self, tmp_path: Path) -> None:
        for test in (True, False):
            path = tmp_path / str(test)
            runs = own_data(test)
            runs.save(path)
            stored = ds.load(path)
            next((path / "trajectories").iterdir()).unlink()
            assert list(stored[0].curves) == list(runs[0].curves)


class TestLikeInMemory:
    """Stored runs answer as `Runs` do."""

    @pytest.mark.parametrize(
        "columns", [None, [], ["seed"], ["note", "train_loss", "lr", "tags"], ["relevant", "id"]]
    )
    @pytest.mark.parametrize("curves", [False, True])
    def test_table(self, folder: Path, columns: list[str] | None, curves: bool) -> None:
        stored, runs = ds.load(folder), mixed()
        assert plain(stored.table(columns, curves)) == plain(runs.table(columns, curves))
        assert stored.frame(columns, curves).equals(runs.frame(columns, curves))
        assert not set(stored.table(columns, curves).column_names) & set(PLACES)

    @pytest.mark.parametrize("part", [slice(None), slice(3, 9), slice(None, None, -2), slice(0, 0)])
    def test_slices(self, folder: Path, part: slice) -> None:
        stored, runs = ds.load(folder)[part], mixed()[part]
        assert [run.id for run in stored] == stored.ids == [run.id for run in runs]
        assert plain(stored.table(curves=True)) == plain(runs.table(curves=True))
        assert len(stored) == len(runs)
        assert stored.solved(0.5) == runs.solved(0.5)
        assert repr(stored) == repr(runs)

    @pytest.mark.parametrize("name", ["train_loss", "grad_norm/query", "min_norm_embedding"])
    def test_curve(self, tmp_path: Path, name: str) -> None:
        for precisions in (["float32"], ["float64"], ["float32", "float64"]):
            runs = ds.Runs(run for each in precisions for run in train({"precision": each}))
            runs.save(tmp_path / "-".join(precisions))
            stored = ds.load(tmp_path / "-".join(precisions))
            assert bits(stored.curve(name)) == bits(runs.curve(name))
            assert bits(stored[::-1].curve(name)) == bits(runs[::-1].curve(name))

    @pytest.mark.parametrize("name", ["nonsense", "seed", "unseen_loss"])
    def test_a_curve_that_is_none(self, tmp_path: Path, name: str) -> None:
        runs = train()
        runs.save(tmp_path / "runs")
        for each in (runs, ds.load(tmp_path / "runs")):
            with pytest.raises(KeyError, match=name):
                each.curve(name)

    def test_by_seed(self, folder: Path) -> None:
        stored = ds.load(folder)
        for seed in (0, 1, 2**53 - 1):
            assert stored.by_seed(seed).id == mixed().by_seed(seed).id
        with pytest.raises(ds.DynascopeError, match="seed: expected one of "):
            stored.by_seed(77)

    @pytest.mark.parametrize(
        ("condition", "holds"),
        [
            ("lr > 0.01", lambda run: run.config.training.lr > 0.01),
            ("seed = 1 -- a comment", lambda run: run.seed == 1),
            ("diverged IS NOT NULL", lambda run: run.diverged is not None),
            ('"grad_norm/query"[-1] < 0.05', lambda run: _last(run, "grad_norm/query") < 0.05),
            ("list_contains(relevant, 7)", lambda run: 7 in run.config.task.positions),
            ("list_contains(tags, 'x')", lambda run: False),
            ("seed = 0 OR precision = 'float64'", lambda run: _zero_or_wide(run)),
        ],
    )
    def test_where(self, folder: Path, condition: str, holds: Callable[[ds.Run], bool]) -> None:
        found = ds.load(folder).where(condition)
        assert found.ids == [run.id for run in mixed() if holds(run)]

    def test_bad_columns(self, folder: Path) -> None:
        for columns, text in (
            ("seed", "columns: expected a list of names, but got 'seed'"),
            (5, "columns: expected a list of names, but got 5"),
            ([5], "columns: expected a list of names, but got"),
            (["sed"], "sed: unknown column; did you mean 'seed'"),
        ):
            for runs in (ds.load(folder), mixed()):
                with pytest.raises(ds.DynascopeError, match=re.escape(text)):
                    runs.table(columns)  # type: ignore[arg-type]


def _last(run: ds.Run, name: str) -> float:
    return float(run.curves[name][-1]) if name in run.curves else float("nan")


def _zero_or_wide(run: ds.Run) -> bool:
    return run.seed == 0 or run.config.precision == "float64"


class TestSaving:
    def test_refuses_what_exists(self, tmp_path: Path) -> None:
        runs = train()
        (tmp_path / "empty").mkdir()
        runs.save(tmp_path / "empty")
        (tmp_path / "file").write_text("mine")
        (tmp_path / "link").symlink_to(tmp_path / "nowhere")
        for name, text in (
            ("empty", "expected a new or empty folder, but it exists"),
            ("file", "expected a new or empty folder, but it exists"),
            ("link", "expected a folder of a new name"),
            ("file/runs", "expected a place to write, but got"),
        ):
            with pytest.raises(ds.DynascopeError, match=text):
                runs.save(tmp_path / name)
        with pytest.raises(ds.DynascopeError, match="expected a new or empty folder"):
            runs.save(tmp_path / "file", append=True)
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "thesis.txt").write_text("mine")
        with pytest.raises(ds.DynascopeError, match="expected a folder of runs, but it is another"):
            runs.save(tmp_path / "other", append=True)
        with pytest.raises(ds.DynascopeError, match="at least one run to save"):
            ds.Runs([]).save(tmp_path / "none")
        assert sorted(os.listdir(tmp_path)) == ["empty", "file", "link", "other"]

    @pytest.mark.parametrize("bad", [None, 3, "", b"runs", "a\0b"])
    def test_bad_names(self, bad: Any) -> None:
        for act in (lambda: train().save(bad), lambda: ds.load(bad), lambda: ds.merge([bad], "x")):
            with pytest.raises(ds.DynascopeError, match="folder: expected a path, but got"):
                act()

    def test_loading_what_is_no_store(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("mine")
        for name, what in (("none", "no folder"), ("file", "a file"), (".", "another folder")):
            with pytest.raises(ds.DynascopeError, match=f"a folder of runs, but it is {what}"):
                ds.load(tmp_path / name)

    def test_append_adds_only_new_runs(self, tmp_path: Path) -> None:
        first, more = train(seeds=[4, 2]), train(seeds=[7, 2, 1])
        first.save(tmp_path / "runs", append=True)
        more.save(tmp_path / "runs", append=True)
        ds.load(tmp_path / "runs").save(tmp_path / "runs", append=True)
        stored = ds.load(tmp_path / "runs")
        assert [run.seed for run in stored] == [4, 2, 7, 1]
        for run, wanted in zip(stored, [*first, more[0], more[2]], strict=True):
            assert_same(run, wanted)

    def test_a_run_counts_once(self, tmp_path: Path) -> None:
        a, b = train()
        other = train({"model.dim": 3})[0]
        ds.Runs([b, a, b, other, a]).save(tmp_path / "runs")
        assert ds.load(tmp_path / "runs").ids == [b.id, a.id, other.id]

    def test_stored_runs_elsewhere_keep_tags_and_drop_deleted_ones(self, tmp_path: Path) -> None:
        runs = train(seeds=4)
        runs.save(tmp_path / "a")
        stored = ds.load(tmp_path / "a")
        stored[:3].tag("good")
        stored[1:2].note("look ‘here’")
        stored[2:3].delete()
        ds.load(tmp_path / "a").save(tmp_path / "b")
        again = ds.load(tmp_path / "b")
        assert [run.seed for run in again] == [0, 1, 3]
        assert [run.tags for run in again] == [["good"], ["good"], []]
        assert [run.note for run in again] == [None, "look ‘here’", None]
        assert not len(ds.load(tmp_path / "b", deleted=True))
        for run, wanted in zip(again, (runs[0], runs[1], runs[3]), strict=True):
            assert_same(run, wanted)

    def test_an_error_leaves_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(ds.DynascopeError, match="the disk is full"):
            train().save(tmp_path / "runs")
        assert not os.listdir(tmp_path)

    def test_version_and_checksums_are_inside(self, tmp_path: Path) -> None:
        train().save(tmp_path / "runs")
        (file,) = (tmp_path / "runs" / "runs").iterdir()
        about = json.loads(pq.read_metadata(file).metadata[b"dynascope"])
        assert (about["format"], about["dynascope"]) == (1, ds.__version__)
        assert set(about["columns"]) == set(SCHEMA.names)

    def test_names_follow_from_contents(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The same runs make the same bytes; other bits or another version another name."""
        runs = train()
        changed = [dataclasses.replace(run, weights=run.weights + 1) for run in runs]
        for name, each in (("a", runs), ("b", runs), ("c", ds.Runs(changed))):
            each.save(tmp_path / name)
        monkeypatch.setattr(ds, "__version__", "9.9")
        runs.save(tmp_path / "d")
        (a,), (b,), (c,), (d,) = ((tmp_path / n / "trajectories").iterdir() for n in "abcd")
        assert a.name == b.name
        assert a.read_bytes() == b.read_bytes()
        assert len({a.name, c.name, d.name}) == 3


# A query, and the columns that it needs (None: all, because it cannot be known).
QUERIES: list[tuple[str, set[str] | None]] = [
    ("SELECT * FROM runs ORDER BY id", set(query_module._ALL)),
    ("SELECT count(*) FROM runs", {"id"}),
    ("SELECT count(*) FROM runs WHERE lr > 0.01", {"lr"}),
    ("SELECT lr, avg(accuracy) FROM runs GROUP BY lr ORDER BY lr", {"lr", "accuracy"}),
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
    ("SUMMARIZE SELECT seed, lr, activation FROM runs", None),
    ("DESCRIBE runs", None),
    ("FROM runs SELECT seed ORDER BY seed LIMIT 1", {"seed"}),
    ("SELECT 42", None),
    ("SELECT 1; SELECT max(seed) FROM runs", None),
    ("CREATE TABLE x AS SELECT seed FROM runs; SELECT sum(seed) FROM x", None),
    ("SET threads = 1; SELECT count(seed) FROM runs;", None),
]


@lru_cache
def few() -> ds.Runs:
    return ds.Runs(run for case in ("float64", "fine-tuned", "diverges") for run in runs_of(case))


@pytest.fixture(scope="module")
def few_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("few") / "runs"
    few().save(path)
    return path


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


def sha(*parts: bytes, digits: int = 32) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()[:digits]


@pytest.mark.parametrize("case", ["default, short", "own data, no test", "steps"])
def test_checksums_are_what_format_md_says(case: str, tmp_path: Path) -> None:
    """Its section Checksums in other words, without dynascope's own."""
    runs_of(case).save(tmp_path / "store")
    ds.load(tmp_path / "store").tag("good")
    (file,) = (tmp_path / "store" / "runs").iterdir()
    shard, footer = file.stem.split("-")
    contents = file.read_bytes()
    assert footer == sha(contents[-int.from_bytes(contents[-8:-4], "little") - 8 :], digits=16)
    metadata = pq.read_metadata(file)
    about = json.loads(metadata.metadata[b"dynascope"])
    assert (about["shard"], metadata.num_row_groups) == (shard, 1)
    for at in range(metadata.num_columns):
        chunk = metadata.row_group(0).column(at)
        offsets = (chunk.dictionary_page_offset, chunk.data_page_offset)
        begin = min(offset for offset in offsets if offset is not None)
        name = chunk.path_in_schema.split(".")[0]
        wanted = sha(contents[begin : begin + chunk.total_compressed_size])
        assert about["columns"][name] == wanted
    path = tmp_path / "store" / "trajectories" / f"{shard}.safetensors"
    tensors = path.read_bytes()
    header = 8 + int.from_bytes(tensors[:8], "little")
    assert about["tensors"] == {"size": len(tensors), "header": sha(tensors[:header])}
    loaded = sorted(load_file(path).items())
    for row in pq.read_table(file).to_pylist():
        parts = []
        for name, tensor in loaded:
            kind = name.split("/")[0]
            if kind == "data":
                part = tensor
                assert name.split("/")[1] == row["data"]
            else:
                part = tensor[row[f"{kind}_begin"] : row[f"{kind}_end"]]
            parts += [f"{name}{list(part.shape)}".encode(), part.tobytes()]
        assert row["checksum"] == sha(*parts)
    (mark,) = (tmp_path / "store" / "marks").iterdir()
    assert mark.name == sha(mark.read_bytes()) + ".json"


OUTSIDER = """
import json, sys
from pathlib import Path
sys.modules["dynascope"] = None  # importing it fails from now on
folder, run = sys.argv[1:]

import duckdb, pandas
from safetensors import safe_open

frame = pandas.read_parquet(f"{folder}/runs").set_index("id")
row = frame.loc[run]
((parquet, curve, lr),) = duckdb.sql(
    "SELECT filename, train_loss, lr "
    f"FROM read_parquet('{folder}/runs/*.parquet', filename = true) WHERE id = '{run}'"
).fetchall()
shard = Path(parquet).name.split("-")[0]
with safe_open(f"{folder}/trajectories/{shard}.safetensors", "numpy") as file:
    rows = slice(row["weights_begin"], row["weights_end"])
    query = file.get_slice("weights/query")[rows]
    epochs = file.get_slice("weights/epoch")[rows]
print(json.dumps({
    "ids": sorted(frame.index),
    "accuracy": row["accuracy"],
    "relevant": row["relevant"].tolist(),
    "test_loss": row["test_loss"].tolist(),
    "train_loss": curve,
    "lr": lr,
    "query": query.tolist(),
    "epochs": epochs.tolist(),
}))
"""


def test_reading_without_dynascope(folder: Path) -> None:
    """pandas, DuckDB and safetensors, in a process that cannot import dynascope."""
    run = runs_of("steps, float64, no bias")[1]
    done = subprocess.run(
        [sys.executable, "-c", OUTSIDER, str(folder), run.id],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == {
        "ids": sorted(each.id for each in mixed()),
        "accuracy": run.summary()["accuracy"],
        "relevant": list(run.config.task.positions),
        "test_loss": run.curves["test_loss"].tolist(),
        "train_loss": run.curves["train_loss"].tolist(),
        "lr": run.config.training.lr,
        "query": [run.parameters(int(at)).query.tolist() for at in run.weight_epochs],
        "epochs": run.weight_epochs.tolist(),
    }
