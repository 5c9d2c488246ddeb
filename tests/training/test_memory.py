"""What training and saving take of the memory, what is said about it, and what limits it."""

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from processes import environment

import dynascope as ds
from dynascope import memory
from dynascope.engine import check_memory

SMALL: dict[str, Any] = {
    "task.length": 4,
    "task.relevant": 2,
    "task.train_size": 16,
    "task.test_size": 16,
    "training.batch": 16,
}
# Records of 30 to 110 MB, made of different things; and how many runs.
SHAPES: dict[str, tuple[dict[str, Any], int]] = {
    "weights of each epoch": ({"training.epochs": 60_000}, 1),
    "curves alone": ({"training.epochs": 120_000, "record.weights_every": 0}, 1),
    "several shards": ({"training.epochs": 1000, "record.state_every": 5}, 200),
    "states of a wide model": (
        {"training.epochs": 600, "model.hidden": 2000, "record.state_every": 10},
        2,
    ),
    "float64": ({"training.epochs": 30_000, "precision": "float64"}, 1),
    "steps": ({"training.epochs": 600, "record.steps": [0, 600], "task.train_size": 1024}, 2),
    "odd rows": ({"training.epochs": 150_001, "record.weights_every": 4}, 1),
}
MEASURE = """
import json, sys
import dynascope as ds
from dynascope.run_size import recorded_bytes, saving_bytes

def peak():
    with open("/proc/self/status") as status:
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))

changes, runs, folder = json.loads(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
config = ds.Config().replace(changes)
few = {"training.epochs": 1, "record.steps": None}
ds.train(config.replace(few), 2, progress=False).save(folder + "-before")  # all is imported
base = peak()
made = ds.train(config, runs, progress=False)
trained = peak() - base
made.save(folder)
record = runs * recorded_bytes(config)
print(json.dumps([trained / record, (peak() - base) / (record + saving_bytes(config, runs))]))
"""


@pytest.mark.parametrize("name", SHAPES)
def test_estimates_are_the_measured_peaks(name: str, tmp_path: Path) -> None:
    changes, runs = SHAPES[name]
    words = [json.dumps(SMALL | changes), str(runs), str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *words],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    trained, saved = json.loads(done.stdout)
    assert 0.9 < trained < 1.15
    assert 0.6 < saved < 1.1


def test_what_takes_much_is_said_and_what_cannot_fit_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    long = ds.Config().replace({"training.epochs": 500_000})
    monkeypatch.setattr("dynascope.engine.available_memory", lambda: 10**10)
    said = r"memory: 1 run .* will take up to [0-9.]+ GB of the 10.0 GB .*record.weights_every=500 "
    with pytest.warns(UserWarning, match=said):
        check_memory(long, 1)
    monkeypatch.setattr("dynascope.engine.available_memory", lambda: 5 * 10**8)
    with pytest.raises(
        ds.DynascopeError, match=r"but only 0.50 GB are .*record.weights_every=500 \(0."
    ):
        check_memory(long, 1)
    short = ds.Config().replace({"training.epochs": 100_000})
    check_memory(short.replace({"record.weights_every": 0}), 1)  # nothing to say
    with pytest.warns(UserWarning, match="memory: 1 run"):  # saved, it does not fit so well
        check_memory(short, 1, saved=True)
    monkeypatch.setattr("dynascope.engine.available_memory", lambda: 3 * 10**8)
    few = long.replace({"record.weights_every": 0, "record.state_every": 0})
    with pytest.raises(ds.DynascopeError, match=r"are available; train for fewer epochs\."):
        check_memory(few, 1, saved=True)
    monkeypatch.setattr("dynascope.engine.available_memory", lambda: None)
    check_memory(long, 10**6)  # nobody knows


def test_ten_times_fewer_weights_are_what_the_sentence_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for available, word in ((10**9, "or"), (10**8, "and")):
        monkeypatch.setattr("dynascope.engine.available_memory", lambda: available)  # noqa: B023
        said = rf"weights_every=10 \((.*) GB\) {word} train fewer runs at a time"
        with pytest.raises(ds.DynascopeError, match=said):
            check_memory(ds.Config(), 1000)


@pytest.mark.parametrize("limit", [2 * 10**9, 4 * 10**9])
def test_a_limit_of_the_process_counts(limit: int) -> None:
    code = "from dynascope.memory import available_memory; print(available_memory())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(OPENBLAS_NUM_THREADS="1"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert 0 < int(done.stdout) < limit


def tree(folder: Path, files: dict[str, object]) -> Path:
    for name, contents in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{contents}\n")
    return folder


# Files below /sys/fs/cgroup, the lines of /proc/self/cgroup, and what is left.
CGROUPS: dict[str, tuple[dict[str, object], str, list[int]]] = {
    "version 2": ({"a/memory.max": 1000, "a/memory.current": 300}, "0::/a", [700]),
    "no limit": ({"a/memory.max": "max", "a/memory.current": 300}, "0::/a", []),
    "a group above": (
        {"a/memory.max": 900, "a/memory.current": 300, "a/b/memory.max": "max"},
        "0::/a/b",
        [600],
    ),
    "both": (
        {"a/memory.max": 900, "a/memory.current": 600}
        | {"a/b/memory.max": 500, "a/b/memory.current": 100},
        "0::/a/b",
        [300, 400],
    ),
    "cached files make room": (
        {"a/memory.max": 1000, "a/memory.current": 900}
        | {"a/memory.stat": "anon 500\ninactive_file 300\nactive_file 100"},
        "0::/a",
        [500],
    ),
    "version 1": (
        {"memory/x/memory.limit_in_bytes": 1000, "memory/x/memory.usage_in_bytes": 800}
        | {"memory/x/memory.stat": "inactive_file 0\ntotal_inactive_file 50\ntotal_active_file 5"},
        "12:cpu:/y\n4:memory:/x\n0::/",
        [255],
    ),
    "version 1, no limit": (
        {"memory/memory.limit_in_bytes": 2**63 - 4096, "memory/memory.usage_in_bytes": 8},
        "4:memory:/",
        [],
    ),
    "a path of the host": (
        {"memory.max": 1000, "memory.current": 100},
        "0::/system.slice/docker-1",
        [900],
    ),
    "used up": ({"memory.max": 1000, "memory.current": 1100}, "0::/", [0]),
    "nonsense": ({"memory.max": "x", "memory.current": ""}, "0::/\n???\n", []),
}


@pytest.mark.parametrize("name", CGROUPS)
def test_limits_of_groups_count(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, lines, left = CGROUPS[name]
    groups = tree(tmp_path / "groups", files)
    mine = tree(tmp_path, {"mine": lines}) / "mine"
    monkeypatch.setattr(memory, "_CGROUPS", groups)
    monkeypatch.setattr(memory, "_MINE", mine)
    monkeypatch.setattr(memory, "_machine", lambda: 10**6)
    monkeypatch.setattr(memory, "_process", lambda: None)
    assert memory.available_memory() == min([*left, 10**6])
    monkeypatch.setattr(memory, "_MINE", tmp_path / "nowhere")
    assert memory.available_memory() == 10**6
