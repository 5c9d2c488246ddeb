"""A shard read: nothing is believed before its checksum has been found right."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from dynascope.cached import cached_property
from dynascope.store.parquet_file import CheckedTable, reading
from dynascope.store.schema import SCALARS, SCHEMA
from dynascope.store.shard_write import FORMAT, TRAJECTORIES
from dynascope.store.tensors import TensorFile


@dataclass(frozen=True, eq=False)
class Shard(CheckedTable):
    """A shard whose footer is right; its columns are read when asked for."""

    tensors: TensorFile

    SCHEMA = SCHEMA

    @classmethod
    def open(cls, path: Path) -> "Shard":
        """Read and check the footer; raises `DamagedError`."""
        about, metadata = cls.read_footer(path, "shard", range(FORMAT, FORMAT + 1))
        with reading():
            tensors = path.parent.parent / TRAJECTORIES / f"{about['shard']}.safetensors"
            file = TensorFile(tensors, about["tensors"]["size"], about["tensors"]["header"])
        return cls(path, about, metadata, file)

    @cached_property
    def scalars(self) -> dict[str, pa.ChunkedArray]:
        """Everything but the curves, kept: whoever asks for one run is likely to ask for more."""
        names = SCALARS.names
        return dict(zip(names, self._read(names), strict=True))
