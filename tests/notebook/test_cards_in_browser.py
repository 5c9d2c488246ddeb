"""Cards in a real browser: light and dark as the page says, nothing else restyled, nothing run."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import CHROMIUM, NOTE
from notebook_cases import solved, train
from playwright.sync_api import Browser, sync_playwright

import dynascope as ds
from dynascope.notebook.show import html_of

THEME = json.loads(Path(ds.__file__).with_name("theme.json").read_text(encoding="utf-8"))
# How a host says that it is light or dark, and what the system prefers: which of them counts.
HOSTS = [
    ("", "", "light", "light"),
    ("", "", "dark", "dark"),
    ("", 'data-jp-theme-light="true"', "dark", "light"),
    ("", 'data-jp-theme-light="false"', "light", "dark"),
    ("", 'class="vscode-light"', "dark", "light"),
    ("", 'class="vscode-dark"', "light", "dark"),
    ("", 'class="vscode-high-contrast vscode-high-contrast-light"', "dark", "light"),
    ('theme="dark"', "", "light", "dark"),
    ('data-theme="light"', "", "dark", "light"),
]
HOST = "<p id=host>text <code>code</code></p><table id=host-table><tr><td>1</td></tr></table>"
_COLOURS = """() => { const card = document.querySelector(".dynascope-card");
    const line = card.querySelector("path");
    return [getComputedStyle(card).backgroundColor, getComputedStyle(card).color,
        line && getComputedStyle(line).stroke]; }"""
_HOST = """() => ["#host", "#host code", "#host-table", "#host-table td"].map((name) => {
    const style = getComputedStyle(document.querySelector(name));
    return [...style].map((key) => [key, style.getPropertyValue(key)]).join(); })"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM)
        yield started
        started.close()


def page_of(
    browser: Browser, body: str, host: str = "", own: str = "", scheme: Any = "light"
) -> Any:
    page = browser.new_page(color_scheme=scheme, viewport={"width": 520, "height": 700})
    page.set_content(f"<!doctype html><html {host}><body {own}>{body}</body></html>")
    return page


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"


@pytest.mark.parametrize(("host", "own", "scheme", "counts"), HOSTS)
def test_the_page_decides_on_light_or_dark(
    host: str, own: str, scheme: str, counts: str, browser: Browser
) -> None:
    page = page_of(browser, html_of(solved()), host, own, scheme)
    theme = THEME[counts]
    assert page.evaluate(_COLOURS) == [
        rgb(each) for each in (theme["panel"], theme["ink"], theme["curves"]["test"])
    ]
    page.close()


def test_nothing_else_is_restyled(browser: Browser) -> None:
    styles = []
    for shown in ("", html_of(solved()), html_of(train())):
        page = page_of(browser, HOST + shown)
        styles.append(page.evaluate(_HOST))
        page.close()
    assert styles[0] == styles[1] == styles[2]


def test_a_card_is_no_wider_than_the_page_and_runs_nothing(
    browser: Browser, tmp_path: Path
) -> None:
    train().save(tmp_path / "store")
    runs = ds.load(tmp_path / "store")
    runs.note(NOTE + "w" * 300)
    page = page_of(browser, "".join(map(html_of, (runs, runs[0], solved().parameters()))))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("window.hacked === undefined && !document.querySelector('img, script')")
    assert NOTE[:40] in page.inner_text("body")
    page.close()


def test_without_its_style_a_card_is_its_tables(browser: Browser) -> None:
    """Jupyter takes style and SVG out of notebooks that it does not trust: labels go with them."""
    page = page_of(browser, html_of(solved()))
    assert page.locator("svg").is_visible()
    page.evaluate("document.querySelector('style').remove()")
    assert not page.get_by_text("train loss").is_visible()
    assert page.get_by_text("learning epoch").is_visible()
    page.close()
