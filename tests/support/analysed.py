"""A few small runs, analysed or not, and what their store holds: for the tests of sidecars."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import dynascope as ds
from dynascope.analysis.rows import COLUMNS, KINDS

TINY: dict[str, Any] = {
    "training.epochs": 30,
    "task.length": 5,
    "task.relevant": 2,
    "task.train_size": 32,
    "task.test_size": 16,
    "training.batch": 8,
    "model.hidden": 4,
}
GRID: dict[str, Any] = {
    "seeds": 3,
    "analyse": list(KINDS),
    "base": TINY,
    "grid": {"training.lr": [0.001, 0.01]},
    "chain": {"three": {"set": {"task.vocab": 3}}},
}
PLAIN = {key: value for key, value in GRID.items() if key != "analyse"}
NAMES = [name for kind in KINDS for name in COLUMNS[kind]]
ALL = [*NAMES, "analysed", "analysis_note"]


def train(changes: dict[str, Any] | None = None, seeds: Any = 3, **more: Any) -> ds.Runs:
    config = ds.Config().replace(TINY | (changes or {}))
    return ds.train(config, seeds, progress=False, **more)


@lru_cache
def three() -> ds.Runs:
    return train()


def found(source: Any, names: list[str] = ALL) -> list[dict[str, Any]]:
    runs = source if isinstance(source, ds.Runs) else ds.load(source)
    return runs.table(names).to_pylist()


def sidecars(folder: Path) -> list[Path]:
    return sorted((folder / "analyses").glob("*"))


def only(folder: Path) -> Path:
    (file,) = sidecars(folder)
    return file


def refuse(*args: object, **kwargs: object) -> None:
    raise AssertionError("it was there already")


def flipped(contents: bytes, at: int) -> bytes:
    return contents[:at] + bytes([contents[at] ^ 8]) + contents[at + 1 :]
