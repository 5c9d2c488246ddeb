"""`dynascope demo`: its table, and the sandbox that it ends in."""

import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from command_line import ENVIRONMENT, dynascope

import dynascope as ds
from dynascope.cli import demo, main


def test_demo(tmp_path: Path) -> None:
    done = dynascope("demo", "--no-show", folder=tmp_path)
    assert (done.returncode, done.stderr, list(tmp_path.iterdir())) == (0, "", [])
    rows = re.findall(r"^ *(\d+) +([<>]?[01]\.\d{3}) ([✓ ]) ", done.stdout, re.MULTILINE)
    assert [int(seed) for seed, _, _ in rows] == list(range(20))
    assert all((mark == "✓") == (float(accuracy.strip("<>")) > 0.9) for _, accuracy, mark in rows)
    solved = sum(mark == "✓" for _, _, mark in rows)
    assert f"{solved} of 20 solved the task" in done.stdout
    assert "dynascope train --seeds 100 --out runs/first" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    names = re.findall(r"(?:epoch +\d+|never)   ([a-z-]+) ", done.stdout)
    assert len(names) == 20
    won = Counter(name for name, row in zip(names, rows, strict=True) if row[2] == "✓")
    text = " ".join(done.stdout.split())
    for name, count in won.items():
        assert re.search(rf"keep a sum of the tokens: [^.]*\b{count} {name}", text)
    counts = [
        int(line.split()[-1])
        for line in done.stdout.splitlines()
        if re.match(r" *\d+ +[<>]?[01]\.", line)
    ]
    assert f"{sum(map(bool, counts))} runs had loss spikes, {sum(counts)} in all" in done.stdout


# The real command with little to do, and a client of our own in the place of the built one.
_SMALL_DEMO = """
import sys; from pathlib import Path
import dynascope as ds
from dynascope.sandbox import client; client.FOLDER = Path(sys.argv[1])
from dynascope.cli import demo, main
demo._SEEDS, short = 2, ds.Config().replace({"training.epochs": 20})
demo.Config = lambda: short
sys.exit(main(["demo", *sys.argv[2:]]))
"""


class Demo:
    """A small demo as a process whose temporary files are in a folder of their own."""

    def __init__(self, folder: Path, *arguments: str, built: bool = True) -> None:
        self.temporary, static = folder / "temporary", folder / "static"
        self.temporary.mkdir()
        static.mkdir()
        if built:
            (static / "index.html").write_text("<!doctype html><title>tiny</title>")
        self.process = subprocess.Popen(
            [sys.executable, "-c", _SMALL_DEMO, str(static), *arguments],
            cwd=folder,
            env={
                **ENVIRONMENT,
                "TMPDIR": str(self.temporary),
                "BROWSER": "sh -c 'touch opened' %s",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def served(self) -> str:
        """What it has said once it serves."""
        assert self.process.stdout is not None
        said = ""
        while "Press Ctrl-C to stop." not in said:
            line = self.process.stdout.readline()
            assert line, said
            said += line
        return said

    def end(self, how: int | None = None) -> tuple[int, str, str]:
        """Exit code, what else it said, what it complained of."""
        if how is not None:
            self.process.send_signal(how)
        try:
            said, complaints = self.process.communicate(timeout=60)
        finally:
            self.process.kill()
            self.process.wait()
        return self.process.returncode, said, complaints

    def left(self) -> list[Path]:
        return list(self.temporary.iterdir())


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_demo_ends_in_the_sandbox_and_leaves_nothing(tmp_path: Path, how: int) -> None:
    shown = Demo(tmp_path, "--no-open")
    said = shown.served()
    best = re.search(r"^Seed (\d) has the richest story: (un)?solved, \d drops? .*$", said, re.M)
    assert best
    assert "temporary folder, removed at the end" in said
    (above,) = shown.left()
    run = ds.load(above / "demo").by_seed(int(best[1]))
    found = re.search(r"2 runs at (http://127\.0\.0\.1:\d+/\?token=[\w-]+)#v=1&run=(\w+)\n", said)
    assert found
    assert found[2] == run.id
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with opener.open(found[1], timeout=60) as answer:
        assert b"tiny" in answer.read()
    assert shown.end(how) == (0, "", "")
    assert shown.left() == []
    assert not (tmp_path / "opened").exists()


def test_the_demo_opens_the_browser_and_keeps_what_it_is_asked_to(tmp_path: Path) -> None:
    shown = Demo(tmp_path, "--out", "kept")
    said = shown.served()
    assert "Saved 2 runs to kept." in said
    assert "temporary" not in said
    assert shown.left() == []
    until = time.monotonic() + 30
    while not (tmp_path / "opened").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert (tmp_path / "opened").exists()
    assert shown.end(signal.SIGINT) == (0, "", "")
    table = ds.load(tmp_path / "kept").table(["seed", "verdict", "spikes"]).to_pydict()
    assert table["seed"] == [0, 1]
    assert None not in table["verdict"] + table["spikes"]  # the sandbox's list knows them


def test_the_demo_without_a_built_client_says_so_and_ends_well(tmp_path: Path) -> None:
    shown = Demo(tmp_path, built=False)
    code, said, complaints = shown.end()
    assert (code, complaints, shown.left()) == (0, "", [])
    assert said.rstrip().endswith("but they are not built; run scripts/build-web.")
    assert "http" not in said


def test_the_demo_refuses_a_folder_that_is_taken(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--no-show", "--out", str(work / "runs/first")]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "expected a new or empty folder, but this one is not" in printed.err


def test_the_demo_shows_a_solved_run_then_phases_then_spikes() -> None:
    rows: list[dict[str, Any]] = [
        {"accuracy": 1.0, "drop_epochs": [1, 2], "spikes": 3},
        {"accuracy": 0.95, "drop_epochs": [1, 2, 3], "spikes": 4},
        {"accuracy": 1.0, "drop_epochs": [1], "spikes": 9},
        {"accuracy": 0.5, "drop_epochs": [1, 2], "spikes": 20},
        {"accuracy": None, "drop_epochs": None, "spikes": None},
    ]
    ranked = sorted(rows, key=demo._richness, reverse=True)
    assert ranked == [rows[i] for i in (1, 0, 2, 3, 4)]
