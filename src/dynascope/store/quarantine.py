"""Damaged shards put out of the way, never deleted: their runs can then be computed again."""

import os
import re
import warnings
from collections.abc import Callable
from pathlib import Path

from dynascope.store.files import writing
from dynascope.store.index import DamageWarning, Index
from dynascope.store.parquet_file import NAME
from dynascope.store.shard_read import Shard
from dynascope.store.shard_write import TRAJECTORIES

FOLDER = "damaged"
_TENSORS = re.compile(r"[0-9a-f]{12}\.safetensors")


def is_ours(path: Path) -> bool:
    """Whether it is, by its name, a file that dynascope wrote."""
    return bool(NAME.fullmatch(path.name) or _TENSORS.fullmatch(path.name))


def set_aside(index: Index, wanted: Callable[[Shard], bool] = lambda shard: True) -> list[Path]:
    """Move damaged shards to the folder `damaged`; returns what was moved.

    Only what is damaged for certain and ours by its name: other files, and those that could not be
    read this time, stay. Of a shard whose table is whole but whose trajectories are not, the table
    goes too if the shard is `wanted` (to be computed again), else both stay.
    """
    lost = {each.path for each in index.damage if each.certain and is_ours(each.path)}
    tables = {path for path in lost if NAME.fullmatch(path.name)}
    tables |= {s.path for s in index.shards if s.tensors.path in lost and wanted(s)}
    used = {shard.tensors.path for shard in index.shards if shard.path not in tables}
    doomed = [index.folder / TRAJECTORIES / f"{path.name[:12]}.safetensors" for path in tables]
    files = [*sorted(tables), *sorted(set(doomed) - used)]
    with writing(index.folder / FOLDER):
        return [_move(file, index.folder / FOLDER) for file in files if file.is_file()]


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
