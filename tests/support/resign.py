"""The files of a store taken apart, changed at will, and signed again: every checksum is right.

A checksum proves that a file is as it was written. What these tests write makes no sense all the
same: that is for a reader's other checks to find.
"""

import copy
import hashlib
import io
import json
import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dynascope.run import run_id
from dynascope.store.parquet_file import KEY, column_digests, column_ranges
from dynascope.store.schema import CURVES, SPANS, config_of, origin_of
from dynascope.store.tensors import checksum, digest

_TYPES = {"float32": "F32", "float64": "F64", "int64": "I64", "int32": "I32"}
SAME = object()  # what a change returns that changed its argument in place


@dataclass
class Parquet:
    """A Parquet file: rows, what the footer says, and what happens to it when it is written."""

    place: str  # the folder of the store
    table: pa.Table
    about: dict[str, Any]
    source: Path | None = None  # as it is there, while nothing has been changed
    row_group_size: int | None = None
    # Each is given what is about to be written, and returns what is written instead.
    change_about: list[Callable[[dict[str, Any]], Any]] = field(default_factory=list)
    change_chunk: list[Callable[[bytearray], None]] = field(default_factory=list)
    change_footer: list[Callable[[bytearray], None]] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> "Parquet":
        metadata = pq.read_metadata(path)
        table = pq.ParquetFile(path).read().replace_schema_metadata(None)
        about = json.loads(metadata.metadata[KEY])
        del about["columns"]
        return cls(path.parent.name, table, about, path)

    def to_change(self) -> Self:
        """A copy that may be changed."""
        parts = {name: copy.copy(value) for name, value in vars(self).items()}
        return replace(self, **parts | {"about": copy.deepcopy(self.about), "source": None})

    def put(self, name: str, values: Any, type_: pa.DataType | None = None) -> None:
        """Give a column other values; one that is not there is added."""
        array = values if isinstance(values, pa.Array) else pa.array(values, type_)
        fitting = array[: len(self.table)] if len(array) > len(self.table) else array
        if name in self.table.column_names:
            at = self.table.column_names.index(name)
            self.table = self.table.set_column(at, pa.field(name, fitting.type), fitting)
        else:
            self.table = self.table.append_column(name, fitting)

    def values(self, name: str) -> list[Any]:
        return self.table[name].to_pylist() if name in self.table.column_names else []

    def write(self, folder: Path) -> None:
        (folder / self.place).mkdir(exist_ok=True)
        if self.source:
            shutil.copy(self.source, folder / self.place)
            return
        contents = self._signed()
        length = int.from_bytes(contents[-8:-4], "little") + 8
        footer = bytearray(contents[-length:])
        for change in self.change_footer:
            change(footer)
        contents = contents[:-length] + bytes(footer)
        end = hashlib.sha256(footer).hexdigest()[:16]
        key = "shard" if self.place == "runs" else "analyses"
        name = self.about.get(key)
        if not (isinstance(name, str) and len(name) == 12 and name.isalnum() and name.isascii()):
            name = hashlib.sha256(footer).hexdigest()[20:32]
        (folder / self.place / f"{name}-{end}.parquet").write_bytes(contents)

    def _signed(self) -> bytes:
        contents = bytearray(self._written(b"{}"))
        if self.change_chunk:
            return self._with_other_chunks()
        about: Any = self.about | {"columns": column_digests(contents)}
        return self._written(self._footer(about))

    def _footer(self, about: Any) -> bytes:
        for change in self.change_about:
            changed = change(about)
            about = about if changed is SAME else changed
            if isinstance(about, bytes):
                return about
        return json.dumps(about).encode(errors="surrogatepass")

    def _with_other_chunks(self) -> bytes:
        """Bytes of columns changed: where they lie and how long they are stays the same."""
        sums = column_digests(self._written(b"{}"))
        contents = bytearray(self._written(self._footer(self.about | {"columns": sums})))
        metadata = pq.read_metadata(pa.BufferReader(bytes(contents)))
        for change in self.change_chunk:
            change(contents)
        for name, (begin, end) in column_ranges(metadata).items():
            old, now = sums[name].encode(), digest(contents[begin:end]).encode()
            at = contents.rfind(old)
            contents[at : at + len(old)] = now
        return bytes(contents)

    def _written(self, footer: bytes) -> bytes:
        sink = io.BytesIO()
        names = self.table.schema.names
        floats = [
            n
            for n in names
            if n in CURVES
            and pa.types.is_list(self.table.schema.field(n).type)
            and pa.types.is_floating(self.table.schema.field(n).type.value_type)
        ]
        with pq.ParquetWriter(
            sink,
            self.table.schema,
            compression="zstd",
            compression_level=1,
            use_dictionary=[n for n in names if n not in floats],
            column_encoding={f"{n}.list.element": "BYTE_STREAM_SPLIT" for n in floats},
            store_schema=False,
        ) as writer:
            writer.write_table(self.table, self.row_group_size or max(1, len(self.table)))
            writer.add_key_value_metadata({KEY: footer})
        return sink.getvalue()


