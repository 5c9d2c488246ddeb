"""The documentation holds: its examples run, its links lead somewhere, its commands exist.

The `python` and `bash` blocks of a page run in their order, in an empty folder, the Python ones in
one namespace. Of the `bash` blocks only those of `dynascope` commands run. A block after
`<!-- not run: reason -->` does not.
"""

import json
import os
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from docs_pages import BLOCK, PAGES, README, ROOT, TEXTS, anchors
from processes import environment, finished

from dynascope import _kernel

NOT_RUN = re.compile(r"<!-- not run: \w[^>]*-->\s*\Z")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"")
# In code: paths that begin with a folder of the repository.
PATH = re.compile(r"`((?:\.ci|benchmarks|docs|kernel|scripts|src|tests)/[^\s`]*)")


class Block(NamedTuple):
    language: str
    code: str
    line: int  # of the page, before the first of the code


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def examples(page: Path) -> Iterator[Block]:
    """The blocks that are to be run."""
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        language, code = block.groups()
        ours = language == "python" or (language == "bash" and code.startswith("dynascope "))
        if ours and not NOT_RUN.search(text[: block.start()]):
            yield Block(language, code, text[: block.start()].count("\n") + 1)


@pytest.mark.parametrize("page", [page for page in PAGES if any(examples(page))], ids=name)
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    variables = shell(tmp_path / "bin")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in examples(page):
        if block.language == "python":
            placed = "\n" * block.line + block.code  # so that a traceback names the page's line
            exec(compile(placed, str(page), "exec"), namespace)
        else:
            run_in_shell(block, page, variables)


def shell(folder: Path) -> dict[str, str]:
    """An environment whose command `dynascope` is the package under test."""
    folder.mkdir()
    command = folder / "dynascope"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dynascope "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return environment(PATH=path, PYTHONIOENCODING="utf-8")


def run_in_shell(block: Block, page: Path, variables: dict[str, str]) -> None:
    # The pages name the plainest instruction set of most machines: take that of this one.
    code = block.code.replace("DYNASCOPE_ISA=sse2", f"DYNASCOPE_ISA={_kernel.usable_isas()[-1]}")
    done = finished(["bash", "-euo", "pipefail", "-c", code], env=variables)
    assert done.returncode == 0, f"{name(page)}, line {block.line}:\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("page", [*(ROOT / "docs").glob("*.md")], ids=name)
def test_every_page_is_listed(page: Path) -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    assert page.name == "index.md" or f"]({page.name})" in index


@pytest.mark.parametrize("page", TEXTS, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for link in (one or other for one, other in LINK.findall(text)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link
    for path in PATH.findall(text):
        assert any(ROOT.glob(path.rstrip("/"))), path


def test_the_readmes_two_commands() -> None:
    blocks = [code.strip() for _, code in BLOCK.findall(README.read_text(encoding="utf-8"))]
    assert "scripts/setup && .venv/bin/dynascope demo" in blocks
    assert "scripts/test" in blocks
    assert "scripts/test" in (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    for script in ("scripts/setup", "scripts/test", "scripts/check", ".ci/run"):
        assert os.access(ROOT / script, os.X_OK), script


def test_the_readmes_examples_need_only_what_setup_installs() -> None:
    """pandas and PyTorch are extras: these would fail after `scripts/setup`."""
    code = "\n".join(block.code for block in examples(README))
    assert not re.search(r"\.frame\(|to_pandas|import (pandas|torch)", code)


def test_the_readme_counts_what_its_example_counts() -> None:
    """The example asserts how many of the twenty runs solve the task; the caption says it too."""
    text = README.read_text(encoding="utf-8")
    asserted = re.findall(r"assert runs\.solved\(\) == (\d+)", text)
    assert asserted == re.findall(r"(\d+) of 20\b", text)


def test_the_speed_table_is_the_measured_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """benchmarks/table.py makes it, and the README's sentence, from benchmarks/results.json."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    made = runpy.run_path(str(ROOT / "benchmarks/table.py"))
    results = json.loads((ROOT / "benchmarks/results.json").read_text())
    assert made["markdown"](results) in (ROOT / "benchmarks/README.md").read_text()
    assert made["headline"](results) in README.read_text()


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ("what_happened", "analysis.md"),
        ("saddles", "theory.md"),
        ("theory", "theory.md"),
        ("curvature", "theory.md"),
    ],
)
def test_measured_tables_are_the_measured_ones(
    script: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is made by its script in benchmarks/ from the JSON beside it."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    made = runpy.run_path(str(ROOT / f"benchmarks/{script}.py"))
    results = json.loads((ROOT / f"benchmarks/{script}.json").read_text())
    page = (ROOT / "docs" / name).read_text()
    for name, text in made["tables"](results).items():
        assert f"<!-- {name} -->\n{text}\n<!-- /{name} -->" in page
