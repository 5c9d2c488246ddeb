"""A card: a title, a table of facts, a small picture, rows, and lines of text below.

Words are those of the glossary, which explains each on hover. What does not apply is left out.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from dynascope.errors import DynascopeError
from dynascope.glossary import Entry, entries
from dynascope.notebook.card_style import style
from dynascope.notebook.html_tags import Child, Html, joined, tag
from dynascope.number_text import MISSING, significant

LONGEST_TEXT = 400  # characters of a note


class Fact(NamedTuple):
    """One line of a card; without a value it is left out."""

    word: str  # of the glossary, by its id
    value: Child | None


class CardColumn(NamedTuple):
    """A column of a card's rows."""

    heading: Html  # see `heading`
    cells: Sequence[Child]
    kind: str = "number"  # or "words", which may wrap; or "short" text


@dataclass
class Card:
    """What is shown of one object; `problems` are sentences about what could not be read."""

    title: str
    beside: str = ""  # the title, in a quieter voice
    facts: list[Fact] = field(default_factory=list)
    picture: Html | None = None
    columns: Sequence[CardColumn] = ()
    lines: list[str] = field(default_factory=list)
    problems: dict[str, None] = field(default_factory=dict)  # each once, in order

    def html(self) -> Html:
        rows = _rows(self.columns) if self.columns else None
        parts = [part for part in (_facts(self.facts), rows, _picture(self.picture)) if part]
        return tag(
            "div",
            style(),
            tag("div", self.title, *_beside(self.beside), class_="dynascope-title"),
            *([tag("div", *parts, class_="dynascope-body")] if parts else ()),
            *(tag("div", line, class_="dynascope-line") for line in self.lines),
            *(
                tag("div", problem, class_="dynascope-line dynascope-problem")
                for problem in self.problems
            ),
            class_="dynascope-card",
        )

    def reading(self) -> "_Reading":
        """A context in which what cannot be read becomes a sentence on the card."""
        return _Reading(self.problems)


class _Reading:
    """Damaged files, and options that only a newer version knows: the rest is shown."""

    def __init__(self, problems: dict[str, None]) -> None:
        self._problems = problems

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, DynascopeError | OSError):
            self._problems[cut(str(error))] = None
            return True
        return False


def heading(word: str, label: str | None = None, kind: str = "number") -> Html:
    """The heading of a column or a fact: the glossary's term, or a shorter `label` for it."""
    entry = _entries()[word]
    return plain_heading(label or entry.term, kind, entry.text)


def plain_heading(label: str, kind: str = "number", hint: str | None = None) -> Html:
    """A heading that is not a word of the glossary: the name of an option, or a plain word."""
    return tag("th", label, title=hint, class_="dynascope-number" if kind == "number" else None)


def number(value: float | None, digits: int = 3) -> str:
    """A number that is no share.

    >>> number(0.00123456), number(float("nan")), number(float("inf"))
    ('0.00123', '-', '∞')
    """
    if value is None or math.isnan(value):
        return MISSING
    return significant(value, digits) if math.isfinite(value) else "∞" if value > 0 else "-∞"


def cut(text: str, most: int = LONGEST_TEXT) -> str:
    """Text of a length that there is room for.

    >>> cut("so long a text", most=7)
    'so long …'
    """
    return text if len(text) <= most else f"{text[:most]} …"


def and_more_line(shown: int, count: int, what: str) -> list[str]:
    """
    >>> and_more_line(10, 1000, "runs"), and_more_line(3, 3, "runs")
    (['… and 990 more runs'], [])
    """
    return [f"… and {count - shown} more {what}"] if count > shown else []


@cache
def _entries() -> dict[str, Entry]:
    return {entry.id: entry for entry in entries()}


def _beside(text: str) -> Iterable[Child]:
    return [" ", tag("span", text)] if text else []


def _picture(picture: Html | None) -> Html | None:
    """Hidden, which the style sheet undoes: Jupyter takes style and SVG out of notebooks that it
    does not trust, and leaves the labels behind. (It drops attributes without a value.)"""
    return tag("div", picture, hidden="hidden", class_="dynascope-picture") if picture else None


def _facts(facts: Iterable[Fact]) -> Html | None:
    rows = [
        tag("tr", heading(fact.word, kind="short"), tag("td", fact.value, class_="dynascope-words"))
        for fact in facts
        if fact.value
    ]
    return tag("table", tag("tbody", *rows), class_="dynascope-table") if rows else None


def _rows(columns: Sequence[CardColumn]) -> Html:
    body = (
        tag(
            "tr",
            *(
                tag("td", cell, class_=None if column.kind == "short" else _class(column.kind))
                for column, cell in zip(columns, row, strict=True)
            ),
        )
        for row in zip(*(column.cells for column in columns), strict=True)
    )
    head = tag("tr", *(column.heading for column in columns))
    return tag("table", tag("thead", head), tag("tbody", joined(body)), class_="dynascope-table")


def _class(kind: str) -> str:
    return f"dynascope-{kind}"
