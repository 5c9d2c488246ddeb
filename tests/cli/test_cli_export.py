"""`dynascope export`: a file, what is said of it, and nothing if it is stopped."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from analysed import three
from command_line import dynascope

from dynascope.cli import main
from dynascope.sandbox import one_file, run_archive


@pytest.fixture
def store(tmp_path: Path) -> Path:
    three().save(tmp_path / "store")
    return tmp_path / "store"


def test_a_run_becomes_a_file(store: Path) -> None:
    done = dynascope("export", "store#seed=1@7", "-o", "run.html", folder=store.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("run.html: 0.")
    assert done.stdout.endswith(" MB; open it in a browser.\n")
    assert (store.parent / "run.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(each.name for each in store.parent.iterdir()) == ["run.html", "store"]


def test_a_file_is_replaced_in_silence(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(store.parent)
    Path("run.html").write_text("mine")
    command = ["export", "store#seed=1", "store#seed=0", "-o", "run.html", "--quiet"]
    assert main(command) == 0
    assert capsys.readouterr() == ("", "")
    assert len(Path("run.html").read_text(encoding="utf-8")) > 10**5


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_leaves_no_file(
    store: Path,
    end: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Just before the analyses."""
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    curves = run_archive.run_answers.curves

    def stopped(run: Any) -> Any:
        os.kill(os.getpid(), end)
        return curves(run)

    monkeypatch.setattr(run_archive.run_answers, "curves", stopped)
    monkeypatch.chdir(store.parent)
    try:
        assert main(["export", "store#seed=1", "-o", "run.html"]) == 1
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert capsys.readouterr().err == "dynascope: stopped.\n"
    assert [each.name for each in store.parent.iterdir()] == ["store"]


@pytest.mark.filterwarnings("default")
def test_a_large_file_says_what_to_leave_out(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(one_file, "LARGE", 300_000)
    monkeypatch.chdir(store.parent)
    assert main(["export", "store#seed=1", "-o", "run.html"]) == 0
    said = capsys.readouterr().err
    assert said.startswith("dynascope: warning: run.html has 1 MB, which is slow to open; --every")
    assert Path("run.html").exists()
