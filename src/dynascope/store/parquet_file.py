"""Parquet files that can be checked part by part: the tables of shards, and the sidecars.

A file's name ends with the checksum of its footer, and the footer has the checksums of the columns.
The bytes of a column are checked before they are decoded, so a damaged file never reaches a decoder
that might stumble over it.
"""

import hashlib
import io
import json
import mmap
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from dynascope.cached import cached_property
from dynascope.store.damage import DamagedError, UnreadableError, reading
from dynascope.store.handles import open_file, stamp
from dynascope.store.names import TABLE
from dynascope.store.schema import CURVES
from dynascope.store.tensors import digest

KEY = b"dynascope"  # of the footer's own metadata
_FOOTER_END = 8  # bytes after a Parquet footer: its length and PAR1
_TAIL = 2**16  # bytes read from the end of a file in one go: our footers fit
_OTHER = "it has format {}, and this dynascope reads {}; {} one will read it"


# Writing.


def parquet_bytes(table: pa.Table, about: dict[str, Any]) -> bytes:
    """The Parquet file, with the checksums of its own columns in its footer.

    Written twice: where the columns lie is known only from a finished file, and a longer footer
    does not move them.
    """
    columns = column_digests(_parquet(table, about))
    return _parquet(table, about | {"columns": columns})


def _parquet(table: pa.Table, about: dict[str, Any]) -> bytes:
    sink = io.BytesIO()
    with pq.ParquetWriter(
        sink,
        table.schema,
        compression="zstd",
        compression_level=1,
        use_dictionary=[name for name in table.schema.names if name not in CURVES],
        column_encoding={
            f"{name}.list.element": "BYTE_STREAM_SPLIT"
            for name in CURVES
            if name in table.schema.names
        },
        store_schema=False,
    ) as writer:
        writer.write_table(table, row_group_size=max(1, len(table)))
        writer.add_key_value_metadata({KEY: json.dumps(about).encode()})
    return sink.getvalue()


def column_digests(contents: bytes | memoryview) -> dict[str, str]:
    """The checksum of each top-level column's bytes in a Parquet file."""
    metadata = pq.read_metadata(pa.BufferReader(contents))
    return {
        name: digest_ranges(contents, ranges) for name, ranges in column_ranges(metadata).items()
    }


def digest_ranges(contents: bytes | memoryview, ranges: Sequence[tuple[int, int]]) -> str:
    total = hashlib.sha256()
    view = memoryview(contents)
    for begin, end in ranges:
        total.update(view[begin:end])
    return total.hexdigest()[:32]


def column_ranges(metadata: pq.FileMetaData) -> dict[str, list[tuple[int, int]]]:
    """Where the bytes of each top-level column are."""
    found: dict[str, list[tuple[int, int]]] = {}
    for group in range(metadata.num_row_groups):
        columns = metadata.row_group(group)
        for i in range(metadata.num_columns):
            chunk = columns.column(i)
            begin = chunk.data_page_offset
            if chunk.dictionary_page_offset is not None:
                begin = min(begin, chunk.dictionary_page_offset)
            name = chunk.path_in_schema.removesuffix(".list.element")
            found.setdefault(name, []).append((begin, begin + chunk.total_compressed_size))
    return found


def footer_digest(contents: bytes | memoryview) -> str:
    """The checksum that is part of the file's name: of everything after the columns."""
    return digest(bytes(contents[-footer_length(contents) :]))[:16]


def footer_length(end: bytes | memoryview) -> int:
    """How long the footer is, with the bytes after it that say so; from a file's last bytes."""
    return int.from_bytes(end[-_FOOTER_END:-4], "little") + _FOOTER_END


# Reading.


