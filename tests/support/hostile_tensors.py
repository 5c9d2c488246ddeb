"""Trajectory files that are hostile."""

import json
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from hostile_values import (
    KINDS,
    Kind,
    kind,
    pick,
    with_value,
)
from resign import SAME, Shard, Store, nested, wrong_values


def _header_kind(change: Callable[[dict[str, Any], random.Random], Any]) -> Kind:
    def tried(header: dict[str, Any], rng: random.Random) -> Any:
        try:
            return change(header, rng)
        except (AttributeError, IndexError, KeyError, TypeError):
            return SAME  # another kind has left nothing that this one could change

    def apply(store: Store, rng: random.Random) -> None:
        pick(store, rng).change_header.append(lambda header: tried(header, rng))

    return apply


def _one_tensor(key: str, values: list[Any]) -> Callable[[dict[str, Any], random.Random], Any]:
    def change(header: dict[str, Any], rng: random.Random) -> Any:
        name = rng.choice([name for name in header if name != "__metadata__"])
        header[name][key] = rng.choice(values)
        return SAME

    return change


def _tensor_replaced(header: dict[str, Any], rng: random.Random) -> Any:
    header[rng.choice([*header])] = rng.choice([*wrong_values().values()])
    return SAME


def _tensor_without(header: dict[str, Any], rng: random.Random) -> Any:
    name = rng.choice([name for name in header if name != "__metadata__"])
    header[name].pop(rng.choice([*header[name]]))
    return SAME


def _overlapping(header: dict[str, Any], rng: random.Random) -> Any:
    tensor = header["weights/query"]
    for i in range(rng.choice([10, 1000, 20_000])):
        header[f"weights/more{i}"] = dict(tensor)
    return SAME


KINDS["header that is no JSON"] = _header_kind(
    lambda header, rng: rng.choice([b"", b"{", b"[]", b"\xff" * 9, b"7", b'{"a": NaN}', b"null"])
)
KINDS["deep header"] = _header_kind(lambda header, rng: nested(rng.choice([100, 990, 30_000])))
KINDS["header with a name twice"] = _header_kind(
    lambda header, rng: (
        json.dumps(header).encode()[:-1]
        + b', "weights/query": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}}'
    )
)
KINDS["header of megabytes"] = _header_kind(
    lambda header, rng: json.dumps(header | {"__metadata__": {"x": "y" * 5_000_000}}).encode()
)
KINDS["a tensor of an odd type"] = _header_kind(
    _one_tensor("dtype", ["F16", "BF16", "", None, 7, [], "I64", "F64", "I32", "F32"])
)
KINDS["a tensor of an odd shape"] = _header_kind(
    _one_tensor(
        "shape",
        [
            *([], [-1], [0], [2**40], [2**62, 4], [2**31] * 3, [1.5], ["x"], None, "x", 7),
            *([[1]], [1] * 70, [True], [10**30], [0, 2**62], [1]),
        ],
    )
)
KINDS["a tensor at an odd place"] = _header_kind(
    _one_tensor(
        "data_offsets",
        [
            [],
            [0],
            [0, 1],
            [-8, 0],
            [8, 0],
            [0, 2**60],
            [2**60, 2**60 + 8],
            None,
            "x",
            [0.5, 1],
            [0, 0],
        ],
    )
)
KINDS["a tensor that is none"] = _header_kind(_tensor_replaced)
KINDS["a tensor without a part"] = _header_kind(_tensor_without)
KINDS["tensors over each other"] = _header_kind(_overlapping)


def _tensors_kind(change: Callable[[Shard, random.Random], None]) -> Kind:
    return lambda store, rng: change(pick(store, rng), rng)


def _tensor_names(shard: Shard, begin: str = "") -> list[str]:
    return [name for name in shard.tensors if name.startswith(begin)]


@kind("a tensor is missing")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
    del shard.tensors[rng.choice([*shard.tensors])]


@kind("no tensors at all")
def _(store: Store, rng: random.Random) -> None:
    pick(store, rng).tensors.clear()


@kind("a tensor of another shape")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
    name = rng.choice([*shard.tensors])
    old = shard.tensors[name]
    shard.tensors[name] = rng.choice(
        [
            old[:1],
            old[:0],
            old.reshape(-1),
            old[..., None],
            np.concatenate([old, old]),
            old.ravel()[0],
        ]
    )


@kind("a tensor of another precision")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
    name = rng.choice([*shard.tensors])
    other = rng.choice([np.float32, np.float64, np.int64, np.int32])
    with np.errstate(all="ignore"):
        shard.tensors[name] = shard.tensors[name].astype(other)


@kind("a tensor of another name")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
    old = shard.tensors.pop(rng.choice([*shard.tensors]))
    shard.tensors[
        rng.choice(["", "weights/", "weights/nope", "x" * 500, "data/x/y", "\x1b[2J"])
    ] = old


@kind("odd epochs of weights or states")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
    name = f"{rng.choice(['weights', 'states'])}/epoch"
    old = shard.tensors[name]
    odd = [old - 1, old[::-1].copy(), old * 10**6, old * 0, old + 2**62, old * -1, old + 1]
    shard.tensors[name] = rng.choice(odd)


@kind("odd weights")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
    for name in rng.sample(_tensor_names(shard), min(3, len(shard.tensors))):
        if shard.tensors[name].dtype.kind == "f":
            value = rng.choice([math.nan, math.inf, 0.0, 1e38, -1e-38, 1e30])
            shard.tensors[name] = np.full_like(shard.tensors[name], value)


@kind("weights of noise")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
    noise = np.random.default_rng(rng.randrange(2**32))
    for name, old in shard.tensors.items():
        if old.dtype.kind == "f":
            new = noise.integers(0, 256, old.nbytes, np.uint8)
            shard.tensors[name] = new.view(old.dtype).reshape(old.shape)


@kind("odd data")
def _(store: Store, rng: random.Random) -> None:
    """Tokens that the model has no embedding for would be read from beyond its weights."""
    for shard in (store.shard(at) for at in range(len(store.shards))):
        names = _tensor_names(shard, "data/")
        if names:
            name = rng.choice(names)
            old = shard.tensors[name]
            odd = [old - 1, old + 2**30, old * 0, old[:1], old[:0], old.reshape(-1), -old - 5]
            shard.tensors[name] = np.asarray(rng.choice(odd), np.int32)


@kind("all runs have all rows")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
    what = rng.choice(["weights", "states", "steps"])
    rows = [len(shard.tensors[n]) for n in shard.tensors if n.startswith(f"{what}/")]
    count = len(shard.table)
    shard.put(f"{what}_begin", pa.array([0] * count))
    shard.put(f"{what}_end", pa.array([min(rows, default=0) + rng.choice([0, 0, 1, 1000])] * count))


@kind("a trajectory file that is gone")
def _(store: Store, rng: random.Random) -> None:
    pick(store, rng).change_about.append(
        with_value("tensors", {"size": rng.choice([8, 2**40]), "header": "0" * 32})
    )
