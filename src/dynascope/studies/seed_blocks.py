"""Which seeds a source of a study trains: a block of its own, on which nothing was ever chosen."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from dynascope.errors import DynascopeError

BLOCK = 10_000  # seeds that each source has
_LEDGER = Path(__file__).with_name("seed_ledger.json")


def seeds_of(block: str, count: int, rehearsal: bool = False) -> range:
    """The first seeds of a block; for a rehearsal, others that stand for them.

    >>> seeds_of("default", 3), seeds_of("default", 3, rehearsal=True)
    (range(2000000, 2000003), range(1000000, 1000003))
    """
    first = ledger().get(block)
    if first is None:
        raise KeyError(f"{block} has no seeds in {_LEDGER.name}")
    if count > BLOCK:
        raise DynascopeError(f"{block}: expected at most {BLOCK} seeds, but got {count}.")
    first -= int(_read()["rehearsed_below"]) if rehearsal else 0
    return range(first, first + count)


@cache
def ledger() -> dict[str, int]:
    """The first seed of every block."""
    return dict(_read()["judged_on"])


def chosen_on() -> range:
    """Seeds on which thresholds, methods and claims were chosen."""
    kept = _read()["chosen_on"]
    return range(kept["first"], kept["last"] + 1)


@cache
def _read() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_LEDGER.read_text(encoding="utf-8"))
    return found
