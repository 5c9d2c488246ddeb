"""Runs into a store: a new folder, or one more batch in one that exists."""

import json
import secrets
import time
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from dynascope.config import Config
from dynascope.errors import DynascopeError, expected
from dynascope.run import Run, Runs
from dynascope.store.files import TEMPORARY, PathLike, check_new, new_folder, path_of
from dynascope.store.index import open_index
from dynascope.store.marks import mark
from dynascope.store.shard_write import make_shard
from dynascope.tape import recorded_bytes

SHARD_RUNS = 1000
SHARD_BYTES = 2**27  # of records in memory


def save(runs: Runs, folder: PathLike, append: bool = False) -> None:
    """Write runs to a new folder; with `append`, also to one that holds runs already."""
    if not len(runs):
        raise expected("runs", "at least one run to save", "none")
    if append and path_of(folder).exists() and any(path_of(folder).iterdir()):
        _add(runs, path_of(folder))
        return
    with new_folder(check_new(folder)) as path:
        _write(enumerate(runs), path)


def _add(runs: Runs, path: Path) -> None:
    there = {bytes(each).decode() for each in open_index(path).ids}
    _write(((i, run) for i, run in enumerate(runs) if run.id not in there), path)


def _write(runs: Iterable[tuple[int, Run]], path: Path) -> None:
    batch, temporary = time.time_ns(), path / TEMPORARY / secrets.token_hex(6)
    for chunk in _chunks(runs):
        shard = make_shard([run for _, run in chunk], [at for at, _ in chunk], batch)
        shard.write(path, temporary)
        _carry_marks([run for _, run in chunk], path)
    if temporary.exists():
        temporary.rmdir()


def shape_key(config: Config) -> str:
    """Runs of one shard have this in common."""
    record = config.to_dict()["record"]
    return json.dumps([config.shapes, config.precision, record], sort_keys=True)


def _chunks(runs: Iterable[tuple[int, Run]]) -> Iterator[list[tuple[int, Run]]]:
    """Runs of one shape that stand together, cut where a shard would become too large.

    Runs are asked for one by one: those of a store need not fit into memory together.
    """
    for _, same in groupby(runs, key=lambda each: shape_key(each[1].config)):
        chunk: list[tuple[int, Run]] = []
        size = 0
        for each in same:
            chunk.append(each)
            size += recorded_bytes(each[1].config)
            if len(chunk) == SHARD_RUNS or size > SHARD_BYTES:
                yield chunk
                chunk, size = [], 0
        if chunk:
            yield chunk


def _carry_marks(runs: list[Run], path: Path) -> None:
    """Tags and notes go along when stored runs are saved elsewhere."""
    said: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        for tag in getattr(run, "tags", ()):
            said.setdefault(("tag", tag), []).append(run.id)
        if note := getattr(run, "note", None):
            said.setdefault(("note", note), []).append(run.id)
    for (action, value), ids in said.items():
        mark(path, action, ids, value)


def merge(folders: Iterable[PathLike], out: PathLike) -> None:
    """One new store with the runs of several; files are copied as they are, damaged ones are not.

    A run that several have is there once. Tags and notes come along, and so do deletions.
    """
    from dynascope.store.copying import copy_store

    paths = [path_of(folder) for folder in folders]
    if not paths:
        raise expected("folders", "at least one folder of runs", "none")
    target = check_new(out)
    indices = [open_index(path) for path in paths]
    if not any(len(index.ids) for index in indices):
        raise DynascopeError(f"{', '.join(map(str, paths))}: expected runs to merge, but none are.")
    with new_folder(target) as folder:
        for index in indices:
            copy_store(index, folder)
