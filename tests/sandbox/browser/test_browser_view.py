"""A view is an address: it is restored, shared, gone back to; and the table that leads there."""

import re

import numpy as np
import pytest
from browsing import NOTE, PANELS, RUNS, Opener, Sandbox
from playwright.sync_api import expect

import dynascope as ds


def test_reloading_restores_the_view(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    page = fresh()
    page.open(runs["three"], epoch=12)
    page.page.get_by_label("Light or dark").click()
    page.press("Shift+ArrowRight", 22)
    expect(page.page).to_have_url(re.compile(r"run=\w+&t=22&.*theme=dark"))
    page.page.evaluate("localStorage.removeItem('dynascope.preferences')")  # the address alone
    page.page.reload()
    page.shows(22)
    expect(page.page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.page.locator(".where")).to_contain_text(runs["three"].id[:6])


@pytest.mark.parametrize("busy", [0, 200])
def test_an_address_from_elsewhere_wins(page: Sandbox, runs: dict[str, ds.Run], busy: int) -> None:
    """Over one that is still to be written, also when that is due before the page hears of it."""
    page.open(runs["solved"], epoch=20)
    expect(page.page).to_have_url(re.compile("t=20&speed="))  # written in full, nothing is due
    page.page.evaluate(
        """([busy, hash]) => {
            dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = () => { location.hash = hash; };
            port2.postMessage("next");
            const begin = performance.now();
            while (performance.now() < begin + busy); }""",
        [busy, f"v=1&run={runs['solved'].id}&t=70"],
    )
    page.shows(70)
    expect(page.page).to_have_url(re.compile("t=70&speed="))
    page.page.wait_for_timeout(400)  # longer than anything waits to be written
    expect(page.epoch).to_have_text("epoch 70")
    expect(page.page).to_have_url(re.compile("t=70&speed="))


def test_a_link_says_more_than_a_preference(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    """What it does not say is as preferred; what it says is seen, and changes no preference."""
    page, panels = fresh(), "[data-panel]"
    page.open(runs["solved"])
    page.page.get_by_label("Light or dark").click()
    page.page.get_by_label("speed").select_option("4")
    for more, theme, speed, hidden in [
        ("", "dark", "4", 0),
        ("&theme=light&hide=values,loss", "light", "4", 2),
        ("&speed=0.5", "dark", "0.5", 0),
        ("&hide=values", "dark", "4", 1),
    ]:
        page.open(runs["three"], epoch=3, more=more)
        expect(page.page.locator("html")).to_have_attribute("data-theme", theme)
        expect(page.page.get_by_label("speed")).to_have_value(speed)
        expect(page.page.locator(panels)).to_have_count(PANELS - hidden)
    page.page.get_by_role("button", name="Panels").click()
    page.page.get_by_role("button", name="Show all").click()
    expect(page.page).to_have_url(re.compile("&hide=&"))
    page.page.reload()
    page.shows(3)
    expect(page.page.locator(panels)).to_have_count(PANELS)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_follows_the_systems_theme(fresh: Opener, runs: dict[str, ds.Run], theme: str) -> None:
    page = fresh(theme=theme).open(runs["solved"])
    paper = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
    expect(page.page.locator("html")).to_have_attribute("data-theme", theme)
    assert (np.mean(page.page.evaluate(paper)) > 127) == (theme == "light")
    before = page.pictures()
    page.page.get_by_label("Light or dark").click()
    page.changed(before, list(before))
    assert (np.mean(page.page.evaluate(paper)) > 127) == (theme == "dark")


def test_a_spike_is_seen_before_and_after(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["spike"])
    button = page.page.locator(".spike-list button")
    expect(button).to_have_count(1)
    page.press("s", 199)
    button.click()
    halves = page.page.locator(".half h2")
    expect(halves).to_have_count(2)
    expect(halves.nth(0)).to_contain_text("Before the spike: epoch")
    expect(halves.nth(1)).to_contain_text("Now: epoch 199")
    expect(halves.nth(0)).not_to_contain_text("epoch 199")  # once the spikes are there again
    held = int(halves.nth(0).inner_text().rpartition(" ")[2])
    assert 150 < held < 199
    page.shows(held, 199)
    page.press("ArrowRight", 200)
    page.shows(held, 200)
    page.page.get_by_role("button", name="Close", exact=True).click()
    expect(page.page.locator(".half")).to_have_count(1)


def test_two_runs_have_one_slider(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"], epoch=7)
    page.page.locator(".run-list li", has_text="3").get_by_role(
        "button", name=re.compile(rf"^{runs['noted'].seed}\b")
    ).click(modifiers=["Shift"])
    page.shows(7, 7)
    expect(page.page.locator(".track")).to_have_count(1)
    heads = page.page.locator(".half h2")
    for half, name in enumerate(["solved", "noted"]):
        expect(heads.nth(half)).to_have_text(f"seed {runs[name].seed}, {runs[name].id[:6]}")
    page.press("End", 150)
    page.shows(150, 150)
    page.page.get_by_role("button", name="Swap").click()
    expect(heads.nth(0)).to_contain_text(f"seed {runs['noted'].seed},")
    page.page.get_by_role("button", name="Close the right one").click()
    expect(page.page.locator(".half")).to_have_count(1)


def test_a_spike_that_is_not_there_is_told(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.go(f"v=1&run={runs['spike'].id}&t=3&spike=7")
    expect(page.page.get_by_role("alert")).to_contain_text(
        "This run has no spike number 8.", timeout=20_000
    )
    expect(page.page.locator(".half")).to_have_count(1)
    page.page.get_by_label("Dismiss").click()


def test_back_leads_to_the_place_before(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    page = fresh().open_table("&sort=seed")
    where = page.page.locator(".where")
    for name in ("solved", "wide"):
        page.rows.filter(has_text=runs[name].id[:8]).click()
        expect(where).to_contain_text(runs[name].id[:6])
        expect(page.page).to_have_url(re.compile(f"run={runs[name].id}"))
        page.press("ArrowRight", page.epoch_now + 1)  # an epoch is no place of its own
        page.page.get_by_role("button", name="All runs").click()
        expect(page.page).to_have_url(re.compile("page=runs"))
    for expected in (runs["wide"].id, None, runs["solved"].id, None):
        page.page.go_back()
        if expected is None:
            expect(page.rows).to_have_count(len(RUNS))
        else:
            expect(where).to_contain_text(expected[:6])


# ---- the table ----------------------------------------------------------------------------------
def test_the_table_filters_and_sorts(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open_table()
    expect(page.rows).to_have_count(len(RUNS))
    field = page.page.get_by_label("Filter the runs")
    field.fill("accuracy>0.9")
    expect(page.rows).to_have_count(1)
    expect(page.rows.first).to_contain_text(runs["solved"].id[:8])
    field.fill("")
    seeds = sorted(run.seed for run in runs.values())
    heading = page.page.locator("thead th", has_text="seed")
    for order, sort in ((seeds[::-1], "descending"), (seeds, "ascending")):
        heading.get_by_role("button").click()
        expect(heading).to_have_attribute("aria-sort", sort)
        expect(page.rows.locator("td:nth-child(2)")).to_have_text([str(seed) for seed in order])
    field.fill("nonsense>3")
    expect(page.page.locator(".bar [aria-live]")).to_contain_text("nonsense")
    expect(page.rows).to_have_count(len(RUNS))  # as before
    field.fill("accuracy>0.9")
    page.rows.first.click()
    page.shows(0)


def test_a_hostile_note_is_text(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open_table()
    expect(page.rows.filter(has_text=runs["noted"].id[:8])).to_contain_text(NOTE)
    page.rows.filter(has_text=runs["noted"].id[:8]).click()
    page.shows(0)
    assert page.page.locator("img, td b").count() == 0
    assert page.page.evaluate("window.hacked") is None
