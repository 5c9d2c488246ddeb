"""Which runs a store holds and where: all that opening it reads.

Opening reads footers and three columns, never a curve or a trajectory. What is damaged is named and
left out.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dynascope.errors import DynascopeError
from dynascope.store.damage import Damage, DamagedError, DamageWarning
from dynascope.store.files import PathLike, path_of
from dynascope.store.handles import Folder, names_in
from dynascope.store.marks import Marks, read_marks
from dynascope.store.names import RUNS, SWEEP, is_shard_file
from dynascope.store.shard_read import Shard

File = TypeVar("File")

_NAMED = 20  # damaged files that are named one by one


@dataclass(frozen=True, eq=False)
class Index:
    """The runs of a store in their order: run i is row `row[i]` of `shards[shard[i]]`."""

    folder: Path
    shards: list[Shard]
    shard: npt.NDArray[np.int32]
    row: npt.NDArray[np.int32]
    ids: npt.NDArray[np.bytes_]
    marks: Marks
    damage: list[Damage]

    @property
    def hidden(self) -> npt.NDArray[np.bool_]:
        """Runs that were deleted."""
        gone = np.array(sorted(self.marks.deleted), dtype="S")
        return np.isin(self.ids, gone) if len(gone) else np.zeros(len(self.ids), bool)


def open_index(folder: PathLike, strict: bool = False) -> Index:
    """Read footers, ids and marks; with `strict`, damage is an error instead of a warning."""
    path = path_of(folder)
    _check_store(path)
    shards, damage = open_all(path, RUNS, Shard.open)
    found = []
    for shard in sorted(shards, key=lambda shard: (shard.about["batch"], shard.path.name)):
        try:
            found.append((shard, shard.table(["id", "position", "last_epoch"])))
            shard.tensors.check()
        except DamagedError as error:
            ours = found and found[-1][0] is shard  # then only its trajectories are lost
            damage.append(Damage.of(shard.tensors.path if ours else shard.path, error))
    marks, lost = read_marks(path)
    damage += lost
    report(damage, strict)
    return _ordered(path, found, marks, damage)


def report(damage: list[Damage], strict: bool) -> None:
    """Say what is damaged: as warnings, or as an error."""
    if strict and damage:
        more = f" ({len(damage) - 1} more files are damaged.)" if len(damage) > 1 else ""
        text = str(damage[0]).replace(": skipped as damaged:", ": damaged:")
        raise DynascopeError(text + more)
    for each in damage[:_NAMED]:
        warnings.warn(DamageWarning(str(each)), stacklevel=5)
    if len(damage) > _NAMED:
        more = f"{len(damage) - _NAMED} more files were skipped as damaged."
        warnings.warn(DamageWarning(more), stacklevel=5)


def _check_store(path: Path) -> None:
    try:
        if (path / RUNS).is_dir() or (path / SWEEP).is_file():
            return
        what = "it is a file"
        if not path.exists():
            what = "it does not exist"
        elif path.is_dir():
            what = "this folder has none"
        imported = (path / "weights.pkl").exists() or any(path.glob("*/weights.pkl"))
    except OSError as error:
        raise DynascopeError(f"{path}: cannot be read ({error.strerror}).") from None
    hint = (
        "use `dynascope import` for runs that the paper's code saved"
        if imported
        else "create one with `dynascope train --out FOLDER`"
    )
    raise DynascopeError(f"{path}: expected a folder of runs, but {what}; {hint}.")


def holds_runs(store: Folder) -> bool:
    """Whether the `runs` of a folder holds shards, and nothing but files: it is a store."""
    if not store.holds_folder(RUNS):
        return False
    with store.folder(RUNS) as runs:
        names = runs.names()
        return any(map(is_shard_file, names)) and not any(map(runs.holds_folder, names))


def open_all(
    store: Path, place: str, opening: Callable[[Path], File]
) -> tuple[list[File], list[Damage]]:
    """The opened files of a store's folder, and those that cannot be opened."""
    found, damage = [], []
    try:
        names = [name for name in names_in(store, place) if name[0] != "."]
    except OSError as error:
        raise DynascopeError(f"{store / place}: cannot be read ({error.strerror}).") from None
    for name in names:
        path = store / place / name
        try:
            found.append(opening(path))
        except DamagedError as error:
            damage.append(Damage.of(path, error))
    return found, damage


def _ordered(
    path: Path, found: list[tuple[Shard, pa.Table]], marks: Marks, damage: list[Damage]
) -> Index:
    """Runs by batch, then position; one that is there twice counts once.

    That is the one whose trajectory is there, then the one that went further, then the first.
    """
    lost = {each.path for each in damage}
    counts = [len(table) for _, table in found]
    shard = np.repeat(np.arange(len(found), dtype=np.int32), counts)
    row = _joined([np.arange(count, dtype=np.int32) for count in counts], np.int32)
    ids = _joined([_ids(table) for _, table in found], "S20")
    position = _joined([table["position"].to_numpy() for _, table in found], np.int64)
    epochs = _joined([table["last_epoch"].to_numpy() for _, table in found], np.int64)
    batch = np.repeat([each.about["batch"] for each, _ in found], counts)
    cut = np.repeat([each.tensors.path in lost for each, _ in found], counts)
    order = np.lexsort((position, batch, -epochs, cut))
    _, first = np.unique(ids[order], return_index=True)
    kept = order[first]
    kept = kept[np.lexsort((position[kept], batch[kept]))]
    return Index(path, [s for s, _ in found], shard[kept], row[kept], ids[kept], marks, damage)


def _ids(table: pa.Table) -> npt.NDArray[np.bytes_]:
    return np.array(table["id"].to_pylist(), dtype="S20")


def _joined(arrays: list[Any], dtype: Any) -> Any:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype)
