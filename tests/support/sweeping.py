"""What the tests of sweeps share: small grids, sweeps as processes, stores compared by bits."""

import os
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from processes import COMMAND

import dynascope as ds
from dynascope.run import Run

SMALL: dict[str, Any] = {
    "seeds": 3,
    "base": {"training.epochs": 4},
    "grid": {"training.lr": [0.001, 0.01], "model.hidden": [4, 8]},
}


LR, BATCH, EPS = "training.lr", "training.batch", "model.norm_eps"


def written(folder: Path, text: str) -> Path:
    """A grid file with this text."""
    path = folder / "grid.toml"
    path.write_text(text)
    return path


def toml(tables: dict[str, Any]) -> str:
    """The grid as a file; enough of TOML for the tests."""
    lines = [f"seeds = {tables.get('seeds', 1)!r}"]
    lines += [f"analyse = {tables['analyse']!r}"] if "analyse" in tables else []
    for name in ("base", "grid"):
        if name in tables:
            lines += [f"[{name}]", *(f"{key} = {value!r}" for key, value in tables[name].items())]
    for name, chain in tables.get("chain", {}).items():
        lines.append(f"[chain.{name}]")
        for key, value in chain.items():
            tables = value.items() if isinstance(value, dict) else [("", value)]
            lines += [f"{key}.{option} = {each!r}".replace(". ", " ") for option, each in tables]
    return "\n".join(lines).replace("True", "true").replace("False", "false")


def command(*arguments: object) -> list[str]:
    return [*COMMAND, *map(str, arguments)]


def run(*arguments: object, **options: Any) -> "subprocess.CompletedProcess[str]":
    """A dynascope command to its end."""
    return subprocess.run(command(*arguments), capture_output=True, text=True, **options)


def start(*arguments: object) -> "subprocess.Popen[bytes]":
    """A dynascope command that goes on by itself."""
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command(*arguments), **quiet)


def bits(run: Run) -> bytes:
    """Everything that was recorded of a run, but for how long it took."""
    arrays = (run.table, run.weights, run.weight_epochs, run.states, run.state_epochs)
    return run.id.encode() + b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)


def same(found: ds.Runs, expected: ds.Runs) -> bool:
    """The same runs in the same order, bit for bit."""
    return [bits(run) for run in found] == [bits(run) for run in expected]


def shards(folder: Path) -> dict[str, tuple[int, int]]:
    """The Parquet files that there are, each with what would change if it were written again."""
    found = {}
    for file in (folder / "runs").glob("*.parquet"):
        stat = os.stat(file)
        found[file.name] = (stat.st_ino, stat.st_mtime_ns)
    return found


def twice(folder: Path) -> list[str]:
    """Ids of runs that are in more than one row of the shards: they were computed twice."""
    import pyarrow.parquet as pq

    ids: Counter[str] = Counter()
    for file in (folder / "runs").glob("*.parquet"):
        ids.update(pq.read_table(file, columns=["id"])["id"].to_pylist())
    return [name for name, count in ids.items() if count > 1]


def wait_for(condition: Callable[[], object], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "what was waited for did not come"
        time.sleep(0.002)


def namespaces() -> bool:
    """Whether a test can mount a disk of its own."""
    if not shutil.which("unshare"):
        return False
    return subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode == 0
