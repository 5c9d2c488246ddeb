"""Footers and bytes that are hostile."""

import json
import random
from collections.abc import Callable
from typing import Any

from hostile_values import (
    KINDS,
    Kind,
    kind,
    part_of,
    pick,
    with_value,
)
from resign import SAME, Store, nested, wrong_values

from dynascope.store.schema import CURVES

_FOOTER_KEYS = {
    "runs": (
        *("format", "shard", "batch", "tensors", "steps", "curves"),
        *("options", "as_before", "slots", "columns"),
    ),
    "analyses": ("format", "analyses", "batch", "versions", "columns"),
}


def _without(key: str) -> Callable[[dict[str, Any]], Any]:
    def change(about: dict[str, Any]) -> Any:
        about.pop(key, None)
        return SAME

    return change


def _footer_kind(place: str, change: Callable[[random.Random], Any]) -> Kind:
    def apply(store: Store, rng: random.Random) -> None:
        part = part_of(place, store, rng)
        if part:
            part.change_about.append(change(rng))

    return apply


for _place, _keys in _FOOTER_KEYS.items():
    for _key in _keys:
        KINDS[f"{_place}: footer without {_key}"] = _footer_kind(
            _place, lambda rng, key=_key: _without(key)
        )
        KINDS[f"{_place}: footer with another {_key}"] = _footer_kind(
            _place, lambda rng, key=_key: with_value(key, rng.choice([*wrong_values().values()]))
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
            old = about.get(key)
            if old and isinstance(old, dict | list):  # else another kind has been here before
                about[key] = change(old, rng)
            return SAME

        pick(store, rng).change_about.append(inside)

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
        part = part_of(place, store, rng)
        if part:
            part.change_chunk.append(_flipped(rng, rng.choice([1, 3, 100])))

    @kind(f"{_place}: bytes of the footer")
    def _(store: Store, rng: random.Random, place: str = _place) -> None:
        part = part_of(place, store, rng)
        if part:
            part.change_footer.append(_thrift(rng, rng.choice([1, 1, 2, 5])))
