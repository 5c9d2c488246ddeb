"""A branch that was trained in the page, saved into the folder that is shown: the same bits, in the
table, and open at a click."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browsing import Sandbox
from playwright.sync_api import Browser, Page, expect
from showing import Server, show

import dynascope as ds
from dynascope.sandbox import client

CONFIG = ds.Config().replace(
    {"task.train_size": 128, "task.test_size": 64, "training.batch": 16, "training.epochs": 30}
)

_TRAINED = """(epochs) => { const live = dynascope.slots.value.at(-1)?.live;
    return live && !live.now.value.training && live.now.value.epoch === epochs; }"""
_WEIGHTS = """() => { const { weights } = dynascope.slots.value.at(-1).live;
    return Array.from(weights.rows(0, weights.count)); }"""
_OPEN = "(id) => dynascope.slots.value.map((slot) => slot.info.id).join() === id"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ds.train(CONFIG, seeds=2, progress=False).save(tmp_path / "kept")
    return tmp_path / "kept"


@pytest.fixture
def server(folder: Path, tmp_path: Path) -> Iterator[Server]:
    shutil.copytree(client.FOLDER, tmp_path / "static")
    with show(tmp_path / "static", folder, "--no-open", "--writable") as running:
        yield running


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Sandbox]:
    sandbox = Sandbox(browser, server.address)
    yield sandbox
    sandbox.context.close()
    sandbox.check(server)


def save(page: Page, entry: str) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name=entry).click()


def test_a_branch_is_saved_and_opened(page: Sandbox, folder: Path) -> None:
    (run, _), on = ds.load(folder), page.page
    page.open(run, epoch=20)
    on.get_by_role("button", name="Save", exact=True).click()
    expect(on.get_by_role("button", name="into kept")).to_have_count(0)  # nothing was trained here
    on.keyboard.press("Escape")
    on.get_by_text("Other options for the branch").click()
    on.get_by_label("training.lr").last.fill("0.03")
    on.get_by_role("button", name="Train on from here").click()
    on.wait_for_function(_TRAINED, arg=30)
    weights = np.array(on.evaluate(_WEIGHTS), np.float32)

    save(on, "Save branch 1 into kept")
    notice = on.get_by_role("status").filter(has_text="is saved in kept")
    expect(notice).to_be_visible()
    saved = ds.load(folder, strict=True)[2]
    expect(notice).to_contain_text(f"branch 1 is saved in kept, with 30 epochs: run {saved.id}.")
    assert np.array_equal(weights, saved.weights.ravel())
    assert saved.config_at(25).training.lr == 0.03
    save(on, "Save branch 1 into kept")
    expect(
        on.get_by_text(f"kept has branch 1 already, with 30 epochs: run {saved.id}.")
    ).to_be_visible()

    on.get_by_role("button", name="Open the stored run").click()
    on.wait_for_function(_OPEN, arg=saved.id)
    expect(on.locator(".chip", has_text="at the end:")).to_be_visible()  # the analysis tells
    on.get_by_role("button", name="All runs").click()
    expect(page.rows).to_have_count(3)


def test_a_server_that_has_gone_is_told_of(page: Sandbox, folder: Path, server: Server) -> None:
    page.open(ds.load(folder)[0], epoch=20)
    on = page.page
    on.get_by_role("button", name="Train on from here").click()
    on.wait_for_function(_TRAINED, arg=30)
    server.stop()
    save(on, "Save branch 1 into kept")
    expect(on.get_by_role("alert")).to_contain_text("The server does not answer")
    expect(on.get_by_text("the server trains it again")).to_have_count(0)
    page.problems.clear()  # the browser's own line about a server that has gone
