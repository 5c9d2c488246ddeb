"""Tags, notes, deleting and merging: beside the shards, which never change."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from store_cases import ACCESSORS, assert_same, plain, save_module, train

import dynascope as ds
from dynascope.store.index import open_index
from dynascope.store.quarantine import set_aside

pytestmark = pytest.mark.usefixtures("both_ways")


def shards(folder: Path) -> dict[Path, tuple[bytes, int]]:
    """Contents and times of everything but the marks."""
    files = [*(folder / "runs").iterdir(), *(folder / "trajectories").iterdir()]
    return {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in files}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    train(seeds=4).save(tmp_path / "store")
    return tmp_path / "store"


def seeds(folder: Path, **options: bool) -> list[int]:
    return [run.seed for run in ds.load(folder, **options)]


class TestMarks:
    def test_tags_and_notes(self, store: Path) -> None:
        before, runs = shards(store), ds.load(store)
        runs[:2].tag("good")
        runs.tag("lr:0.1")
        runs[1:3].untag("lr:0.1")
        runs[0:1].tag("good")  # again: once is enough
        runs[3:].note("first")
        runs[3:].note("größer ist nicht besser \N{SNOWMAN}\n2")
        wanted = [["good", "lr:0.1"], ["good"], [], ["lr:0.1"]]
        for each in (runs, ds.load(store)):
            assert [run.tags for run in each] == wanted
            assert each.table(["tags"])["tags"].to_pylist() == wanted
            assert [run.note for run in each[2:]] == [None, "größer ist nicht besser ☃\n2"]
            assert each.where("list_contains(tags, 'good')").ids == runs.ids[:2]
            assert each.where("note LIKE 'größer%'").ids == runs.ids[3:]
        assert shards(store) == before

    def test_delete_and_restore(self, store: Path) -> None:
        before, runs = shards(store), ds.load(store)
        runs[1:3].delete()
        assert seeds(store) == [0, 3]
        assert seeds(store, deleted=True) == [1, 2]
        assert ds.query(store, "SELECT count(*) AS n FROM runs").to_pylist() == [{"n": 2}]
        ds.load(store, deleted=True).where("seed = 2").restore()
        assert seeds(store) == [0, 2, 3]
        ds.load(store).delete()
        assert seeds(store) == []
        assert plain(ds.load(store).table()) == plain(runs[:0].table())
        ds.load(store, deleted=True).restore()
        assert seeds(store) == [0, 1, 2, 3]
        assert shards(store) == before

    def test_deleted_runs_are_not_saved_again(self, store: Path) -> None:
        ds.load(store)[:1].delete()
        train(seeds=4).save(store, append=True)
        assert seeds(store) == [1, 2, 3]

    def test_of_nothing_nothing_is_said(self, store: Path) -> None:
        ds.load(store)[:0].tag("good")
        assert not (store / "marks").exists()

    @pytest.mark.parametrize("tag", ["", " ", "a b", "a\n", "a,b", "x" * 65, None, 3, "\ud800"])
    def test_bad_tags(self, store: Path, tag: Any) -> None:
        for act in (ds.load(store).tag, ds.load(store).untag):
            with pytest.raises(ds.DynascopeError, match="tag: expected 1 to 64 letters"):
                act(tag)
        assert not (store / "marks").exists()

    @pytest.mark.parametrize("tag", ["a", "größe", "v1.2-rc+3", "_:", "7", "x" * 64])
    def test_good_tags(self, store: Path, tag: str) -> None:
        ds.load(store)[:1].tag(tag)
        assert ds.load(store)[0].tags == [tag]

    @pytest.mark.parametrize("note", [None, 3, "x" * 10_001, "\ud800", b"bytes"])
    def test_bad_notes(self, store: Path, note: Any) -> None:
        with pytest.raises(ds.DynascopeError, match="note: expected a text of at most 10000"):
            ds.load(store).note(note)
        assert not (store / "marks").exists()

    def test_a_later_word_wins_whatever_the_files_are_called(self, store: Path) -> None:
        runs = ds.load(store)[:1]
        for number in range(20):
            runs.note(str(number))
            (runs.delete if number % 2 else runs.restore)()
        assert ds.load(store, deleted=True)[0].note == "19"

    def test_two_processes_at_once(self, store: Path) -> None:
        code = (
            "import sys, dynascope as ds; runs = ds.load(sys.argv[1])\n"
            "for i in range(25): runs.tag(f'{sys.argv[2]}{i}'); runs.note(sys.argv[2])"
        )
        with_name = [[sys.executable, "-c", code, str(store), name] for name in "ab"]
        started = [subprocess.Popen(arguments) for arguments in with_name]
        assert [process.wait() for process in started] == [0, 0]
        run = ds.load(store, strict=True)[2]
        assert sorted(run.tags) == sorted(f"{name}{i}" for name in "ab" for i in range(25))
        assert run.note in ("a", "b")

    def test_damaged_marks_are_named(self, store: Path) -> None:
        ds.load(store)[:1].tag("good")
        ds.load(store)[1:2].delete()
        (tag,) = (f for f in (store / "marks").iterdir() if json.loads(f.read_text())["value"])
        tag.write_text(tag.read_text().replace("good", "bad"))
        with pytest.warns(ds.DamageWarning, match=f"{tag.name}: skipped as damaged: its contents"):
            runs = ds.load(store)
        assert [run.seed for run in runs] == [0, 2, 3]
        assert runs[0].tags == []
        with pytest.raises(ds.DynascopeError, match=f"{tag.name}: damaged:"):
            ds.load(store, strict=True)

    def test_a_file_in_place_of_the_folder(self, store: Path) -> None:
        (store / "marks").write_text("mine")
        with pytest.warns(ds.DamageWarning, match="marks: skipped as damaged: it cannot be read"):
            runs = ds.load(store)
        assert len(runs) == 4
        with pytest.raises(ds.DynascopeError, match="cannot be written"):
            runs.tag("good")


class TestMerge:
    def test_three_stores(self, tmp_path: Path) -> None:
        """Duplicates count once; tags, notes and deletions come along; order is that of saving."""
        both = train(seeds=[5, 6])
        for name, runs in (
            ("a", train(seeds=[3, 5])),
            ("b", both),
            ("c", ds.Runs([*train({"model.dim": 3}, [1]), *both])),
        ):
            runs.save(tmp_path / name)
        ds.load(tmp_path / "a").tag("a")
        ds.load(tmp_path / "b").tag("b")
        ds.load(tmp_path / "a")[:1].delete()
        ds.load(tmp_path / "c")[0:1].note("wide")
        before = {name: shards(tmp_path / name) for name in "abc"}
        ds.merge([tmp_path / name for name in "cab"], tmp_path / "all")
        merged = ds.load(tmp_path / "all", strict=True)
        assert [(run.seed, run.config.model.dim) for run in merged] == [(5, 2), (6, 2), (1, 3)]
        assert [run.tags for run in merged] == [["a", "b"], ["b"], []]
        assert [run.note for run in merged] == [None, None, "wide"]
        assert seeds(tmp_path / "all", deleted=True) == [3]
        for run, wanted in zip(merged, (*both, train({"model.dim": 3}, [1])[0]), strict=True):
            for name in ACCESSORS.keys() - {"seconds", "summary"}:  # those are of another training
                assert ACCESSORS[name](run) == ACCESSORS[name](wanted)
        assert {name: shards(tmp_path / name) for name in "abc"} == before
        copied = {file.name: contents for file, (contents, _) in shards(tmp_path / "all").items()}
        for store in before.values():
            assert all(copied[file.name] == contents for file, (contents, _) in store.items())
        assert sorted(os.listdir(tmp_path / "all")) == ["marks", "runs", "trajectories"]

    def test_the_same_folder_twice(self, store: Path, tmp_path: Path) -> None:
        ds.merge([store, store], tmp_path / "all")
        assert plain(ds.load(tmp_path / "all").table(curves=True)) == plain(
            ds.load(store).table(curves=True)
        )

    def test_the_same_runs_with_other_bits(self, tmp_path: Path) -> None:
        """As another version might train them: neither takes the other's trajectories."""
        runs = train()
        other = ds.Runs(replace(run, weights=run.weights + 1) for run in runs)
        other.save(tmp_path / "other")
        runs.save(tmp_path / "runs")
        for order in (("runs", "other"), ("other", "runs")):
            ds.merge([tmp_path / name for name in order], tmp_path / "-".join(order))
            for run, wanted in zip(ds.load(tmp_path / "-".join(order)), other, strict=True):
                assert_same(run, wanted)  # the ones that were saved first

    @pytest.mark.parametrize("kind", ["runs", "trajectories"])
    @pytest.mark.parametrize("place", ["middle", "end"])
    def test_what_another_folder_has_whole_is_taken_from_there(
        self, store: Path, tmp_path: Path, kind: str, place: str
    ) -> None:
        shutil.copytree(store, tmp_path / "damaged")
        (file,) = (tmp_path / "damaged" / kind).iterdir()
        contents = bytearray(file.read_bytes())
        contents[len(contents) // 2 if place == "middle" else -1] ^= 1
        file.write_bytes(contents)
        with pytest.warns(ds.DamageWarning, match=f"damaged/{kind}/{file.name}"):
            ds.merge([tmp_path / "damaged", store], tmp_path / "all")
        for run, wanted in zip(ds.load(tmp_path / "all", strict=True), ds.load(store), strict=True):
            assert_same(run, wanted)

    def test_damaged_shards(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What cannot be read stays behind; what can be read in part comes along."""
        monkeypatch.setattr(save_module, "SHARD_RUNS", 1)
        train(seeds=4).save(tmp_path / "a")
        runs = ds.load(tmp_path / "a")
        gone, cut, flipped = runs[0]._shard, runs[1]._shard, runs[2]._shard
        gone.path.write_bytes(b"gone")
        cut.tensors.path.write_bytes(cut.tensors.path.read_bytes()[:-1])
        contents = bytearray(flipped.tensors.path.read_bytes())
        contents[-1] ^= 1
        flipped.tensors.path.write_bytes(contents)
        with pytest.warns(ds.DamageWarning) as caught:
            ds.merge([tmp_path / "a"], tmp_path / "all")
        told = " ".join(str(each.message) for each in caught)
        assert len(caught) == 3
        for path in (gone.path, cut.tensors.path, flipped.tensors.path):
            assert str(path) in told
        with pytest.warns(ds.DamageWarning, match=cut.tensors.path.name):
            merged = ds.load(tmp_path / "all")
        assert [run.seed for run in merged] == [1, 2, 3]
        assert_same(merged[2], runs[3])
        for run in merged[:2]:
            assert len(run.curves["test_loss"]) == 5
            with pytest.raises(ds.DynascopeError, match="damaged:"):
                run.parameters(1)

    def test_refusals(self, store: Path, tmp_path: Path) -> None:
        ds.load(store).delete()
        ds.merge([store], tmp_path / "deleted")  # deleted runs are runs
        (tmp_path / "empty" / "runs").mkdir(parents=True)
        for folders, out, text in (
            ([], "x", "folders: give at least one folder of runs"),
            (str(store), "x", "folders: expected a list of folders, but got"),
            (store, "x", "folders: expected a list of folders, but got"),
            ([tmp_path / "none"], "x", "none: expected a folder of runs, but it does not exist"),
            ([tmp_path / "empty"], "x", "empty: expected runs to merge, but there are none"),
            ([store], "store", "expected a new or empty folder, but this one is not"),
        ):
            with pytest.raises(ds.DynascopeError, match=text):
                ds.merge(folders, tmp_path / out)
        assert sorted(os.listdir(tmp_path)) == ["deleted", "empty", "store"]


class TestHousekeeping:
    """What a sweep does before it goes on."""

    def test_damaged_shards_are_set_aside(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(save_module, "SHARD_RUNS", 1)
        train(seeds=3).save(tmp_path / "runs")
        runs = ds.load(tmp_path / "runs")
        parquet, tensors = runs[0]._shard.path, runs[1]._shard.tensors.path
        parquet.write_bytes(b"damaged")
        tensors.unlink()
        with pytest.warns(ds.DamageWarning, match="skipped as damaged"):
            index = open_index(tmp_path / "runs")
        with pytest.warns(ds.DamageWarning, match="moved to"):
            moved = set_aside(index)
        assert len(moved) == 3
        assert (tmp_path / "runs" / "damaged" / parquet.name).read_bytes() == b"damaged"
        assert seeds(tmp_path / "runs", strict=True) == [2]
