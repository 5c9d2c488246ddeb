"""What people read is natural English: phrases that once sounded translated do not come back.

Only text that can reach a person counts: strings of the package that are no docstrings, and the
documentation.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from package_source import TEXTS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

STILTED = (
    r"\bit is no (folder|file|number)\b",
    r"\bsee to that\b",
    r"\bsayings?\b",
    r"\balike\b",
    r"\bbut got none\.",
    r"expected at least one \w+, but",
    r"\bwhoever\b",
    r"\bnobody has said\b",
    r"\bon the way\b",
    r"\banew\b",
    r"\bhas done half\b",
    r"\bnone but with\b",
    r"\bends it\.",
    r"\bcannot go on from\b",
    r"\bto go with\b",
)
PATTERN = re.compile("|".join(STILTED))


def told(text: str) -> Iterator[str]:
    """The strings of a module, but for docstrings and what describes the value above it."""
    tree = ast.parse(text)
    aside = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in aside:
            yield node.value


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_sentences_of_the_package(name: str) -> None:
    assert [each for each in told(TEXTS[name]) if PATTERN.search(each)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sentences_of_the_documentation(page: Path) -> None:
    found = PATTERN.finditer(page.read_text(encoding="utf-8"))
    assert [each.group() for each in found] == []


def test_a_stilted_sentence_is_found() -> None:
    for text in ("it is no folder", "see to that, then run it", "attend everywhere alike"):
        assert PATTERN.search(text)
    assert list(told('"""Alike."""\nx = f"{3} alike"\n')) == [" alike"]