@dataclass
class Shard(Parquet):
    """A shard: the table, and the tensors of the same runs."""

    tensors: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    change_header: list[Callable[[dict[str, Any]], Any]] = field(default_factory=list)
    keep_ids: bool = False  # else ids follow from the options, where these are possible ones

    @classmethod
    def read(cls, path: Path) -> "Shard":
        from safetensors.numpy import load_file

        shard = super().read(path)
        assert isinstance(shard, Shard)
        name = shard.about["shard"]
        shard.tensors = load_file(path.parent.parent / "trajectories" / f"{name}.safetensors")
        return shard

    def write(self, folder: Path) -> None:
        (folder / "trajectories").mkdir(exist_ok=True)
        name = f"{self.about['shard']}.safetensors"
        if self.source:
            shutil.copy(self.source.parent.parent / "trajectories" / name, folder / "trajectories")
            super().write(folder)
            return
        tensors = self._tensor_bytes()
        length = int.from_bytes(tensors[:8], "little") + 8
        self.about["tensors"] = {"size": len(tensors), "header": digest(tensors[:length])}
        self._sign_runs()
        if not self.keep_ids:
            self._sign_ids()
        (folder / "trajectories" / name).write_bytes(tensors)
        super().write(folder)

    def _tensor_bytes(self) -> bytes:
        header: dict[str, Any] = {"__metadata__": {"dynascope": "{}"}}
        parts, at = [], 0
        for name, array in self.tensors.items():
            contents = np.ascontiguousarray(array).tobytes()
            header[name] = {
                "dtype": _TYPES.get(str(array.dtype), "F32"),
                "shape": list(array.shape),
                "data_offsets": [at, at + len(contents)],
            }
            parts.append(contents)
            at += len(contents)
        written: Any = header
        for change in self.change_header:
            changed = change(written)
            written = written if changed is SAME else changed
            if isinstance(written, bytes):
                break
        text = written if isinstance(written, bytes) else json.dumps(written).encode()
        return len(text).to_bytes(8, "little") + text + b"".join(parts)

    def _sign_runs(self) -> None:
        """The checksum of each run, where its rows can be told."""
        columns = {
            name: self.values(name)
            for name in ("data", *(f"{w}_{e}" for w in SPANS for e in ("begin", "end")))
        }
        sums = self.values("checksum")
        for row, old in enumerate(sums):
            try:
                spans = {w: (columns[f"{w}_begin"][row], columns[f"{w}_end"][row]) for w in SPANS}
                own = columns["data"][row]
                parts = []
                for name in sorted(self.tensors):
                    what = name.partition("/")[0]
                    if what in spans:
                        begin, end = spans[what]
                        parts.append((name, self.tensors[name][begin:end]))
                    elif own and name.startswith(f"data/{own}/"):
                        parts.append((name, self.tensors[name]))
                sums[row] = checksum(iter(parts))
            except (TypeError, LookupError, ValueError, IndexError):
                sums[row] = old
        if sums and pa.types.is_string(self.table["checksum"].type) and len(sums) < 5000:
            self.put("checksum", sums, pa.string())

    def _sign_ids(self) -> None:
        """The id and the digest of the options of each run, where these are possible ones."""
        if len(self.table) > 5000 or "id" not in self.table.column_names:
            return
        kinds = [self.table.schema.field(n).type for n in ("id", "config") if self.values(n)]
        if not all(map(pa.types.is_string, kinds)):
            return
        ids, configs = self.values("id"), self.values("config")
        for row, old in enumerate(self.table.select(self._scalars()).to_pylist()):
            try:
                config = config_of(old)
                name = run_id(config, old["seed"], origin_of(old), old["data"])
                if len(str(ids[row])) == 20 and len(str(configs[row])) == 64:
                    ids[row], configs[row] = name, config.digest()
            except Exception:
                continue
        self.put("id", ids, pa.string())
        if configs:
            self.put("config", configs, pa.string())

    def _scalars(self) -> list[str]:
        return [name for name in self.table.column_names if name not in CURVES]


