"""Which system it is, and what only some systems have, is known to one package: `platforms`."""

import ast
from collections.abc import Iterator

import pytest
from package_source import TEXTS

DOOR = "platforms"
SOME_SYSTEMS = {
    *("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"),
    *("msvcrt", "winreg", "_winapi", "platform"),
}
ASKING = {"sys.platform", "os.name", "sys.getwindowsversion"}
# Of the two ways, the callers' view: the names that both modules must have.
WAYS = ("platforms.posix", "platforms.windows")


def inside(module: str) -> bool:
    return module == DOOR or module.startswith(f"{DOOR}.")


def system_knowledge(text: str) -> Iterator[str]:
    """Imports of modules that not every system has, and questions which system it is."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in SOME_SYSTEMS)
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{name.name}" for name in node.names}
            yield from [str(node.module)] if node.module in SOME_SYSTEMS else names & ASKING
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in ASKING:
            yield ast.unparse(node)


@pytest.mark.parametrize("module", [name for name in TEXTS if not inside(name)])
def test_nobody_else_knows_the_system(module: str) -> None:
    assert [*system_knowledge(TEXTS[module])] == []


@pytest.mark.parametrize(
    "code",
    [
        "import fcntl",
        "from resource import getrlimit",
        "import os, pwd",
        "def f():\n    import msvcrt",
        "sys.platform == 'darwin'",
        "os.name",
        "from sys import platform",
        "import platform",
    ],
)
def test_the_search_finds(code: str) -> None:
    assert [*system_knowledge(code)]


def interface(text: str) -> dict[str, str]:
    """The public names of a module, with the signatures of functions."""
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            returned = ast.unparse(node.returns) if node.returns else ""
            found[node.name] = f"({ast.unparse(node.args)}) -> {returned}"
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            found |= {name: "" for name in names if not name.startswith("_")}
    return found


def test_both_ways_have_the_same_names() -> None:
    posix, windows = (interface(TEXTS[way]) for way in WAYS)
    assert posix == windows
    assert len(posix) > 15


def test_callers_use_these_names() -> None:
    known = interface(TEXTS[WAYS[0]])
    used = set()
    for module, text in TEXTS.items():
        if not inside(module) and "import system" in text:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "system":
                    used.add(node.attr)
    assert used == set(known)
