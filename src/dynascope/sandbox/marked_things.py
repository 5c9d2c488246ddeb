"""What can be marked on the page, as people write it in Python."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynascope.errors import expected, unknown
from dynascope.run import Run

_KINDS = {
    "token": ("index",),
    "position": ("index",),
    "unit": ("index",),
    "pair": ("token", "position"),
    "sequence": ("tokens",),
}


def checked_mark(mark: Any, runs: Sequence[Run]) -> dict[str, Any] | None:
    """A mark with all its parts, if there is such a thing in the run that it is about.

    >>> checked_mark(None, [])
    """
    if mark is None:
        return None
    if mark.get("kind") not in _KINDS:
        raise unknown("marked", mark.get("kind"), _KINDS, "kind")
    wanted = ("kind", *_KINDS[mark["kind"]])
    if not {*wanted} <= mark.keys() <= {*wanted, "run"}:
        raise expected("marked", f"{', '.join(wanted)} and at most run", dict(mark))
    of = _place("run", mark.get("run", 0), len(runs))
    return {"run": of, "kind": mark["kind"], **_parts(mark, runs[of])}


def _parts(mark: dict[str, Any], run: Run) -> dict[str, Any]:
    task, hidden = run.config.task, run.config.model.hidden
    counts = {"token": task.vocab, "position": task.length, "unit": hidden}
    match mark["kind"]:
        case "pair":
            return {name: _place(name, mark[name], counts[name]) for name in ("token", "position")}
        case "sequence":
            return {"tokens": _tokens(mark["tokens"], task.length, task.vocab)}
        case kind:
            return {"index": _place("index", mark["index"], counts[kind])}


def _tokens(given: Any, length: int, vocab: int) -> list[int]:
    tokens = list(given) if isinstance(given, list | tuple | np.ndarray) else []
    if len(tokens) != length:
        raise expected("marked.tokens", f"a sequence of {length} tokens", given)
    return [_place("tokens", token, vocab) for token in tokens]


def _place(name: str, value: Any, count: int) -> int:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not 0 <= value < count:
        raise expected(f"marked.{name}", f"a whole number from 0 to {count - 1}", value)
    return int(value)
