"""Files of one store into another: names follow from contents, so nothing can collide."""

import contextlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dynascope.errors import DynascopeError
from dynascope.store.damage import DamagedError
from dynascope.store.files import write
from dynascope.store.handles import is_file, names_in, read_file
from dynascope.store.index import Index, open_all
from dynascope.store.names import ANALYSES, MARKS, is_file_of_ours
from dynascope.store.sidecar import Sidecar
from dynascope.store.tensors import TensorFile


def copy_stores(indices: Sequence[Index], target: Path) -> None:
    """Copy the files of stores whose `damage` is known in full (see `checking.check`).

    Whole files first. Then, where nobody has a whole one, those of which a part is still good: what
    of it is damaged will be named again by whoever reads it.
    """
    for whole in (True, False):
        for index in indices:
            lost = {each.path for each in index.damage}
            for file in _files(index):
                if (file not in lost) == whole:
                    _copy(file, target)


def _files(index: Index) -> list[Path]:
    """Trajectories before the tables that need them; what cannot be opened is left where it is."""
    files = []
    for shard in index.shards:
        files += [shard.tensors.path] if _opens(shard.tensors) else []
        files += [shard.path]
    lost = {each.path for each in index.damage}
    small = [
        index.folder / place / name
        for place, name in _names(index.folder, MARKS, ANALYSES)
        if is_file_of_ours(name)
    ]
    return [*files, *(file for file in small if file not in lost)]


def _names(store: Path, *places: str) -> Iterator[tuple[str, str]]:
    for place in places:
        with contextlib.suppress(OSError):  # a folder that cannot be read is named as damage
            yield from ((place, name) for name in names_in(store, place))


def copy_analyses(source: Path, runs: Iterable[str], target: Path) -> None:
    """Copy the sidecars that know any of these runs; what they say of others counts for nothing."""
    wanted = set(runs)
    for sidecar in open_all(source, ANALYSES, Sidecar.open)[0]:
        with contextlib.suppress(DamagedError):  # named where its columns are asked for
            if sidecar.current and not wanted.isdisjoint(sidecar.table(["id"])["id"].to_pylist()):
                _copy(sidecar.path, target)


def _opens(file: TensorFile) -> bool:
    try:
        file.check()
    except DamagedError:
        return False
    return True


def _copy(file: Path, target: Path) -> None:
    place = f"{file.parent.name}/{file.name}"
    if is_file(target / place):
        return
    try:
        contents = read_file(file, sys.maxsize)
    except OSError as error:
        raise DynascopeError(f"{file}: cannot be read ({error.strerror}).") from None
    write(target, place, contents)
