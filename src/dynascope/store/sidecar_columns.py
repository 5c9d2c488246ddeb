"""Sidecars read: of all that was ever found of a run, what counts.

For each run and kind that is the newest row that belongs to the run as it is stored (the same
checksum) and was made by the present version of the analysis. Nothing is read unless a column of
analyses is asked for, and then only the columns in question.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dynascope.analysis_columns import DECLARATIONS, KINDS
from dynascope.analysis_row import joined_notes
from dynascope.store.damage import Damage, DamagedError
from dynascope.store.index import open_all
from dynascope.store.names import ANALYSES
from dynascope.store.sidecar import FOUND, SCHEMA, Sidecar

# What a table of runs shows of them.
SHOWN = {**FOUND, "analysed": SCHEMA.field("analysed").type, "analysis_note": pa.string()}
_KEYS = ("id", "checksum", "analysed")
_KIND_OF = {name: kind for kind in KINDS for name in DECLARATIONS[kind].columns}


@dataclass(frozen=True)
class Source:
    """Rows as one sidecar has them, or as they were just made."""

    table: pa.Table
    kinds: Collection[str] = KINDS  # that count


def read_sources(
    folder: Path, names: Sequence[str], left_out: Callable[[Damage], None]
) -> list[Source]:
    """The rows of all sidecars, oldest first, with what the columns `names` of `SHOWN` need.

    Sidecars of an older format have none that count. `left_out` is told of each that is damaged.
    """
    opened, damaged = open_all(folder, ANALYSES, Sidecar.open)
    needed, sources = _needed(names), []
    current = (each for each in opened if each.current)
    for sidecar in sorted(current, key=lambda each: (each.about["batch"], each.path.name)):
        try:
            sources.append(Source(sidecar.table(needed), sidecar.kinds))
        except DamagedError as error:
            damaged.append(Damage.of(sidecar.path, error))
    for each in damaged:
        left_out(each)
    return sources


def columns(
    ids: Sequence[str], checksums: Sequence[str], names: Sequence[str], sources: Sequence[Source]
) -> dict[str, pa.Array]:
    """Columns of `SHOWN` for these runs; null where nothing was found."""
    if not sources:
        return {name: pa.nulls(len(ids), SHOWN[name]) for name in names}
    found = _Found(
        ids, checksums, [replace(s, table=s.table.select(_needed(names))) for s in sources]
    )
    return {name: found.column(name) for name in names}


def _needed(names: Sequence[str]) -> list[str]:
    """The columns of sidecars that these of `SHOWN` follow from."""
    notes = ["notes"] if "analysis_note" in names else []
    return [*_KEYS, *notes, *(name for name in names if name in FOUND)]


class _Found:
    """Which row of the joined sources counts, for each run and kind."""

    def __init__(
        self, ids: Sequence[str], checksums: Sequence[str], sources: Sequence[Source]
    ) -> None:
        self._table = pa.concat_tables([each.table for each in sources]).combine_chunks()
        self._wanted = _keys(ids, checksums)
        self._keys = _keys(self._table["id"].to_pylist(), self._table["checksum"].to_pylist())
        made = self._table["analysed"].combine_chunks()
        self._kinds = np.array(pc.list_flatten(made).to_pylist(), dtype="U")
        self._rows = pc.list_parent_indices(made).to_numpy()
        counts = [len(each.table) for each in sources]
        self._current = {
            kind: np.repeat([kind in each.kinds for each in sources], counts) for kind in KINDS
        }
        self._places: dict[str, pa.Array] = {}

    def column(self, name: str) -> pa.Array:
        if name == "analysed":
            return self._analysed()
        if name == "analysis_note":
            return self._notes()
        entries = self._entries(_KIND_OF[name])
        rows = pc.take(pa.array(self._rows), entries)
        return self._table[name].combine_chunks().take(rows)

    def _entries(self, kind: str) -> pa.Array:
        """For each run the place of `kind` among all entries of `analysed`; null: nowhere."""
        if kind not in self._places:
            at = np.flatnonzero(self._kinds == kind)
            at = at[self._current[kind][self._rows[at]]][::-1]  # the newest first
            keys, first = np.unique(self._keys[self._rows[at]], return_index=True)
            self._places[kind] = _looked_up(self._wanted, keys, at[first])
        return self._places[kind]

    def _analysed(self) -> pa.Array:
        has = [self._entries(kind).is_valid().to_pylist() for kind in KINDS]
        lists = [
            [kind for kind, there in zip(KINDS, each, strict=True) if there] or None
            for each in zip(*has, strict=True)
        ]
        return pa.array(lists, SHOWN["analysed"])

    def _notes(self) -> pa.Array:
        notes = pc.list_flatten(self._table["notes"].combine_chunks())
        each = [notes.take(self._entries(kind)).to_pylist() for kind in KINDS]
        said = (joined_notes(dict(zip(KINDS, row, strict=True))) for row in zip(*each, strict=True))
        return pa.array(said, pa.string())


def _keys(ids: Iterable[str], checksums: Iterable[str]) -> npt.NDArray[np.bytes_]:
    return np.array([a + b for a, b in zip(ids, checksums, strict=True)], dtype="S52")


def _looked_up(
    wanted: npt.NDArray[np.bytes_],
    keys: npt.NDArray[np.bytes_],
    values: npt.NDArray[np.intp],
) -> pa.Array:
    """The values of sorted keys; null for a key that is not there."""
    if not len(keys):
        return pa.nulls(len(wanted), pa.int64())
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return pa.array(values[at], pa.int64(), mask=keys[at] != wanted)
