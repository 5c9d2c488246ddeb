"""Runs into a store: a new folder, or one more batch in one that exists."""

import json
import os
import secrets
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from dynascope.config import Config
from dynascope.errors import DynascopeError, expected, none_given
from dynascope.near_misses import guided
from dynascope.run import Run, Runs, spelt_options
from dynascope.run_size import SHARD_BYTES, recorded_bytes
from dynascope.store.checking import check
from dynascope.store.clock import later_than
from dynascope.store.copying import copy_analyses, copy_stores
from dynascope.store.damage import DamageWarning
from dynascope.store.files import PathLike, check_new, new_folder, path_of
from dynascope.store.index import open_index
from dynascope.store.leftovers import clear_workshop
from dynascope.store.marks import mark_each
from dynascope.store.names import TEMPORARY
from dynascope.store.shard_rules import MOST_RUNS
from dynascope.store.shard_write import make_shard
from dynascope.store.stored import StoredRun, StoredRuns

SHARD_RUNS = MOST_RUNS


def save(runs: Runs, folder: PathLike, append: bool = False) -> None:
    """Write runs to a new folder; with `append`, also to one that holds runs already."""
    if not len(runs):
        raise none_given("runs", "run to save")
    there = path_of(folder)
    if append and there.is_dir() and any(there.iterdir()):
        _add(runs, there)
        return
    with new_folder(check_new(folder)) as path:
        _write(runs, range(len(runs)), path, later_than([]))


def save_in_order(runs: Runs, positions: Sequence[int], folder: PathLike, new: bool) -> None:
    """Write runs that have their places among others, to a new folder or to one that holds some of
    these: in the end all are in the order of their positions, as if they had come together."""
    if not new:
        _add(runs, path_of(folder), positions)
        return
    with new_folder(check_new(folder)) as path:
        _write(runs, range(len(runs)), path, later_than([]), positions)


def _add(runs: Runs, path: Path, positions: Sequence[int] | None = None) -> None:
    """Add the runs that are not there yet, or are further than those that are."""
    index = open_index(path)
    batches = [shard.about["batch"] for shard in index.shards]
    # What has a place among the runs that are there belongs to their batch; the rest comes last.
    batch = min(batches) if positions is not None and batches else later_than(batches)
    there = StoredRuns(index, np.arange(len(index.ids))).table(["id", "last_epoch"]).to_pydict()
    reached = dict(zip(there["id"], there["last_epoch"], strict=True))
    wanted = [i for i, run in enumerate(runs) if run.epochs > reached.get(run.id, -1)]
    _write(runs, wanted, path, batch, positions)


def _write(
    runs: Runs,
    wanted: Iterable[int],
    path: Path,
    batch: int,
    positions: Sequence[int] | None = None,
) -> None:
    temporary = f"{TEMPORARY}/{secrets.token_hex(6)}"
    for chunk in _chunks(runs, wanted):
        # Asked for here, not before: stored runs need not fit into memory all together.
        part = [runs[i] for i in chunk]
        places = chunk if positions is None else [positions[i] for i in chunk]
        make_shard(part, places, batch).write(path, temporary)
        _carry_marks(part, path)
    _carry_analyses(runs, path)
    clear_workshop(path, temporary)


@lru_cache(maxsize=4096)
def shape_key(config: Config) -> str:
    """Runs of one shard have this in common."""
    record = config.to_dict()["record"]
    return json.dumps([config.shapes, config.precision, record], sort_keys=True)


def _chunks(runs: Runs, wanted: Iterable[int]) -> Iterator[list[int]]:
    """Numbers of runs of one shape, cut where a shard would become too large."""
    groups: dict[str, list[int]] = {}
    for i in wanted:
        run = runs[i]
        _refuse_unknown(run)
        key = json.dumps([shape_key(run.config), sorted(run.unrecorded)])
        groups.setdefault(key, []).append(i)
    sizes = {i: _size(runs[i]) for group in groups.values() for i in group}
    for group in groups.values():
        yield from cut_by_size(group, sizes)


def _size(run: Run) -> int:
    """Bytes of a run's record; one that was trained past the end of its schedule has more epochs
    than its config says."""
    planned = run.config.training.epochs + 1
    return recorded_bytes(run.config) * max(planned, run.epochs + 1) // planned


def _refuse_unknown(run: Run) -> None:
    """What is written has the columns that this version knows: others would be lost unnoticed."""
    if run.unknown_options:
        raise DynascopeError(
            f"run {run.id}: expected options that this version of dynascope knows, but it has "
            f"{spelt_options(run.unknown_options)}; `dynascope merge` copies such runs as they are."
        )


def cut_by_size(
    numbers: Sequence[int], sizes: Mapping[int, int] | Sequence[int]
) -> Iterator[list[int]]:
    """Pieces of at most so many runs and, unless a single one is larger, so many bytes.

    >>> list(cut_by_size([0, 1, 2], [SHARD_BYTES, SHARD_BYTES // 2, SHARD_BYTES // 2]))
    [[0], [1, 2]]
    """
    piece: list[int] = []
    size = 0
    for i in numbers:
        if piece and (len(piece) == SHARD_RUNS or size + sizes[i] > SHARD_BYTES):
            yield piece
            piece, size = [], 0
        piece.append(i)
        size += sizes[i]
    if piece:
        yield piece


def _carry_marks(runs: list[Run], path: Path) -> None:
    """Tags and notes go along when stored runs are saved elsewhere."""
    said: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        for tag in getattr(run, "tags", ()):
            said.setdefault(("tag", tag), []).append(run.id)
        if note := getattr(run, "note", None):
            said.setdefault(("note", note), []).append(run.id)
    if said:
        mark_each(path, [(action, value, tuple(ids)) for (action, value), ids in said.items()])


def _carry_analyses(runs: Runs, path: Path) -> None:
    """And so does what was found of them, wherever each comes from."""
    if isinstance(runs, StoredRuns):
        copy_analyses(Path(runs.folder), runs.ids, path)
        return
    sources: dict[Path, list[str]] = {}
    for run in runs:
        if isinstance(run, StoredRun):
            sources.setdefault(run.folder, []).append(run.id)
    for folder, ids in sources.items():
        copy_analyses(folder, ids, path)


@guided
def merge(folders: Iterable[PathLike], out: PathLike) -> None:
    """One new store with the runs of several; files are copied as they are.

    A run that several have is there once. Tags, notes and analyses come along, and so do deletions.
    Damaged files are named in a warning; one that another folder has whole is taken from there.
    """
    if isinstance(folders, str | os.PathLike):
        raise expected("folders", "a list of folders", folders)
    paths = [path_of(folder) for folder in folders]
    if not paths:
        raise none_given("folders", "folder of runs")
    target = check_new(out)
    indices = [check(path) for path in paths]
    for each in (damage for index in indices for damage in index.damage):
        said = f"{each.path}: damaged: {each.why}; its intact parts are kept."
        warnings.warn(DamageWarning(said), stacklevel=3)
    if not any(len(index.ids) for index in indices):
        raise DynascopeError(
            f"{', '.join(map(str, paths))}: expected runs to merge, but there are none."
        )
    with new_folder(target) as folder:
        copy_stores(indices, folder)
