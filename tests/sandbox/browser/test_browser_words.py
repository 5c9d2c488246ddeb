"""Every word on the page explains itself: to a pointer, to the keyboard, to a finger, to a reader
of screens; and leads to the docs, which are served beside the page."""

import re
from typing import Any

import pytest
from browsing import Opener, Sandbox
from docs_pages import ROOT
from playwright.sync_api import Browser, Locator, Page, expect
from showing import Server
from wording import banned

import dynascope as ds
from dynascope import glossary

TEXTS = {entry.id: entry.text for entry in glossary.entries()}
VIEWS = {  # name: runs, what the address says more
    "run": (["solved"], ""),
    "wide": (["wide"], ""),
    "large": (["solved"], "&big=decision_map"),
    "spike": (["spike"], "&spike=0"),
    "two runs": (["solved", "wide"], ""),
    "presentation": (["solved"], "&mode=present"),
    "table": ([], ""),
}
PLACES = [  # view and size of the window; those with the most words take half a minute each
    pytest.param("run", 1440, 900, marks=pytest.mark.slow),
    pytest.param("run", 390, 844, marks=pytest.mark.slow),
    pytest.param("table", 1024, 768, marks=pytest.mark.slow),
    ("presentation", 1280, 720),
    pytest.param("presentation", 390, 844, marks=pytest.mark.slow),
]

# What people can read or hear: text, names and descriptions, titles, hints in fields.
_READ = """() => [document.body.innerText, ...[...document.querySelectorAll("*")].flatMap((e) =>
    ["title", "aria-label", "placeholder", "data-detail"].map((a) => e.getAttribute(a) ?? ""))]
    .join("\\n")"""
_PLACED = """() => { const tooltip = document.querySelector("[role=tooltip]");
    if (!tooltip) return null;
    const { left, top, right, bottom } = tooltip.getBoundingClientRect();
    return { left, top, right, bottom, cut: tooltip.scrollWidth > tooltip.clientWidth + 1,
             width: innerWidth, height: innerHeight }; }"""
# Whether all is known of what is open: what is not yet known has other words.
_KNOWN = """() => dynascope.slots.value.every((slot) => slot.analysis.value && slot.sum.value)"""
# Explained elements that can be pointed at, by a number that a test finds them by.
_MARKED = """() => { const seen = [];
    for (const e of document.querySelectorAll("[data-term]")) {
        e.scrollIntoView({ block: "nearest" });
        const { left, top, width, height } = e.getBoundingClientRect();
        const there = document.elementFromPoint(left + width / 2, top + height / 2);
        if (width && height && e.contains(there)) {
            e.setAttribute("data-number", seen.length); seen.push(e.dataset.term);
        } }
    return seen; }"""


def go(page: Sandbox, runs: dict[str, ds.Run], view: str) -> None:
    names, more = VIEWS[view]
    if not names:
        page.open_table()
    elif view == "spike":
        page.go(f"v=1&run={runs['spike'].id}&t=199{more}")
        expect(page.page.locator(".half h2").nth(0)).to_contain_text("Before the spike: epoch 1")
    else:
        page.open(*(runs[name] for name in names), epoch=5, more=more)


def tooltip(page: Page) -> Locator:
    return page.get_by_role("tooltip")


def beside(page: Page, target: Locator) -> None:
    """The tooltip is in the window, whole, and not over what it explains."""
    placed: dict[str, Any] = page.evaluate(_PLACED)
    assert placed is not None
    assert not placed["cut"]
    assert min(placed["left"], placed["top"]) >= 0
    assert placed["right"] <= placed["width"]
    assert placed["bottom"] <= placed["height"]
    box = target.bounding_box()
    assert box is not None
    assert (
        placed["right"] <= box["x"]
        or placed["left"] >= box["x"] + box["width"]
        or placed["bottom"] <= box["y"]
        or placed["top"] >= box["y"] + box["height"]
    )


@pytest.mark.parametrize("view", VIEWS)
def test_no_banned_word_is_read(page: Sandbox, runs: dict[str, ds.Run], view: str) -> None:
    go(page, runs, view)
    read: str = page.page.evaluate(_READ)
    assert banned(read) == []
    assert len(read) > 1000


@pytest.mark.parametrize("view", VIEWS)
def test_what_is_explained_is_described(page: Sandbox, runs: dict[str, ds.Run], view: str) -> None:
    """Of every explained element, a screen reader is told the same text; and most can be reached
    by Tab: cells of the table alone are not, whose row can be."""
    go(page, runs, view)
    found = page.page.evaluate(
        """() => [...document.querySelectorAll("[data-term]")].map((e) => ({
            ids: e.dataset.term, tab: e.tabIndex, cell: e.tagName === "TD", href: e.href ?? "",
            told: e.getAttribute("aria-describedby").split(" ")
                .map((id) => document.getElementById(id)?.textContent ?? "").join(" ") }))"""
    )
    assert len(found) > 8
    for each in found:
        for name in each["ids"].split():
            if not name.startswith("option."):
                assert TEXTS[name] in each["told"]
        assert each["tab"] == 0 or each["cell"]
        assert not each["href"] or "/docs/" in each["href"]


