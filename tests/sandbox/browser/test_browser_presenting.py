"""Presenting, and the keyboard that is always given back."""

import re

import pytest
from browsing import PANELS, Opener, Sandbox
from playwright.sync_api import Locator, expect

import dynascope as ds

_ON_ITS_WAY = "() => dynascope.view.value.epoch > 0 && dynascope.view.value.epoch < 140"
PRESENTED = ["attention", "sequence", "decision_map", "probabilities"]


# ---- play ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("how", ["button", "space"])
def test_play_at_the_end_begins_again(page: Sandbox, runs: dict[str, ds.Run], how: str) -> None:
    page.open(runs["solved"], epoch=150, more="&speed=0.1")
    if how == "button":
        page.page.get_by_role("button", name="Play", exact=True).click()
    else:
        page.page.keyboard.press("Space")
    page.page.wait_for_function(_ON_ITS_WAY)
    expect(page.page.get_by_role("button", name="Pause")).to_be_visible()
    page.page.get_by_role("button", name="Pause").click()


def test_play_ends_at_the_end(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"], epoch=140, more="&speed=8")
    page.page.keyboard.press("Space")
    expect(page.epoch).to_have_text("epoch 150")
    expect(page.page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_play_is_a_few_keys_away(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    """From a page that was just loaded: at most four presses of Tab or Enter."""
    page = fresh().open(runs["solved"], epoch=5)
    play = page.page.get_by_role("button", name="Play", exact=True)
    keys = ["Tab", "Enter"]
    assert len(keys) <= 4
    for key in keys:
        expect(play).not_to_be_focused()
        page.page.keyboard.press(key)
    expect(play).to_be_focused()
    page.page.keyboard.press("Enter")
    expect(page.page.get_by_role("button", name="Pause")).to_be_focused()


def test_the_table_is_a_few_keys_away(fresh: Opener) -> None:
    page = fresh().open_table()
    page.page.keyboard.press("Tab")
    expect(page.page.get_by_role("button", name="Skip to the table")).to_be_in_viewport()
    page.page.keyboard.press("Enter")
    expect(page.page.get_by_role("region", name="Table of runs")).to_be_focused()


# ---- Escape -------------------------------------------------------------------------------------
TRAPS = ["a sheet", "a text field", "a choice", "a menu", "the introduction", "a word", "a button"]


def into(page: Sandbox, what: str) -> None:
    """Somewhere where the keys of time do something else."""
    name = page.page.get_by_role
    match what:
        case "a sheet":
            name("button", name="Panels").click()
            name("checkbox", name=re.compile("^Loss")).focus()
        case "a text field":
            name("button", name="Sequences", exact=True).click()
            name("textbox", name="Sequences").focus()
        case "a choice":
            page.page.get_by_label("speed").focus()
        case "a menu":
            name("button", name="Token embeddings: save or hide").focus()
            page.page.keyboard.press("Enter")
            expect(name("menuitem").first).to_be_focused()
        case "the introduction":
            name("button", name="Introduction").click()
        case "a word":
            name("link", name="clusters", exact=True).focus()
        case "a button":
            name("button", name="All runs").focus()


@pytest.mark.parametrize("what", TRAPS)
def test_escape_gives_the_keyboard_back(page: Sandbox, runs: dict[str, ds.Run], what: str) -> None:
    epoch = 20 + TRAPS.index(what)  # an address of its own: the same one again is not gone to
    page.open(runs["solved"], epoch=epoch)
    into(page, what)
    page.page.keyboard.press("Escape")
    expect(page.page.locator("[role=dialog], [role=menu], [role=tooltip]")).to_have_count(0)
    assert page.page.evaluate("document.activeElement === document.body")
    page.press("ArrowRight", epoch + 1)
    page.page.keyboard.press("Space")
    expect(page.page.get_by_role("button", name="Pause")).to_be_visible()
    page.page.keyboard.press("Space")
    expect(page.page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_escape_leaves_a_filter_as_it_is(page: Sandbox) -> None:
    page.open_table()
    field = page.page.get_by_label("Filter the runs")
    field.fill("seed>0")
    page.page.keyboard.press("Escape")
    expect(field).to_have_value("seed>0")  # a browser would empty it
    expect(page.page.get_by_role("region", name="Table of runs")).to_be_focused()


def test_escape_closes_one_thing_after_the_other(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"], epoch=40, more="&mode=present&big=loss")
    page.page.get_by_role("button", name="Panels").click()
    panels, sheet = page.page.locator("[data-panel]"), page.page.get_by_role("dialog")
    expect(sheet).to_be_visible()
    page.page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    expect(panels).to_have_count(1)
    page.page.keyboard.press("Escape")
    expect(panels).to_have_count(len(PRESENTED))
    page.page.keyboard.press("Escape")
    expect(panels).to_have_count(PANELS)


# ---- presenting ---------------------------------------------------------------------------------
def test_a_presentation_is_a_link(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    page = fresh().open(runs["solved"], epoch=20)
    panels, side = page.page.locator("[data-panel]"), page.page.locator(".side")
    page.page.get_by_role("button", name="Present").click()
    expect(panels).to_have_count(len(PRESENTED))
    expect(side).to_have_count(0)
    expect(page.page).to_have_url(re.compile("&mode=present"))
    page.page.get_by_role("button", name="Panels").click()
    page.page.get_by_role("checkbox", name=re.compile("^Loss")).check()
    page.page.get_by_role("checkbox", name=re.compile("^Attention")).uncheck()
    expect(page.page).to_have_url(re.compile("&panels=sequence,decision_map,probabilities,loss"))
    page.page.evaluate("localStorage.removeItem('dynascope.preferences')")  # the address alone
    page.page.reload()
    page.shows(20)
    shown = panels.evaluate_all("(all) => all.map((e) => e.dataset.panel)")
    assert shown == ["sequence", "decision_map", "probabilities", "loss"]
    page.press("ArrowRight", 21)
    page.page.keyboard.press("Escape")
    expect(panels).to_have_count(PANELS)
    expect(side).to_be_visible()
    expect(page.page).not_to_have_url(re.compile("&mode="))
    page.page.keyboard.press("p")
    expect(panels).to_have_count(4)
    page.page.keyboard.press("p")
    expect(panels).to_have_count(PANELS)


def size_of(text: Locator) -> float:
    return float(text.first.evaluate("(e) => parseFloat(getComputedStyle(e).fontSize)"))


@pytest.mark.parametrize("size", [(1920, 1080), (1280, 720)], ids=["1080p", "720p"])
@pytest.mark.parametrize("view", ["", "two", "three classes"])
def test_a_presentation_fills_the_room(
    page: Sandbox, runs: dict[str, ds.Run], size: tuple[int, int], view: str
) -> None:
    """Large type, nothing to scroll, nothing cut off."""
    page.page.set_viewport_size({"width": size[0], "height": size[1]})
    names = {"": ["solved"], "two": ["solved", "noted"], "three classes": ["three"]}[view]
    page.open(*(runs[name] for name in names), epoch=size[0] // 100)  # an address of its own
    usual = size_of(page.page.locator(".panel h3"))
    page.page.keyboard.press("p")
    expect(page.page.locator("[data-panel]")).to_have_count(len(PRESENTED) * len(names))
    for text, least in ((".panel h3", 0.02), (".epoch", 0.02), (".where", 0.018)):
        assert size_of(page.page.locator(text)) >= least * size[1]
    assert size_of(page.page.locator(".panel h3")) > 1.2 * usual
    hidden = page.page.evaluate(
        """() => ["html", ".panels", ".time .row", ".top"].filter((name) => {
            const e = document.querySelector(name);
            return e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1; })"""
    )
    assert hidden == []
    areas = page.page.locator("[data-panel]").evaluate_all(
        "(all) => all.map((e) => e.clientWidth * e.clientHeight)"
    )
    assert sum(areas) > 0.55 * size[0] * size[1]


def test_what_is_drawn_large_is_found_where_it_is(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    """The time bar and the curves answer to the pointer at any scale."""
    page.page.set_viewport_size({"width": 1920, "height": 1080})
    page.open(runs["solved"], epoch=25, more="&mode=present&panels=loss,attention")
    page.click_track(0.5)
    middle = page.epoch_now
    assert 60 < middle < 90
    box = page.panel("loss").locator("canvas").bounding_box()
    assert box is not None
    page.page.mouse.click(box["x"] + 0.98 * box["width"], box["y"] + 0.5 * box["height"])
    assert page.epoch_now > 140


# ---- numbers ------------------------------------------------------------------------------------
def test_numbers_stand_right(page: Sandbox) -> None:
    """Digit below digit, and headings above their numbers; words stand left."""
    page.open_table()
    heads = page.page.locator("thead th").all_inner_texts()
    sides = page.page.evaluate(
        """() => [...document.querySelectorAll("thead th")].map((th, i) => {
            const cells = [...document.querySelectorAll(
                `tbody tr[aria-rowindex] > :nth-child(${i + 1})`)];
            const side = (e) => getComputedStyle(e).textAlign;
            return [side(th), ...new Set(cells.map(side))]; })"""
    )
    found = {head.strip(): side for head, side in zip(heads, sides, strict=True)}
    for name in ("seed", "accuracy", "spikes", "learning epoch", "lowest loss"):
        assert found[name] == ["right", "right"]
    for name in ("run", "verdict", "accuracy over time", "note"):
        assert found[name] == ["left", "left"]
    assert "tabular-nums" in page.page.evaluate(
        "getComputedStyle(document.querySelector('tbody td')).fontVariantNumeric"
    )
    ends = page.page.evaluate(
        """() => { const end = (e) => { const range = document.createRange();
                range.selectNodeContents(e); return range.getBoundingClientRect().right; };
            return [end(document.querySelector("thead th.number button span")),
                    end(document.querySelector("tbody td.number"))]; }"""
    )
    assert ends[0] == pytest.approx(ends[1], abs=1.5)
