"""Kinds of hostile stores by name: each changes one part of a store, which is then signed again."""

import json
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from resign import SAME, Parquet, Shard, Store, nested, wrong_values

from dynascope.analysis_columns import columns_of
from dynascope.store.schema import CURVES, SCALARS

Kind = Callable[[Store, random.Random], None]
KINDS: dict[str, Kind] = {}

_FOOTER_KEYS = {
    "runs": (
        *("format", "shard", "batch", "tensors", "steps", "curves"),
        *("options", "as_before", "slots", "columns"),
    ),
    "analyses": ("format", "analyses", "batch", "versions", "columns"),
}


def kind(name: str) -> Callable[[Kind], Kind]:
    def add(change: Kind) -> Kind:
        assert name not in KINDS
        KINDS[name] = change
        return change

    return add


def _pick(store: Store, rng: random.Random) -> Shard:
    return store.shard(rng.randrange(len(store.shards)))


def _part(place: str, store: Store, rng: random.Random) -> Parquet | None:
    if place == "runs":
        return _pick(store, rng)
    return store.sidecar(rng.randrange(len(store.sidecars))) if store.sidecars else None


# ---- footers ------------------------------------------------------------------------------------


def _without(key: str) -> Callable[[dict[str, Any]], Any]:
    def change(about: dict[str, Any]) -> Any:
        about.pop(key, None)
        return SAME

    return change


def _with(key: str, value: Any) -> Callable[[dict[str, Any]], Any]:
    def change(about: dict[str, Any]) -> Any:
        about[key] = value
        return SAME

    return change


def _footer_kind(place: str, change: Callable[[random.Random], Any]) -> Kind:
    def apply(store: Store, rng: random.Random) -> None:
        part = _part(place, store, rng)
        if part:
            part.change_about.append(change(rng))

    return apply


for _place, _keys in _FOOTER_KEYS.items():
    for _key in _keys:
        KINDS[f"{_place}: footer without {_key}"] = _footer_kind(
            _place, lambda rng, key=_key: _without(key)
        )
        KINDS[f"{_place}: footer with another {_key}"] = _footer_kind(
            _place, lambda rng, key=_key: _with(key, rng.choice([*wrong_values().values()]))
        )
    KINDS[f"{_place}: footer that is no JSON"] = _footer_kind(
        _place,
        lambda rng: lambda about: rng.choice([b"", b"\xff\xfe", b"{", b"[]", b"7", b'"x"', b"NaN"]),
    )
    KINDS[f"{_place}: deep footer"] = _footer_kind(
        _place, lambda rng: lambda about: nested(rng.choice([50, 900, 20_000]))
    )
    KINDS[f"{_place}: key twice"] = _footer_kind(
        _place,
        lambda rng: lambda about: json.dumps(about).encode()[:-1] + b', "batch": 1, "batch": 2}',
    )
    KINDS[f"{_place}: number without an end"] = _footer_kind(
        _place,
        lambda rng: (
            lambda about: (
                json.dumps(about).encode()[:-1]
                + b', "batch": '
                + b"9" * rng.choice([30, 4000, 5000])
                + b"}"
            )
        ),
    )
    KINDS[f"{_place}: footer of megabytes"] = _footer_kind(
        _place, lambda rng: lambda about: json.dumps(about | {"more": "x" * 5_000_000}).encode()
    )


def _inner(key: str, change: Callable[[Any, random.Random], Any]) -> Kind:
    """A change of what is inside a field of a shard's footer."""

    def apply(store: Store, rng: random.Random) -> None:
        def inside(about: dict[str, Any]) -> Any:
            about[key] = change(about.get(key), rng)
            return SAME

        _pick(store, rng).change_about.append(inside)

    return apply


def _one_replaced(table: Any, rng: random.Random) -> Any:
    if not isinstance(table, dict) or not table:
        return table
    return table | {rng.choice([*table]): rng.choice([*wrong_values().values()])}


def _one_removed(table: Any, rng: random.Random) -> Any:
    if isinstance(table, list):
        return [x for x in table if rng.random() > 0.1]
    gone = rng.choice([*table])
    return {key: value for key, value in table.items() if key != gone}


for _key in ("tensors", "options", "as_before", "slots", "columns"):
    KINDS[f"runs: one of {_key} replaced"] = _inner(_key, _one_replaced)
    KINDS[f"runs: one of {_key} removed"] = _inner(_key, _one_removed)
