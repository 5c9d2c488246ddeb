"""A shard read: nothing is believed before its checksum has been found right.

The bytes of a column are checked before they are decoded, so a damaged file never reaches a decoder
that might stumble over it.
"""

import json
import mmap
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dynascope.store.schema import SCALARS, SCHEMA
from dynascope.store.shard_write import (
    FORMAT,
    KEY,
    TRAJECTORIES,
    column_ranges,
    digest_ranges,
    footer_length,
)
from dynascope.store.tensors import (
    DamagedError,
    TensorFile,
    UnreadableError,
    digest,
    unreadable,
)

NAME = re.compile(r"(?P<shard>[0-9a-f]{12})-(?P<footer>[0-9a-f]{16})\.parquet")
_TAIL = 2**16  # bytes read from the end of a file in one go: our footers fit
_NEWER = "it has format {}, and this dynascope reads {}; a newer one will read it"


@dataclass(frozen=True, eq=False)
class Shard:
    """A shard whose footer is right; its columns are read when asked for."""

    path: Path
    about: dict[str, Any]
    metadata: pq.FileMetaData
    tensors: TensorFile

    @classmethod
    def open(cls, path: Path) -> "Shard":
        """Read and check the footer; raises `DamagedError`."""
        name = NAME.fullmatch(path.name)
        if name is None:
            raise DamagedError("its name is none that dynascope gives")
        with _reading():
            footer = _footer(path)
        if digest(footer)[:16] != name["footer"]:
            raise DamagedError("its footer is not the one that its name tells")
        with _reading():
            metadata = pq.read_metadata(pa.BufferReader(b"PAR1" + footer))
            about = json.loads(metadata.metadata[KEY])
            if about["format"] != FORMAT:
                raise UnreadableError(_NEWER.format(about["format"], FORMAT))
            if about["shard"] != name["shard"]:
                raise DamagedError("its name is not the one that it was written with")
            tensors = path.parent.parent / TRAJECTORIES / f"{about['shard']}.safetensors"
            file = TensorFile(tensors, about["tensors"]["size"], about["tensors"]["header"])
        return cls(path, about, metadata, file)

    def __len__(self) -> int:
        return int(self.metadata.num_rows)

    def table(self, columns: Sequence[str]) -> pa.Table:
        """Some columns of all rows, checked."""
        schema = pa.schema([SCHEMA.field(name) for name in columns])
        return pa.Table.from_arrays(self._read(columns), schema=schema)

    @cached_property
    def scalars(self) -> dict[str, pa.ChunkedArray]:
        """Everything but the curves, kept: whoever asks for one run is likely to ask for more."""
        names = SCALARS.names
        return dict(zip(names, self._read(names), strict=True))

    @cached_property
    def _ranges(self) -> dict[str, list[tuple[int, int]]]:
        return column_ranges(self.metadata)

    def _read(self, columns: Sequence[str]) -> list[pa.ChunkedArray]:
        ranges, sums = self._ranges, self.about["columns"]
        with _reading():
            contents = self._mapped()
            for name in columns:
                if digest_ranges(contents, ranges[name]) != sums[name]:
                    raise DamagedError(f"its column {name} is not the one that was written")
            file = pq.ParquetFile(pa.BufferReader(contents), metadata=self.metadata)
            table = file.read(columns=list(columns), use_threads=False)
            return [table.column(name).cast(SCHEMA.field(name).type) for name in columns]

    def _mapped(self) -> memoryview:
        stat = os.stat(self.path)
        last = max(end for ranges in self._ranges.values() for _, end in ranges)
        if stat.st_size < last:  # to touch a map of a file that was cut off ends the process
            raise DamagedError("it is cut off")
        return _map(self.path, stat.st_ino, stat.st_mtime_ns, stat.st_size)

    def check(self) -> None:
        """Check everything, but for the trajectories of single runs; raises `DamagedError`."""
        self._read(SCHEMA.names)


@lru_cache(maxsize=32)
def _map(path: Path, inode: int, changed: int, size: int) -> memoryview:
    with open(path, "rb") as handle:
        return memoryview(mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ))


def _footer(path: Path) -> bytes:
    """The last bytes of a Parquet file: footer, its length, PAR1."""
    with open(path, "rb") as handle:
        size = handle.seek(0, os.SEEK_END)
        handle.seek(max(0, size - _TAIL))
        tail = handle.read()
        length = footer_length(tail)
        if tail[-4:] != b"PAR1" or length > size:
            raise DamagedError("it is cut off or no Parquet file")
        if length > len(tail):
            handle.seek(size - length)
            tail = handle.read()
    return tail[-length:]


@contextmanager
def _reading() -> Iterator[None]:
    """Within its block whatever a reader stumbles over is damage."""
    try:
        yield
    except DamagedError:
        raise
    except OSError as error:
        raise unreadable(error) from None
    except (ValueError, LookupError, TypeError, AttributeError, pa.ArrowException) as error:
        raise DamagedError(f"it is not as dynascope writes it ({error!r})") from None
