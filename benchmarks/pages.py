"""Measured tables in pages of the docs: each between two marks of its name."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dynascope.share_interval import wilson

DOCS = Path(__file__).parent.parent / "docs"


def put(page: str, name: str, table: str) -> None:
    """Replace what the page has between the marks of a table."""
    path = DOCS / page
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, opened, rest = path.read_text().partition(begin)
    _, closed, after = rest.partition(end)
    if not opened or not closed:
        raise SystemExit(f"{page}: expected the marks {begin} and {end}, but found none.")
    path.write_text(f"{before}{begin}\n{table}\n{end}{after}")


def rows(*cells: tuple[str, ...]) -> str:
    """A table; the first of the rows is its head."""
    head, *rest = (f"| {' | '.join(row)} |" for row in cells)
    return "\n".join([head, "|---" * len(cells[0]) + "|", *rest])


def share(count: int, of: int) -> str:
    """A count of so many with its 95% interval; "" of none."""
    if not of:
        return ""
    low, high = wilson(count, of)
    return f"{count} of {of} ({low:.1%} to {high:.1%})"


def publish(page: str, tables: Mapping[str, str], results: Any, file: Path, dry: bool) -> None:
    """Print the tables; unless this is a dry run, put them into the page and keep the results."""
    for name, text in tables.items():
        print(f"\n{name}\n\n{text}")
        if not dry:
            put(page, name, text)
    if not dry:
        file.write_text(json.dumps(results, indent=1) + "\n")
