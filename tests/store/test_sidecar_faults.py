"""Sidecars that are damaged, work that is stopped: nothing is lost or wrong."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from analysed import ALL, flipped, found, only, refuse, sidecars, three, train
from sweeping import namespaces, wait_for

import dynascope as ds
from dynascope.analysis_columns import DEFAULT_KINDS
from dynascope.analysis_row import empty_row
from dynascope.cli import main
from dynascope.findings import keep_analyses
from dynascope.store.damage import DamagedError
from dynascope.store.parquet_file import footer_length
from dynascope.store.sidecar import Sidecar

# ---- damage -------------------------------------------------------------------------------------


def _changed(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda file: file.write_bytes(change(file.read_bytes())) and None


def _newer(file: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dynascope.store.sidecar.FORMAT", 2)
        file.unlink()
        store = file.parent.parent
        patch.setattr("dynascope.store.sidecar.Sidecar.open", refuse)
        runs = ds.load(store)
        lacks = [
            keep_analyses.Lack(i, row["id"], row["checksum"], 30, DEFAULT_KINDS)
            for i, row in enumerate(runs.table(["id", "checksum"]).to_pylist())
        ]
        patch.setattr(keep_analyses, "lacking", lambda *_: lacks)
        keep_analyses.complete(runs, DEFAULT_KINDS)


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut off": (_changed(lambda b: b[: len(b) // 2]), "it is truncated or not a Parquet file"),
    "empty": (_changed(lambda b: b""), "it is truncated or not a Parquet file"),
    "a byte of a column": (_changed(lambda b: flipped(b, 60)), "its column id has changed"),
    "a byte of the footer": (
        _changed(lambda b: flipped(b, len(b) - 300)),
        "its footer does not match",
    ),
    "a byte at the end": (_changed(lambda b: flipped(b, len(b) - 1)), "it is truncated or not"),
    "zeros": (_changed(lambda b: bytes(len(b))), "it is truncated or not a Parquet file"),
    "renamed": (
        lambda file: file.rename(file.with_name("0" * 12 + file.name[12:])),
        "it was written under another name",
    ),
    "a foreign name": (
        lambda file: file.rename(file.with_name("x.parquet")),
        "its name is not one",
    ),
    "a shard": (
        lambda file: shutil.copy(
            shard := next((file.parent.parent / "runs").iterdir()), file.parent / shard.name
        ),
        "it belongs in another folder",
    ),
    "a folder": (lambda file: (file.unlink(), file.mkdir()), "it cannot be read"),
    "a newer format": (_newer, "it has format 2, and this dynascope reads 1; a newer one will"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damage_is_named_and_left_out(
    case: str, analysed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damage, words = DAMAGE[case]
    intact = found(analysed)
    damage(only(analysed))
    with pytest.warns(ds.DamageWarning, match=words) as caught:
        rows = found(analysed)
    file = next(file for file in sidecars(analysed) if file.name in str(caught[0].message))
    assert len(caught) == 1
    assert rows == (intact if case == "a shard" else [dict.fromkeys(ALL)] * 3)
    with pytest.raises(ds.DynascopeError, match=file.name):
        found(ds.load(analysed, strict=True))
    assert main(["check", str(analysed)]) == 1
    told = capsys.readouterr().out
    assert told.count("\n") == 2
    assert file.name in told
    with pytest.warns(ds.DamageWarning, match=words):
        again = ds.load(analysed).analyse(progress=False)
    assert again.equals(three().analyse(progress=False))
    with pytest.warns(ds.DamageWarning, match=words):
        assert found(analysed) == intact
    with pytest.warns(ds.DamageWarning, match=file.name):
        ds.merge([analysed], analysed.parent / "merged")
    assert found(analysed.parent / "merged") == intact


def test_a_removed_sidecar_is_made_again(analysed: Path) -> None:
    whole = found(analysed)
    only(analysed).unlink()
    assert found(analysed) == [dict.fromkeys(ALL)] * 3
    ds.load(analysed).analyse(progress=False)
    assert found(analysed) == whole


@pytest.mark.parametrize("every", [17, pytest.param(1, marks=pytest.mark.slow)])
def test_every_byte_counts(analysed: Path, every: int) -> None:
    """One byte changed, for every byte: its checksum tells, or nobody reads it."""
    file = only(analysed)
    contents = file.read_bytes()
    unnoticed = []
    with open(file, "r+b", buffering=0) as handle:
        for at in {*range(4), *range(0, len(contents), every)}:
            handle.seek(at)
            handle.write(bytes([contents[at] ^ 1 << at % 8]))
            try:
                Sidecar.open(file).check()
                unnoticed.append(at)
            except DamagedError:
                pass
            handle.seek(at)
            handle.write(contents[at : at + 1])
    assert len(contents) > footer_length(contents) > 100
    assert sorted(unnoticed) == [0, 1, 2, 3]  # PAR1


def test_damaged_runs_are_not_results(folder: Path) -> None:
    """Their trajectory may be mended tomorrow."""
    (file,) = (folder / "trajectories").iterdir()
    contents = file.read_bytes()
    file.write_bytes(flipped(contents, len(contents) - 1))  # of the last run alone
    rows = ds.load(folder).analyse(progress=False).to_pylist()
    assert [row["verdict"] is None for row in rows] == [False, False, True]
    assert f"{file.name}: damaged:" in rows[2]["analysis_note"]
    assert [row["analysed"] is None for row in found(folder)] == [False, False, True]
    file.write_bytes(contents)
    assert ds.load(folder).analyse(progress=False).equals(three().analyse(progress=False))


# ---- stopped, killed, without a place to write --------------------------------------------------

MANY = 24


@pytest.fixture
def many(tmp_path: Path) -> Path:
    train({"task.length": 12}, seeds=MANY).save(tmp_path / "many")
    return tmp_path / "many"


def test_ctrl_c_keeps_what_is_made(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(status: Any) -> None:
        if status.finished_runs:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ds.load(many).analyse(progress=stop)
    made = sum(row["analysed"] is not None for row in found(many))
    assert 0 < made < MANY
    real, again = keep_analyses.make_row, []
    monkeypatch.setattr(
        keep_analyses, "make_row", lambda run, kinds: again.append(run) or real(run, kinds)
    )
    ds.load(many).analyse(progress=False)
    assert len(again) == MANY - made
    assert all(row["analysed"] == list(DEFAULT_KINDS) for row in found(many))


_ONE_BY_ONE = """
import sys
import dynascope as ds
from dynascope.findings import keep_analyses
keep_analyses._BATCH_RUNS = 1
ds.load(sys.argv[1]).analyse(threads=1, progress=False)
"""


def test_killed_in_the_middle(many: Path, tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", _ONE_BY_ONE, str(many)])
    wait_for(lambda: len(sidecars(many)) >= 3)
    process.kill()
    process.wait()
    made = [row["analysed"] for row in found(many)].count(list(DEFAULT_KINDS))
    assert 3 <= made < MANY
    before = set(sidecars(many))
    ds.load(many).analyse(progress=False)
    new = [file for file in sidecars(many) if file not in before]
    assert sum(pq.read_metadata(file).num_rows for file in new) == MANY - made
    shutil.copytree(many, tmp_path / "fresh", ignore=shutil.ignore_patterns("analyses"))
    ds.load(tmp_path / "fresh").analyse(progress=False)
    assert found(tmp_path / "fresh") == found(many)


_READ_ONLY = """
import contextlib, io, json, subprocess, sys, warnings
import dynascope as ds
from dynascope.cli import main
disk, store = sys.argv[1:]
subprocess.run(["mount", "-t", "tmpfs", "tmpfs", disk], check=True)
subprocess.run(["cp", "-r", store, disk + "/store"], check=True)
subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    rows = ds.load(disk + "/store").analyse(progress=False).to_pylist()
error, out = io.StringIO(), io.StringIO()
with contextlib.redirect_stderr(error), contextlib.redirect_stdout(out):
    code = main(["report", disk + "/store"])
