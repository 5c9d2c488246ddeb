"""Which seeds a sweep of a study trains: a block of its own, on which nothing was ever chosen."""

import json
from functools import cache
from pathlib import Path

from dynascope.errors import DynascopeError

BLOCK = 10_000  # seeds that each sweep has
_LEDGER = Path(__file__).with_name("seed_ledger.json")


def seeds_of(sweep: str, count: int) -> range:
    """The first seeds of a sweep's block.

    >>> seeds_of("default", 3)
    range(1000000, 1000003)
    """
    first = ledger().get(sweep)
    if first is None:
        raise KeyError(f"{sweep} has no seeds in {_LEDGER.name}")
    if count > BLOCK:
        raise DynascopeError(f"{sweep}: expected at most {BLOCK} seeds, but got {count}.")
    return range(first, first + count)


@cache
def ledger() -> dict[str, int]:
    """The first seed of every block."""
    return dict(_read()["judged_on"])


def chosen_on() -> range:
    """Seeds on which thresholds and methods were chosen."""
    kept = _read()["chosen_on"]
    return range(kept["first"], kept["last"] + 1)


@cache
def _read() -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = json.loads(_LEDGER.read_text(encoding="utf-8"))
    return found
