"""Sidecars, marks and sweeps that are hostile."""

import json
import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from hostile_values import (
    KINDS,
    OTHER_TYPES,
    TYPED,
    Kind,
    kind,
    part_of,
    repeated,
    spread,
)
from resign import Store, nested, wrong_values

from dynascope.analysis_columns import columns_of


def _sidecar_column(name: str, choices: list[pa.Array]) -> Kind:
    def apply(store: Store, rng: random.Random) -> None:
        sidecar = part_of("analyses", store, rng)
        if sidecar:
            spread(rng.choice(choices), sidecar, name, rng)

    return apply


_SIDECAR = {
    "id": "string",
    "checksum": "string",
    "analysed": "list<item: string>",
    "notes": "list<item: string>",
}
_NAMED = {"list<int64>": "list<item: int64>", "list<double>": "list<item: double>"}
_NAMED |= {"list<string>": "list<item: string>", "list<bool>": "list<item: bool>"}
_SIDECAR |= {name: _NAMED.get(c.type, c.type) for name, c in columns_of().items()}
for _name, _type in _SIDECAR.items():
    KINDS[f"analyses {_name}: odd values"] = _sidecar_column(_name, TYPED[_type])
    KINDS[f"analyses {_name}: another type"] = _sidecar_column(_name, OTHER_TYPES)


@kind("analyses: kinds that are none")
def _(store: Store, rng: random.Random) -> None:
    sidecar = part_of("analyses", store, rng)
    if sidecar:
        kinds = ["circuit", "circuit"], ["nope"], [], ["circuit"] * 200, ["x" * 60, "phases"]
        sidecar.put("analysed", [rng.choice(kinds)] * len(sidecar.table), pa.list_(pa.string()))


@kind("analyses: a column is missing")
def _(store: Store, rng: random.Random) -> None:
    sidecar = part_of("analyses", store, rng)
    if sidecar:
        sidecar.table = sidecar.table.drop_columns([rng.choice(sidecar.table.column_names)])


@kind("analyses: many rows")
def _(store: Store, rng: random.Random) -> None:
    sidecar = part_of("analyses", store, rng)
    if sidecar:
        repeated(sidecar, rng.choice([2, 1000, 2001, 50_000]))


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
