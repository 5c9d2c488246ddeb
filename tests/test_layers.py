"""Imports go downwards only, by layer, wherever in a module they stand; modules form no circle.

Modules are read, not run: an import within a function counts like one at the top, and so does
`import_module` with a name that begins with ours. For layers also those count that only the type
checker sees, for circles they do not: two classes of a layer may name each other in annotations
(`Run.trainer() -> Trainer`, `Trainer.run -> Run`).
"""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

import dynascope

ROOT = Path(dynascope.__file__).parent

# From the bottom up. A name stands for a module or for all of a package.
LAYERS = (
    (
        "errors",
        "version",
        "cached",
        "progress",
        "seeds",
        "plain",
        "analysis_columns",
        "analysis_row",
    ),
    ("_kernel",),
    ("option_rules", "option_tables", "frozen_weights", "config"),
    ("data", "parameters", "tasks", "model", "projection", "torch"),
    ("run_size", "services", "run", "tape", "trainer"),
    ("engine",),
    ("second_order", "replay"),
    ("store",),
    ("analysis",),
    ("theory",),
    ("findings",),
    ("sweeps",),
    ("plots",),
    ("sandbox",),
    ("studies",),
    ("cli", "__main__"),
    ("wiring", "__init__"),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


class Import(NamedTuple):
    """One module imports another; both by their names within the package, `store.index`."""

    importer: str
    imported: str
    line: int
    for_types: bool  # under `if TYPE_CHECKING`

    def __str__(self) -> str:
        return f"{self.importer}, line {self.line}: imports {self.imported}"


def module_name(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


FILES = {
    module_name(file): file
    for file in sorted(ROOT.rglob("*.py*"))
    if file.suffix in (".py", ".pyi")
}


def imports_of(module: str, text: str) -> Iterator[Import]:
    """Every import of this package's modules in a module's text."""
    tree = ast.parse(text)
    for_types = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for statement in block.body
        for node in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr):
            for imported in _imported(node):
                yield Import(module, imported, node.lineno, id(node) in for_types)


def _imported(node: ast.stmt | ast.expr) -> Iterator[str]:
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        assert not node.level, "relative imports are not used"
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
        names = [_beginning(node.args[0])]
    for name in names:
        if name.split(".")[0] == "dynascope":
            yield _known(name.removeprefix("dynascope").removeprefix("."))


def _beginning(text: ast.expr) -> str:
    """What is known of a text before it is computed: all of a literal, some of an f-string."""
    if isinstance(text, ast.JoinedStr):
        text = text.values[0]
    return str(text.value) if isinstance(text, ast.Constant) else ""


def _known(name: str) -> str:
    """The module that a dotted name begins with; `__init__` if that is the package itself."""
    while name and name not in FILES:
        name = name.rpartition(".")[0]
    return name or "__init__"


def upward(found: Import) -> bool:
    return LEVEL[found.importer.split(".")[0]] < LEVEL[found.imported.split(".")[0]]


def circle(imports: Iterator[Import] | list[Import]) -> list[str]:
    """Modules that import each other in a circle, if any do."""
    graph: dict[str, set[str]] = {}
    for each in imports:
        if not each.for_types and each.importer != each.imported:
            graph.setdefault(each.importer, set()).add(each.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


TEXTS: Mapping[str, str] = {name: file.read_text() for name, file in FILES.items()}
IMPORTS = [each for name, text in TEXTS.items() for each in imports_of(name, text)]


def test_every_module_has_a_layer() -> None:
    assert {name.split(".")[0] for name in FILES} <= set(LEVEL)
    assert len(LEVEL) == sum(map(len, LAYERS))


def test_imports_go_downwards() -> None:
    assert len(IMPORTS) > 500
    assert [str(each) for each in IMPORTS if upward(each)] == []


def test_modules_form_no_circle() -> None:
    assert circle(IMPORTS) == []


LAZY = "\n\ndef added():\n    from dynascope.{} import anything\n"
AT_TOP = "\nimport dynascope.{}\n"
BY_NAME = "\nmodule = import_module('dynascope.{}')\n"
FOR_TYPES = "\nif TYPE_CHECKING:\n    from dynascope import {}\n"


@pytest.mark.parametrize("addition", [LAZY, AT_TOP, BY_NAME, FOR_TYPES])
@pytest.mark.parametrize(
    ("importer", "imported"), [("run", "store"), ("store.index", "cli"), ("config", "engine")]
)
def test_an_upward_import_is_found(addition: str, importer: str, imported: str) -> None:
    text = TEXTS[importer] + addition.format(imported)
    assert [each.imported for each in imports_of(importer, text) if upward(each)] == [imported]


def test_a_circle_within_a_layer_is_found() -> None:
    text = TEXTS["run"] + LAZY.format("trainer")
    rest = [each for each in IMPORTS if each.importer != "run"]
    assert {"run", "trainer"} <= {*circle([*rest, *imports_of("run", text)])}
