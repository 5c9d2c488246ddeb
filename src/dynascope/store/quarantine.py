"""Damaged shards put out of the way, never deleted: their runs can then be computed again."""

import os
import warnings
from pathlib import Path

from dynascope.store.files import writing
from dynascope.store.index import DamageWarning, Index
from dynascope.store.shard_write import RUNS, TRAJECTORIES

FOLDER = "damaged"


def set_aside(index: Index) -> list[Path]:
    """Move every shard of which a file is damaged to the folder `damaged`; returns what was moved.

    Marks that are damaged stay: nothing waits for their place.
    """
    moved = []
    names = {
        each.path.name.partition("-")[0].partition(".")[0]
        for each in index.damage
        if each.path.parent.name in (RUNS, TRAJECTORIES)
    }
    with writing(index.folder / FOLDER):
        for place in (RUNS, TRAJECTORIES):
            for file in sorted((index.folder / place).glob("*")):
                if file.name.partition("-")[0].partition(".")[0] in names:
                    moved.append(_move(file, index.folder / FOLDER))
    return moved


def _move(file: Path, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    target = folder / file.name
    number = 0
    while target.exists():
        number += 1
        target = folder / f"{file.name}.{number}"
    os.replace(file, target)
    warnings.warn(DamageWarning(f"{file}: damaged, and put aside as {target}."), stacklevel=2)
    return target
