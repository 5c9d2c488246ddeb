"""Parquet files that can be checked part by part: the tables of shards, and the sidecars.

A file's name ends with the checksum of its footer, and the footer has the checksums of the columns.
The bytes of a column are checked before they are decoded, so a damaged file never reaches a decoder
that might stumble over it.

Nor does a file that was made to be stumbled over: what a footer says is checked against a schema,
how much a column holds against limits before it is decoded, and its values against rules after.
"""

import io
import json
import mmap
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dynascope.cached import cached_property
from dynascope.platforms import system
from dynascope.store import footers
from dynascope.store.column_rules import (
    Agreement,
    ColumnRule,
    check_agreements,
    check_column,
    flat,
)
from dynascope.store.damage import DamagedError, UnreadableError, reading
from dynascope.store.fields import Field, check_fields
from dynascope.store.handles import open_file, stamp
from dynascope.store.names import TABLE
from dynascope.store.parquet_pages import column_size
from dynascope.store.schema import CURVES
from dynascope.store.strict_json import strict_json
from dynascope.store.tensors import digest

KEY = b"dynascope"  # of the footer's own metadata
_FOOTER_END = 8  # bytes after a Parquet footer: its length and PAR1
_TAIL = 2**16  # bytes read from the end of a file in one go: our footers fit
_NEAR = 8  # columns that an older file may lack
_FOOTER = "its footer: "
_SCHEMA_DEPTH = 8  # lists of values have three
# Of one column, decoded. A curve of a shard has at most 2**24 values; see `shard_rules`.
_MOST_VALUES = 2**24
_MOST_DECODED = 2**28  # bytes
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
    metadata, view = pq.read_metadata(pa.BufferReader(contents)), memoryview(contents)
    places = column_ranges(metadata).items()
    return {name: digest(view[begin:end]) for name, (begin, end) in places}


def column_ranges(metadata: pq.FileMetaData) -> dict[str, tuple[int, int]]:
    """Where the bytes of each top-level column are, in a file with one row group."""
    chunks = metadata.row_group(0)
    found = (column_range(chunks.column(i)) for i in range(metadata.num_columns))
    return {name: (begin, end) for name, begin, end in found}


