"""Saving: what exists is refused or extended, and nothing is ever half there."""

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from store_cases import SMALL, assert_same, save_module, train

import dynascope as ds
from dynascope.store.schema import SCHEMA

pytestmark = pytest.mark.usefixtures("both_ways")


class TestSaving:
    def test_refuses_what_exists(self, tmp_path: Path) -> None:
        runs = train()
        (tmp_path / "empty").mkdir()
        runs.save(tmp_path / "empty")
        (tmp_path / "file").write_text("mine")
        (tmp_path / "link").symlink_to(tmp_path / "nowhere")
        for name, text in (
            ("empty", "expected a new or empty folder, but this one is not"),
            ("file", "expected a new or empty folder, but this one is not"),
            ("link", "expected the name of a new folder"),
            ("file/runs", "cannot be created, because"),
        ):
            with pytest.raises(ds.DynascopeError, match=text):
                runs.save(tmp_path / name)
        with pytest.raises(ds.DynascopeError, match="expected a new or empty folder"):
            runs.save(tmp_path / "file", append=True)
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "thesis.txt").write_text("mine")
        with pytest.raises(
            ds.DynascopeError, match="expected a folder of runs, but this folder has"
        ):
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
        for name, what in (
            ("none", "it does not exist"),
            ("file", "its JSON cannot be read"),
            (".", "this folder has none"),
        ):
            with pytest.raises(ds.DynascopeError, match=f"a folder of runs.*, but {what}"):
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
        assert (about["format"], about["dynascope"]) == (2, ds.__version__)
        assert set(about["columns"]) == set(SCHEMA.names)

    def test_names_follow_from_contents(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The same runs make the same bytes; other bits or another version another name."""
        runs = train()
        changed = [dataclasses.replace(run, weights=run.weights + 1) for run in runs]
        for name, each in (("a", runs), ("b", runs), ("c", ds.Runs(changed))):
            each.save(tmp_path / name)
        monkeypatch.setattr("dynascope.version.__version__", "9.9")
        runs.save(tmp_path / "d")
        (a,), (b,), (c,), (d,) = ((tmp_path / n / "trajectories").iterdir() for n in "abcd")
        assert a.name == b.name
        assert a.read_bytes() == b.read_bytes()
        assert len({a.name, c.name, d.name}) == 3


def test_runs_trained_past_their_schedule_count_in_full() -> None:
    """Else a shard could become larger than any reader takes."""
    planned = SMALL.replace({"training.epochs": 1, "training.schedule": "cosine"})
    trainers = [ds.Trainer(planned, seed=seed) for seed in range(2)]
    for trainer, epochs in zip(trainers, (1, 39), strict=True):
        trainer.advance(epochs)
    short, long = (save_module._size(trainer.run) for trainer in trainers)
    assert long == 20 * short
