"""The sandbox in a real browser, of runs with other tasks than modular addition."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browsing import Sandbox, serving, tokens
from playwright.sync_api import Browser, expect
from showing import Server

import dynascope as ds
from dynascope import analysis
from dynascope.number_text import percent

NAMES = ("most-frequent", "products")
EPOCHS = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tasks")


@pytest.fixture(scope="module")
def runs(folder: Path) -> dict[str, ds.Run]:
    changes = {"task.relevant": 4, "training.epochs": EPOCHS, "training.lr": 0.02}
    for i, name in enumerate(NAMES):
        config = ds.Config().replace({**changes, "task.name": name})
        ds.train(config, progress=False).save(folder / "store", append=i > 0)
    return {run.config.task.name: run for run in ds.load(folder / "store")}


@pytest.fixture(scope="module")
def server(runs: dict[str, ds.Run], folder: Path) -> Iterator[Server]:
    with serving(folder) as running:
        yield running


@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_shown_with_its_own_task(
    name: str, browser: Browser, server: Server, runs: dict[str, ds.Run]
) -> None:
    run, page = runs[name], Sandbox(browser, server.address)
    page.open(run, epoch=EPOCHS)
    found = analysis.circuit(run.parameters(), run.config)
    expect(page.page.locator(".chip").filter(has_text=name)).to_be_visible()
    fact = page.page.locator("dt", has_text="accuracy, all sequences").locator("+ dd")
    expect(fact).to_have_text(percent(found.accuracy))
    rows = page.data("sequence")
    shown = tokens(rows)
    assert [int(row["target"]) for row in rows] == run.task.targets(shown).tolist()
    assert run.task.groups is not None
    groups = run.task.groups.canonical(np.ascontiguousarray(shown[:, :4]))
    assert len(np.unique(groups, axis=0)) == run.task.groups.count
    page.context.close()
    page.check(server)
