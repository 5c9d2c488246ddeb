"""Objects show themselves also where something is damaged, unknown or not installed."""

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from IPython.core.formatters import DisplayFormatter
from later_version import run_later
from notebook_cases import CASES, SMALL, solved, train
from parsed_html import check_harmless, parsed

import dynascope as ds
from dynascope import notebook_display
from dynascope.notebook.show import html_of


def damage_tables(folder: Path) -> None:
    for file in (folder / "runs").iterdir():
        file.write_bytes(file.read_bytes()[:50])


def damage_weights(folder: Path) -> None:
    for file in (folder / "trajectories").iterdir():
        file.write_bytes(file.read_bytes()[:50])


def delete_tables(folder: Path) -> None:
    for file in (folder / "runs").iterdir():
        file.unlink()


@pytest.mark.parametrize("damage", [damage_tables, damage_weights, delete_tables])
@pytest.mark.parametrize("looked_at", [False, True])
def test_damaged_runs_still_show(damage: Any, looked_at: bool, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    train().save(folder)
    runs = ds.load(folder)
    run = runs[1]
    before = html_of(run) if looked_at else ""
    damage(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ds.DamageWarning)  # which says it as well
        for shown in (run, runs):
            page = parsed(shown)
            check_harmless(page)
            assert repr(shown).startswith("Run")
        if damage is damage_weights:
            assert html_of(run) == before or not looked_at
        elif not looked_at:
            assert "damaged" in parsed(run).text() + repr(run)
            assert "3 runs cannot be read: see runs.damage" in parsed(runs).text()


def test_a_run_of_a_later_version_shows_what_is_known(tmp_path: Path) -> None:
    code = """
    config = ds.Config().replace({**given["small"], "task.noise": 0.5})
    ds.train(config, 2, progress=False).save(given["folder"])
    print("{}")
    """
    run_later(code, folder=str(tmp_path / "later"), small=SMALL)
    page = parsed(ds.load(tmp_path / "later")[0])
    assert page.facts()["last epoch"] == "12"
    assert "task.noise = 0.5" in page.text()  # why the rest is not there
    assert len(page.named("path")) == 2


def test_a_card_that_cannot_be_made_leaves_the_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(shown: object) -> str:
        raise RuntimeError("a fault of ours")

    run = solved()
    monkeypatch.setattr(notebook_display, "_provided", [broken])
    assert run._repr_html_() is None


@pytest.mark.parametrize("name", ["run", "some runs", "parameters", "circuit", "phases", "spikes"])
def test_jupyter_finds_the_card(name: str) -> None:
    shown = CASES[name]()
    formats, _ = DisplayFormatter().format(shown)
    assert formats["text/html"] == html_of(shown)
    assert formats["text/plain"]


LIGHT = """
import sys
import dynascope as ds

def loaded(*names):
    return [name for name in names if name in sys.modules]

assert not loaded("dynascope.notebook", "IPython", "matplotlib", "anywidget"), sys.modules
run = ds.train({"training.epochs": 2}, progress=False)[0]
assert run._repr_html_() and run.parameters()._repr_html_()
assert not loaded("dynascope.analysis", "IPython", "matplotlib", "pyarrow", "scipy", "rich")
"""


def test_looking_at_a_run_loads_little() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIGHT], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
