"""The line at the top has room for what it says, on every screen."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import Sandbox, serving
from playwright.sync_api import Browser, expect
from showing import Server

import dynascope as ds

RUNS: dict[str, dict[str, Any]] = {
    "usual": {},
    "all options": {"task.name": "most-frequent", "precision": "float64"},
    "diverged": {"training.lr": 100.0},
}
WIDTHS = (1440, 1366, 1280, 1024, 912, 800, 768)

# What lies outside of the header, and chips whose text is cut.
_CUT = """() => {
    const top = document.querySelector(".top");
    const cut = [...top.querySelectorAll(".chip")].filter((e) => e.scrollWidth > e.clientWidth);
    return [...(top.scrollWidth > top.clientWidth ? ["the header"] : []),
        ...cut.map((e) => e.innerText)]; }"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("header")


@pytest.fixture(scope="module")
def runs(folder: Path) -> dict[str, ds.Run]:
    for i, changes in enumerate(RUNS.values()):
        config = ds.Config().replace({"training.epochs": 20, **changes})
        ds.train(config, [15], progress=False).save(folder / "store", append=i > 0)
    return dict(zip(RUNS, ds.load(folder / "store"), strict=True))


@pytest.fixture(scope="module")
def server(runs: dict[str, ds.Run], folder: Path) -> Iterator[Server]:
    with serving(folder) as running:
        yield running


@pytest.mark.parametrize("name", RUNS)
def test_nothing_is_cut_off(
    name: str, browser: Browser, server: Server, runs: dict[str, ds.Run]
) -> None:
    """Options are left out where there is no room for them; only a verdict may end in dots, and
    that on a tablet."""
    page = Sandbox(browser, server.address).open(runs[name])
    expect(page.page.locator(".chip.good, .chip.muted")).to_have_count(1)  # it is analysed
    for width in WIDTHS:
        page.page.set_viewport_size({"width": width, "height": 900})
        cut = page.page.evaluate(_CUT)
        if width < 960:
            cut = [text for text in cut if not text.startswith("at the end: ")]
        assert cut == [], width
    page.context.close()
    page.check(server)
