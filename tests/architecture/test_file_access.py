"""Files of stores are opened, made, moved and deleted in one module, which follows no link.

Whoever works on stores elsewhere gets no further than asking that module.
"""

import ast
from collections.abc import Iterator

import pytest
from package_source import TEXTS

DOOR = "store.handles"
# Packages whose files are those of stores.
STORES = ("store.", "sweeps.", "findings.", "sandbox.")
# Names that reach the file system, as functions or as methods of a path.
REACH = {
    *("open", "read_bytes", "read_text", "write_bytes", "write_text", "iterdir", "glob", "rglob"),
    *("unlink", "rmtree", "rmdir", "rename", "replace", "touch", "scandir", "listdir", "walk"),
    *("mkdir", "makedirs", "symlink_to", "hardlink_to", "copy", "copyfile", "copytree", "move"),
    *("truncate", "chmod", "mkdtemp", "remove", "link", "symlink"),
}
MODULES_OF_THE_SYSTEM = {"os", "shutil", "tempfile", "pathlib", "io"}
# What a module does with files that are not inside a store, and why that is all right.
ALLOWED = {
    (
        "store.recipe",
        "mkdtemp",
    ): "a run that was trained again lies in a folder of this process alone",
    ("store.recipe", "rmtree"): "and goes when the process ends",
    ("store.files", "rmtree"): "and goes if it could not be finished",
    ("store.files", "mkdir"): "the folder that a person named",
    ("store.files", "iterdir"): "whether that folder is empty",
    ("store.files", "chmod"): "the new folder",
    ("store.writable", "mkdtemp"): "a probe of whether the place a person named can be written to",
    ("store.writable", "mkdir"): "in the probe's own folder",
    ("store.writable", "open"): "in the probe's own folder",
    ("store.writable", "rmtree"): "the probe's own folder",
    ("store.writable", "rename"): "the empty folder that a person named, and back",
    ("store.save", "iterdir"): "whether the folder that a person named is empty",
    ("store.index", "glob"): "what a folder holds that is no store, for the hint",
    ("store.authors", "walk"): "runs of the paper's own code, which are no store",
    ("store.authors", "read_text"): "runs of the paper's own code, which are no store",
    ("store.unpickle", "read_bytes"): "runs of the paper's own code, which are no store",
    ("sweeps.driver", "mkdir"): "the folder that a person named",
    ("sandbox.client", "read_bytes"): "the page, which is a part of the package",
    ("sandbox.embedded_client", "read_bytes"): "the kernel, which is a part of the package",
    ("sandbox.embedded_client", "read_text"): "the page, which is a part of the package",
    ("sandbox.report_site", "read_bytes"): "the report of studies, beside the stores",
    ("sandbox.headless", "mkdtemp"): "the profile of a browser that we start",
    ("sandbox.headless", "read_text"): "the browser's last words, in that profile",
    ("sandbox.headless", "rmtree"): "the profile goes with the browser",
}


def reached(text: str) -> Iterator[tuple[str, int]]:
    """Calls that reach the file system, and their lines."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id == "open":
            yield "open", node.lineno
        elif isinstance(called, ast.Attribute) and called.attr in REACH and _is_file_like(called):
            yield called.attr, node.lineno


def _is_file_like(called: ast.Attribute) -> bool:
    """Not `text.replace(...)`, `config.replace(...)`, `Shard.open(...)` or `list.remove(...)`."""
    owner = ast.unparse(called.value)
    if owner in MODULES_OF_THE_SYSTEM:
        return True
    ambiguous = {"open", "replace", "copy", "remove", "move", "link", "touch"}
    return called.attr not in ambiguous or owner.rpartition(".")[2] in {"path", "temporary", "file"}


@pytest.mark.parametrize("module", [name for name in TEXTS if name.startswith(STORES)])
def test_stores_are_reached_through_one_module(module: str) -> None:
    if module == DOOR:
        return
    for name, line in reached(TEXTS[module]):
        assert (module, name) in ALLOWED, f"{module}, line {line}: {name}; use {DOOR}"


def test_the_exceptions_are_needed() -> None:
    for module, name in ALLOWED:
        assert name in {each for each, _ in reached(TEXTS[module])}, (module, name)


@pytest.mark.parametrize(
    "code",
    [
        "open(path)",
        "path.read_bytes()",
        "os.open(path, 0)",
        "(folder / 'x').unlink()",
        "shutil.rmtree(folder)",
        "os.replace(a, b)",
        "path.open()",
        "file.replace(other)",
        "folder.iterdir()",
    ],
)
def test_the_search_finds(code: str) -> None:
    assert list(reached(code))


@pytest.mark.parametrize(
    "code", ["text.replace('a', 'b')", "config.replace({})", "Shard.open(path)", "tags.remove(x)"]
)
def test_the_search_passes_over(code: str) -> None:
    assert not list(reached(code))