@dataclass(frozen=True, eq=False)
class CheckedTable:
    """A Parquet file whose footer is right; its columns are read when asked for."""

    path: Path
    about: dict[str, Any]
    metadata: pq.FileMetaData

    SCHEMA: ClassVar[pa.Schema]

    @staticmethod
    def read_footer(
        path: Path, name_key: str, known: range
    ) -> tuple[dict[str, Any], pq.FileMetaData]:
        """The footer, checked, and what it says about the file; raises `DamagedError`.

        `name_key`: the field that repeats the file's name. `known`: the formats that can be read.
        """
        name = TABLE.fullmatch(path.name)
        if name is None:
            raise DamagedError("its name is not one that dynascope gives")
        with reading():
            footer = _footer(path)
        if digest(footer)[:16] != name["footer"]:
            raise DamagedError("its footer does not match its name")
        with reading():
            metadata = pq.read_metadata(pa.BufferReader(b"PAR1" + footer))
            about = json.loads(metadata.metadata[KEY])
            if name_key not in about:
                raise DamagedError("it belongs in another folder")
            if about["format"] not in known:
                raise UnreadableError(_of_another_time(about["format"], known))
            if about[name_key] != name["name"]:
                raise DamagedError("it was written under another name")
        return about, metadata

    def __len__(self) -> int:
        return int(self.metadata.num_rows)

    def table(self, columns: Sequence[str]) -> pa.Table:
        """Some columns of all rows, checked; of those that the file lacks, see `absent`."""
        schema = pa.schema([self.SCHEMA.field(name) for name in columns])
        written = self.read([name for name in columns if name in self.about["columns"]])
        with reading():
            arrays = [
                written.column(field.name).cast(field.type)
                if field.name in written.column_names
                else self.absent(field)
                for field in schema
            ]
        return pa.Table.from_arrays(arrays, schema=schema)

    def absent(self, field: pa.Field) -> pa.Array:
        """A column that came after this file was written."""
        if not field.nullable:
            raise DamagedError(f"its column {field.name} is missing")
        return pa.nulls(len(self), field.type)

    @cached_property
    def _ranges(self) -> dict[str, list[tuple[int, int]]]:
        return column_ranges(self.metadata)

    def read(self, columns: Sequence[str]) -> pa.Table:
        """Columns that the file has, checked, with its own types."""
        contents = self.check_columns(columns)
        with reading():
            file = pq.ParquetFile(pa.BufferReader(contents), metadata=self.metadata)
            return file.read(columns=list(columns), use_threads=False)

    def check_columns(self, columns: Iterable[str]) -> memoryview:
        """The file's bytes, in which these columns are as written; raises `DamagedError`."""
        ranges, sums = self._ranges, self.about["columns"]
        with reading():
            contents = self._mapped()
            for name in columns:
                if digest_ranges(contents, ranges[name]) != sums[name]:
                    raise DamagedError(f"its column {name} has changed")
            return contents

    def _mapped(self) -> memoryview:
        changed = stamp(self.path)
        last = max(end for ranges in self._ranges.values() for _, end in ranges)
        if changed[-1] < last:  # to touch a map of a file that was cut off ends the process
            raise DamagedError("it is cut off")
        return _map(self.path, changed)

    def check(self) -> None:
        """Check every column, also those that this version does not know; raises `DamagedError`."""
        self.read(list(self.about["columns"]))


def _of_another_time(format_: int, known: range) -> str:
    """
    >>> _of_another_time(3, range(1, 3))
    'it has format 3, and this dynascope reads 1 to 2; a newer one will read it'
    """
    reads = f"{known[0]} to {known[-1]}" if len(known) > 1 else f"{known[0]}"
    return _OTHER.format(format_, reads, "a newer" if format_ > known[-1] else "an older")


@lru_cache(maxsize=32)
def _map(path: Path, changed: tuple[int, int, int]) -> memoryview:
    with open_file(path) as handle:
        return memoryview(mmap.mmap(handle, 0, access=mmap.ACCESS_READ))


def _footer(path: Path) -> bytes:
    """The last bytes of a Parquet file: footer, its length, PAR1."""
    with open_file(path) as handle:
        size = os.fstat(handle).st_size
        tail = os.pread(handle, _TAIL, max(0, size - _TAIL))
        length = footer_length(tail)
        if tail[-4:] != b"PAR1" or length > size:
            raise DamagedError("it is truncated or not a Parquet file")
        if length > len(tail):
            tail = os.pread(handle, length, size - length)
    return tail[-length:]
