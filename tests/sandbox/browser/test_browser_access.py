"""The sandbox without eyes or mouse: what a screen reader is told, and what keys do."""

import re

import pytest
from browsing import CONTROLS, Sandbox
from playwright.sync_api import expect

import dynascope as ds

VIEWS = {  # name: runs, what the address says more, controls that must be there
    "table": ([], "", {"searchbox", "columnheader", "rowheader", "region", "table"}),
    "run": (["spike"], "", {"slider", "combobox", "button", "meter", "region"}),
    "large": (["solved"], "&big=decision_map", {"slider", "button"}),
    "spike": (["spike"], "&spike=0", {"slider", "button", "region"}),
    "two epochs": (["solved"], "&held=2", {"slider", "spinbutton", "table", "region"}),
    "two runs": (["solved", "noted"], "", {"slider", "table", "rowheader", "region"}),
}
SHEETS = {  # what opens it: controls in it
    "Panels": {"dialog", "checkbox"},
    "Sequences": {"dialog", "textbox"},
    "Introduction": {"dialog"},
    "Token embeddings: save or hide": {"menu", "menuitem"},
}


def named(page: Sandbox) -> set[str]:
    """Roles of what can be operated; each has a name, and what takes the focus has a role."""
    found = [
        (role, name)
        for role, name, properties in page.told()
        if role in CONTROLS or properties.get("focusable")
    ]
    assert [each for each in found if not each[1] or each[0] in ("generic", "none")] == []
    glyphs = [name for _, name in found if not re.search(r"[a-z0-9]", name, re.IGNORECASE)]
    assert glyphs == []  # a picture is no name
    return {role for role, _ in found}


@pytest.mark.parametrize("view", VIEWS)
def test_every_control_has_a_name(page: Sandbox, runs: dict[str, ds.Run], view: str) -> None:
    opened, more, wanted = VIEWS[view]
    if not opened:
        page.open_table()
    elif view == "spike":
        page.go(f"v=1&run={runs['spike'].id}&t=199{more}")
        expect(page.page.locator(".half h2").nth(0)).to_contain_text("Before the spike: epoch 1")
    elif view == "two epochs":
        page.go(f"v=1&run={runs['solved'].id}&t=5{more}")
        page.shows(2, 5)
    else:
        page.open(*(runs[name] for name in opened), epoch=5, more=more)
    assert wanted <= named(page)


@pytest.mark.parametrize("opener", SHEETS)
def test_what_opens_has_names_too(page: Sandbox, runs: dict[str, ds.Run], opener: str) -> None:
    page.open(runs["solved"], epoch=5)
    before = named(page)
    button = page.page.get_by_role("button", name=opener, exact=True)
    button.click()
    assert SHEETS[opener] <= named(page)
    page.page.keyboard.press("Escape")
    expect(page.page.locator("[role=dialog], [role=menu]")).to_have_count(0)
    assert named(page) == before


def test_two_runs_are_told_apart(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"], runs["noted"])
    names = [name for role, name, _ in page.told() if role == "region"]
    for name in ("solved", "noted"):
        assert f"seed {runs[name].seed}, {runs[name].id[:6]}" in names


def test_the_time_slider_is_one(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"], epoch=20)
    slider = page.page.get_by_role("slider", name="Epoch")
    slider.focus()
    for key, epoch in [
        *(("ArrowRight", 21), ("ArrowUp", 22), ("ArrowDown", 21), ("ArrowLeft", 20)),
        *(("PageUp", 30), ("PageDown", 20), ("End", 150), ("PageUp", 150), ("Home", 0)),
    ]:
        page.press(key, epoch)
        expect(slider).to_be_focused()
        expect(slider).to_have_attribute("aria-valuenow", str(epoch))
        expect(slider).to_have_attribute("aria-valuetext", f"Epoch {epoch} of 150")
    expect(slider).to_have_attribute("aria-valuemin", "0")
    expect(slider).to_have_attribute("aria-valuemax", "150")


def test_a_menu_is_gone_through_by_keys(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"], epoch=20)
    button = page.panel("tokens").get_by_role("button", name="save or hide")
    items = page.panel("tokens").get_by_role("menuitem")
    button.focus()
    page.page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")
    for key, item in [("", 0), ("ArrowDown", 1), ("End", 3), ("ArrowDown", 0), ("ArrowUp", 3)]:
        if key:
            page.page.keyboard.press(key)
        expect(items.nth(item)).to_be_focused()
    page.page.keyboard.press("Home")
    with page.page.expect_download() as download:
        page.page.keyboard.press("Enter")
    assert download.value.suggested_filename.endswith("-epoch20-tokens.svg")
    expect(items).to_have_count(0)
    expect(button).to_be_focused()
    expect(page.epoch).to_have_text("epoch 20")  # its keys are not those of time
