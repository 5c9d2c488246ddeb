"""A shard read: nothing is believed before its checksum has been found right.

A shard of any earlier version reads like a new one: a column that it lacks has the as-before value
of its option, or null. One of a later version of the same format may have columns that this one
does not know: curves and summaries among them are ignored; options are not, see `unknown_options`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dynascope.cached import cached_property
from dynascope.config import OPTIONS, same_value
from dynascope.store import footers
from dynascope.store.damage import DamagedError, reading
from dynascope.store.names import TRAJECTORIES
from dynascope.store.parquet_file import CheckedTable
from dynascope.store.schema import AS_BEFORE, CURVES, SCALARS, SCHEMA
from dynascope.store.shard_rules import AGREEMENTS, MOST_RUNS, RULES, curves_fit
from dynascope.store.shard_write import FORMAT
from dynascope.store.tensors import TensorFile


@dataclass(frozen=True, eq=False)
class Shard(CheckedTable):
    """A shard whose footer is right; its columns are read when asked for."""

    tensors: TensorFile

    SCHEMA = SCHEMA
    NAME_KEY = "shard"
    FOOTER = footers.SHARD
    MOST_ROWS = MOST_RUNS
    RULES = RULES
    AGREEMENTS = AGREEMENTS

    @classmethod
    def formats(cls) -> range:
        return range(1, FORMAT + 1)

    @classmethod
    def open(cls, path: Path) -> "Shard":
        """Read and check the footer; raises `DamagedError`."""
        about, metadata = cls.read_footer(path)
        tensors = path.parent.parent / TRAJECTORIES / f"{about['shard']}.safetensors"
        file = TensorFile(tensors, about["tensors"]["size"], about["tensors"]["header"])
        return cls(path, about, metadata, file)

    def table(self, columns: Sequence[str]) -> pa.Table:
        table = super().table(columns)
        curves = [name for name in columns if name in CURVES and name in self.about["columns"]]
        for name in curves:
            if not curves_fit(table[name], self._last_epochs):
                raise DamagedError(f"its column {name} does not have a value for each epoch")
        return table

    @property
    def epochs(self) -> int:
        """Of all of its runs together."""
        return int(self._last_epochs.sum())

    @cached_property
    def _last_epochs(self) -> npt.NDArray[np.int64]:
        return np.asarray(super().table(["last_epoch"])["last_epoch"].to_numpy())

    @cached_property
    def scalars(self) -> dict[str, pa.ChunkedArray]:
        """Everything but the curves, kept: whoever asks for one run is likely to ask for more."""
        names = SCALARS.names
        return dict(zip(names, self.table(names).columns, strict=True))

    @property
    def curves(self) -> frozenset[str] | None:
        """The curves that its runs have; None where the file is too old to say."""
        names = self.about.get("curves")
        return None if names is None else frozenset(names)

    def absent(self, field: pa.Field) -> pa.Array:
        if field.name in AS_BEFORE:
            return pa.array([AS_BEFORE[field.name]] * len(self), field.type)
        return super().absent(field)

    def unknown_options(self, row: int) -> dict[str, Any]:
        """Options that this version does not know, where they change what the run is, by dotted
        name. What is only about recording does not."""
        with reading():
            before = self.about.get("as_before", {})
            values = {name: column[row].as_py() for name, column in self._unknown.items()}
            return {
                name: value
                for name, value in values.items()
                if value is not None and not same_value(value, before.get(name))
            }

    @cached_property
    def _unknown(self) -> Mapping[str, pa.ChunkedArray]:
        names = {
            name: column
            for column, name in self.about.get("options", {}).items()
            if name not in OPTIONS and not name.startswith("record.")
        }
        table = self.read(list(names.values()))
        return {name: table.column(column) for name, column in names.items()}
