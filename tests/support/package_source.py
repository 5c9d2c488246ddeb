"""The package as text: its modules and what each of them imports, wherever that stands."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import dynascope

ROOT = Path(dynascope.__file__).parent


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


MODULES = {
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
        names = [_beginning(argument) for argument in node.args[:1]]
    for name in names:
        if name.split(".")[0] == "dynascope":
            yield _known(name.removeprefix("dynascope").removeprefix("."))


HIDING = ("__import__", "exec", "eval", "runpy", "pkgutil", "imp", "reload", "modules")


def hidden_imports(text: str) -> Iterator[str]:
    """Ways to import that cannot be read off: computed names, other names for `import_module`."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in HIDING:
                yield ast.unparse(node)
        elif (
            isinstance(node, ast.alias)
            and node.name.split(".")[-1]
            in (
                *HIDING,
                *(("import_module",) if node.asname else ()),
            )
        ) or (isinstance(node, ast.ImportFrom) and node.module in HIDING):
            yield ast.unparse(node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            plain = len(node.args) == 1 and not node.keywords
            if not plain or not _beginning(node.args[0]):
                yield ast.unparse(node)


def _beginning(text: ast.expr) -> str:
    """What is known of a text before it is computed: all of a literal, some of an f-string."""
    if isinstance(text, ast.JoinedStr):
        text = text.values[0]
    return str(text.value) if isinstance(text, ast.Constant) else ""


def _known(name: str) -> str:
    """The module that a dotted name begins with; `__init__` if that is the package itself."""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name or "__init__"


TEXTS: Mapping[str, str] = {name: file.read_text() for name, file in MODULES.items()}
IMPORTS = [each for name, text in TEXTS.items() for each in imports_of(name, text)]
