"""`dynascope study`: what it prints, what it keeps, how it stops and goes on."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import small_studies
from processes import environment, finished
from stopping import ALL_ENDS
from sweeping import namespaces

import dynascope as ds
from dynascope.cli import main
from dynascope.store.lock import locked
from dynascope.studies.catalogue import NAMES
from dynascope.sweeps.driver import carry_out
from dynascope.sweeps.grid import Grid

HERE = Path(small_studies.__file__).parent
SMALL = [sys.executable, str(Path(small_studies.__file__))]
ENVIRONMENT = environment()
BOTH = ["study", "width", "bounds", "--out", "s"]


@pytest.fixture(autouse=True)
def place(small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    out, error = capsys.readouterr()
    return code, out, error


def test_it_ends_with_verdicts_the_report_and_what_comes_next(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, error = printed(capsys, *BOTH)
    assert code == 0
    assert error.splitlines() == ["default: 8 runs, 1 of 3", "width: 8 runs, 2 of 3"]
    assert "5 claims: 2 hold, 1 hold in part, 1 do not hold, 1 not decidable here; this took" in out
    assert "The report is s/report.html" in out
    assert "Next: dynascope show s" in out
    assert Path("s/report.html").is_file()
    before = Path("s/report.html").read_bytes()
    assert printed(capsys, *BOTH, "--quiet") == (0, "", "")
    assert Path("s/report.html").read_bytes() == before
    assert len(ds.load("s/runs/default")) == 8  # none was trained again


def test_without_a_folder_it_makes_one_of_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "study", "bounds", "--quiet") == (0, "", "")
    assert Path("study-bounds-quick/report.html").is_file()


def test_more_studies_extend_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "study", "bounds", "--out", "s", "--quiet")[0] == 0
    assert printed(capsys, *BOTH, "--quiet")[0] == 0
    assert json.loads(Path("s/study.json").read_text())["studies"] == ["width", "bounds"]


def test_the_list_has_every_study(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "study", "--list")
    rows = [line.split()[:3] for line in out.splitlines()[1:]]
    assert code == 0
    assert [row[0] for row in rows] == [*NAMES]
    assert ["width", "16", "24"] in rows
    assert ["bounds", "8", "12"] in rows
    assert "Are wider models better?" in out


def test_a_dry_run_counts_what_is_shared_once_and_what_is_there_not_at_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = printed(capsys, *BOTH, "--dry-run")
    assert code == 0
    rows = {line.split("  ")[0]: line.split() for line in out.splitlines()[:4]}
    assert rows["width"][1:3] == ["16", "16"]
    assert rows["bounds"][1:3] == ["8", "8"]
    assert rows["in all"][2:4] == ["16", "16"]
    assert not Path("s").exists()
    main(["study", "bounds", "--out", "s", "--quiet"])
    _, out, _ = printed(capsys, *BOTH, "--dry-run")
    rows = {line.split("  ")[0]: line.split() for line in out.splitlines()[:4]}
    assert rows["width"][1:3] == ["16", "8"]
    assert rows["bounds"][1:3] == ["8", "0"]
    assert rows["in all"][2:4] == ["16", "8"]


def test_time_adds_up_over_sittings(capsys: pytest.CaptureFixture[str]) -> None:
    def seconds() -> dict[str, float]:
        found: dict[str, float] = json.loads(Path("s/timings.json").read_text())["seconds"]
        return found

    main([*BOTH, "--quiet"])
    first = seconds()
    assert {*first} == {"default", "width", "squares", "report"}
    main([*BOTH, "--quiet"])
    assert all(seconds()[name] >= first[name] for name in first)
    assert seconds()["report"] > first["report"]
    Path("s/timings.json").write_text("{")  # nothing hangs on it
    assert main([*BOTH, "--quiet"]) == 0
    code, out, _ = printed(capsys, "study", "--timings", "s")
    assert code == 0
    assert [line.split("  ")[0] for line in out.splitlines()] == [
        *("source", "default", "width", "squares", "report", "in all")
    ]


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("source", [1, 2])
def test_ctrl_c_keeps_what_is_done(
    end: signal.Signals,
    source: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It comes when a source has begun."""
    begun: list[Path] = []

    def stopped(grid: Grid, folder: Path, *rest: Any) -> int:
        begun.append(folder)
        if len(begun) == source:
            os.kill(os.getpid(), end)
        return carry_out(grid, folder, *rest)

    before = {each: signal.getsignal(each) for each in ALL_ENDS}
    with monkeypatch.context() as patch:
        patch.setattr("dynascope.studies.sources.carry_out", stopped)
        code, out, error = printed(capsys, *BOTH)
    for each, handler in before.items():  # the command is deaf to them from the first on
        signal.signal(each, handler)
    assert code == 1
    assert len(begun) == source
    assert out == ""
    assert error.splitlines()[-1] == (
        "dynascope: stopped; what is done is in s; run the same command to resume."
    )
    assert "default" in json.loads(Path("s/timings.json").read_text())["seconds"]
    assert printed(capsys, *BOTH, "--quiet") == (0, "", "")


