"""`dynascope report --theory`: what it says of one run is what the functions say."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analysed import train

import dynascope as ds
from dynascope.cli import main
from dynascope.theory import bounds, curvature, saddles, stationarity

Out = pytest.CaptureFixture[str]
SECTIONS = ("Stationarity after epoch 30", "Bounds on the gradient", "Curvature", "Plateaus")
WILD = {"training.lr": 1e4, "training.optimizer": "sgd", "model.norm": "none"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain run, one that diverges, one of which only its first and last weights were kept."""
    path = tmp_path_factory.mktemp("theory") / "runs"
    runs = [*train(), *train(WILD, [7]), *train({"record.weights_every": 0}, [8])]
    ds.Runs(runs).save(path)
    return path


def report(capsys: Out, *words: object) -> str:
    code = main(["report", *map(str, words), "--kinds", "phases", "--theory"])
    out, error = capsys.readouterr()
    assert (code, error) == (0, "")
    return out


def parsed(capsys: Out, *words: object) -> Any:
    return json.loads(report(capsys, *words, "--json"), parse_constant=pytest.fail)["theory"]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_every_section_is_there_and_fits(
    folder: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = report(capsys, folder, "--run", "seed=0").splitlines()
    assert max(map(len, lines)) <= width
    for title in (*SECTIONS, "Landscape"):
        assert lines.count(title) == 1


def test_the_numbers_are_those_of_the_functions(folder: Path, capsys: Out) -> None:
    run = ds.load(folder).by_seed(0)
    place = (run.parameters(20), *run.examples(), run.config)
    got = parsed(capsys, f"{folder}#seed=0@20")
    assert got["epoch"] == 20
    assert got["stationarity"]["norm"] == stationarity(*place).norm
    assert got["bounds"]["tight"]["value"] == bounds(*place).tight.value
    found = curvature(run, 20)
    assert got["curvature"]["spectrum"]["eigenvalues"] == found.spectrum.eigenvalues.tolist()
    assert got["curvature"]["sharpness"] == found.sharpness
    assert [each["verdict"] for each in got["plateaus"]] == [p.verdict for p in saddles(run)]
    assert np.shape(got["landscape"]["loss"]) == (21, 21)


def test_a_diverged_run_is_looked_at_before(folder: Path, capsys: Out) -> None:
    run = ds.load(folder).by_seed(7)
    assert run.diverged is not None
    assert parsed(capsys, f"{folder}#seed=7")["epoch"] == run.diverged - 1


def test_a_folder_of_one_run_names_it(tmp_path: Path, capsys: Out) -> None:
    train(seeds=1).save(tmp_path / "one")
    assert report(capsys, tmp_path / "one") == report(capsys, f"{tmp_path / 'one'}#seed=0")


def test_a_diverged_epoch_is_refused_by_all(folder: Path, capsys: Out) -> None:
    run = ds.load(folder).by_seed(7)
    notes = parsed(capsys, f"{folder}#seed=7@{run.diverged}")["notes"]
    assert {"stationarity", "bounds", "curvature", "landscape"} <= set(notes)


def test_weights_that_were_not_kept_are_computed_again(folder: Path, capsys: Out) -> None:
    told = report(capsys, f"{folder}#seed=8")
    assert "spikes" not in told
    assert all(title in told for title in SECTIONS)


def test_an_imported_run_has_no_train_set(tmp_path: Path, capsys: Out) -> None:
    (run,) = train(seeds=1)
    origin = ds.Origin("import", "0" * 20)
    ds.Runs(
        [
            dataclasses.replace(
                run, origin=origin, states=run.states[:0], state_epochs=run.state_epochs[:0]
            )
        ]
    ).save(tmp_path / "runs")
    got = parsed(capsys, f"{tmp_path / 'runs'}#seed=0")
    assert got["curvature"] is None
    assert "train set is not known" in got["notes"]["curvature"]


def test_many_runs_are_refused(folder: Path, capsys: Out) -> None:
    assert main(["report", str(folder), "--theory"]) == 2
    assert "--theory: expected a single run" in capsys.readouterr().err
