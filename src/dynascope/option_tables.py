"""Dataclasses of options as nested tables, and tables as TOML text.

The functions know nothing of particular options: they go by the rules of the dataclass that they
are given (see `option_rules`), so a new option needs no line here.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from dynascope.errors import DynascopeError, expected, unknown
from dynascope.option_rules import Rule, Section, rules

Options = TypeVar("Options")


def to_tables(options: Any) -> dict[str, Any]:
    """The fields of a dataclass, nested ones as tables, tuples as lists: what JSON can hold."""
    return {field.name: _plain(getattr(options, field.name)) for field in fields(options)}


def from_tables(cls: type[Options], tables: object, where: str = "") -> Options:
    """The dataclass `cls` with the given options and defaults for the rest."""
    if not isinstance(tables, Mapping):
        raise expected(where or "config", "a table of options", tables)
    known = rules(cls)
    for name in tables:
        if name not in known:
            raise unknown(where, name, known if where else (*known, *options_of(cls)))
    return cls(**{name: _read(known[name], tables[name], name) for name in tables})


def options_of(cls: type) -> dict[str, Rule[object]]:
    """The rule of every option under its dotted name, such as `model.dim`."""
    return dict(_dotted(cls, ""))


def from_toml(cls: type[Options], path: str | os.PathLike[str]) -> Options:
    """`from_tables` of a TOML file; whatever is wrong is one sentence that names the file."""
    try:
        return from_tables(cls, read_toml(path))
    except DynascopeError as error:
        name = os.fspath(path)
        raise DynascopeError(f"{name if name.isprintable() else repr(name)}: {error}") from None


def toml_value(text: str) -> Any:
    """The value of a piece of TOML; text that is none stands for itself.

    >>> toml_value("[0, 3]"), toml_value("1e-2"), toml_value("smooth")
    ([0, 3], 0.01, 'smooth')
    """
    try:
        tables = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return tables["value"] if len(tables) == 1 else text


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")  # some editors start with a mark
    except UnicodeDecodeError as error:
        byte = f"byte 0x{error.object[error.start]:02x} at offset {error.start}"
        raise DynascopeError(f"expected UTF-8 text, but got {byte}.") from None
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = getattr(error, "strerror", None) or error
        raise DynascopeError(f"expected a readable file, but got: {reason}.") from None
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise DynascopeError(f"expected TOML, but got: {reason}.") from None


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return to_tables(value)
    return list(value) if isinstance(value, tuple) else value


def _read(rule: Rule[object], value: object, name: str) -> object:
    return from_tables(rule.cls, value, name) if isinstance(rule, Section) else value


def _dotted(cls: type, prefix: str) -> Iterator[tuple[str, Rule[object]]]:
    for name, rule in rules(cls).items():
        if isinstance(rule, Section):
            yield from _dotted(rule.cls, f"{prefix}{name}.")
        else:
            yield prefix + name, rule
