"""Dataclasses of options as nested tables, and tables as TOML text.

The functions know nothing of particular options: a new one needs no line here.
"""

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from dynascope.catalog import OPTIONS
from dynascope.errors import DynascopeError, expected, unknown

Options = TypeVar("Options")
Sections = Mapping[str, type]


def to_tables(options: Any) -> dict[str, Any]:
    """The fields of a dataclass, nested ones as tables, tuples as lists: what JSON can hold."""
    return {field.name: plain_value(getattr(options, field.name)) for field in fields(options)}


def plain_value(value: Any) -> Any:
    """An option's value as JSON can hold it."""
    if is_dataclass(value):
        return to_tables(value)
    return list(value) if isinstance(value, tuple) else value


def nested(options: Mapping[str, object], sections: Sections) -> dict[str, Any]:
    """Options that came in tables, under dotted names or both, as tables. Names that are neither
    stay where they are.

    >>> sections = {"training": dict, "model": dict}
    >>> nested({"training": {"epochs": 5}, "training.lr": 0.1, "model.dim": 3}, sections)
    {'training': {'epochs': 5, 'lr': 0.1}, 'model': {'dim': 3}}
    """
    tables: dict[str, Any] = {}
    for name, value in options.items():
        section, _, option = str(name).rpartition(".")
        if section in sections:
            _put(tables, section, {option: value})
        elif name in sections:
            _put(tables, name, to_tables(value) if is_dataclass(value) else value)
        else:
            tables[name] = value
    return tables


def _put(tables: dict[str, Any], section: str, new: object) -> None:
    """Add options to a table."""
    table = tables.setdefault(section, {})
    for option, value in _table(section, new).items():
        if option in table:
            raise DynascopeError(f"{section}.{option}: given twice; give each option once.")
        table[option] = value


def from_tables(cls: type[Options], sections: Sections, tables: object) -> Options:
    """The dataclass `cls` with the given options and defaults for the rest; they come in tables or
    under dotted names.

    `sections`: the dataclasses of those of its fields that are tables themselves.
    """
    known = _checked(cls, nested(_table("config", tables), sections), "", OPTIONS)
    return cls(
        **{
            name: from_table(sections[name], value, name) if name in sections else value
            for name, value in known.items()
        }
    )


def from_table(cls: type[Options], table: object, section: str) -> Options:
    """The dataclass of one section."""
    return cls(**_checked(cls, table, section))


def _checked(
    cls: type, table: object, where: str, others: Iterable[str] = ()
) -> Mapping[str, object]:
    known = [field.name for field in fields(cls)]
    for name in (given := _table(where or "config", table)):
        if name not in known:
            raise unknown(where, name, (*known, *others))
    return given


def _table(name: str, table: object) -> Mapping[str, object]:
    if not isinstance(table, Mapping):
        raise expected(name, "a table of options", table)
    return table


def from_toml(cls: type[Options], sections: Sections, path: str | os.PathLike[str]) -> Options:
    """`from_tables` of a TOML file; whatever is wrong is one sentence that names the file."""
    try:
        return from_tables(cls, sections, read_toml(path))
    except DynascopeError as error:
        name = os.fspath(path)
        raise DynascopeError(f"{name if name.isprintable() else repr(name)}: {error}") from None


def toml_value(text: str) -> Any:
    """The value of a piece of TOML; text that is not TOML is returned as it is.

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
