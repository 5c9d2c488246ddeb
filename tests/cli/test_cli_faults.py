"""Commands that are stopped or run out of room: what is finished is kept."""

import os
import pty
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from command_line import ENVIRONMENT, files, same, settings, short
from processes import COMMAND

import dynascope as ds
from dynascope.cli import main, safe_save


def test_out_of_memory_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: Any, **named: Any) -> ds.Runs:
        raise MemoryError

    monkeypatch.setattr("dynascope.cli.train.train_jobs", full)
    assert main(["train"]) == 1
    assert capsys.readouterr().err.startswith("dynascope: memory ran out; 0 of 1 runs finished")


def test_runs_survive_a_folder_that_was_taken_meanwhile(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    runs, before = ds.load(work / "runs/one"), files(work)
    taken = work / "runs/first"
    trouble = safe_save.save(runs, lambda runs: runs.save(taken))
    (rescue,) = tmp_path.iterdir()
    assert f"The runs are in {rescue} instead." in trouble
    assert same(ds.load(rescue)[0], runs[0])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    trouble = safe_save.save(runs, lambda runs: runs.save(taken))
    assert trouble.endswith("Nothing was saved.")
    assert files(work) == before


class Job:
    """A long command, its stderr a terminal so that the progress bar tells how far it is."""

    def __init__(self, *arguments: str, folder: Path) -> None:
        self._terminal, theirs = pty.openpty()
        self._seen = ""
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=folder,
            env={**ENVIRONMENT, "TERM": "xterm"},
            stdout=subprocess.PIPE,
            stderr=theirs,
            text=True,
            encoding="utf-8",
        )
        os.close(theirs)

    def wait_for(self, pattern: str) -> None:
        while not re.search(pattern, self._seen):
            self._seen += os.read(self._terminal, 4096).decode(errors="replace")

    def stop(self) -> tuple[int, str, str]:
        """Two Ctrl-C in quick succession; exit code, stdout, and stderr."""
        self.process.send_signal(signal.SIGINT)
        time.sleep(0.02)
        self.process.send_signal(signal.SIGINT)
        stdout, _ = self.process.communicate(timeout=60)
        try:
            while more := os.read(self._terminal, 4096):
                self._seen += more.decode(errors="replace")
        except OSError:  # how Linux says that the other side has hung up
            pass
        os.close(self._terminal)
        return self.process.returncode, stdout, self._seen

    def hang_up(self, told: signal.Signals) -> int:
        """Close the terminal, which the process is told by a signal; exit code."""
        os.close(self._terminal)
        self.process.send_signal(told)
        self.process.communicate(timeout=60)
        return self.process.returncode


def long_job(config: ds.Config, folder: Path) -> Job:
    """Twenty thousand runs, some of which are finished."""
    job = Job("train", "--seeds", "20000", *settings(config), "--out", "kept/runs", folder=folder)
    job.wait_for(r"[1-9]\d*/20000 runs +[\d.,]+ (runs|epochs)/s +\d+:\d\d left")
    return job


@pytest.mark.parametrize("warned", [True, False], ids=["with SIGHUP", "without"])
def test_a_closed_terminal_keeps_the_runs(warned: bool, tmp_path: Path) -> None:
    """Nothing can be said any more, so the exit code must say it: not Python's 120 for that."""
    job = long_job(short(record__weights_every=0, record__state_every=0), tmp_path)
    assert job.hang_up(signal.SIGHUP if warned else signal.SIGTERM) == 1
    runs = ds.load(tmp_path / "kept/runs")
    assert 1 <= len(runs) < 20000


def test_ctrl_c_keeps_the_runs(tmp_path: Path) -> None:
    config = short(record__weights_every=0, record__state_every=0)
    job = long_job(config, tmp_path)
    code, stdout, stderr = job.stop()
    runs = ds.load(tmp_path / "kept/runs")
    finished = runs.where("NOT list_contains(tags, 'stopped')")
    assert code == 1
    assert 1 <= len(finished) <= len(runs) < 20000
    assert f"stopped; {len(finished)} of 20000 runs finished, " in stderr
    assert "saved to kept/runs. Run the same command again to go on." in stderr
    assert "Traceback" not in stderr
    assert f"{len(finished)} runs above 0.9" in stdout or len(finished) == 1
    expected = ds.train(config, seeds=[run.seed for run in finished[:20]], progress=False)
    assert all(same(a, b) for a, b in zip(finished, expected, strict=False))
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["runs"]


def test_ctrl_c_keeps_the_epochs_of_a_continued_run(work: Path, tmp_path: Path) -> None:
    words = ["--from", f"{work}/runs/first#seed=1", "--continue", "--epochs", "1000000"]
    job = Job("train", *words, "--out", "kept", folder=tmp_path)
    job.wait_for(r"0/1 runs +[\d.,]+ epochs/s")
    code, _, stderr = job.stop()
    (run,) = ds.load(tmp_path / "kept")
    assert (code, run.epochs > 20) == (1, True)
    assert f"stopped; the run is at epoch {run.epochs} of 1000000, saved to kept." in stderr
    (whole,) = ds.train(short(training__epochs=run.epochs), seeds=[1], progress=False)
    assert same(run, whole)
