"""The table of all runs as JSON columns, and their curves at the size of a thumbnail."""

import math
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dynascope.analysis_columns import columns_of
from dynascope.sandbox.contents import Blob, Document, json_bytes
from dynascope.sandbox.library import MOST_RUNS, Opened
from dynascope.sandbox.run_answers import THRESHOLDS
from dynascope.store.damage import DamagedError
from dynascope.store.shard_read import Shard

Made = TypeVar("Made")
Thumbnails = npt.NDArray[np.uint8]

# Columns that are there even if all runs agree in them.
_SUMMARY = ("id", "seed", "accuracy", "learning_epoch", "lowest_loss", "diverged", "last_epoch")
_FOUND = tuple(name for name, column in columns_of().items() if column.always)
ALWAYS = frozenset({*_SUMMARY, "origin", "tags", "note", *_FOUND})
SHARES = ("accuracy", *(name for name, column in columns_of().items() if column.share))
POINTS = 32
NOTHING = 255  # of a sparkline; what there is goes from 0 to 254


def table_document(opened: Opened) -> Document:
    """What `/api/runs` says."""
    columns: dict[str, list[Any]] = {}
    same: dict[str, Any] = {}
    for name in opened.table.column_names:
        if name not in ALWAYS and opened.table[name].null_count == len(opened.table):
            same[name] = None  # as most columns of analyses that few people ask for
            continue
        values = _plain(opened.table[name])
        if name in ALWAYS or any(value != values[0] for value in values):
            columns[name] = values
        else:
            same[name] = values[0] if values else None
    whole = {
        "state": opened.state,
        "count": len(opened.table),
        "left_out": max(len(opened.runs) - MOST_RUNS, 0),
        "columns": columns,
        "same": same,
        "shares": SHARES,
        "thresholds": THRESHOLDS,
    }
    return Document.of(json_bytes(whole))


def _plain(column: pa.ChunkedArray) -> list[Any]:
    values: list[Any] = column.to_pylist()
    if pa.types.is_floating(column.type):
        return [_finite(v) for v in values]
    if pa.types.is_list(column.type) and pa.types.is_floating(column.type.value_type):
        return [v and [_finite(x) for x in v] for v in values]
    return values


def _finite(value: float | None) -> float | None:
    """A number that JSON can hold, or none."""
    return value if value is not None and math.isfinite(value) else None


class Sparklines:
    """How the accuracy of each run went; a store that grows has only its new shards read."""

    def __init__(self) -> None:
        self._known: dict[str, Thumbnails] = {}  # by the file's name, which says what is in it

    def __call__(self, opened: Opened) -> Blob:
        """uint8 [runs of the table, POINTS]."""
        index, places = opened.index, opened.places
        at = opened.chosen[np.array([places[name] for name in opened.rows], np.intp)]
        shards, rows = index.shard[at], index.row[at]
        lines = np.full((len(at), POINTS), NOTHING, np.uint8)
        before, self._known = self._known, {}
        for number in np.unique(shards):
            which, shard = shards == number, index.shards[number]
            known = before.get(shard.path.name)
            try:
                found = _lines_of(shard) if known is None else known
            except DamagedError:  # the rest of the table is worth showing
                continue
            self._known[shard.path.name] = found
            lines[which] = found[rows[which]]
        return Blob.of(lines.tobytes())


def _lines_of(shard: Shard) -> Thumbnails:
    curves = shard.table(["test_accuracy"])["test_accuracy"]
    if curves.null_count:  # data without a test set
        rest = shard.table(["train_accuracy"])["train_accuracy"]
        curves = pc.coalesce(curves, rest)
    return thumbnails(curves.combine_chunks())


def thumbnails(curves: pa.ListArray) -> Thumbnails:
    """Curves of numbers from 0 to 1, each at `POINTS` places from its first to its last.

    >>> thumbnails(pa.array([[0.0, 1.0], [float("nan")]], pa.list_(pa.float64())))[:, [0, -1]]
    array([[  0, 254],
           [255, 255]], dtype=uint8)
    """
    ends = curves.offsets.to_numpy().astype(np.int64)
    values = np.append(curves.values.to_numpy(zero_copy_only=False), np.nan)
    lengths = np.diff(ends)
    spread = np.linspace(0, 1, POINTS) * np.maximum(lengths - 1, 0)[:, None]
    at = ends[:-1, None] + np.rint(spread).astype(np.int64)
    at[(lengths == 0) | curves.is_null().to_numpy(zero_copy_only=False)] = len(values) - 1
    known = np.isfinite(values[at])
    whole = np.rint(254 * np.clip(np.where(known, values[at], 0), 0, 1))
    return np.where(known, whole, NOTHING).astype(np.uint8)


class OfState(Generic[Made]):
    """Something that follows from the state of the store: made once for each, whoever asks."""

    def __init__(self, make: Callable[[Opened], Made]) -> None:
        self._make, self._lock = make, threading.Lock()
        self._made: tuple[str, Made] | None = None

    def __call__(self, opened: Opened) -> Made:
        with self._lock:
            if self._made is None or self._made[0] != opened.state:
                self._made = opened.state, self._make(opened)
            return self._made[1]