KINDS["runs: some curves not named"] = _inner("curves", _one_removed)
KINDS["runs: no curves named"] = _inner("curves", lambda old, rng: [])
KINDS["runs: unknown curves named"] = _inner("curves", lambda old, rng: [*old, "nope", "x" * 150])
KINDS["runs: all curves named"] = _inner("curves", lambda old, rng: list(CURVES))
KINDS["runs: steps named"] = _inner("steps", lambda old, rng: ["a", "b"])
KINDS["runs: option of another name"] = _inner(
    "options", lambda old, rng: old | {rng.choice(["lr", "dim", "id"]): "training.nope"}
)
KINDS["runs: option without a column"] = _inner(
    "options", lambda old, rng: old | {"nowhere": "model.nowhere"}
)
KINDS["runs: column that is not there"] = _inner(
    "columns", lambda old, rng: old | {rng.choice(["nope", "train_loss2"]): "0" * 32}
)


# ---- rows ---------------------------------------------------------------------------------------


def _text(*values: Any) -> list[pa.Array]:
    return [pa.array([value], pa.string()) for value in values]


_BAD_TEXT = [
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
_BAD_LISTS = [
    pa.array([value], pa.list_(pa.int64()))
    for value in (None, [], [-1], [None], [0, 0], [2**63 - 1], list(range(2000)), [3, 1])
]
_BAD_WORDS = [
    pa.array([value], pa.list_(pa.string()))
    for value in (None, [], [None], ["x"], ["value[0,"], ["query", "query"], ["x" * 3000])
]
_OTHER_TYPES: list[pa.Array] = [
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
_TYPED = {
    "string": _BAD_TEXT,
    "int64": _BAD_WHOLE,
    "double": _BAD_REAL,
    "bool": [pa.array([None], pa.bool_()), pa.array([True]), pa.array([False])],
    "list<item: int64>": _BAD_LISTS,
    "list<item: string>": _BAD_WORDS,
    "list<item: double>": [
        pa.array([value], pa.list_(pa.float64()))
        for value in (None, [], [None], [math.nan], [1.0, 2.0], [math.inf] * 3)
    ],
}


def _spread(one: pa.Array, part: Parquet, name: str, rng: random.Random) -> None:
    """A value into some or all rows of a column."""
    count = len(part.table)
    if name in part.table.column_names and part.table[name].type == one.type and rng.random() < 0.6:
        old = part.table[name].combine_chunks()
        at = rng.randrange(max(count, 1))
        part.put(name, pa.concat_arrays([old[:at], one, old[at + 1 :]]))
    else:
        part.put(name, pa.concat_arrays([one] * count))


def _column_kind(name: str, choices: list[pa.Array], keep_ids: bool | None = None) -> Kind:
    def apply(store: Store, rng: random.Random) -> None:
        shard = _pick(store, rng)
        if keep_ids is not None:
            shard.keep_ids = keep_ids
        _spread(rng.choice(choices), shard, name, rng)

    return apply


for _field in SCALARS:
    _name = _field.name
    KINDS[f"column {_name}: odd values"] = _column_kind(_name, _TYPED[str(_field.type)])
    KINDS[f"column {_name}: another type"] = _column_kind(_name, _OTHER_TYPES)
for _name in ("id", "position", "last_epoch"):
    KINDS[f"column {_name}: odd values under the old id"] = _column_kind(
        _name, _TYPED[str(SCALARS.field(_name).type)], keep_ids=True
    )


@kind("a column is missing")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
    shard.table = shard.table.drop_columns([rng.choice(shard.table.column_names)])


@kind("a column that every run needs is missing")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
    name = rng.choice(["id", "position", "last_epoch", "checksum", "config", "seed", "precision"])
    shard.table = shard.table.drop_columns([name])


@kind("a column has another name")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
    names = shard.table.column_names
    names[rng.randrange(len(names))] = rng.choice(["", "x.y", "a" * 500, "id.list.element", "é"])
    shard.table = shard.table.rename_columns(names)


@kind("columns in another order")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
    names = shard.table.column_names
    rng.shuffle(names)
    shard.table = shard.table.select(names)


@kind("an unknown option")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
    one = rng.choice([*_OTHER_TYPES, *_BAD_TEXT, *_BAD_LISTS])
    shard.put("novel", pa.concat_arrays([one] * len(shard.table)))
    section = rng.choice(["training", "model", "task", "record", "x" * 100])
    shard.about["options"] = shard.about.get("options", {}) | {"novel": f"{section}.novel"}


@kind("unknown columns by the thousand")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
    more = {f"c{i}": pa.array([i] * len(shard.table)) for i in range(rng.choice([50, 4500]))}
    shard.table = pa.table(
        {**dict(zip(shard.table.column_names, shard.table.columns, strict=True)), **more}
    )


def _repeated(shard: Parquet, times: int) -> None:
    shard.table = pa.concat_tables([shard.table.slice(0, 1)] * times).combine_chunks()


@kind("100,000 equal rows")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
    names = [name for name in shard.table.column_names if name not in CURVES]
    shard.table = shard.table.select([*names, "train_loss"]).slice(0, 1)
    rows = pa.array(np.zeros(100_000, np.int64))
    shard.table = shard.table.combine_chunks().take(rows)


@kind("2 million rows")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
    rows = pa.array(np.zeros(2_000_000, np.int64))
    names = ["id", "seed", "last_epoch", "position", "checksum", "config"]
    shard.table = shard.table.select(names).slice(0, 1).combine_chunks().take(rows)


@kind("1001 rows")
def _(store: Store, rng: random.Random) -> None:
    _repeated(_pick(store, rng), 1001)


@kind("one run many times")
def _(store: Store, rng: random.Random) -> None:
    _repeated(_pick(store, rng), rng.choice([2, 30, 1000]))


@kind("no rows")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
    shard.table = shard.table.slice(0, 0)


@kind("several row groups")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
    _repeated(shard, 3)
    shard.row_group_size = 1


@kind("edits that are nonsense")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
    edit = {"epoch": 1, "step": 4}
    texts = [
        "",
        "[",
        "7",
        "{}",
        "[{}]",
        "[[]]",
        nested(rng.choice([40, 900, 20_000])).decode(),
        json.dumps([edit | {"interventions": json.loads(nested(300))}]),
        json.dumps([edit | {"options": {"training.batch": rng.choice([0, -1, "x", 1.5, None])}}]),
        json.dumps([edit | {"options": {"training.lr": rng.choice(["x", -1, 1e999, []])}}]),
        json.dumps([edit | {"options": {"nope": 1}}]),
        json.dumps([edit | {"options": []}]),
        json.dumps([edit | {"epoch": rng.choice([-1, 10**30, True, "1", 1.5, 2**62])}]),
        json.dumps([edit | {"step": rng.choice([-1, 10**30, None, 2**62])}]),
        json.dumps([edit] * 3000),
        json.dumps([edit | {"parameters": ["x"]}]),
        json.dumps([edit | {"x" * 5000: 1}]),
        '[{"epoch": ' + "9" * 5000 + "}]",
        '[{"epoch": NaN, "step": 1}]',
    ]
    origins = pa.array([rng.choice(["branch", "fine-tune", "import", "x"])] * len(shard.table))
    shard.put("origin", origins)
    shard.put("origin_start", pa.array(["0" * 20] * len(shard.table)))
    shard.put("edits", pa.array([rng.choice(texts)] * len(shard.table)))
    if rng.random() < 0.5:
        shard.put("parent_epoch", pa.array([rng.choice([0, 2, 10**6])] * len(shard.table)))
        shard.put("parent_step", pa.array([rng.choice([0, 9, 2**50])] * len(shard.table)))


@kind("an origin of some sort")
def _(store: Store, rng: random.Random) -> None:
    shard, count = _pick(store, rng), 0
    count = len(shard.table)
    shard.put("origin", pa.array([rng.choice(["branch", "import", "fine-tune", "novel"])] * count))
    shard.put("origin_start", pa.array([rng.choice(["0" * 20, "x", ""])] * count))
    shard.put("parent", pa.array([rng.choice(["0" * 20, None])] * count, pa.string()))
    shard.put("parent_epoch", pa.array([rng.choice([None, 0, 3, 999])] * count, pa.int64()))
    shard.put("parent_step", pa.array([rng.choice([None, 0, 3, 2**40])] * count, pa.int64()))


# ---- curves -------------------------------------------------------------------------------------


def _curve_kind(change: Callable[[list[Any], random.Random], list[Any]]) -> Kind:
    def apply(store: Store, rng: random.Random) -> None:
        shard = _pick(store, rng)
        several = rng.choice([1, 1, 5, len(CURVES)])
        there = [name for name in CURVES if name in shard.table.column_names]
        for name in rng.sample(there, min(several, len(there))):
            shard.put(name, change(shard.values(name), rng), pa.list_(pa.float64()))

    return apply


KINDS["null curves"] = _curve_kind(lambda old, rng: [None] * len(old))
KINDS["a null curve"] = _curve_kind(lambda old, rng: [None, *old[1:]])
KINDS["empty curves"] = _curve_kind(lambda old, rng: [[] for _ in old])
KINDS["curves too short"] = _curve_kind(lambda old, rng: [each and each[:-1] for each in old])
KINDS["curves too long"] = _curve_kind(lambda old, rng: [each and [*each, 0.5] for each in old])
KINDS["curves with holes"] = _curve_kind(
    lambda old, rng: [each and [None] * len(each) for each in old]
)
KINDS["curves of NaN"] = _curve_kind(
    lambda old, rng: [each and [math.nan] * len(each) for each in old]
)
KINDS["curves of infinity"] = _curve_kind(
    lambda old, rng: [
        each and [rng.choice([math.inf, -math.inf, 1e308])] * len(each) for each in old
    ]
)
KINDS["curves of noise"] = _curve_kind(
    lambda old, rng: [
        each and [rng.gauss(0, 10.0 ** rng.randint(-5, 300)) for _ in each] for each in old
    ]
)


@kind("a curve of millions of equal values")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
    values = pa.array(np.zeros(rng.choice([10**6, 2**24 + 10, 3 * 10**7])))
    offsets = pa.array([0, *[len(values)] * len(shard.table)], pa.int32())
    shard.put(
        rng.choice(["train_loss", "test_accuracy"]), pa.ListArray.from_arrays(offsets, values)
    )


@kind("a long run in few bytes")
def _(store: Store, rng: random.Random) -> None:
    """All that it says agrees."""
    shard = _pick(store, rng)
    shard.table = shard.table.slice(0, 1)
    epochs = rng.choice([2000, 20_000])
    shard.put("last_epoch", [epochs], pa.int64())
    shard.put("epochs", [epochs], pa.int64())
    for name in CURVES:
        if shard.values(name)[:1] not in ([], [None]):
            value = rng.choice([0.0, 0.5, math.nan])
            shard.put(name, [[value] * (epochs + 1)], pa.list_(pa.float64()))


@kind("curves of another type")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
    one = rng.choice([*_OTHER_TYPES, *_BAD_LISTS, *_BAD_WORDS])
    shard.put(rng.choice(CURVES[:6]), pa.concat_arrays([one] * len(shard.table)))


@kind("texts that grow")
def _(store: Store, rng: random.Random) -> None:
    """One text of megabytes, which all rows have: a dictionary holds it once."""
    shard = _pick(store, rng)
    shard.keep_ids = True  # to look at all rows would take as long as it must not take a reader
    _repeated(shard, rng.choice([100, 1000]))
    one = "x" * rng.choice([10_000, 3_000_000])
    name = rng.choice(["edits", "task", "origin_start", "activation"])
    indices = pa.array(np.zeros(len(shard.table), np.int32))
    shard.put(name, pa.DictionaryArray.from_arrays(indices, pa.array([one])))


# ---- tensors ------------------------------------------------------------------------------------


def _header_kind(change: Callable[[dict[str, Any], random.Random], Any]) -> Kind:
    def apply(store: Store, rng: random.Random) -> None:
        _pick(store, rng).change_header.append(lambda header: change(header, rng))

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
    return lambda store, rng: change(_pick(store, rng), rng)


def _tensor_names(shard: Shard, begin: str = "") -> list[str]:
    return [name for name in shard.tensors if name.startswith(begin)]


@kind("a tensor is missing")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
    del shard.tensors[rng.choice([*shard.tensors])]


@kind("no tensors at all")
def _(store: Store, rng: random.Random) -> None:
    _pick(store, rng).tensors.clear()


@kind("a tensor of another shape")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
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
    shard = _pick(store, rng)
    name = rng.choice([*shard.tensors])
    other = rng.choice([np.float32, np.float64, np.int64, np.int32])
    with np.errstate(all="ignore"):
        shard.tensors[name] = shard.tensors[name].astype(other)


@kind("a tensor of another name")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
    old = shard.tensors.pop(rng.choice([*shard.tensors]))
    shard.tensors[
        rng.choice(["", "weights/", "weights/nope", "x" * 500, "data/x/y", "\x1b[2J"])
    ] = old


@kind("odd epochs of weights or states")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
    name = f"{rng.choice(['weights', 'states'])}/epoch"
    old = shard.tensors[name]
    odd = [old - 1, old[::-1].copy(), old * 10**6, old * 0, old + 2**62, old * -1, old + 1]
    shard.tensors[name] = rng.choice(odd)


@kind("odd weights")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
    for name in rng.sample(_tensor_names(shard), min(3, len(shard.tensors))):
        if shard.tensors[name].dtype.kind == "f":
            value = rng.choice([math.nan, math.inf, 0.0, 1e38, -1e-38, 1e30])
            shard.tensors[name] = np.full_like(shard.tensors[name], value)


@kind("weights of noise")
def _(store: Store, rng: random.Random) -> None:
    shard = _pick(store, rng)
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
    shard = _pick(store, rng)
    what = rng.choice(["weights", "states", "steps"])
    rows = [len(shard.tensors[n]) for n in shard.tensors if n.startswith(f"{what}/")]
    count = len(shard.table)
    shard.put(f"{what}_begin", pa.array([0] * count))
    shard.put(f"{what}_end", pa.array([min(rows, default=0) + rng.choice([0, 0, 1, 1000])] * count))


@kind("a trajectory file that is gone")
def _(store: Store, rng: random.Random) -> None:
    _pick(store, rng).change_about.append(
        _with("tensors", {"size": rng.choice([8, 2**40]), "header": "0" * 32})
    )


# ---- sidecars -----------------------------------------------------------------------------------


def _sidecar_column(name: str, choices: list[pa.Array]) -> Kind:
    def apply(store: Store, rng: random.Random) -> None:
        sidecar = _part("analyses", store, rng)
        if sidecar:
            _spread(rng.choice(choices), sidecar, name, rng)

    return apply


_SIDECAR = {
    "id": "string",
    "checksum": "string",
    "analysed": "list<item: string>",
    "notes": "list<item: string>",
}
_NAMED = {"list<int64>": "list<item: int64>", "list<double>": "list<item: double>"}
_NAMED |= {"list<string>": "list<item: string>"}
_SIDECAR |= {name: _NAMED.get(c.type, c.type) for name, c in columns_of().items()}
for _name, _type in _SIDECAR.items():
    KINDS[f"analyses {_name}: odd values"] = _sidecar_column(_name, _TYPED[_type])
    KINDS[f"analyses {_name}: another type"] = _sidecar_column(_name, _OTHER_TYPES)


@kind("analyses: kinds that are none")
def _(store: Store, rng: random.Random) -> None:
    sidecar = _part("analyses", store, rng)
    if sidecar:
        kinds = ["circuit", "circuit"], ["nope"], [], ["circuit"] * 200, ["x" * 60, "phases"]
        sidecar.put("analysed", [rng.choice(kinds)] * len(sidecar.table), pa.list_(pa.string()))


@kind("analyses: a column is missing")
def _(store: Store, rng: random.Random) -> None:
    sidecar = _part("analyses", store, rng)
    if sidecar:
        sidecar.table = sidecar.table.drop_columns([rng.choice(sidecar.table.column_names)])


@kind("analyses: many rows")
def _(store: Store, rng: random.Random) -> None:
    sidecar = _part("analyses", store, rng)
    if sidecar:
        _repeated(sidecar, rng.choice([2, 1000, 2001, 50_000]))


# ---- bytes --------------------------------------------------------------------------------------


def _flipped(rng: random.Random, times: int) -> Callable[[bytearray], None]:
    def change(contents: bytearray) -> None:
        end = len(contents) - int.from_bytes(contents[-8:-4], "little") - 8
        for _ in range(times):
            at = rng.randrange(4, max(end, 5))
            contents[at] = rng.randrange(256)

    return change


def _thrift(rng: random.Random, times: int) -> Callable[[bytearray], None]:
    def change(footer: bytearray) -> None:
        for _ in range(times):
            footer[rng.randrange(len(footer) - 8)] = rng.choice(
                [0, 1, 127, 128, 255, rng.randrange(256)]
            )

    return change


for _place in ("runs", "analyses"):

    @kind(f"{_place}: bytes of columns")
    def _(store: Store, rng: random.Random, place: str = _place) -> None:
        part = _part(place, store, rng)
        if part:
            part.change_chunk.append(_flipped(rng, rng.choice([1, 3, 100])))

    @kind(f"{_place}: bytes of the footer")
    def _(store: Store, rng: random.Random, place: str = _place) -> None:
        part = _part(place, store, rng)
        if part:
            part.change_footer.append(_thrift(rng, rng.choice([1, 1, 2, 5])))


# ---- marks --------------------------------------------------------------------------------------


def _mark(store: Store) -> dict[str, Any]:
    ids = [str(run) for shard in store.shards for run in shard.values("id")[:50]]
    return {"format": 1, "time": 1767225600000000000, "action": "tag", "value": "good", "runs": ids}


for _key in ("format", "time", "action", "value", "runs"):

    @kind(f"mark without {_key}")
    def _(store: Store, rng: random.Random, key: str = _key) -> None:
        store.marks.append({k: v for k, v in _mark(store).items() if k != key})

    for _what in wrong_values():

        @kind(f"mark whose {_key} is {_what}")
        def _(store: Store, rng: random.Random, key: str = _key, what: str = _what) -> None:
            said = _mark(store) | {"action": rng.choice(["tag", "note", "delete", "untag"])}
            store.marks.append(said | {key: wrong_values()[what]})


@kind("mark that is no table")
def _(store: Store, rng: random.Random) -> None:
    said = [b"", b"[]", b"7", b"null", b"\xff", b"NaN", b'"x"', nested(900), nested(30_000)]
    store.marks.append(rng.choice(said))


@kind("mark with odd ids")
def _(store: Store, rng: random.Random) -> None:
    odd = [[None], [7], [["x"]], [{}], ["\ud800"], ["é" * 20], ["x" * 10**6], [True], [1e999]]
    store.marks.append(_mark(store) | {"runs": rng.choice(odd)})


@kind("mark with a million ids")
def _(store: Store, rng: random.Random) -> None:
    store.marks.append(_mark(store) | {"runs": [f"{i:020x}" for i in range(10**6)]})


@kind("mark with a number without an end")
def _(store: Store, rng: random.Random) -> None:
    said = json.dumps(_mark(store)).encode()
    store.marks.append(said.replace(b"1767225600000000000", b"9" * rng.choice([40, 4000, 5000])))


@kind("mark with hostile words")
def _(store: Store, rng: random.Random) -> None:
    words = ["\x1b[2J", "=1+1", "\u202e", "x" * 10**5, "\x00", "<script>", "\ud800", "a\nb"]
    action = rng.choice(["tag", "note", "untag"])
    store.marks.append(_mark(store) | {"action": action, "value": rng.choice(words)})


# ---- sweep.json ---------------------------------------------------------------------------------


def _sweep_kind(change: Callable[[dict[str, Any], random.Random], Any]) -> Kind:
    def apply(store: Store, rng: random.Random) -> None:
        if isinstance(store.sweep, dict):
            store.sweep = change(store.sweep, rng)

    return apply


for _key in ("format", "batches", "grid", "dynascope"):
    KINDS[f"sweep without {_key}"] = _sweep_kind(
        lambda sweep, rng, key=_key: {k: v for k, v in sweep.items() if k != key}
    )
    KINDS[f"sweep with another {_key}"] = _sweep_kind(
        lambda sweep, rng, key=_key: sweep | {key: rng.choice([*wrong_values().values()])}
    )
for _key in ("seeds", "base", "stages", "analyse"):
    KINDS[f"sweep whose grid has no {_key}"] = _sweep_kind(
        lambda sweep, rng, key=_key: (
            sweep | {"grid": {k: v for k, v in sweep["grid"].items() if k != key}}
            if isinstance(sweep.get("grid"), dict)
            else sweep
        )
    )
    KINDS[f"sweep whose grid has another {_key}"] = _sweep_kind(
        lambda sweep, rng, key=_key: (
            sweep | {"grid": sweep["grid"] | {key: rng.choice([*wrong_values().values()])}}
            if isinstance(sweep.get("grid"), dict)
            else sweep
        )
    )
KINDS["sweep that is no table"] = _sweep_kind(
    lambda sweep, rng: rng.choice(
        [b"", b"{}", b"[]", b"null", b'{"sha256": 1, "sweep": 2}', nested(900), nested(30_000)]
    )
)
KINDS["sweep with odd batches"] = _sweep_kind(
    lambda sweep, rng: (
        sweep
        | {
            "batches": rng.choice(
                [[], [None], [-1], [2**70], ["x"], [[1]], [1.5], [True], [1] * 10**5]
            )
        }
    )
)
KINDS["sweep of very many runs"] = _sweep_kind(
    lambda sweep, rng: (
        sweep | {"grid": sweep["grid"] | {"seeds": [[0, 10**12]]}}
        if isinstance(sweep.get("grid"), dict)
        else sweep
    )
)
