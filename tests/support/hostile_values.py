"""What kinds of hostile stores are made of: a list of them, wrong values, parts to change."""

import math
import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from resign import SAME, Parquet, Shard, Store

Kind = Callable[[Store, random.Random], None]
KINDS: dict[str, Kind] = {}


def kind(name: str) -> Callable[[Kind], Kind]:
    def add(change: Kind) -> Kind:
        assert name not in KINDS
        KINDS[name] = change
        return change

    return add


def pick(store: Store, rng: random.Random) -> Shard:
    return store.shard(rng.randrange(len(store.shards)))


def part_of(place: str, store: Store, rng: random.Random) -> Parquet | None:
    if place == "runs":
        return pick(store, rng)
    return store.sidecar(rng.randrange(len(store.sidecars))) if store.sidecars else None


def with_value(key: str, value: Any) -> Callable[[dict[str, Any]], Any]:
    def change(about: dict[str, Any]) -> Any:
        about[key] = value
        return SAME

    return change


def _text(*values: Any) -> list[pa.Array]:
    return [pa.array([value], pa.string()) for value in values]


BAD_TEXT = [
    *_text(None, "", "x", "é" * 20, "0" * 19, "0" * 21, "0" * 20, "A" * 20, "0" * 64, "g" * 64),
    *_text("\x1b[2J", "\u202e" + "0" * 19, "x" * 2000, "=cmd()", "0" * 32, "../" * 6 + "ab"),
    pa.array([b"\xff\xfe" * 10]).view(pa.binary()).cast(pa.binary()),
]
_BAD_WHOLE = [
    pa.array([value], pa.int64())
    for value in (None, -1, 0, 1, 3, 2**31, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 10**7, 10**7 + 1)
]
_BAD_REAL = [
    pa.array([value], pa.float64())
    for value in (None, math.nan, math.inf, -math.inf, -1.0, 0.0, 1e308, 5e-324)
]
BAD_LISTS = [
    pa.array([value], pa.list_(pa.int64()))
    for value in (None, [], [-1], [None], [0, 0], [2**63 - 1], list(range(2000)), [3, 1])
]
BAD_WORDS = [
    pa.array([value], pa.list_(pa.string()))
    for value in (None, [], [None], ["x"], ["value[0,"], ["query", "query"], ["x" * 3000])
]
OTHER_TYPES: list[pa.Array] = [
    pa.array([b"\xff\xfe"], pa.binary()),
    pa.array([1], pa.timestamp("us")),
    pa.array([1.5], pa.float32()),
    pa.array([7], pa.int8()),
    pa.array([True], pa.bool_()),
    pa.array([{"a": 1}]),
    pa.array([[[1.0]]]),
    pa.array([None], pa.int32()),
    pa.array(["a"], pa.string()).dictionary_encode(),
    pa.array([1], pa.decimal128(10, 2)),
    pa.array([b"0123456789abcdef"], pa.binary(16)),
    pa.array([2**64 - 1], pa.uint64()),
]
TYPED = {
    "string": BAD_TEXT,
    "int64": _BAD_WHOLE,
    "double": _BAD_REAL,
    "bool": [pa.array([None], pa.bool_()), pa.array([True]), pa.array([False])],
    "list<item: int64>": BAD_LISTS,
    "list<item: string>": BAD_WORDS,
    "list<item: double>": [
        pa.array([value], pa.list_(pa.float64()))
        for value in (None, [], [None], [math.nan], [1.0, 2.0], [math.inf] * 3)
    ],
    "list<item: bool>": [
        pa.array([value], pa.list_(pa.bool_())) for value in (None, [], [None], [True], [False] * 9)
    ],
}


def spread(one: pa.Array, part: Parquet, name: str, rng: random.Random) -> None:
    """A value into some or all rows of a column."""
    count = len(part.table)
    if name in part.table.column_names and part.table[name].type == one.type and rng.random() < 0.6:
        old = part.table[name].combine_chunks()
        at = rng.randrange(max(count, 1))
        part.put(name, pa.concat_arrays([old[:at], one, old[at + 1 :]]))
    else:
        part.put(name, pa.concat_arrays([one] * count))


def repeated(shard: Parquet, times: int) -> None:
    shard.table = pa.concat_tables([shard.table.slice(0, 1)] * times).combine_chunks()