print(json.dumps([rows, [str(each.message) for each in caught], code, error.getvalue()]))
"""


@pytest.mark.skipif(not namespaces(), reason="needs unshare -rm, to mount a small tmpfs")
def test_read_only_folders_are_analysed_but_nothing_is_kept(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    script = ["unshare", "-rm", sys.executable, "-c", _READ_ONLY, tmp_path / "disk", folder]
    done = subprocess.run(list(map(str, script)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows, told, code, error = json.loads(done.stdout)
    assert rows == three().analyse(progress=False).to_pylist()
    assert len(told) == 1
    assert "the analyses could not be saved: " in told[0]
    assert "Read-only file system" in told[0]
    assert (code, error.count("\n")) == (0, 1)


def test_a_folder_that_is_gone_does_not_come_back(folder: Path) -> None:
    runs = ds.load(folder)
    real = keep_analyses.make_row

    def make(run: ds.Run, kinds: Any) -> Any:
        row = real(run, kinds)
        if run.seed == 2:
            shutil.rmtree(folder)
        return row

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keep_analyses, "make_row", make)
        with pytest.raises(ds.DynascopeError, match="expected a folder of runs, but it is gone"):
            runs.analyse(threads=1, progress=False)
    assert not folder.exists()


def test_long_work_leaves_few_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten hours, a row every second: at most 5% of it would be lost, and no thousands of files."""
    clock, written = [0.0], []
    monkeypatch.setattr(keep_analyses, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    keeper = keep_analyses._Keeper(folder, [], strict=True)
    monkeypatch.setattr(keeper, "_write", lambda rows: written.append((clock[0], len(rows))))
    monkeypatch.setattr(keep_analyses, "_BATCH_RUNS", 10**6)
    for second in range(36000):
        clock[0] = float(second)
        keeper.add(second, empty_row(DEFAULT_KINDS, ""))
    assert 36000 * 0.95 < sum(rows for _, rows in written) <= 36000
    assert 20 < len(written) < 150
    assert all(rows <= max(12, 0.053 * at) for at, rows in written)
