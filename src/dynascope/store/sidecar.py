"""Sidecars: what analyses found of runs, in Parquet files beside the shards, which never change.

A row belongs to one run in one state: its id, and the checksum of its trajectory. So a run that was
saved again, further or with another record, does not inherit what was found of the shorter one, and
one that was computed again with the same bits does.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from dynascope import version
from dynascope.analysis_columns import DECLARATIONS, KINDS, columns_of, versions
from dynascope.analysis_row import Row
from dynascope.cached import cached_property
from dynascope.store import footers
from dynascope.store.fields import check_fields
from dynascope.store.files import write
from dynascope.store.names import ANALYSES
from dynascope.store.parquet_file import CheckedTable, footer_digest, parquet_bytes
from dynascope.store.sidecar_rules import AGREEMENTS, MOST_ROWS, RULES

FORMAT = 1

_TYPES = {
    "string": pa.string(),
    "double": pa.float64(),
    "int64": pa.int64(),
    "bool": pa.bool_(),
    "list<int64>": pa.list_(pa.int64()),
    "list<double>": pa.list_(pa.float64()),
    "list<string>": pa.list_(pa.string()),
    "list<bool>": pa.list_(pa.bool_()),
}
FOUND = {name: _TYPES[column.type] for name, column in columns_of().items()}
SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("checksum", pa.string(), nullable=False),  # of the run's trajectory
        pa.field("analysed", _TYPES["list<string>"]),  # the kinds that were made
        pa.field("notes", _TYPES["list<string>"]),  # as many: why one found nothing, or null
        *(pa.field(name, type_) for name, type_ in FOUND.items()),
    ]
)


@dataclass(frozen=True)
class SidecarFile:
    """A sidecar as bytes."""

    name: str
    contents: bytes

    @property
    def place(self) -> str:
        """Where it goes in a store."""
        return f"{ANALYSES}/{self.name}-{footer_digest(self.contents)}.parquet"

    def write(self, store: Path) -> None:
        """Put it into the store; writing it twice does no harm."""
        write(store, self.place, self.contents)


def make_sidecar(
    ids: Sequence[str], checksums: Sequence[str], rows: Sequence[Row], batch: int
) -> SidecarFile:
    """The sidecar of some runs' rows; of two with the same run the one of the later batch counts.

    The same rows and batch give the same bytes, wherever they were made.
    """
    name = _name(ids, checksums, rows, version.__version__)
    about = {
        "format": FORMAT,
        "dynascope": version.__version__,
        "analyses": name,
        "batch": batch,
        "versions": versions(),
    }
    return SidecarFile(name, parquet_bytes(as_table(ids, checksums, rows), about))


def as_table(ids: Sequence[str], checksums: Sequence[str], rows: Sequence[Row]) -> pa.Table:
    """Rows as a table of `SCHEMA`."""
    columns: dict[str, Sequence[object]] = {
        "id": ids,
        "checksum": checksums,
        "analysed": [list(row.notes) for row in rows],
        "notes": [list(row.notes.values()) for row in rows],
    }
    columns |= {name: [row.values.get(name) for row in rows] for name in FOUND}
    arrays = [pa.array(columns[field.name], field.type) for field in SCHEMA]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def _name(ids: Sequence[str], checksums: Sequence[str], rows: Sequence[Row], version: str) -> str:
    """Follows from which runs in which state, what was made of them, and by whom."""
    kinds = json.dumps(versions(), sort_keys=True)
    each = (
        f"{run} {of} {' '.join(row.notes)}"
        for run, of, row in zip(ids, checksums, rows, strict=True)
    )
    text = "\n".join([f"{FORMAT} {version} {kinds}", *each])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _first_columns(kind: str) -> set[str]:
    return {name for name, column in DECLARATIONS[kind].columns.items() if not column.later}


class Sidecar(CheckedTable):
    """A sidecar whose footer is right; its columns are read when asked for.

    One of another time is no damage: what of it does not count any more is null.
    """

    SCHEMA = SCHEMA
    NAME_KEY = "analyses"
    FOOTER = footers.SIDECAR
    MOST_ROWS = MOST_ROWS
    RULES = RULES
    AGREEMENTS = AGREEMENTS

    @classmethod
    def formats(cls) -> range:
        return range(1, FORMAT + 1)

    @classmethod
    def open(cls, path: Path) -> "Sidecar":
        """Read and check the footer; raises `DamagedError`."""
        return cls(path, *cls.read_footer(path))

    @property
    def current(self) -> bool:
        """Whether it is of the present format; of an older one nothing counts."""
        return bool(self.about["format"] == FORMAT)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds whose rows count: of the present version, and with all columns that it had from
        the beginning.
        """
        if not self.current:
            return frozenset()
        made_by, has = self.about["versions"], {*self.about["columns"]}
        known = (kind for kind, now in versions().items() if made_by.get(kind) == now)
        return frozenset(kind for kind in known if _first_columns(kind) <= has)

    def table(self, columns: Sequence[str]) -> pa.Table:
        """Some columns of all rows, checked; those that do not count or are not there are null."""
        skipped = {*columns_of(kind for kind in KINDS if kind not in self.kinds)}
        skipped |= {*columns_of(self.kinds)} - {*self.about["columns"]}  # not known then
        read = super().table([name for name in columns if name not in skipped])
        found = [
            pa.nulls(len(self), FOUND[name]) if name in skipped else read[name] for name in columns
        ]
        return pa.Table.from_arrays(found, schema=pa.schema([SCHEMA.field(n) for n in columns]))

    def check(self) -> None:
        """Check every column that it has, also those that do not count; raises `DamagedError`."""
        if self.current:
            check_fields(self.about, footers.COLUMNS)
            self.check_columns(self.about["columns"])
            self.table(self.SCHEMA.names)
