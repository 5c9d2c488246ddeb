"""Pages of the API, for mkdocstrings to fill from docstrings.

A public name is one that a package's `__init__.py` imports as itself (`from x import y as y`): the
project's own rule, so no list of names is kept here.
"""

import ast
from pathlib import Path

# The page of each package, with the page that says how it is used.
PACKAGES = {
    "dynascope": ("dynascope", "tour.md"),
    "analysis": ("dynascope.analysis", "analysis.md"),
    "theory": ("dynascope.theory", "theory.md"),
    "plots": ("dynascope.plots", "gallery.md"),
}


def public_names(package: Path) -> list[str]:
    """Names that the package gives, without those of modules and constants, in their order."""
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    own = [
        alias.name
        for node in imports
        for alias in node.names
        if alias.asname == alias.name and not alias.name.isupper()
    ]
    return [
        name
        for name in own
        if not name.startswith("_") and not _is_module_of(package, name, imports)
    ]


def _is_module_of(package: Path, name: str, imports: list[ast.ImportFrom]) -> bool:
    """Whether a name is a module: then it is imported from the package itself."""
    whole = "dynascope" if package.name == "dynascope" else f"dynascope.{package.name}"
    return any(
        node.module == whole and alias.name == name for node in imports for alias in node.names
    )


def page(package: Path, whole: str, guide: str) -> str:
    """The Markdown of a package's page: what it is, and every public name."""
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    summary = (ast.get_docstring(tree) or "").split("\n\n")[0]
    names = "\n\n".join(f"::: {whole}.{name}" for name in public_names(package))
    return f"# {whole}\n\n{summary}\n\nHow to use it: [the guide](../{guide}).\n\n{names}\n"
