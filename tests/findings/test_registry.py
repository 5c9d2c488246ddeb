"""One registry of analyses: an entry of columns and a file that makes and tells them, no more."""

import ast
import json
import os
import re
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import pytest
from analysed import three
from variant import SITE

import dynascope as ds
from dynascope import _kernel
from dynascope.analysis_columns import DECLARATIONS, DEFAULT_KINDS, KINDS, check_kinds, function_of
from dynascope.catalog import PARAMETERS, STAGES
from dynascope.findings.kind import Listing
from dynascope.findings.registry import kinds
from dynascope.plain import plain

ROOT = Path(ds.__file__).parent
FORMAT = (ROOT / "store" / "FORMAT.md").read_text()
TYPES = {
    "double": "float64",
    "list<int64>": "list of int64",
    "list<double>": "list of float64",
    "list<bool>": "list of bool",
}


def test_a_kind_is_a_file_of_its_name() -> None:
    files = (ROOT / "findings").glob("kind_*.py")
    assert {file.stem.removeprefix("kind_") for file in files} == {*KINDS} == {*kinds(KINDS)}


def test_what_is_made_unasked() -> None:
    """What most people want to know; the rest only if it is named, one by one or as "all"."""
    usual = ("kept_sum", "circuit", "phases", "sum_progress", "spikes")
    assert DEFAULT_KINDS == usual == (*kinds(),)
    assert check_kinds("all") == check_kinds(["spikes", "all"]) == KINDS
    assert len(KINDS) == 14


def test_a_kind_is_a_function_of_the_package() -> None:
    """As `run.tandem` and `run.saddles` say where to find it."""
    assert {function_of(name).partition(".")[0] for name in KINDS} == {"analysis", "theory"}
    for name in KINDS:
        assert callable(attrgetter(function_of(name))(ds))
        if name not in PARAMETERS:
            with pytest.raises(AttributeError, match=rf"ds\.{function_of(name)}"):
                getattr(three()[0], name)


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_gives_what_it_declares(name: str) -> None:
    kind = kinds(KINDS)[name]
    found = kind.make(three()[0])
    assert [*kind.row(found)] == [*DECLARATIONS[name].columns]
    assert (*kind.json(found),) == kind.parts
    json.dumps(plain(kind.json(found)), allow_nan=False)
    assert kind.json_of(None) == dict.fromkeys(kind.parts)
    text = list(kind.text(found))
    assert text
    assert all(isinstance(line, str | Listing) and line for line in text)
    row = {"accuracy": 1.0, **plain(kind.row(found))}
    nothing = dict.fromkeys(row)
    for cells in (*kind.cells, *([kind.brief] if kind.brief else [])):
        assert cells.cell(row)
        assert cells.cell(nothing)
    json.dumps(kind.totals([row, nothing]), allow_nan=False)


@pytest.mark.parametrize("name", KINDS)
def test_columns_are_written_down(name: str) -> None:
    """In the format's specification, with their types and meanings."""
    for column, (type_, meaning, *_) in DECLARATIONS[name].columns.items():
        told = re.search(rf"^\| `{column}` \| ([^|]+) \| ([^|]+) \|$", FORMAT, re.MULTILINE)
        assert told, column
        assert told[1] == TYPES.get(type_, type_.replace("list<string>", "list of string"))
        assert told[2].startswith(name)
        assert told[2].endswith(f": {meaning}")


# Parameters and stages of the model have their names, too; the bar tells of the speed of training.
NAMED_ONCE = {*KINDS} - {*PARAMETERS} - {*STAGES} - {"speed"}


OTHERS_OF_THE_NAME = {
    "sidecar_rules.py": "columns, one of which is called `spikes`",
    "report_theory.py": "what theory says of one run, `bounds` at an epoch among it",
    "card_style.py": "colours, those of `phases` among them",
    "figure_layouts.py": "layouts of figures, `phases` among them",
}


def test_no_kind_is_named_elsewhere() -> None:
    """But where it is measured: all others go through the registry."""
    for file in ROOT.rglob("*.py"):
        if file.name == "analysis_columns.py" or file.stem.startswith("kind_"):
            continue
        if file.name in OTHERS_OF_THE_NAME:
            continue
        # These have layouts and panels so called; and studies, which say what their sweeps analyse.
        if file.parent.name not in ("analysis", "plots", "studies"):
            nodes = ast.walk(ast.parse(file.read_text()))
            texts = {node.value for node in nodes if isinstance(node, ast.Constant)}
            assert texts.isdisjoint(NAMED_ONCE), (file, texts & NAMED_ONCE)


ENTRY = """

length = Column("double", "length of the query")
DECLARATIONS["size"] = Declaration(1, {"size_of_query": length}, 0.01)
KINDS = tuple(DECLARATIONS)
"""
FILE = """
import numpy as np
from dynascope.findings.kind import Cells, Kind

class SizeKind(Kind):
    title, parts = "Size", ("size",)
    cells = (Cells("query", 3, lambda row: str(row["size_of_query"])[:4]),)
    brief = cells[0]
    def make(self, run, epoch=-1):
        return float(np.linalg.norm(run.parameters(epoch).query))
    def row(self, found):
        return {"size_of_query": found}
    def text(self, found):
        yield f"the query has length {found}"
    def json(self, found):
        return {"size": found}
    def totals(self, rows):
        return {"largest": max(row["size_of_query"] for row in rows)}
    def totals_text(self, totals):
        yield f"the longest query: {totals['largest']}"

KIND = SizeKind()
"""
USE = """
import json, sys
import dynascope as ds
from dynascope.cli import main
from dynascope.sandbox.analysis_answers import analysis
folder = sys.argv[1]
runs = ds.load(folder)
made = runs.analyse("size", progress=False).to_pylist()
asked = ds.query(folder, "SELECT size_of_query FROM runs").to_pylist()
shown = json.loads(analysis(runs[0], lambda: None))["size"]
print(json.dumps([made, asked, shown]))
sys.exit(main(["report", folder]) or main(["report", folder, "--run", runs[0].id]))
"""


def test_one_more_is_a_file_and_an_entry(folder: Path, tmp_path: Path) -> None:
    """In a package with one kind more, which differs in nothing else."""
    package = tmp_path / "package" / "dynascope"
    (package / "findings").mkdir(parents=True)
    for source in (*ROOT.iterdir(), *(ROOT / "findings").iterdir()):
        target = package / source.relative_to(ROOT)
        if source.name not in ("findings", "analysis_columns.py", "__pycache__"):
            target.symlink_to(source)
    text = (ROOT / "analysis_columns.py").read_text()
    (package / "analysis_columns.py").write_text(
        text.replace("KINDS = tuple(DECLARATIONS)\n", ENTRY, 1)
    )
    (package / "findings" / "kind_size.py").write_text(FILE)
    kernel = package / Path(_kernel.__file__).name
    if not kernel.exists():  # an editable install keeps it elsewhere
        kernel.symlink_to(_kernel.__file__)
    (package.parent / "sitecustomize.py").write_text(SITE)
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    script = [sys.executable, "-c", USE, str(folder)]
    done = subprocess.run(script, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    first, _, printed = done.stdout.partition("\n")
    made, asked, shown = json.loads(first)
    lengths = [row["size_of_query"] for row in made]
    assert [row["size_of_query"] for row in asked] == lengths
    assert shown == lengths[0] > 0
    assert f"the longest query: {max(lengths)}" in printed
    assert f"Size\nthe query has length {lengths[0]}" in printed