def column_range(chunk: pq.ColumnChunkMetaData) -> tuple[str, int, int]:
    """The name of a top-level column, and where its bytes begin and end."""
    begin = chunk.data_page_offset
    if chunk.dictionary_page_offset is not None:
        begin = min(begin, chunk.dictionary_page_offset)
    name = chunk.path_in_schema.removesuffix(".list.element")
    return name, begin, begin + chunk.total_compressed_size


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
    NAME_KEY: ClassVar[str]  # the field of the footer that repeats the file's name
    FOOTER: ClassVar[Mapping[str, Field]]
    MOST_ROWS: ClassVar[int]
    RULES: ClassVar[Mapping[str, ColumnRule]]
    AGREEMENTS: ClassVar[Sequence[Agreement]]

    @classmethod
    def formats(cls) -> range:
        """Those that can be read."""
        raise NotImplementedError

    @classmethod
    def read_footer(cls, path: Path) -> tuple[dict[str, Any], pq.FileMetaData]:
        """The footer, checked, and what it says about the file; raises `DamagedError`."""
        name = TABLE.fullmatch(path.name)
        if name is None:
            raise DamagedError("its name is not one that dynascope gives")
        with reading():
            footer = _footer(path)
        if digest(footer)[:16] != name["footer"]:
            raise DamagedError("its footer does not match its name")
        with reading():
            metadata = parquet_reader(b"PAR1" + footer, kind=_FooterAlone).metadata
            about = strict_json(metadata.metadata[KEY])
            cls._check_about(about, name["name"])
            cls._check_size(metadata)
        return about, metadata

    @classmethod
    def _check_about(cls, about: Any, name: str) -> None:
        if not isinstance(about, dict) or cls.NAME_KEY not in about:
            raise DamagedError("it belongs in another folder")
        check_fields(about, {"format": Field(footers.FORMAT)}, where=_FOOTER)
        if about["format"] not in cls.formats():
            raise UnreadableError(_of_another_time(about["format"], cls.formats()))
        if about[cls.NAME_KEY] != name:
            raise DamagedError("it was written under another name")
        check_fields(about, cls.FOOTER, about["format"], _FOOTER)

    @classmethod
    def _check_size(cls, metadata: pq.FileMetaData) -> None:
        if metadata.num_row_groups != 1 or not 1 <= metadata.num_rows <= cls.MOST_ROWS:
            rows = f"{metadata.num_rows} rows in {metadata.num_row_groups} groups"
            raise DamagedError(f"it has {rows}, not 1 to {cls.MOST_ROWS} in one")
        if metadata.num_columns > footers.MOST_COLUMNS:
            raise DamagedError(f"it has {metadata.num_columns} columns")

    def __len__(self) -> int:
        return int(self.metadata.num_rows)

    def table(self, columns: Sequence[str]) -> pa.Table:
        """Some columns of all rows, checked; of those that the file lacks, see `absent`."""
        schema = self._selected(tuple(columns))
        written = self.read([name for name in columns if name in self.about["columns"]])
        with reading():
            known = {name: self._known(name, written[name]) for name in written.column_names}
            check_agreements(known, self.AGREEMENTS)
            arrays = [
                known[field.name] if field.name in known else self.absent(field) for field in schema
            ]
            return pa.Table.from_arrays(arrays, schema=schema)

    @classmethod
    @lru_cache(maxsize=256)  # opening asks for the same of each file
    def _selected(cls, columns: tuple[str, ...]) -> pa.Schema:
        return pa.schema([cls.SCHEMA.field(name) for name in columns])

    def _known(self, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """A column with the type that it has for us, its values checked."""
        field = self.SCHEMA.field(name)
        if column.type != field.type:
            raise DamagedError(f"its column {name} is of the type {column.type}, not {field.type}")
        check_column(name, column, self.RULES.get(name))
        # Types are equal also where the elements of lists have another name.
        return column.cast(field.type) if pa.types.is_list(field.type) else column

    def absent(self, field: pa.Field) -> pa.Array:
        """A column that came after this file was written."""
        rule = self.RULES.get(field.name)
        if not field.nullable or (rule and not rule.nulls):
            raise DamagedError(f"its column {field.name} is missing")
        return pa.nulls(len(self), field.type)

    def _place(self, name: str) -> tuple[int, int]:
        """Where the bytes of a column are."""
        if name not in self._places:
            with reading():
                begin, end = self._near(name) or self._ranges[name]
            if not 0 < begin <= end:
                raise DamagedError(f"its column {name} is nowhere")
            self._places[name] = begin, end
        return self._places[name]

    def _near(self, name: str) -> tuple[int, int] | None:
        """The same, if the column is where our own files have it, or a little before: older ones
        lack some. To look at all columns takes a tenth of opening a file."""
        at, chunks = self.SCHEMA.get_field_index(name), self.metadata.row_group(0)
        for place in range(min(at, chunks.num_columns - 1), max(-1, at - _NEAR), -1):
            there, begin, end = column_range(chunks.column(place))
            if there == name:
                return begin, end
        return None

    @cached_property
    def _places(self) -> dict[str, tuple[int, int]]:
        return {}

    @cached_property
    def _ranges(self) -> dict[str, tuple[int, int]]:
        return column_ranges(self.metadata)

    def read(self, columns: Sequence[str]) -> pa.Table:
        """Columns that the file has, checked, with its own types."""
        if not columns:
            return pa.table({})
        contents = self.check_columns(columns)
        with reading():
            large = [name for name in columns if self._check_decoded(name, contents)]
            table = self._decoded(contents, columns, large)
            for name in columns:
                table[name].validate(full=True)  # offsets, and that texts are UTF-8
            return table

    def _check_decoded(self, name: str, contents: memoryview) -> bool:
        """Refuse a column that is larger than it may be, before it is decoded; whether its texts
        may be, which only decoding can tell."""
        begin, end = self._place(name)
        size = column_size(contents[begin:end])
        if size.decoded > _MOST_DECODED or size.values > max(_MOST_VALUES, len(self)):
            raise DamagedError(f"its column {name} holds more than a column may")
        return size.dictionary * size.values > _MOST_DECODED

    def _decoded(
        self, contents: memoryview, columns: Sequence[str], large: Sequence[str]
    ) -> pa.Table:
        """Columns; of the `large` ones each text is first decoded once, and then counted."""
        if large:
            listed = [f"{name}.list.element" for name in large]
            once = parquet_reader(contents, self.metadata, read_dictionary=[*large, *listed])
            for column in once.read(columns=list(large), use_threads=False).columns:
                _check_texts(column)
        file = parquet_reader(contents, self.metadata)
        return file.read(columns=list(columns), use_threads=False)

    def check_columns(self, columns: Iterable[str]) -> memoryview:
        """The file's bytes, in which these columns are as written; raises `DamagedError`."""
        sums = self.about["columns"]
        places = {name: self._place(name) for name in columns}
        with reading():
            contents = self._mapped(max((end for _, end in places.values()), default=0))
            for name, (begin, end) in places.items():
                if digest(contents[begin:end]) != sums[name]:
                    raise DamagedError(f"its column {name} has changed")
            return contents

    def _mapped(self, end: int) -> memoryview:
        """The file, of which no more than this is looked at."""
        changed = stamp(self.path)
        if changed[-1] < end:  # to touch a map of a file that was cut off ends the process
            raise DamagedError("it is cut off")
        return _map(self.path, changed)

    def check(self) -> None:
        """Check every column, also those that this version does not know; raises `DamagedError`."""
        check_fields(self.about, footers.COLUMNS, where=_FOOTER)
        has = self.about["columns"]
        self.table([name for name in self.SCHEMA.names if name in has])
        self.read([name for name in has if name not in self.SCHEMA.names])


class _FooterAlone(pq.ParquetFile):  # type: ignore[misc]
    """A reader that is asked for the footer and no column: it need not know where they are, which
    would take a tenth of opening a file."""

    def _build_nested_paths(self) -> dict[str, list[int]]:
        return {}


def parquet_reader(
    contents: bytes | memoryview,
    metadata: pq.FileMetaData | None = None,
    read_dictionary: Sequence[str] = (),
    kind: type[pq.ParquetFile] = pq.ParquetFile,
) -> pq.ParquetFile:
    """Arrow's reader, which makes no more of a footer than ours need."""
    return kind(
        pa.BufferReader(contents),
        metadata=metadata,
        read_dictionary=list(read_dictionary),
        thrift_string_size_limit=footers.LARGEST,
        thrift_container_size_limit=2 * footers.MOST_COLUMNS,
        schema_depth_limit=_SCHEMA_DEPTH,
    )


def _check_texts(column: pa.ChunkedArray) -> None:
    """Refuse texts that are too much all together, as few of them may be many times."""
    total = 0
    for chunk in flat(column).chunks:
        if pa.types.is_dictionary(chunk.type):
            lengths = pc.binary_length(chunk.dictionary)
            total += pc.sum(lengths.take(chunk.indices)).as_py() or 0
    if total > _MOST_DECODED:
        raise DamagedError("a column of it holds more than a column may")


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
        tail = system.read_at(handle, _TAIL, max(0, size - _TAIL))
        length = footer_length(tail)
        if tail[-4:] != b"PAR1" or length > size:
            raise DamagedError("it is truncated or not a Parquet file")
        if length > footers.LARGEST:
            raise DamagedError(f"its footer is larger than {footers.LARGEST} bytes")
        if length > len(tail):
            tail = system.read_at(handle, length, size - length)
    return tail[-length:]
