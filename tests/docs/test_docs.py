"""The documentation holds: its examples run, its links lead somewhere, its commands exist.

The `python` and `bash` blocks of a page run in their order, in an empty folder, the Python ones in
one namespace, in the environment that `scripts/setup` makes. Of the `bash` blocks only those of
`dynascope` commands run. A block after `<!-- not run: reason -->` does not run, and one after
`<!-- needs: torch -->` runs with that extra; the text before it must say so, too.
"""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from clean_environment import (
    CORE,
    EXTRAS,
    SETUP_EXTRAS,
    clean_environment,
    installed_by_setup,
    refused_packages,
)
from docs_pages import BLOCK, PAGES, README, ROOT, TEXTS, anchors
from page_examples import examples, run_page
from processes import finished

from dynascope.extras import Extra

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"")
# In code: paths that begin with a folder of the repository.
PATH = re.compile(r"`((?:\.ci|benchmarks|docs|kernel|scripts|src|tests)/[^\s`]*)")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


with_examples = pytest.mark.parametrize(
    "page", [page for page in PAGES if any(examples(page))], ids=name
)


@with_examples
def test_examples(page: Path, tmp_path: Path) -> None:
    variables = with_command(tmp_path, clean_environment(tmp_path))
    done = run_page(page, [sys.executable, "-W", "error"], variables, tmp_path / "work")
    assert done.returncode == 0, f"{name(page)}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}"


def with_command(folder: Path, variables: dict[str, str]) -> dict[str, str]:
    """An environment whose command `dynascope` is the package under test."""
    command = folder / "bin" / "dynascope"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dynascope "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    return {**variables, "PATH": path, "PYTHONIOENCODING": "utf-8"}


@with_examples
def test_what_needs_an_extra_says_so(page: Path) -> None:
    for block in examples(page):
        if block.extra:
            assert block.extra in EXTRAS, block.line
            assert f"extra `{block.extra}`" in block.section, f"{name(page)}, line {block.line}"


CLEAN_PROGRAM = """
import json, sys
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = bool(__import__(name))
    except ModuleNotFoundError as error:
        found[name] = error.name
print(json.dumps(found))
"""


@pytest.mark.parametrize("extra", ["", "pandas", "torch"])
def test_the_clean_environment_is_clean(extra: str, tmp_path: Path) -> None:
    """What setup does not install cannot be imported there, as if it were not here."""
    outside = ["pandas", "torch", "pytest", "hypothesis", "ray"]
    inside = ["dynascope", "numpy", "pyarrow", "duckdb", "scipy", "safetensors", "anyio"]
    variables = clean_environment(tmp_path, extra)
    done = finished([sys.executable, "-c", CLEAN_PROGRAM, *outside, *inside], env=variables)
    assert done.returncode == 0, done.stderr
    wanted = {**dict.fromkeys(inside, True), **{each: each for each in outside}}
    assert json.loads(done.stdout) == wanted | ({extra: True} if extra else {})


def test_a_frame_without_pandas_is_refused_in_a_sentence(tmp_path: Path) -> None:
    code = "import dynascope as ds; ds.train({'training.epochs': 1}, progress=False).frame()"
    done = finished([sys.executable, "-c", code], env=clean_environment(tmp_path))
    wanted = "frame: pandas is not installed; run: pip install 'dynascope[pandas]', or use table()"
    assert wanted in done.stderr


def test_what_setup_installs_follows_from_the_project() -> None:
    assert {"dynascope", "numpy", "pyarrow", "anyio", "markdown-it-py"} <= installed_by_setup()
    assert not installed_by_setup() & {"pandas", "torch", "ray", "pytest", "ruff"}
    assert {"torch", "pandas", "pytest"} <= refused_packages()
    assert "sympy" in installed_by_setup("torch")  # what an extra needs in turn
    assert set(EXTRAS) >= SETUP_EXTRAS
    assert {"duckdb", "scipy"} <= installed_by_setup() - installed_by_setup(CORE)
    assert "ruptures" not in installed_by_setup("all")  # which has everything but what is for us
    assert all(installed_by_setup(extra) <= installed_by_setup("all") for extra in get_args(Extra))


@pytest.mark.slow
def test_the_readme_in_an_environment_that_setup_made(tmp_path: Path) -> None:
    """Really made: in a copy of the repository, by `scripts/setup`, with nothing but that."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    copy = tmp_path / "copy"
    for file in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / file).is_file():
            (copy / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, copy / file)
    variables = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    setup = subprocess.run(
        ["scripts/setup"], cwd=copy, env=variables, capture_output=True, text=True, check=False
    )
    assert setup.returncode == 0, setup.stderr[-4000:]
    variables["PATH"] = f"{copy / '.venv/bin'}{os.pathsep}{variables['PATH']}"
    done = run_page(README, [str(copy / ".venv/bin/python")], variables, tmp_path / "work")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


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
        ("dependencies", "install.md"),
        ("installing", "install.md"),
        ("setup_time", "install.md"),
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
