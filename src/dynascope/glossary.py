"""The words of dynascope, each explained once: `glossary.json`.

The sandbox, `dynascope report --help` and docs/glossary.md tell the same texts. An entry names the
heading in docs/ where there is more, and the columns of a table of runs that it explains.
"""

import json
import textwrap
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """One word or symbol."""

    id: str  # as the sandbox asks for it
    term: str  # as people read it
    text: str  # one or two sentences
    docs: str  # a page in docs/ and a heading of it: "analysis.md#spikes"
    columns: tuple[str, ...] = ()


@cache
def areas() -> dict[str, tuple[Entry, ...]]:
    """All entries by the area that they belong to, in the order in which one would learn them."""
    path = Path(__file__).with_name("glossary.json")
    return {
        area["title"]: tuple(
            Entry(**{**row, "columns": tuple(row.get("columns", ()))}) for row in area["terms"]
        )
        for area in json.loads(path.read_text(encoding="utf-8"))
    }


def entries() -> Iterator[Entry]:
    """Every entry."""
    for found in areas().values():
        yield from found


def panel_titles() -> dict[str, str]:
    """The panels of the sandbox by name, in the order in which it shows them.

    >>> list(panel_titles().items())[:2]
    [('tokens', 'Token embeddings'), ('positions', 'Position embeddings')]
    """
    parts = ((entry.id.split("."), entry.term) for entry in entries())
    return {names[1]: term for names, term in parts if names[0] == "panel" and len(names) == 2}


def listing(ids: Iterable[str], width: int = 80) -> str:
    """Some entries as a list for the terminal, in this order.

    >>> print(listing(["unsolved"]))
      unsolved          The accuracy is 0.9 or less.
    """
    known = {entry.id: entry for entry in entries()}
    return "\n".join(
        textwrap.fill(
            _plain(known[name].text),
            width,
            initial_indent=f"  {known[name].term:<18}",
            subsequent_indent=" " * 20,
        )
        for name in ids
    )


def _plain(text: str) -> str:
    """Without signs that not every terminal can show."""
    for sign, plain in (("ξ", "the sequence embedding"), ("×", "x"), ("−", "-"), ("±", "+/-")):
        text = text.replace(sign, plain)
    return text[:1].upper() + text[1:]
