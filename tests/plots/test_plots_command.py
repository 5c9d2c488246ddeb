"""`dynascope figure`: every layout to every kind of file, whole or not at all."""

import csv
import io
import os
import stat
from pathlib import Path
from typing import BinaryIO

import pytest
from plotted import drawn_run

import dynascope as ds
from dynascope.cli import main
from dynascope.figure_layouts import LAYOUTS

BEGINS = {"pdf": b"%PDF-", "svg": b"<?xml", "png": b"\x89PNG"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with spikes, and another."""
    folder = tmp_path_factory.mktemp("figure") / "runs"
    ds.train(ds.Config().replace({"training.epochs": 500}), [15, 3], progress=False).save(folder)
    return folder


@pytest.mark.parametrize("kind", BEGINS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(layout: str, kind: str, store: Path, tmp_path: Path) -> None:
    out = tmp_path / f"x.{kind}"
    runs = str(store) if layout == "circuits" else f"{store}#seed=15"
    assert main(["figure", layout, runs, "-o", str(out)]) == 0
    assert out.read_bytes().startswith(BEGINS[kind])
    assert [each.name for each in tmp_path.iterdir()] == [out.name]


def test_a_figure_and_its_numbers(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, data = tmp_path / "x.PDF", tmp_path / "x.csv"
    run = f"{store}#seed=3@40"
    more = ["--panels", "tokens,loss", "--width", "column", "--theme", "dark"]
    assert main(["figure", "panels", run, *more, "-o", str(out), "--data", str(data)]) == 0
    assert capsys.readouterr() == (f"Drew {out}.\nWrote {data}.\n", "")
    rows = list(csv.DictReader(io.StringIO(data.read_text(encoding="utf-8"))))
    weights = ds.load(store).by_seed(3).parameters(40).token_embedding
    tokens = [row for row in rows if row["panel"] == "tokens"]
    assert [[float(row["x"]), float(row["y"])] for row in tokens] == weights.tolist()
    assert {row["epoch"] for row in tokens} == {"40"}


def test_the_same_figure_is_the_same_file(store: Path, tmp_path: Path) -> None:
    for kind in BEGINS:
        for name in "ab":
            out = tmp_path / f"{name}.{kind}"
            arguments = ["figure", "panels", f"{store}#seed=15", "--panels", "decision_map,loss"]
            assert main([*arguments, "-o", str(out)]) == 0
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_a_failure_while_drawing_leaves_the_old_file(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "x.png"
    out.write_text("old")

    def full(figure: object, file: BinaryIO, **how: object) -> None:
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dynascope.plots._look.PublicationFigure.savefig", full)
    assert main(["figure", "attention", f"{store}#seed=15", "-o", str(out)]) == 1
    assert out.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["x.png"]


def test_files_are_as_readable_as_others(store: Path, tmp_path: Path) -> None:
    out, plain = tmp_path / "x.png", tmp_path / "plain"
    plain.touch()
    assert main(["figure", "attention", f"{store}#seed=15", "-o", str(out)]) == 0
    assert stat.S_IMODE(os.stat(out).st_mode) == stat.S_IMODE(os.stat(plain).st_mode)


def test_runs_in_memory_and_stored_look_the_same(tmp_path: Path) -> None:
    run = drawn_run("wide")
    ds.Runs([run]).save(tmp_path / "runs")
    (stored,) = ds.load(tmp_path / "runs")
    figures = [ds.plots.figure("panels", each, epochs=5) for each in (run, stored)]
    assert figures[0].numbers() == figures[1].numbers()
