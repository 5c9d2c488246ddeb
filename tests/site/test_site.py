"""The site of the documentation: built once, served under a path, and read in a real browser."""

import functools
import http.server
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from browsing import chromium
from docs_pages import ROOT
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.slow

SIZES = ((390, 844), (1280, 800), (1920, 1080))
_LINKS = """() => [...document.querySelectorAll("a[href], link[href], img[src], script[src]")]
    .map((each) => each.href || each.src)"""
_ANCHORS = "() => [...document.querySelectorAll('[id], a[name]')].map((e) => e.id || e.name)"
_OVERFLOW = "() => document.documentElement.scrollWidth - window.innerWidth"
_TRAINED = "() => dynascope.slots.value[0]?.live?.now.value.epoch > 0"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Requests are counted by the browser."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "a/b"
    done = subprocess.run(
        [ROOT / "scripts/build-site", "-o", folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(site.parents[1]))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/a/b/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A page that has met no error, and asked nobody else, when the test ends."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    found, problems = context.new_page(), []
    found.set_default_timeout(20_000)
    found.on("pageerror", lambda error: problems.append(str(error)))
    found.on("console", lambda m: m.type == "error" and problems.append(m.text))
    context.on("response", lambda r: r.status >= 400 and problems.append(r.url))
    hosts: set[str] = set()
    context.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    yield found
    context.close()
    assert problems == []
    assert hosts - {""} == {urlsplit(address).netloc}  # blobs have none


def pages_of(site: Path) -> list[str]:
    """But for the file of the playground, and the page for what is missing."""
    names = (str(file.relative_to(site)) for file in site.rglob("*.html"))
    return sorted(name for name in names if name not in ("play.html", "404.html"))


def test_every_link_and_anchor_leads_somewhere(page: Page, site: Path, address: str) -> None:
    links: dict[str, list[str]] = {}
    anchors: dict[str, set[str]] = {}
    for name in pages_of(site):
        page.goto(address + name)
        links[name] = page.evaluate(_LINKS)
        anchors[urljoin(address, name)] = set(page.evaluate(_ANCHORS))
    assert len(links) > 45
    for name, found in links.items():
        for link in found:
            target, anchor = urldefrag(link)
            if not target.startswith(address):
                assert urlsplit(target).netloc != urlsplit(address).netloc, (name, link)
                continue
            file = site / target.removeprefix(address)
            assert file.is_file() or (file / "index.html").is_file(), (name, link)
            if anchor and "=" not in anchor and target in anchors:
                assert anchor in anchors[target] | {"__comments"}, (name, link)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_nothing_overflows(
    page: Page, site: Path, address: str, size: tuple[int, int], scheme: Any
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    wide = {}
    for name in pages_of(site):
        page.goto(address + name)
        wide[name] = page.evaluate(_OVERFLOW)
    assert {name: by for name, by in wide.items() if by > 0} == {}
    used = page.locator("body").get_attribute("data-md-color-scheme")
    assert used == {"light": "default", "dark": "slate"}[scheme]


def test_the_search_finds(page: Page, address: str) -> None:
    page.goto(address)
    page.keyboard.press("f")  # the theme's key for it
    page.keyboard.type("sequence embedding", delay=20)
    first = page.locator(".md-search-result__link").first
    first.wait_for()
    assert (first.get_attribute("href") or "").startswith(address)


def test_the_keyboard_reaches_everything(page: Page, address: str) -> None:
    page.goto(address)
    reached = set()
    for _ in range(25):
        page.keyboard.press("Tab")
        name = """() => { const { activeElement: e } = document;
            return e.getAttribute("aria-label") || e.textContent.trim() || e.name; }"""
        reached.add(page.evaluate(name))
    assert {"Playground", "Search", "API"} <= reached
    assert any("olours" in each for each in reached), reached


def test_the_switch_changes_the_colours(page: Page, address: str) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(address)
    body = page.locator("body")
    expect(body).to_have_attribute("data-md-color-scheme", "slate")
    page.locator("label.md-header__button[for^=__palette]:visible").click()
    expect(body).to_have_attribute("data-md-color-scheme", "default")


def test_a_guided_link_opens_its_experiment_in_the_playground(page: Page, address: str) -> None:
    page.goto(address + "guided.html")
    page.get_by_role("link", name="Cause a spike", exact=True).click()
    frame = page.frame_locator("#playground-frame")
    expect(frame.get_by_text("Cause a spike").first).to_be_visible()
    expect(page.locator("#waiting")).to_be_hidden()
    with page.expect_navigation():
        page.locator("#alone").click()
    assert "play.html#" in page.url
    assert "guide=spike" in page.url


def test_the_playground_trains(page: Page, address: str) -> None:
    page.goto(address + "playground.html")
    inside = page.frame_locator("#playground-frame")
    inside.locator(".live-form button[type=submit]").click()
    frame = next(each for each in page.frames if "play.html" in each.url)
    frame.wait_for_function(_TRAINED)
