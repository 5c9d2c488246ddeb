"""Any two epochs of a run side by side, and axes that a person can choose."""

import re

import numpy as np
import pytest
from browsing import Sandbox
from playwright.sync_api import expect

import dynascope as ds

_ARROWS = """(panel) => { const [left, right] = dynascope.slots.value;
    const [from, here] = [right.from.value, left.scene.value];
    return [from === here, [...from.points[panel].x], [...right.scene.value.points[panel].x]]; }"""
_CHANGED = """() => { const [left, right] = dynascope.slots.value.map((slot) => slot.scene.value);
    return [...left.predictions].filter((one, i) => one !== right.predictions[i]).length; }"""


def test_an_epoch_is_held_while_time_goes_on(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    run = runs["solved"]
    page.open(run, epoch=20)
    page.page.keyboard.press("h")
    page.shows(20, 20)
    expect(page.page.get_by_text("Held: epoch 20")).to_be_visible()
    page.press("End", 150)
    page.shows(20, 150)
    same, before, now = page.page.evaluate(_ARROWS, "tokens")
    assert same  # arrows begin at what is on the left
    for epoch, found in ((20, before), (150, now)):
        wanted = run.parameters(epoch).token_embedding[:, 0]
        np.testing.assert_allclose(found, wanted, atol=1e-6)
    card = page.page.locator(".card", has_text="Two epochs")
    changed = page.page.evaluate(_CHANGED)
    expect(card.locator("dd").nth(0)).to_contain_text(f"{changed} of ")
    expect(page.page).to_have_url(re.compile("held=20"))
    card.get_by_label("Held epoch").fill("75")
    card.get_by_label("Held epoch").press("Enter")
    page.shows(75, 150)
    card.get_by_label("Held epoch").fill("99999")  # no such epoch: the last one
    card.get_by_label("Held epoch").press("Enter")
    page.shows(150, 150)
    page.page.keyboard.press("Escape")  # leaves the field
    page.page.keyboard.press("Escape")
    expect(page.page.locator(".half")).to_have_count(1)


def test_a_link_holds_an_epoch_and_a_spike_or_a_second_run_takes_its_place(
    page: Sandbox, runs: dict[str, ds.Run]
) -> None:
    page.go(f"v=1&run={runs['spike'].id}&t=100&held=7")
    page.shows(7, 100)
    page.page.locator(".spike-list button").click()
    expect(page.page.locator(".half h2").nth(0)).to_contain_text("Before the spike")
    expect(page.page).not_to_have_url(re.compile("held"))
    page.go(f"v=1&run={runs['solved'].id},{runs['noted'].id}&t=9&held=7")
    page.shows(9, 9)
    expect(page.page.get_by_role("button", name="Hold")).to_have_count(0)


def test_a_sparse_run_holds_epochs_that_were_not_kept(
    page: Sandbox, runs: dict[str, ds.Run]
) -> None:
    page.go(f"v=1&run={runs['sparse'].id}&t=40&held=9")
    page.shows(9, 40)
    _, before, _ = page.page.evaluate(_ARROWS, "tokens")
    wanted = runs["sparse"].trainer(9).parameters.token_embedding[:, 0]
    np.testing.assert_allclose(before, wanted, atol=1e-6)


@pytest.mark.parametrize("panel", ["loss", "gradients"])
def test_an_axis_is_logarithmic_or_linear(
    page: Sandbox, runs: dict[str, ds.Run], panel: str
) -> None:
    page.open(runs["solved"], epoch=50)
    before = page.pictures()
    page.panel(panel).get_by_label("save or hide").click()
    page.panel(panel).get_by_role("menuitem", name="Linear axis").click()
    page.changed(before, [panel])
    expect(page.page).to_have_url(re.compile(f"linear={panel}"))
    drawn = page.saved(panel, "Save as SVG")
    assert ">1e" not in drawn  # powers of ten are of the other scale
    page.panel(panel).get_by_label("save or hide").click()
    page.panel(panel).get_by_role("menuitem", name="Logarithmic axis").click()
    expect(page.page).not_to_have_url(re.compile("linear"))
