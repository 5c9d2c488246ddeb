"""A shard written: runs of one shape become a Parquet file and a safetensors file.

The checksums form a tree. A Parquet file's name ends with the checksum of its footer; the footer
has the checksums of its columns and of the trajectory file's header; the column `checksum` has
those of each run's trajectory. So whatever part is read can be checked without reading the rest,
and a file that is cut off, changed, renamed or exchanged is found out.

Trajectories are renamed into place first, the Parquet file second: that rename makes the runs be.
"""

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from safetensors.numpy import save as safetensors_bytes

from dynascope.run import Run
from dynascope.store.files import write
from dynascope.store.schema import CURVES, SCHEMA, rows
from dynascope.store.tensors import digest, header_of, pack

FORMAT = 1
RUNS, TRAJECTORIES = "runs", "trajectories"  # folders of a store
KEY = b"dynascope"  # of the footer's own metadata
_FOOTER_END = 8  # bytes after a Parquet footer: its length and PAR1


@dataclass(frozen=True)
class ShardFiles:
    """A shard as bytes: a worker of a cluster makes it, whoever keeps the store writes it."""

    name: str
    parquet: bytes
    tensors: bytes

    @property
    def parquet_name(self) -> str:
        return f"{self.name}-{footer_digest(self.parquet)}.parquet"

    def write(self, folder: Path, temporary: Path) -> Path:
        """Put both files into the store, the one that counts last."""
        path = folder / RUNS / self.parquet_name
        write(folder / TRAJECTORIES / f"{self.name}.safetensors", self.tensors, temporary)
        write(path, self.parquet, temporary)
        return path


def make_shard(runs: Sequence[Run], positions: Sequence[int], batch: int) -> ShardFiles:
    """The files of some runs of one shape.

    `positions` order them among those saved with the same `batch` (a time in nanoseconds), and
    batches come in the order of their times.
    """
    from dynascope import __version__

    packed = pack(runs)
    name = _name(runs, packed.places["checksum"], __version__)
    steps = next((run.steps for run in runs if run.steps), None)
    written = {"format": FORMAT, "dynascope": __version__, "shard": name}
    # One key only: safetensors writes several in a random order, and equal shards must have equal
    # bytes, since one may be written where the other is.
    tensors = safetensors_bytes(packed.tensors, metadata={KEY.decode(): json.dumps(written)})
    about: dict[str, Any] = written | {
        "batch": batch,
        "tensors": {"size": len(tensors), "header": digest(header_of(tensors))},
        "steps": list(steps.curves) if steps else None,
    }
    table = rows(runs, packed.places | {"position": list(positions)})
    return ShardFiles(name, parquet_bytes(table, about), tensors)


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
        use_dictionary=[name for name in SCHEMA.names if name not in CURVES],
        column_encoding={f"{name}.list.element": "BYTE_STREAM_SPLIT" for name in CURVES},
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


def _name(runs: Sequence[Run], checksums: Sequence[str], version: str) -> str:
    """Follows from all that is in the trajectory file, so that no other file can have it: which
    runs, what they recorded, every bit of it, and who wrote it."""
    record = json.dumps(runs[0].config.to_dict()["record"], sort_keys=True)
    each = (f"{run.id} {run.epochs} {of}" for run, of in zip(runs, checksums, strict=True))
    text = "\n".join([f"{FORMAT} {version} {record}", *each])
    return hashlib.sha256(text.encode()).hexdigest()[:12]
