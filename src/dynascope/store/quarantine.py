"""Damaged shards put out of the way, never deleted: their runs can then be computed again."""

import warnings
from collections.abc import Callable
from pathlib import Path

from dynascope.store.damage import DamageWarning
from dynascope.store.files import writing
from dynascope.store.handles import is_file, store_folder
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
    moved = []
    with writing(index.folder / DAMAGED):
        for file in [*sorted(tables), *sorted(set(doomed) - used)]:
            if is_file(file):
                there = put_aside(index.folder, f"{file.parent.name}/{file.name}")
                warnings.warn(DamageWarning(f"{file}: damaged; moved to {there}."), stacklevel=2)
                moved.append(there)
    return moved


def put_aside(store: Path, place: str) -> Path:
    """Move a file of a store to `damaged`, under a name that is free there; returns its path."""
    above, _, name = place.rpartition("/")
    with store_folder(store, above) as source, store_folder(store, DAMAGED, make=True) as target:
        new_name, number = name, 0
        while target.stat(new_name):
            number += 1
            new_name = f"{name}.{number}"
        source.move(name, target, new_name)
        source.sync()
        return target.path / new_name
