"""The kinds of analyses that there are: those with declared columns, each in a file of its name."""

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any

from dynascope.analysis_columns import DEFAULT_KINDS
from dynascope.findings.kind import Kind


@cache
def kind_of(name: str) -> Kind[Any]:
    """The kind of a name; its file `kind_NAME.py` is imported when it is first asked for."""
    kind = import_module(f"dynascope.findings.kind_{name}").KIND
    assert isinstance(kind, Kind)
    return kind


def kinds(names: Iterable[str] = DEFAULT_KINDS) -> dict[str, Kind[Any]]:
    """These kinds, or those that are made unasked, by name."""
    return {name: kind_of(name) for name in names}
