"""Sweeps that analyse where they train; what Ray adds is in test_ray.py."""

import json
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from analysed import ALL, GRID, PLAIN, TINY, flipped, found, refuse, sidecars
from sweeping import bits, same, shards, start, toml, twice, wait_for

import dynascope as ds
from dynascope.analysis_columns import KINDS
from dynascope.cli import main
from dynascope.findings import keep_analyses
from dynascope.store.shard_read import Shard
from dynascope.store.sidecar import Sidecar

# ---- sweeps -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("swept") / "runs"
    ds.sweep(GRID, path, progress=False)
    return path


def test_sweeps_analyse_where_they_train(swept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sidecar for each shard, of the same batch; the same values as in one go."""
    monkeypatch.setattr(keep_analyses, "make_row", refuse)
    runs = ds.load(swept, strict=True)
    assert len(runs) == 12
    assert len(sidecars(swept)) == len(shards(swept))
    batches = {Sidecar.open(file).about["batch"] for file in sidecars(swept)}
    assert batches == set(json.loads((swept / "sweep.json").read_text())["sweep"]["batches"])
    monkeypatch.undo()
    alone = ds.Runs(list(runs)).analyse("all", progress=False)
    assert runs.table(alone.column_names).equals(alone)
    assert main(["check", str(swept)]) == 0


@pytest.mark.parametrize("how", [{"threads": 1}, {"shard_seconds": 1e-4}])
def test_how_it_is_cut_changes_nothing(tmp_path: Path, swept: Path, how: dict[str, Any]) -> None:
    other = ds.sweep(GRID, tmp_path / "runs", progress=False, **how)
    assert same(other, ds.load(swept))
    assert other.table(ALL).equals(ds.load(swept).table(ALL))


def test_analyses_added_later(
    tmp_path: Path, swept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid, folder = tmp_path / "grid.toml", tmp_path / "runs"
    ds.sweep(PLAIN, folder, progress=False)
    before = shards(folder)
    assert "analyse" not in (folder / "sweep.json").read_text()
    grid.write_text(toml(GRID | {"analyse": "circuit"}))
    said = []
    for words in ([grid, "--dry-run"], [grid, "--out", folder], ["--status", folder]):
        assert main(["sweep", *map(str, words)]) == 0
        said.append(capsys.readouterr().out)
    assert "each run is analysed (circuit)" in said[0]
    assert "12 of them from before" in said[1]
    assert [row["analysed"] for row in found(folder)] == [["circuit"]] * 12
    assert "analysed (circuit): 12 of 12 runs" in said[2]
    ds.sweep(GRID, folder, progress=False)
    assert found(folder) == found(swept)
    held = sidecars(folder)
    ds.sweep(GRID, folder, progress=False)
    ds.sweep(PLAIN, folder, progress=False)  # which may be taken back
    assert "analyse" not in (folder / "sweep.json").read_text()
    assert (shards(folder), sidecars(folder)) == (before, held)
    more = ds.sweep(GRID | {"seeds": 4}, folder, progress=False)
    assert [row["analysed"] for row in found(more)] == [list(KINDS)] * 16
    assert before.items() <= shards(folder).items()


def test_status_says_what_is_missing(
    tmp_path: Path, swept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(swept, folder)
    sidecars(folder)[0].unlink()
    assert main(["sweep", "--status", str(folder)]) == 0
    told = capsys.readouterr().out
    assert "of 12 runs\n" in told
    assert "analysed (circuit, phases, spikes): 12 of" not in told
    assert "run the same `dynascope sweep` command for the rest" in told


def test_damaged_sidecars_are_set_aside_and_made_again(tmp_path: Path, swept: Path) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(swept, folder)
    file, before = sidecars(folder)[0], shards(folder)
    file.write_bytes(file.read_bytes()[:500])
    with pytest.raises(ds.DynascopeError, match=file.name):
        ds.sweep(GRID, folder, strict=True, progress=False)
    with pytest.warns(ds.DamageWarning) as caught:
        ds.sweep(GRID, folder, progress=False)
    assert f"{file.name}: damaged; moved to" in str(caught[-1].message)
    assert (folder / "damaged" / file.name).stat().st_size == 500
    assert found(ds.load(folder, strict=True)) == found(swept)
    assert shards(folder) == before


@pytest.mark.parametrize("what", ["trajectories", "runs"])
def test_runs_that_prove_damaged_are_trained_again(tmp_path: Path, what: str) -> None:
    """When they are read to be analysed, which is more than a sweep reads of them otherwise."""
    folder = tmp_path / "runs"
    before = [bits(run) for run in ds.sweep(PLAIN, folder, progress=False)]
    file = sorted((folder / what).iterdir())[0]
    contents = file.read_bytes()
    at = len(contents) - 1
    if what == "runs":
        at, _ = Shard.open(file)._ranges["test_loss"]
    file.write_bytes(flipped(contents, at))
    with pytest.raises(ds.DynascopeError, match=file.name):
        ds.sweep(GRID, folder, strict=True, progress=False)
    with pytest.warns(ds.DamageWarning, match="moved to"):
        runs = ds.sweep(GRID, folder, progress=False)
    assert (folder / "damaged" / file.name).exists()
    assert [bits(run) for run in ds.load(folder, strict=True)] == before
    assert [row["analysed"] for row in found(runs)] == [list(KINDS)] * 12


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)]
)
def test_sweeps_stopped_in_the_middle(tmp_path: Path, number: int) -> None:
    """Whatever runs are there have their analyses, and the rest comes later."""
    many = {"seeds": 30, "analyse": list(KINDS), "base": TINY | {"task.length": 12}}
    grid, folder = tmp_path / "grid.toml", tmp_path / "runs"
    grid.write_text(toml(many))
    process = start("sweep", grid, "--out", folder, "--shard-seconds", 1e-4, "--threads", 1)
    wait_for(lambda: len(shards(folder)) >= 2)
    process.send_signal(number)
    assert process.wait(30) == (-9 if number == signal.SIGKILL else 1)
    kept = found(folder)
    assert 0 < len(kept) < 30
    assert all(row["analysed"] == list(KINDS) for row in kept)
    before = shards(folder)
    runs = ds.sweep(many, folder, progress=False)
    assert before.items() <= shards(folder).items()
    assert not twice(folder)
    assert len(runs) == 30
    assert all(row["analysed"] == list(KINDS) for row in found(runs))


def test_a_sidecar_without_its_shard_is_no_harm(tmp_path: Path, swept: Path) -> None:
    """What a crash between the two leaves."""
    folder = tmp_path / "runs"
    shutil.copytree(swept, folder)
    os.unlink(sorted((folder / "runs").iterdir())[0])
    assert len(ds.load(folder, strict=True)) < 12
    assert main(["check", str(folder)]) == 0
    began = time.time_ns()
    ds.sweep(GRID, folder, progress=False)
    assert found(folder) == found(swept)
    assert all(Sidecar.open(file).about["batch"] < began for file in sidecars(folder))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            "circut",
            "analyse: expected kept_sum, circuit, .* or all, but got 'circut'; did you",
        ),
        (True, "analyse: expected kept_sum, circuit, .* or all, or a list of them, but got True"),
        ({"a": 1}, "analyse: expected kept_sum, circuit, .* or all, or a list of them"),
    ],
)
def test_bad_grids(tmp_path: Path, value: Any, text: str) -> None:
    with pytest.raises(ds.DynascopeError, match=text):
        ds.sweep(GRID | {"analyse": value}, tmp_path / "runs", progress=False)
