"""Names that say where things belong: underscores stay in their folder, no two things share one."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

from package_source import IMPORTS, MODULES, TEXTS

from dynascope.cli.arguments import COMMANDS

# The compiled extension has the underscore that such modules have in Python; it lies below all.
_EXTENSION = "_kernel"
# What begins with an underscore and is public all the same: of named tuples, and of the system.
_PUBLIC = {"_asdict", "_replace", "_exit"}


def folder_of(module: str) -> str:
    return str(MODULES[module].parent)


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_underscore_modules_stay_in_their_folder() -> None:
    for each in IMPORTS:
        if private(each.imported.rpartition(".")[2]) and each.imported != _EXTENSION:
            assert folder_of(each.importer) == folder_of(each.imported), str(each)


def test_private_names_are_not_imported() -> None:
    for module, text in TEXTS.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dynascope"):
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}".removeprefix("dynascope.")
                    assert not private(alias.name) or whole in MODULES, (module, alias.name)


def reached_into(text: str) -> Iterator[tuple[str, int]]:
    """Private attributes of something other than `self` and `cls`, and their lines."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and private(node.attr):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not own and node.attr not in _PUBLIC and not _is_extension(node):
                yield node.attr, node.lineno


def _is_extension(node: ast.Attribute) -> bool:
    return ast.unparse(node) == f"dynascope.{_EXTENSION}"


def defined(text: str) -> Iterator[str]:
    """What a module's classes call their own."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield from [node.attr] if node.value.id in ("self", "cls") else []
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


@cache
def known_in(folder: str) -> frozenset[str]:
    modules = [module for module in MODULES if folder_of(module) == folder]
    return frozenset(name for module in modules for name in defined(TEXTS[module]))


def strangers(module: str, text: str) -> list[str]:
    """Private attributes that a module reaches for and no module of its folder has."""
    known = known_in(folder_of(module))
    return [f"{module}, line {at}: {name}" for name, at in reached_into(text) if name not in known]


def test_private_attributes_are_not_reached_into() -> None:
    assert [each for module, text in TEXTS.items() for each in strangers(module, text)] == []


def test_reaching_into_another_package_is_found() -> None:
    text = TEXTS["store.query"] + "\n\ndef added(trainer):\n    return trainer._kernel\n"
    (found,) = strangers("store.query", text)
    assert found.startswith("store.query")
    assert found.endswith(": _kernel")


def test_no_two_modules_have_one_name() -> None:
    """But a command's has the command's, whatever else is called so."""
    commands = {command.name for command in COMMANDS}
    files = [file.stem for file in MODULES.values() if file.stem not in ("__init__", "__main__")]
    twice = {name for name, count in Counter(files).items() if count > 1}
    assert twice <= commands


def types_of(text: str) -> Iterator[str]:
    """The classes of a module, and the types that it gives a name to."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if not ast.unparse(node.value).startswith("TypeVar("):
                yield node.targets[0].id
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def test_no_two_types_have_one_name() -> None:
    """But for `Array`, which is the same everywhere."""
    names = [name for text in TEXTS.values() for name in types_of(text)]
    types = Counter(name for name in names if re.match("[A-Z][a-z]", name) and name != "Array")
    assert [name for name, count in types.items() if count > 1] == []
