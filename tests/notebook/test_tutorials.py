"""The notebooks of docs/notebooks run from top to bottom, and are kept without their outputs."""

import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from docs_pages import ROOT, anchors
from notebook_running import notebook_of, outputs, run_notebook
from parsed_html import ParsedHtml, check_harmless
from wording import banned

FILES = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
# The cards that each is to show.
SHOWN = {
    "first-run": {"Run", "runs", "Parameters", "Circuit", "Phases"},
    "a-spike-explained": {"Run", "Spikes"},
    "a-sweep-with-pandas": {"Run", "runs", "Circuit"},
}
TITLE = re.compile(r"Run(?= )|\d+ runs|Parameters|Circuit|Phases|Spikes")
names = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


def read(file: Path) -> Any:
    return nbformat.read(file, as_version=4)


def test_there_are_three() -> None:
    assert {file.stem for file in FILES} == SHOWN.keys()


@names
def test_a_notebook_runs(file: Path, tmp_path: Path) -> None:
    done = run_notebook(read(file), tmp_path)
    assert outputs(done, "error") == []
    assert [out["text"] for out in outputs(done, "stream") if out["name"] == "stderr"] == []
    cards = [out["data"].get("text/html", "") for out in outputs(done, "execute_result")]
    titles = set()
    for card in (html for html in cards if "dynascope-card" in html):
        page = ParsedHtml(card)
        check_harmless(page)
        titles |= {re.sub(r"\d+ ", "", TITLE.match(page.text())[0])}  # type: ignore[index]
    assert SHOWN[file.stem] <= titles


@names
def test_a_notebook_is_kept_without_outputs(file: Path) -> None:
    for cell in read(file).cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
        assert cell["metadata"] == {}
    about = json.loads(file.read_text(encoding="utf-8"))["metadata"]
    assert about.keys() == {"kernelspec", "language_info"}  # no machine's name or version


@names
def test_the_links_of_a_notebook_lead_somewhere(file: Path) -> None:
    text = "\n".join(cell["source"] for cell in read(file).cells if cell["cell_type"] == "markdown")
    assert banned(re.sub(r"`[^`]*`", "", text)) == []
    for path, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", text):
        target = file.parent / path
        assert target.exists(), path
        assert not anchor or anchor in anchors(target), anchor


BAR = """
from dynascope.progress import Bar, Status
bar = Bar()
for done in (1, 2, 3):
    bar(Status(3, 300, done, 100 * done - 50, began=-1e6))
"""


def test_progress_in_a_notebook_is_a_line_that_goes(tmp_path: Path) -> None:
    """Rich's own bar needs ipywidgets there, and leaves a warning where they are not installed."""
    done = run_notebook(notebook_of(BAR, "print(bar.close())"), tmp_path)
    (shown,) = outputs(done, "display_data")
    assert shown["data"] == {"text/plain": ""}  # once it is closed
    assert [out["text"] for out in outputs(done, "stream")] == ["None\n"]
    still = run_notebook(notebook_of(BAR), tmp_path)
    (shown,) = outputs(still, "display_data")
    assert re.match("█{20}░{4}  3/3 runs  .* left$", shown["data"]["text/plain"])
