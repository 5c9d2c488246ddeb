"""Damaged stores: what is read is as it was written, or the damaged file is named. Nothing else.

Every mutation of a file ends in one of two ways: all values are the original ones, or a warning or
an error names a file that was touched (`strict`: an error). Removing a whole shard is the one thing
that a folder cannot know.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from damage import MUTATIONS, Names
from hypothesis import given, settings
from hypothesis import strategies as st
from store_cases import ACCESSORS as EVERYTHING
from store_cases import SMALL, save_module, train

import dynascope as ds
from dynascope.store.damage import DamagedError
from dynascope.store.parquet_file import footer_length
from dynascope.store.schema import CURVES, SPANS
from dynascope.store.shard_read import Shard

# The other two read sixty columns; single curves are drawn instead.
ACCESSORS = {name: ask for name, ask in EVERYTHING.items() if name not in ("curves", "table")}


class Truth(NamedTuple):
    """A store as it was written, and all that it says."""

    folder: Path
    files: list[str]  # relative
    rows: dict[str, str]  # of the table with curves, without marks, by id
    marks: dict[str, tuple[list[str], str | None]]
    values: dict[str, dict[str, Any]]  # of accessors and curves, by id

    def __repr__(self) -> str:  # Hypothesis prints it with a failure, and refuses to if it is long
        return "the truth"


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> Truth:
    """Three shards of two runs: two of one shape, and one with data and steps; and two marks."""
    data = ds.Data(train=ds.dataset(SMALL.task, 5))
    odd = {"record.steps": (1, 2), "precision": "float64"}
    runs = ds.Runs([*train(seeds=4), *train(odd, data=data)])
    folder = tmp_path_factory.mktemp("damage") / "store"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(save_module, "SHARD_RUNS", 2)
        runs.save(folder)
    ds.load(folder)[:3].tag("good")
    ds.load(folder)[1:2].note("a note")
    shutil.rmtree(folder / ".partial")
    files = sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())
    assert len(files) == 3 + 3 + 2
    rows = {row["id"]: row for row in runs.table(curves=True).to_pylist()}
    for row in rows.values():
        del row["tags"], row["note"]
    notes = {runs[1].id: "a note"}
    return Truth(
        folder,
        files,
        {id_: repr(row) for id_, row in rows.items()},
        {run.id: (["good"] if at < 3 else [], notes.get(run.id)) for at, run in enumerate(runs)},
        {
            run.id: {name: ask(run) for name, ask in ACCESSORS.items()}
            | {name: _curve(name, run) for name in CURVES}
            for run in runs
        },
    )


def look(runs: Any, truth: Truth, shards: Names, curves: list[str], marks: bool) -> list[str]:
    """Ask for everything; an answer must be the truth. Returns the errors that came instead."""
    told = []
    for row in runs.table(curves=True).to_pylist():
        said = row.pop("tags"), row.pop("note")
        assert repr(row) == truth.rows[row["id"]]
        if marks:
            assert said == truth.marks[row["id"]]
    for id_, run in zip(runs.ids, runs, strict=True):
        if run._shard.about["shard"] not in shards:
            continue  # nothing of it was touched, and there are hundreds of examples
        questions = {**ACCESSORS, **{name: partial(_curve, name) for name in curves}}
        for name, ask in questions.items():
            try:
                assert ask(run) == truth.values[id_][name], name
            except ds.DynascopeError as error:
                told.append(str(error))
    return told


def _curve(name: str, run: ds.Run) -> bytes | None:
    return run.curves[name].tobytes() if name in run.curves else None


def examine(
    truth: Truth, folder: Path, names: Names | None, shards: Names, curves: list[str]
) -> None:
    """A folder after a mutation; `names`: one of them must be in whatever is told."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        runs = ds.load(folder)
        marks = names is not None and not any("/marks" in str(each.path) for each in runs.damage)
        told = look(runs, truth, shards, curves, marks)
        rows = runs.table(["id"])
    told += [str(each.message) for each in caught]
    assert all(issubclass(each.category, ds.DamageWarning) for each in caught)
    if names is None:
        return
    assert told or len(rows) == len(truth.rows)
    for text in told:
        assert any(name in text for name in names), (text, names)
    try:
        strict = look(ds.load(folder, strict=True), truth, shards, curves, marks=True)
    except ds.DynascopeError as error:
        strict = [str(error)]
    assert bool(strict) == bool(told)
    for text in strict:
        assert any(name in text for name in names), (text, names)


