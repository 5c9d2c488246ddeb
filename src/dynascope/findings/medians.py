"""Medians of columns of many runs: of those that solved the task and of the others."""

from collections.abc import Callable, Iterator, Mapping
from statistics import median
from typing import Any

from dynascope.findings.kind import RunRows, Totals
from dynascope.findings.words import is_solved, many
from dynascope.number_text import MISSING, significant

Telling = Callable[[float], str]


def number(value: float | None) -> str:
    """
    >>> number(1.23456), number(None)
    ('1.23', '-')
    """
    return MISSING if value is None else significant(value, 3)


def numbers(values: list[float] | None) -> str:
    """A list in a cell.

    >>> numbers([1.234, 20.0]), numbers([]), numbers(None)
    ('1.23 20', 'none', '-')
    """
    return MISSING if values is None else " ".join(map(number, values)) or "none"


def medians(rows: RunRows, columns: Mapping[str, Callable[[Any], float | None]]) -> Totals:
    """By column: medians of what is made of its cells, and of how many runs each is."""
    return {name: _of_both(rows, name, value) for name, value in columns.items()}


def cell(value: Any) -> float | None:
    """A cell as it is."""
    return None if value is None else float(value)


def at(place: int) -> Callable[[list[float] | None], float | None]:
    """What a list has at a place, if it is so long."""
    return lambda values: values[place] if values and len(values) > place else None


def medians_text(what: str, both: Totals, telling: Telling = number) -> Iterator[str]:
    """
    >>> both = {"solved": {"median": 0.5, "runs": 3}, "other": {"median": None, "runs": 0}}
    >>> list(medians_text("how far", both))
    ['how far: median 0.5 in 3 solved runs']
    """
    told = [
        f"{telling(each['median'])} in {_runs(each['runs'], name)}"
        for name, each in both.items()
        if each["runs"]
    ]
    if told:
        yield f"{what}: median {', '.join(told)}"


def _runs(count: int, name: str) -> str:
    return many(count, f"{name} run")


def _of_both(rows: RunRows, name: str, value: Callable[[Any], float | None]) -> Totals:
    def one(solved: bool) -> Totals:
        found = [value(row.get(name)) for row in rows if is_solved(row) == solved]
        there = [each for each in found if each is not None]
        return {"median": float(median(there)) if there else None, "runs": len(there)}

    return {"solved": one(True), "other": one(False)}
