"""Streams that are closed or full, and Ctrl-C from the first moment on: never a traceback."""

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ENVIRONMENT
from processes import COMMAND

import dynascope as ds

# A command of each kind; all of them print something.
COMMANDS = {
    "help": "--help",
    "version": "--version",
    "options": "train --options",
    "train": "train --epochs 2 --seeds 2",
    "train and save": "train --epochs 2 --out {new}",
    "demo": "demo --help",
    "sweep": "sweep --example",
    "query": "query {runs} 'SELECT * FROM runs'",
    "csv": "query {runs} 'SELECT seed FROM runs' --csv",
    "report": "report {runs} --threads 1",
    "check": "check {runs}",
    "tag": "tag {runs} good --all",
    "merge": "merge {runs} --out {new}",
    "import": "import --help",
    "show": "show --help",
    "figure": "figure attention {runs}#seed=1 -o {new}.png",
    "refused": "query nowhere 'SELECT 1'",
}
FEW = ("version", "train and save", "csv", "refused")  # for what is the same in all of them
SHELL = " ".join(f"'{word}'" for word in COMMAND)


def shell(
    name: str, ending: str, work: Path, new: Path, **environment: str
) -> "subprocess.CompletedProcess[bytes]":
    """A command in a shell, with its streams as `ending` says."""
    runs = new / "copy"
    if not runs.exists():
        ds.load(work / "runs/first").save(runs)
    text = COMMANDS[name].format(runs=runs, new=new / "new")
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{SHELL} {text} {ending}"],
        cwd=new,
        env=ENVIRONMENT | environment,
        capture_output=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("name", "closed"),
    [*((name, ">&-") for name in COMMANDS), *((name, "<&- >&- 2>&-") for name in FEW)],
)
def test_closed_streams_discard_what_is_printed(
    name: str, closed: str, work: Path, tmp_path: Path
) -> None:
    done = shell(name, closed, work, tmp_path)
    assert done.returncode == (2 if name == "refused" else 0), done.stderr
    assert done.stderr.count(b"\n") == (name == "refused" and "2>" not in closed)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in FEW else pytest.mark.slow) for name in COMMANDS],
)
def test_a_full_disk_for_what_is_printed_is_one_sentence(
    name: str, work: Path, tmp_path: Path
) -> None:
    done = shell(name, "> /dev/full", work, tmp_path)
    if name == "refused":  # it prints nothing there
        assert done.returncode == 2
        return
    assert (done.returncode, done.stderr) == (
        1,
        b"dynascope: cannot go on: [Errno 28] No space left on device.\n",
    )


@pytest.mark.parametrize("name", FEW)
def test_nothing_can_be_said_at_all(name: str, work: Path, tmp_path: Path) -> None:
    done = shell(name, "> /dev/full 2>&1", work, tmp_path)
    assert done.returncode == (2 if name == "refused" else 1)


@pytest.mark.parametrize("name", [*FEW, "report"])
def test_a_reader_that_leaves_at_once(name: str, work: Path, tmp_path: Path) -> None:
    done = shell(name, "| true", work, tmp_path)
    assert done.returncode in (0, 1, 2)  # 0: it wrote before the reader had left
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr


# ---- Ctrl-C while the command is being imported --------------------------------------------------

_STRIKE = """
import os, signal, sys

class Strike:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["STRIKE_AT"]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Strike())
"""
_SCRIPT = "import sys\nfrom dynascope.cli import main\nsys.exit(main())\n"
MODULES = (
    "dynascope.kernel_loading",
    "dynascope._kernel",
    "numpy",
    "numpy.linalg",
    "dynascope.config",
    "dynascope.trainer",
    "dynascope.cli",
    "dynascope.cli.streams",
    "dynascope.cli.arguments",
    "argparse",
    "dynascope.cli.train",
    "dynascope.store",
    "pyarrow",
    "rich.console",
)


@pytest.mark.parametrize(
    ("module", "script"),
    [*((name, False) for name in MODULES), *((name, True) for name in MODULES[::5])],
)
def test_ctrl_c_during_an_import_is_one_line(module: str, script: bool, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(_STRIKE)
    (tmp_path / "dynascope").write_text(_SCRIPT)
    begin = [sys.executable, str(tmp_path / "dynascope")] if script else COMMAND
    path = f"{tmp_path}:{ENVIRONMENT['PYTHONPATH']}"
    done = subprocess.run(
        [*begin, "train", "--epochs", "2", "--out", "x"],
        cwd=tmp_path,
        env=ENVIRONMENT | {"PYTHONPATH": path, "STRIKE_AT": module},
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 1
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("dynascope: stopped")


def test_a_program_that_imports_the_package_keeps_its_ctrl_c() -> None:
    code = "import signal, dynascope; print(signal.getsignal(signal.SIGINT).__name__)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, timeout=60, text=True
    )
    assert done.stdout == "default_int_handler\n"
