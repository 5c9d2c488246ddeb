"""Nothing is lost: sweeps that are killed, doubled, out of disk or without permission."""

import contextlib
import errno
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from sweeping import (
    SMALL,
    bits,
    command,
    namespaces,
    run,
    same,
    shards,
    start,
    toml,
    twice,
    wait_for,
)

import dynascope as ds
from dynascope.store.damage import unreadable
from dynascope.store.lock import holder, locked
from dynascope.store.names import LOCK

LONG = {"seeds": 400, "base": {"training.epochs": 100, "record.weights_every": 0}}


@pytest.mark.parametrize(
    ("kills", "seeds"), [(3, 80), pytest.param(50, 400, marks=pytest.mark.slow)]
)
def test_kills(tmp_path: Path, kills: int, seeds: int) -> None:
    """SIGKILL at random moments; half of them wait for a shard, to strike while files are made."""
    grid, folder = tmp_path / "grid.toml", tmp_path / "runs"
    grid.write_text(toml(LONG | {"seeds": seeds}))
    random.seed(0)
    seen: dict[str, tuple[int, int]] = {}
    for kill in range(kills):
        process = start("sweep", grid, "--out", folder, "--shard-seconds", 0.1, "--quiet")
        if kill % 2:
            there = len(seen)
            wait_for(lambda there=there: len(shards(folder)) > there)
            time.sleep(random.uniform(0, 0.1))
        else:
            time.sleep(random.uniform(0, 1.0))
        assert process.poll() is None, "the sweep ended before it could be killed"
        process.kill()
        process.wait()
        now = shards(folder)
        assert seen.items() <= now.items(), "a finished shard was written again"
        seen = now
    assert len(ds.load(folder)) < seeds
    done = run("sweep", grid, "--out", folder, "--shard-seconds", 0.1)
    assert done.returncode == 0, done.stderr
    assert seen.items() <= shards(folder).items()
    assert not twice(folder)
    config = ds.Config().replace(LONG["base"])  # type: ignore[arg-type]
    assert same(ds.load(folder, strict=True), ds.train(config, seeds, progress=False))
    assert run("check", folder).returncode == 0
    assert not any(file.is_file() for file in (folder / ".partial").rglob("*"))


def computed(process: "subprocess.Popen[Any]") -> float:
    """Seconds of work that a process has done so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_sweeps_keep_every_finished_run(tmp_path: Path, number: int) -> None:
    grid, folder = tmp_path / "grid.toml", tmp_path / "runs"
    grid.write_text(toml(LONG | {"seeds": 60}))
    # One shard for all of them: it is the stop that makes it be written.
    process = start("sweep", grid, "--out", folder, "--shard-seconds", 1000)
    wait_for((folder / "sweep.json").exists)
    begun = computed(process)
    wait_for(lambda: computed(process) > begun + 0.4)  # ten runs or so, however busy the machine
    assert not shards(folder)
    process.send_signal(number)
    assert process.wait(30) == 1
    kept = ds.load(folder)
    assert 0 < len(kept) < 60
    done = run("sweep", grid, "--out", folder)
    assert f"{len(kept)} of them from before" in done.stdout
    assert not twice(folder)
    assert len(ds.load(folder)) == 60


def waits(process: "subprocess.Popen[Any]", folder: Path) -> bool:
    """Whether a sweep has come to the lock, which another one has."""
    assert process.poll() is None
    for file in Path(f"/proc/{process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it was open a moment ago
            if os.readlink(file) == str(folder.resolve() / LOCK):
                return True
    return False


@pytest.mark.slow
def test_two_sweeps_at_once(tmp_path: Path) -> None:
    grid, folder = tmp_path / "grid.toml", tmp_path / "runs"
    grid.write_text(toml(LONG | {"seeds": 60}))
    first = start("sweep", grid, "--out", folder, "--shard-seconds", 0.1)
    wait_for(lambda: shards(folder))
    first.send_signal(signal.SIGSTOP)  # so that it is at work for as long as the others need
    try:
        second = run("sweep", grid, "--out", folder)
        assert second.returncode == 2
        assert f"process {first.pid} on " in second.stderr
        assert "at work: process" in run("sweep", "--status", folder).stdout
        words = command("sweep", grid, "--out", folder, "--wait")
        third = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        wait_for(lambda: waits(third, folder))
    finally:
        first.send_signal(signal.SIGCONT)
    assert "60 of them from before" in third.communicate(timeout=60)[0]
    assert (first.wait(30), third.returncode) == (0, 0)
    assert not twice(folder)
    config = ds.Config().replace(LONG["base"])  # type: ignore[arg-type]
    assert same(ds.load(folder, strict=True), ds.train(config, 60, progress=False))


@pytest.mark.slow
def test_many_started_at_the_same_moment(tmp_path: Path) -> None:
    grid, folder = tmp_path / "grid.toml", tmp_path / "runs"
    grid.write_text(toml(SMALL))
    processes = [start("sweep", grid, "--out", folder, "--wait") for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0] * 4
    assert not twice(folder)
    assert same(ds.load(folder, strict=True), ds.sweep(SMALL, tmp_path / "alone", progress=False))


# Runs within a mount namespace of its own, where everybody may mount a small file system.
_DISK = """
import json, subprocess, sys
from pathlib import Path
disk, grid, size = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
mount = lambda *options: subprocess.run(["mount", *options, str(disk)], check=True)
sweep = lambda: subprocess.run(
    [sys.executable, "-m", "dynascope", "sweep", grid, "--out", str(disk / "runs"),
     "--shard-seconds", "0.05"], capture_output=True, text=True)
mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs")
told = {}
def tell(name):
    done = sweep()
    import dynascope as ds
    kept = ds.load(disk / "runs", strict=True)
    seeds = [run.seed for run in kept if run.parameters() is not None]
    told[name] = {"code": done.returncode, "error": done.stderr, "seeds": seeds}
tell("full")
tell("full again")
mount("-o", "remount,size=64m")
mount("-o", "remount,ro")
tell("read-only")
mount("-o", "remount,rw")
tell("mended")
print(json.dumps(told))
"""


@pytest.mark.slow
@pytest.mark.skipif(not namespaces(), reason="needs unshare -rm, to mount a small tmpfs")
def test_full_and_read_only_disks(tmp_path: Path) -> None:
    grid, disk = tmp_path / "grid.toml", tmp_path / "disk"
    grid.write_text(toml({"seeds": 40, "base": {"training.epochs": 40}}))
    disk.mkdir()
    script = ["unshare", "-rm", sys.executable, "-c", _DISK, str(disk), str(grid), "1m"]
    done = subprocess.run(script, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    for name, words in (
        ("full", "the disk is full"),
        ("full again", "the disk is full"),
        ("read-only", "Read-only file system"),
    ):
        assert told[name]["code"] == 1, told[name]
        assert words in told[name]["error"]
        assert "Traceback" not in told[name]["error"]
        assert told[name]["error"].count("\n") == 1
        assert 0 < len(told[name]["seeds"]) < 40
    assert set(told["full"]["seeds"]) <= set(told["full again"]["seeds"])
    assert told["mended"]["code"] == 0
    assert told["mended"]["seeds"] == list(range(40))


def test_damaged_shards_are_set_aside_and_computed_again(tmp_path: Path) -> None:
    grid, folder = tmp_path / "grid.toml", tmp_path / "runs"
    grid.write_text(toml(SMALL))
    whole = [bits(each) for each in ds.sweep(SMALL, folder, progress=False)]
    first, second, *_ = sorted((folder / "runs").glob("*.parquet"))
    first.write_bytes(first.read_bytes()[:1000])
    tensors = folder / "trajectories" / f"{second.name.partition('-')[0]}.safetensors"
    tensors.unlink()
    refused = run("sweep", grid, "--out", folder, "--strict")
    assert refused.returncode == 2
    done = run("sweep", grid, "--out", folder)
    assert done.returncode == 0, done.stderr
    assert str(first) in done.stderr
    assert str(tensors) in done.stderr
    assert (folder / "damaged" / first.name).stat().st_size == 1000
    assert [bits(each) for each in ds.load(folder, strict=True)] == whole


def test_others_runs_and_files_stay(tmp_path: Path) -> None:
    """A sweep sets aside what it can compute again, and nothing else."""
    ds.sweep(SMALL, tmp_path, progress=False)
    ds.train(ds.Config().replace({"training.epochs": 1}), 2, progress=False).save(
        tmp_path, append=True
    )
    theirs = ds.load(tmp_path).where("epochs = 1")[0].file
    theirs.write_bytes(theirs.read_bytes()[:-1])
    (tmp_path / "runs/notes.txt").write_text("mine")
    with pytest.warns(ds.DamageWarning):
        found = ds.sweep(SMALL, tmp_path, progress=False)
    assert len(found.where("epochs = 1")) == 2
    assert (tmp_path / "runs/notes.txt").read_text() == "mine"
    assert not (tmp_path / "damaged").exists()


def test_what_cannot_be_read_now_is_not_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ds.sweep(SMALL, tmp_path, progress=False)
    before = shards(tmp_path)

    def limit(self: object) -> None:
        raise unreadable(OSError(errno.EMFILE, "Too many open files"))

    with monkeypatch.context() as patched:
        patched.setattr("dynascope.store.tensors.TensorFile.check", limit)
        with (
            pytest.warns(ds.DamageWarning),
            pytest.raises(ds.DynascopeError, match="Too many open files") as refused,
        ):
            ds.sweep(SMALL, tmp_path, progress=False)
    assert refused.value.code == 1
    assert shards(tmp_path) == before


def test_damaged_parents_are_computed_again(tmp_path: Path) -> None:
    """A flipped bit in weights shows only when the next stage starts from them."""
    chain = {"seeds": 3, "base": {"training.epochs": 4}}
    more = {**chain, "chain": {"three": {"set": {"task.vocab": 3}}}}
    parents = ds.sweep(chain, tmp_path / "x", progress=False)
    file = parents[0].file
    contents = bytearray(file.read_bytes())
    contents[-3] ^= 1
    file.write_bytes(contents)
    with pytest.warns(ds.DamageWarning, match="moved to"):
        found = ds.sweep(more, tmp_path / "x", progress=False)
    alone = ds.sweep(more, tmp_path / "alone", progress=False)
    assert sorted(map(bits, found)) == sorted(map(bits, alone))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_waiting_can_be_stopped(tmp_path: Path, number: int) -> None:
    grid, folder = tmp_path / "grid.toml", tmp_path / "runs"
    grid.write_text(toml(SMALL))
    folder.mkdir()
    with locked(folder):
        process = start("sweep", grid, "--out", folder, "--wait")
        wait_for(lambda: waits(process, folder))
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(number)
        assert process.wait(10) == 1


def test_no_thread_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second thread cannot be started: the first ends before the call does."""
    started: list[threading.Thread] = []
    begin = threading.Thread.start

    def limited(self: threading.Thread) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(self)
        begin(self)

    monkeypatch.setattr(threading.Thread, "start", limited)
    with pytest.raises(MemoryError):
        ds.sweep(LONG, tmp_path, threads=2, progress=False)
    started[0].join(5)
    assert not started[0].is_alive()
    assert holder(tmp_path) is None


def test_a_damaged_plan_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    ds.sweep(SMALL, folder, progress=False)
    plan = folder / "sweep.json"
    plan.write_text(plan.read_text().replace("0.01", "0.02"))
    with pytest.raises(ds.DynascopeError, match=r"sweep\.json: damaged:"):
        ds.sweep(SMALL, folder, progress=False)
    plan.unlink()
    assert len(ds.sweep(SMALL, folder, progress=False)) == 12
    assert not twice(folder)