def any_damage(truth: Truth, data: st.DataObject) -> None:
    chosen = data.draw(st.sampled_from(truth.files))
    mutation = data.draw(st.sampled_from(sorted(MUTATIONS)))
    curves = data.draw(st.lists(st.sampled_from(CURVES), min_size=2, max_size=2))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "store"
        shutil.copytree(truth.folder, folder)
        names = MUTATIONS[mutation](folder / chosen, data)
        shards = {Path(chosen).name[:12], *(name[:12] for name in names or ())}
        examine(truth, folder, names, shards, curves)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_damage(truth: Truth, data: st.DataObject) -> None:
    any_damage(truth, data)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_any_damage_at_length(truth: Truth, data: st.DataObject) -> None:
    any_damage(truth, data)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_several_damages(truth: Truth, data: st.DataObject) -> None:
    """All shards are looked at, and all names count."""
    with tempfile.TemporaryDirectory() as place:
        folder, names = Path(place) / "store", set()
        shutil.copytree(truth.folder, folder)
        for chosen in data.draw(st.lists(st.sampled_from(truth.files), min_size=2, unique=True)):
            mutation = data.draw(st.sampled_from(["cut off", "flip a bit", "overwrite", "text"]))
            names |= MUTATIONS[mutation](folder / chosen, data) or set()
        examine(truth, folder, names, {Path(file).name[:12] for file in truth.files}, ["test_loss"])


class TestEveryByte:
    """One byte of a shard changed, for every byte: its checksum tells, or it does not matter."""

    @pytest.fixture
    def shard(self, tmp_path: Path) -> Shard:
        tiny = {"training.epochs": 1, "model.hidden": 1, "task.length": 1, "task.relevant": 1}
        train(tiny, seeds=2).save(tmp_path / "runs")
        (file,) = (tmp_path / "runs" / "runs").iterdir()
        return Shard.open(file)

    @staticmethod
    def unnoticed(file: Path, begin: int, end: int, read: Callable[[], object]) -> list[int]:
        """The bytes of a file of which a change goes unnoticed."""
        found = []
        with open(file, "r+b", buffering=0) as handle:
            contents = handle.read()
            for at in range(begin, end):
                handle.seek(at)
                handle.write(bytes([contents[at] ^ 1 << at % 8]))
                try:
                    read()
                    found.append(at)
                except DamagedError:
                    pass
                handle.seek(at)
                handle.write(contents[at : at + 1])
        assert file.read_bytes() == contents
        read()
        return found

    def test_parquet(self, shard: Shard) -> None:
        contents = shard.path.read_bytes()
        columns = len(contents) - footer_length(contents)
        assert self.unnoticed(shard.path, 0, columns, shard.check) == [0, 1, 2, 3]  # PAR1

        def reopen() -> None:
            Shard.open(shard.path)

        assert self.unnoticed(shard.path, columns, len(contents), reopen) == []

    def test_safetensors(self, shard: Shard) -> None:
        contents = shard.tensors.path.read_bytes()
        data = 8 + int.from_bytes(contents[:8], "little")
        rows = shard.table([f"{what}_{end}" for what in SPANS for end in ("begin", "end")])
        spans = [
            {what: (row[f"{what}_begin"], row[f"{what}_end"]) for what in SPANS}
            for row in rows.to_pylist()
        ]
        sums = shard.table(["checksum"])["checksum"].to_pylist()

        def runs() -> None:
            for span, wanted in zip(spans, sums, strict=True):
                shard.tensors.run(span, None, wanted)

        assert self.unnoticed(shard.tensors.path, 0, data, shard.tensors.check) == []
        assert self.unnoticed(shard.tensors.path, data, len(contents), runs) == []


