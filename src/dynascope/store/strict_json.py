"""JSON that somebody else may have written: as much of it as JSON allows, and no deeper than ours.

Python's own parser also takes NaN, keys that are there twice, and whatever encoding it guesses.
"""

import json
from collections import Counter
from typing import Any

from dynascope.store.damage import DamagedError

_DEEPEST = 32  # lists in tables in lists; ours have six


def strict_json(text: str | bytes | memoryview) -> Any:
    """The value; raises `DamagedError`.

    >>> strict_json('{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    >>> strict_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    dynascope.store.damage.DamagedError: its JSON has the key 'a' twice
    """
    try:
        return _DECODER.decode(text if isinstance(text, str) else bytes(text).decode())
    except RecursionError:
        raise DamagedError("its JSON is nested too deeply") from None
    except ValueError as error:  # also of bytes that are no text, and of numbers without an end
        raise DamagedError(f"its JSON cannot be read ({_shortened(error)})") from None


def check_depth(value: Any, deepest: int = _DEEPEST) -> None:
    """Refuse what whoever walks through it with a function that calls itself would stumble over."""
    level = [value]
    for _ in range(deepest):
        inside = [list(each.values()) if isinstance(each, dict) else each for each in level]
        level = [x for each in inside if isinstance(each, list) for x in each]
        level = [each for each in level if isinstance(each, dict | list)]
        if not level:
            return
    raise DamagedError("its JSON is nested too deeply")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise DamagedError(f"its JSON has the key {twice[:40]!a} twice")
    return table


def _no_number(word: str) -> None:
    raise DamagedError(f"its JSON has {word}, which is not a number")


def _shortened(error: ValueError) -> str:
    text = str(error)
    return text if len(text) <= 100 else f"{text[:100]}..."


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number)
