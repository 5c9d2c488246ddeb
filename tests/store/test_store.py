"""Runs on disk: the same bits as in memory, and read lazily."""

import mmap
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_cases import CASES, assert_same, bits, mixed, own_data, runs_of, save_module, train

import dynascope as ds
from dynascope.store.parquet_file import column_ranges


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

    def test_mixed_runs_keep_their_order(self, mixed_folder: Path) -> None:
        for one, other in zip(ds.load(mixed_folder), mixed(), strict=True):
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

    def test_a_stored_run_goes_on(self, mixed_folder: Path) -> None:
        run = runs_of("default, short")[1]
        stored = next(each for each in ds.load(mixed_folder) if each.id == run.id)
        assert bits(stored.continued(7).weights) == bits(run.continued(7).weights)
        assert stored.parameters(3) == run.parameters(3)

    def test_ids_do_not_depend_on_recording(self) -> None:
        record = {"record.weights_every": 0, "record.unseen": True, "record.steps": (0, 1)}
        assert train(record)[0].id == train()[0].id
        assert len({run.id for run in (*train(), *train({"training.lr": 0.1}))}) == 4


def poison(file: Path, spared: set[str]) -> None:
    """Overwrite the bytes of all columns but these."""
    contents = bytearray(file.read_bytes())
    for name, (begin, end) in column_ranges(pq.read_metadata(file)).items():
        if name not in spared:
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
        with pytest.raises(ds.DynascopeError, match=f"{parquet.name}: damaged:"):
            stored.table(["lr"])

    def test_weights_are_mapped_read_only(self, mixed_folder: Path) -> None:
        run = ds.load(mixed_folder)[0]
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