@dataclass
class Store:
    """A store in parts."""

    shards: list[Shard]
    sidecars: list[Parquet]
    marks: list[Any]  # what each file says; bytes are written as they are
    sweep: Any  # the contents of sweep.json, or None

    @classmethod
    def read(cls, folder: Path) -> "Store":
        sweep = folder / "sweep.json"
        return cls(
            [Shard.read(path) for path in sorted((folder / "runs").iterdir())],
            [Parquet.read(path) for path in sorted((folder / "analyses").glob("*"))],
            [json.loads(path.read_bytes()) for path in sorted((folder / "marks").glob("*"))],
            json.loads(sweep.read_bytes())["sweep"] if sweep.exists() else None,
        )

    def shard(self, at: int) -> Shard:
        """One of its shards, which may be changed."""
        if self.shards[at].source:
            self.shards[at] = self.shards[at].to_change()
        return self.shards[at]

    def sidecar(self, at: int) -> Parquet:
        """One of its sidecars, which may be changed."""
        if self.sidecars[at].source:
            self.sidecars[at] = self.sidecars[at].to_change()
        return self.sidecars[at]

    def to_change(self) -> "Store":
        """A copy that may be changed."""
        lists = [list(self.shards), list(self.sidecars), copy.deepcopy(self.marks)]
        return Store(*lists, copy.deepcopy(self.sweep))  # type: ignore[arg-type]

    def write(self, folder: Path) -> None:
        (folder / "runs").mkdir(parents=True)
        for parquet in (*self.shards, *self.sidecars):
            parquet.write(folder)
        for said in self.marks:
            (folder / "marks").mkdir(exist_ok=True)
            contents = said if isinstance(said, bytes) else as_json(said)
            (folder / "marks" / f"{digest(contents)}.json").write_bytes(contents)
        if self.sweep is not None:
            (folder / "sweep.json").write_bytes(signed_sweep(self.sweep))


def signed_sweep(body: Any) -> bytes:
    if isinstance(body, bytes):
        return body
    text = json.dumps(body, sort_keys=True)
    return json.dumps({"sha256": digest(text.encode()), "sweep": body}).encode()


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass")


def nested(depth: int, inner: str = "1") -> bytes:
    """Lists in lists as JSON."""
    return b"[" * depth + inner.encode() + b"]" * depth


def wrong_values() -> dict[str, Any]:
    """Values that a field of JSON may have and should not, by what they are."""
    return {
        "null": None,
        "true": True,
        "minus one": -1,
        "zero": 0,
        "a fraction": 1.5,
        "huge": 10**30,
        "just too large": 2**63,
        "infinite": math.inf,
        "not a number": math.nan,
        "a word": "x",
        "no word": "",
        "half a pair": "\ud800",
        "escapes": "\x1b[2J\u202e\n",
        "long": "x" * 100_000,
        "a list": [],
        "a table": {},
        "lists": [[[[[[]]]]]],
        "a list of all": [None, True, -1, 1.5, "x", [], {}],
        "many": list(range(100_000)),
        "a deep table": json.loads('{"a":' * 200 + "1" + "}" * 200),
    }
