"""Files of one store into another: names follow from contents, so nothing can collide."""

from pathlib import Path

from dynascope.errors import DynascopeError
from dynascope.store.files import TEMPORARY, write
from dynascope.store.index import Index
from dynascope.store.marks import FOLDER as MARKS


def copy_store(index: Index, target: Path) -> None:
    """Copy whatever of a store is whole."""
    lost = {each.path for each in index.damage}
    for shard in index.shards:
        if shard.tensors.path not in lost:
            _copy(shard.tensors.path, target)
        _copy(shard.path, target)
    for file in sorted((index.folder / MARKS).glob("*.json")):
        if file not in lost:
            _copy(file, target)


def _copy(file: Path, target: Path) -> None:
    there = target / file.parent.name / file.name
    if there.exists():
        return
    try:
        contents = file.read_bytes()
    except OSError as error:
        raise DynascopeError(f"{file}: cannot be read ({error.strerror}).") from None
    write(there, contents, target / TEMPORARY)
