"""SIGKILL at random moments over everything that writes to one folder at once: nothing is lost,
nothing is there twice, and what a command said it did holds.
"""

import random
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sweeping import run, same, shards, start, toml, twice

import dynascope as ds

BASE = {
    "training.epochs": 60,
    "record.weights_every": 0,
    "task.length": 8,
    "task.relevant": 3,
    "task.train_size": 256,
    "task.test_size": 64,
}


@dataclass
class Folder:
    """A folder under attack, and what commands that ended well have done to it."""

    path: Path
    seeds: int
    tags: list[str] = field(default_factory=list)
    notes: dict[int, str] = field(default_factory=dict)
    deleted: set[int] = field(default_factory=set)
    merged: list[Path] = field(default_factory=list)
    kills: int = 0

    @property
    def store(self) -> Path:
        return self.path / "store"

    def commands(self, number: int) -> dict[str, list[object]]:
        """One of each kind, for the so-manieth time."""
        store, seed = self.store, number % self.seeds
        sweep = [self.path / "grid.toml", "--out", store, "--shard-seconds", 0.1, "--quiet"]
        return {
            "sweep": ["sweep", *sweep],
            "report": ["report", store, "--kinds", "circuit"],
            "tag": ["tag", store, f"t{number}", "--all"],
            "note": ["note", f"{store}#seed={seed}", f"n{number}"],
            "delete": ["delete", f"{store}#seed={seed}"],
            "merge": ["merge", store, "--out", self.path / f"merged-{number}"],
        }

    def done(self, kind: str, number: int) -> None:
        """A command ended well: from now on what it did must hold."""
        seed = number % self.seeds
        if kind == "tag":
            self.tags.append(f"t{number}")
        elif kind == "note":
            self.notes[seed] = f"n{number}"
        elif kind == "delete":
            self.deleted.add(seed)
        elif kind == "merge":
            self.merged.append(self.path / f"merged-{number}")

    def attack(self, number: int) -> None:
        """Start one command of each kind, and kill each at a moment of its own."""
        running: dict[str, subprocess.Popen[bytes]] = {}
        for kind, words in self.commands(number).items():
            running[kind] = start(*words)
        began = time.monotonic()
        for kind in random.sample(list(running), len(running)):
            time.sleep(max(0.0, random.uniform(0, 2.5) - (time.monotonic() - began)))
            running[kind].kill()
            code = running[kind].wait()
            self.kills += code == -9
            if code == 0:
                self.done(kind, number)


@pytest.mark.parametrize(
    ("kills", "seeds"), [(12, 60), pytest.param(300, 1500, marks=pytest.mark.slow)]
)
def test_kills_everywhere_at_once(tmp_path: Path, kills: int, seeds: int) -> None:
    random.seed(0)
    folder = Folder(tmp_path, seeds)
    (tmp_path / "grid.toml").write_text(toml({"seeds": seeds, "base": BASE}))
    begun = run("sweep", tmp_path / "grid.toml", "--out", folder.store, "--dry-run")
    assert begun.returncode == 0, begun.stderr
    seen: dict[str, tuple[int, int]] = {}
    number = 0
    while folder.kills < kills:
        folder.attack(number)
        now = shards(folder.store)
        assert seen.items() <= now.items(), "a finished shard is gone, or was written again"
        seen, number = now, number + 1
    finish(folder)


def finish(folder: Folder) -> None:
    """Undisturbed, everything comes to its end, and all of it is right."""
    store = folder.store
    for words in (folder.commands(0)["sweep"], folder.commands(0)["report"], ["check", store]):
        done = run(*words)
        assert done.returncode == 0, done.stdout + done.stderr
    assert not twice(store)
    assert not (store / "damaged").exists()
    there, deleted = ds.load(store, strict=True), ds.load(store, strict=True, deleted=True)
    assert sorted(there.seeds + deleted.seeds) == list(range(folder.seeds))
    assert folder.deleted <= {*deleted.seeds}
    for seed, note in folder.notes.items():  # a later one may have been killed after it was said
        found = next(run.note for run in (*there, *deleted) if run.seed == seed)
        assert found is not None
        assert int(found[1:]) >= int(note[1:])
    everywhere = {tag for run in (*there, *deleted) for tag in run.tags}
    assert {*folder.tags} <= everywhere
    ds.load(store, deleted=True).restore()
    config = ds.Config().replace(BASE)
    assert same(ds.load(store, strict=True), ds.train(config, folder.seeds, progress=False))
    for merged in folder.path.glob("merged-*"):  # those that were killed have left no such name
        assert run("check", merged).returncode == 0
    assert {*folder.merged} <= {*folder.path.glob("merged-*")}