@pytest.mark.parametrize(("view", "width", "height"), PLACES)
def test_a_tooltip_is_beside_what_it_explains(
    fresh: Opener, runs: dict[str, ds.Run], view: str, width: int, height: int
) -> None:
    page = fresh()
    page.page.set_viewport_size({"width": width, "height": height})
    go(page, runs, view)
    page.page.wait_for_function(_KNOWN)
    numbered = page.page.evaluate(_MARKED)
    assert len(numbered) > 3
    for number in range(len(numbered)):
        target = page.page.locator(f"[data-number='{number}']")
        target.hover()
        first = numbered[number].split()[0]
        expect(tooltip(page.page)).to_contain_text(TEXTS.get(first, "The option"))
        beside(page.page, target)
        page.page.keyboard.press("Escape")  # it may lie over the next one


def test_a_pointer_may_go_to_the_tooltip(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"], epoch=5)
    term = page.page.get_by_role("link", name="clusters", exact=True)
    term.hover()
    expect(tooltip(page.page)).to_contain_text(TEXTS["clusters"])
    tooltip(page.page).hover()
    page.page.wait_for_timeout(500)  # longer than it stays without a pointer
    expect(tooltip(page.page)).to_be_visible()
    page.page.mouse.move(2, 2)
    expect(tooltip(page.page)).to_have_count(0)


def test_the_keyboard_gets_the_same(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"], epoch=5)
    term = page.page.get_by_role("link", name="Circuit", exact=True)
    term.focus()
    page.page.keyboard.press("Tab")  # what the keyboard itself has come to
    following = page.page.get_by_role("link", name="sum that it keeps", exact=True)
    expect(following).to_be_focused()
    expect(tooltip(page.page)).to_contain_text(TEXTS["sum"])
    beside(page.page, following)
    described = page.page.evaluate("document.activeElement.getAttribute('aria-describedby')")
    expect(page.page.locator(f"#{described}")).to_have_text(TEXTS["sum"])
    page.page.keyboard.press("Escape")
    expect(tooltip(page.page)).to_have_count(0)


@pytest.mark.parametrize("how", ["click", "Enter", "?"])
def test_a_word_leads_to_the_docs(page: Sandbox, runs: dict[str, ds.Run], how: str) -> None:
    page.open(runs["solved"], epoch=5)
    term = page.page.get_by_role("link", name="clusters", exact=True)
    with page.context.expect_page() as opened:
        if how == "click":
            term.click()
        else:
            term.focus()
            page.page.keyboard.press("Shift+Tab")
            page.page.keyboard.press("Tab")
            expect(tooltip(page.page)).to_be_visible()
            page.page.keyboard.press(how)
    docs = opened.value
    docs.wait_for_load_state()
    assert docs.url.endswith("/docs/analysis.html#the-circuit-of-a-model")
    expect(docs.locator(":target")).to_have_text("The circuit of a model")
    docs.close()


def test_without_a_word_the_glossary_opens(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"], epoch=5)
    with page.context.expect_page() as opened:
        page.page.keyboard.press("?")
    opened.value.wait_for_load_state()
    expect(opened.value.get_by_role("heading", name="Glossary")).to_be_visible()
    opened.value.get_by_role("link", name="Phases").first.click()
    expect(opened.value.locator(":target")).to_have_text("Phases")
    opened.value.close()


def test_every_page_of_the_docs_is_served(server: Server) -> None:
    for page in (ROOT / "docs").glob("*.md"):
        answer = server.get(f"/docs/{page.stem}.html")
        assert (answer.status, answer.headers["content-type"][:9]) == (200, "text/html")
        assert b"<script" not in answer.body
    assert server.get("/docs/docs.css").status == 200
    assert server.get("/docs/nothing.html").status == 404


def test_a_finger_explains_first_and_follows_then(
    browser: Browser, server: Server, runs: dict[str, ds.Run]
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    context.add_init_script("localStorage.setItem('dynascope.introduced', 'yes')")
    try:
        page = context.new_page()
        page.goto(f"{server.address}#v=1&run={runs['solved'].id}&t=5")
        term = page.get_by_role("link", name="Token embeddings", exact=True)
        term.tap()
        expect(tooltip(page)).to_contain_text(TEXTS["panel.tokens"])
        beside(page, term)
        page.locator(".epoch").tap()  # elsewhere
        expect(tooltip(page)).to_have_count(0)
        term.tap()
        with context.expect_page() as opened:
            term.tap()
        assert re.search(r"/docs/sandbox\.html#the-panels$", opened.value.url)
    finally:
        context.close()


def test_a_cause_and_a_run_explain_themselves(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    """What is a button already keeps its own purpose."""
    page.open(runs["spike"], epoch=5)
    spike = page.page.locator(".spike-list button")
    expect(spike).to_have_count(1)
    cause = spike.locator("span").inner_text()
    spike.hover()
    for name in cause.split("+"):
        expect(tooltip(page.page)).to_contain_text(TEXTS[f"cause.{name}"])
    expect(tooltip(page.page)).to_contain_text("Epoch 199: small: the train loss rose")
    page.page.locator(".run-list button").first.hover()
    expect(tooltip(page.page)).to_contain_text("Click to open it")
