"""Rows and curves of shards that are hostile."""

import json
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from hostile_values import (
    BAD_LISTS,
    BAD_TEXT,
    BAD_WORDS,
    KINDS,
    OTHER_TYPES,
    TYPED,
    Kind,
    kind,
    pick,
    repeated,
    spread,
)
from resign import Store, nested

from dynascope.store.schema import CURVES, SCALARS


def _column_kind(name: str, choices: list[pa.Array], keep_ids: bool | None = None) -> Kind:
    def apply(store: Store, rng: random.Random) -> None:
        shard = pick(store, rng)
        if keep_ids is not None:
            shard.keep_ids = keep_ids
        spread(rng.choice(choices), shard, name, rng)

    return apply


for _field in SCALARS:
    _name = _field.name
    KINDS[f"column {_name}: odd values"] = _column_kind(_name, TYPED[str(_field.type)])
    KINDS[f"column {_name}: another type"] = _column_kind(_name, OTHER_TYPES)
for _name in ("id", "position", "last_epoch"):
    KINDS[f"column {_name}: odd values under the old id"] = _column_kind(
        _name, TYPED[str(SCALARS.field(_name).type)], keep_ids=True
    )


@kind("a column is missing")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
    shard.table = shard.table.drop_columns([rng.choice(shard.table.column_names)])


@kind("a column that every run needs is missing")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
    name = rng.choice(["id", "position", "last_epoch", "checksum", "config", "seed", "precision"])
    shard.table = shard.table.drop_columns([name])


@kind("a column has another name")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
    names = shard.table.column_names
    names[rng.randrange(len(names))] = rng.choice(["", "x.y", "a" * 500, "id.list.element", "é"])
    shard.table = shard.table.rename_columns(names)


@kind("columns in another order")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
    names = shard.table.column_names
    rng.shuffle(names)
    shard.table = shard.table.select(names)


@kind("an unknown option")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
    one = rng.choice([*OTHER_TYPES, *BAD_TEXT, *BAD_LISTS])
    shard.put("novel", pa.concat_arrays([one] * len(shard.table)))
    section = rng.choice(["training", "model", "task", "record", "x" * 100])
    shard.about["options"] = shard.about.get("options", {}) | {"novel": f"{section}.novel"}


@kind("unknown columns by the thousand")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
    more = {f"c{i}": pa.array([i] * len(shard.table)) for i in range(rng.choice([50, 4500]))}
    shard.table = pa.table(
        {**dict(zip(shard.table.column_names, shard.table.columns, strict=True)), **more}
    )


@kind("100,000 equal rows")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
    names = [name for name in shard.table.column_names if name not in CURVES]
    shard.table = shard.table.select([*names, "train_loss"]).slice(0, 1)
    rows = pa.array(np.zeros(100_000, np.int64))
    shard.table = shard.table.combine_chunks().take(rows)


@kind("2 million rows")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
    rows = pa.array(np.zeros(2_000_000, np.int64))
    names = ["id", "seed", "last_epoch", "position", "checksum", "config"]
    shard.table = shard.table.select(names).slice(0, 1).combine_chunks().take(rows)


@kind("1001 rows")
def _(store: Store, rng: random.Random) -> None:
    repeated(pick(store, rng), 1001)


@kind("one run many times")
def _(store: Store, rng: random.Random) -> None:
    repeated(pick(store, rng), rng.choice([2, 30, 1000]))


@kind("no rows")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
    shard.table = shard.table.slice(0, 0)


@kind("several row groups")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
    repeated(shard, 3)
    shard.row_group_size = 1


@kind("edits that are nonsense")
def _(store: Store, rng: random.Random) -> None:
    shard = pick(store, rng)
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
    shard, count = pick(store, rng), 0
    count = len(shard.table)
    shard.put("origin", pa.array([rng.choice(["branch", "import", "fine-tune", "novel"])] * count))
    shard.put("origin_start", pa.array([rng.choice(["0" * 20, "x", ""])] * count))
    shard.put("parent", pa.array([rng.choice(["0" * 20, None])] * count, pa.string()))
    shard.put("parent_epoch", pa.array([rng.choice([None, 0, 3, 999])] * count, pa.int64()))
    shard.put("parent_step", pa.array([rng.choice([None, 0, 3, 2**40])] * count, pa.int64()))


def _curve_kind(change: Callable[[list[Any], random.Random], list[Any]]) -> Kind:
    def apply(store: Store, rng: random.Random) -> None:
        shard = pick(store, rng)
        several = rng.choice([1, 1, 5, len(CURVES)])
        there = [name for name in CURVES if name in shard.table.column_names]
        for name in rng.sample(there, min(several, len(there))):
            old = shard.values(name)
            if all(each is None or isinstance(each, list) for each in old):  # still a curve
                shard.put(name, change(old, rng), pa.list_(pa.float64()))

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
    shard = pick(store, rng)
    values = pa.array(np.zeros(rng.choice([10**6, 2**24 + 10, 3 * 10**7])))
    offsets = pa.array([0, *[len(values)] * len(shard.table)], pa.int32())
    shard.put(
        rng.choice(["train_loss", "test_accuracy"]), pa.ListArray.from_arrays(offsets, values)
    )


@kind("a long run in few bytes")
def _(store: Store, rng: random.Random) -> None:
    """All that it says agrees."""
    shard = pick(store, rng)
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
    shard = pick(store, rng)
    one = rng.choice([*OTHER_TYPES, *BAD_LISTS, *BAD_WORDS])
    shard.put(rng.choice(CURVES[:6]), pa.concat_arrays([one] * len(shard.table)))


@kind("texts that grow")
def _(store: Store, rng: random.Random) -> None:
    """One text of megabytes, which all rows have: a dictionary holds it once."""
    shard = pick(store, rng)
    shard.keep_ids = True  # to look at all rows would take as long as it must not take a reader
    repeated(shard, rng.choice([100, 1000]))
    one = "x" * rng.choice([10_000, 3_000_000])
    name = rng.choice(["edits", "task", "origin_start", "activation"])
    indices = pa.array(np.zeros(len(shard.table), np.int32))
    shard.put(name, pa.DictionaryArray.from_arrays(indices, pa.array([one])))