class TestNewer:
    """A store that a later version wrote says so."""

    def test_shards(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("dynascope.store.shard_write.FORMAT", 3)
        train().save(tmp_path / "runs")
        text = "it has format 3, and this dynascope reads 1 to 2; a newer one will read it"
        with pytest.warns(ds.DamageWarning, match=text):
            assert not len(ds.load(tmp_path / "runs"))
        with pytest.raises(ds.DynascopeError, match=text):
            ds.load(tmp_path / "runs", strict=True)

    def test_marks(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        train().save(tmp_path / "runs")
        with monkeypatch.context() as patch:
            patch.setattr("dynascope.store.marks.FORMAT", 2)
            ds.load(tmp_path / "runs").tag("good")
        with pytest.warns(ds.DamageWarning, match="a newer dynascope wrote it"):
            assert ds.load(tmp_path / "runs")[0].tags == []


# Cut a file off after `load`, before or after something else was read from it, then ask for a value
# in it: to touch a memory map beyond the file's end would kill the process.
CUT_OFF = """
import os, shutil, sys
from pathlib import Path
import dynascope as ds
store, kind, later, *earlier = sys.argv[1:]
for number, each in enumerate(earlier):
    copy = Path(f"{store}-{number}")
    shutil.copytree(store, copy)
    run = ds.load(copy)[0]
    eval(each)
    (file,) = (copy / kind).iterdir()
    os.truncate(file, file.stat().st_size // 50)
    try:
        print("read:", eval(later))
    except ds.DynascopeError as error:
        print("error:", error)
"""


@pytest.mark.parametrize(
    ("kind", "later"),
    [("runs", "run.curves['test_loss'].sum()"), ("trajectories", "run.states.sum()")],
)
def test_cut_off_while_open(tmp_path: Path, kind: str, later: str) -> None:
    train({"training.epochs": 200}).save(tmp_path / "runs")
    earlier = ["0", "run.seed", "run.weight_epochs", "run.parameters(1)", "run.curves['test_loss']"]
    done = subprocess.run(
        [sys.executable, "-c", CUT_OFF, str(tmp_path / "runs"), kind, later, *earlier],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(earlier)
    known = 4 if kind == "runs" else len(earlier)  # a curve that was read before is kept
    assert all(line.startswith("error: ") and f"/{kind}/" in line for line in lines[:known])


def test_changed_while_open(tmp_path: Path) -> None:
    """A bit that flips after a run was checked is found out by whoever asks next."""
    train().save(tmp_path / "runs")
    run = ds.load(tmp_path / "runs")[0]
    assert len(run.weights) == 5
    (file,) = (tmp_path / "runs" / "trajectories").iterdir()
    contents = bytearray(file.read_bytes())
    contents[-1] ^= 1
    contents[len(contents) // 2] ^= 1
    file.write_bytes(contents)
    with pytest.raises(ds.DynascopeError, match=f"{file.name}: damaged: its"):
        _ = run.states


def test_what_is_known_on_opening(truth: Truth, tmp_path: Path) -> None:
    """Names, footers, headers and sizes; the rest is checked when it is read."""
    shutil.copytree(truth.folder, tmp_path / "store")
    shards = [run._shard for run in ds.load(tmp_path / "store")[::2]]
    renamed = shards[0].path.with_name("0" * 12 + shards[0].path.name[12:])
    os.replace(shards[0].path, renamed)
    shutil.copy(shards[1].tensors.path, shards[2].tensors.path)
    with pytest.warns(ds.DamageWarning) as caught:
        runs = ds.load(tmp_path / "store")
    assert [run.seed for run in runs] == [2, 3, 0, 1]
    assert [each.path for each in runs.damage] == [renamed, shards[2].tensors.path]
    assert "it was written under another name" in str(caught[0].message)
    assert "its length has changed" in str(caught[1].message)


def test_many_damaged_files_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(save_module, "SHARD_RUNS", 1)
    train({"training.epochs": 0}, seeds=23).save(tmp_path / "runs")
    for file in (tmp_path / "runs" / "runs").iterdir():
        file.write_bytes(b"")
    with pytest.warns(ds.DamageWarning) as caught:
        runs = ds.load(tmp_path / "runs")
    assert (len(runs), len(runs.damage), len(caught)) == (0, 23, 21)
    assert str(caught[-1].message) == "3 more files were skipped as damaged."
    with pytest.raises(ds.DynascopeError, match="22 more files are damaged"):
        ds.load(tmp_path / "runs", strict=True)


def test_curve_of_all_runs_is_whole_or_an_error(truth: Truth, tmp_path: Path) -> None:
    """Rows that are missing would give their neighbours' names to the rest."""
    shutil.copytree(truth.folder, tmp_path / "store")
    runs = ds.load(tmp_path / "store")[:4]
    file = runs[0]._shard.path
    begin, _ = runs[0]._shard._ranges["train_loss"]
    contents = bytearray(file.read_bytes())
    contents[begin + 5] ^= 4
    file.write_bytes(contents)
    with (
        pytest.warns(ds.DamageWarning, match=file.name),
        pytest.raises(ds.DynascopeError, match=f"{file.name}: damaged:"),
    ):
        runs.curve("train_loss")
    with pytest.warns(ds.DamageWarning, match=file.name):
        assert runs.table(["seed", "train_loss"])["seed"].to_pylist() == [2, 3]
    assert [each.path for each in runs.damage] == [file]