def test_no_memory_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*arguments: object) -> int:
        raise MemoryError

    monkeypatch.setattr("dynascope.studies.sources.carry_out", full)
    code, _, error = printed(capsys, *BOTH)
    assert code == 1
    assert error.splitlines()[-1].startswith("dynascope: memory ran out; what is done is in s;")


@pytest.mark.skipif(not namespaces(), reason="needs a disk of its own")
@pytest.mark.parametrize(
    "size",
    [pytest.param(40, marks=pytest.mark.slow), 100, pytest.param(160, marks=pytest.mark.slow)],
    ids=lambda size: f"{size}k",
)
def test_a_full_disk_is_one_sentence_and_nothing_is_lost(size: int, tmp_path: Path) -> None:
    """On a disk of a few kilobytes; then all that is there is taken along to a larger one."""
    disk, kept = tmp_path / "disk", tmp_path / "kept"
    disk.mkdir()
    script = (
        f"mount -t tmpfs -o size={size}k none {disk} && cd {disk} && "
        f"{' '.join([*SMALL, *BOTH])}; code=$?; cp -r {disk} {kept}; exit $code"
    )
    done = finished(["unshare", "-rm", "sh", "-c", script], env=ENVIRONMENT)
    said = [line for line in done.stderr.splitlines() if " runs, " not in line]
    assert done.returncode == 1
    assert len(said) == 1
    assert "the disk is full" in said[0]
    assert not (kept / "s/report.html").exists()
    again = subprocess.run([*SMALL, *BOTH, "--quiet"], cwd=kept, env=ENVIRONMENT, check=False)
    assert again.returncode == 0
    alone = subprocess.run([*SMALL, *BOTH, "--quiet"], cwd=tmp_path, env=ENVIRONMENT, check=False)
    assert alone.returncode == 0
    assert (kept / "s/report.html").read_bytes() == (tmp_path / "s/report.html").read_bytes()


def test_two_at_once_do_not_disturb_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s").mkdir()
    with locked(Path("s")):
        code, _, error = printed(capsys, *BOTH)
    assert code == 2
    assert "is sweeping into it; wait until it ends, or add --wait." in error


@pytest.mark.parametrize("module", ["ray", "matplotlib"])
def test_what_is_not_installed_is_said_before_anything_is_done(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if module == "matplotlib":  # loaded by now: as it is in a process without it
        code = f"import sys; sys.modules['matplotlib'] = None; sys.path.insert(0, {str(HERE)!r})"
        code += "; import small_studies as s; from dynascope.cli import main; s.install()"
        done = finished([sys.executable, "-c", f"{code}; sys.exit(main({BOTH}))"], env=ENVIRONMENT)
        code_, error = done.returncode, done.stderr
    else:
        monkeypatch.setitem(sys.modules, "ray", None)
        code_, _, error = printed(capsys, *BOTH, "--ray", "local")
    assert code_ == 2
    assert f"{module} is not installed; run: pip install 'dynascope[" in error
    assert error.count("\n") == 1
    assert not Path("s").exists()
