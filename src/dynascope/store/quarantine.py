"""Damaged shards put out of the way, never deleted: their runs can then be computed again."""

import os
import warnings
from collections.abc import Callable
from pathlib import Path

from dynascope.store.damage import DamageWarning
from dynascope.store.files import writing
from dynascope.store.index import Index
from dynascope.store.names import DAMAGED, TABLE, TRAJECTORIES, is_shard_file
from dynascope.store.shard_read import Shard


def set_aside(index: Index, wanted: Callable[[Shard], bool] = lambda shard: True) -> list[Path]:
    """Move damaged shards to the folder `damaged`; returns what was moved.

    Only what is damaged for certain and ours by its name: other files, and those that could not be
    read this time, stay. Of a shard whose table is whole but whose trajectories are not, the table
    goes too if the shard is `wanted` (to be computed again), else both stay.
    """
    lost = {each.path for each in index.damage if each.certain and is_shard_file(each.path.name)}
    tables = {path for path in lost if TABLE.fullmatch(path.name)}
    tables |= {s.path for s in index.shards if s.tensors.path in lost and wanted(s)}
    used = {shard.tensors.path for shard in index.shards if shard.path not in tables}
    doomed = [index.folder / TRAJECTORIES / f"{path.name[:12]}.safetensors" for path in tables]
    files = [*sorted(tables), *sorted(set(doomed) - used)]
    with writing(index.folder / DAMAGED):
        return [_move(file, index.folder / DAMAGED) for file in files if file.is_file()]


def _move(file: Path, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    target = folder / file.name
    number = 0
    while target.exists():
        number += 1
        target = folder / f"{file.name}.{number}"
    os.replace(file, target)
    warnings.warn(DamageWarning(f"{file}: damaged; moved to {target}."), stacklevel=2)
    return target
