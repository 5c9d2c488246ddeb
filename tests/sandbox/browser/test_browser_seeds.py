"""Many seeds, trained in a playground from disk with the network off: the same as Python's, in a
grid that the keyboard reaches, and each to open."""

import re

from browsing import Sandbox
from playwright.sync_api import Page, expect

import dynascope as ds
from dynascope.findings.words import share, share_in_words
from dynascope.run import SOLVED_ACCURACY

OPTIONS = {
    **{"task.length": 6, "task.relevant": 2, "task.train_size": 128, "task.test_size": 64},
    **{"training.lr": 0.03, "training.batch": 16, "training.epochs": 30},
}
SEEDS = range(2, 8)

_TRAINED = "() => dynascope.seedBrowser.value?.results.every((each) => each.value.report?.over)"
_OPEN = """([seed, epochs]) => dynascope.slots.value[0]?.info.seed === seed &&
    dynascope.slots.value[0].live?.now.value.epoch === epochs"""
_CURVES = """(seed) => { const known = dynascope.seedBrowser.value.results;
    const { report } = known.find((each) => each.value.seed === seed).value;
    const shown = dynascope.slots.value[0].curves.train_loss;
    return [[...report.curves.loss], [...shown]]; }"""
# Who knows the keys is faster than the first picture of the seeds.
_ESCAPE_AT_ONCE = """() => { globalThis.escapes = 0;
    new MutationObserver((_, observer) => {
        if (!document.querySelector(".seeds-page")) return;
        observer.disconnect();
        escapes += 1;
        dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
    }).observe(document.body, { childList: true, subtree: true }); }"""


def fill(page: Page, options: dict[str, object], first: int, count: str) -> None:
    page.locator(".live-form details").evaluate("(details) => { details.open = true; }")
    for name, value in options.items():
        page.get_by_label(name, exact=True).fill(str(value))
    page.locator("#live-seed").fill(str(first))
    page.get_by_label("seeds:").fill(count)


def seeds_shown(page: Page) -> list[int]:
    cells = page.locator(".seed-cell").all()
    return [int(cell.get_attribute("data-seed") or -1) for cell in cells]


def test_seeds_are_trained_counted_sorted_and_opened(alone: Sandbox) -> None:
    runs = ds.train(ds.Config().replace(OPTIONS), SEEDS, progress=False)
    solved = [run.seed for run in runs if run.summary()["accuracy"] > SOLVED_ACCURACY]  # type: ignore[operator]
    others = [seed for seed in SEEDS if seed not in solved]
    assert solved
    assert others
    alone.go("")
    page = alone.page
    many = page.get_by_role("button", name="Train many seeds")
    fill(page, OPTIONS, SEEDS[0], "1001")
    refused = "seeds: expected a whole number from 1 to 1000, but got '1001'."
    expect(page.get_by_text(refused)).to_be_visible()
    expect(many).to_be_disabled()
    page.get_by_label("seeds:").fill(str(len(SEEDS)))
    many.click()
    page.wait_for_function(_TRAINED)

    told = share_in_words(share(len(solved), len(SEEDS)))
    expect(page.locator(".counts")).to_have_text(f"6 of 6 trained; solved: {told}")
    assert seeds_shown(page) == [*SEEDS]
    page.get_by_label("order").select_option("solved first")
    expect(page.locator(".seed-cell").first).to_have_attribute("data-seed", str(solved[0]))
    assert seeds_shown(page) == solved + others
    page.get_by_label("show").select_option("not solved")
    expect(page.locator(".seed-cell")).to_have_count(len(others))
    page.get_by_label("show").select_option("all")
    page.get_by_label("curve").select_option("test accuracy")

    page.locator(".seed-cell[tabindex='0']").focus()
    for key in ("Home", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    seed = (solved + others)[1]
    page.wait_for_function(_OPEN, arg=[seed, 30])
    small, whole = page.evaluate(_CURVES, seed)
    assert small == whole == runs[seed - SEEDS[0]].curves["train_loss"].tolist()
    opened = page.evaluate("() => dynascope.slots.value[0].info.id")

    page.get_by_role("button", name="Seeds", exact=True).click()
    expect(page.get_by_label("order")).to_have_value("solved")
    assert seeds_shown(page) == solved + others
    expect(page).to_have_url(re.compile("page=seeds"))  # it is written a moment later
    page.locator(f".seed-cell[data-seed='{seed}']").click()  # the run of before
    expect(page.locator(".work")).to_be_visible()
    expect(page).not_to_have_url(re.compile("page=seeds"))
    page.evaluate(_ESCAPE_AT_ONCE)
    page.go_back()
    page.wait_for_function("() => escapes === 1")
    expect(page.locator(".work")).to_be_visible()
    assert page.evaluate("() => dynascope.slots.value[0].info.id") == opened


def test_a_thousand_seeds_are_drawn_where_they_are_seen_and_end_when_they_are_stopped(
    alone: Sandbox,
) -> None:
    alone.go("")
    page = alone.page
    fill(page, OPTIONS | {"training.epochs": 3000}, 0, "1000")
    page.get_by_role("button", name="Train many seeds").click()
    page.locator(".seed-cell.training").first.wait_for()
    assert 8 < page.locator(".seed-cell").count() < 120
    assert 1 <= len(page.workers) <= 8
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.get_by_role("grid")).to_have_attribute("aria-colcount", "2")
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390
    page.locator(".seed-cell[tabindex='0']").focus()
    page.keyboard.press("End")
    expect(page.locator(":focus")).to_have_attribute("data-seed", "999")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    for name in ("Go on", "Stop", "Go on", "Close"):
        page.get_by_role("button", name=name, exact=True).click()
    expect(page.locator(".playground")).to_be_visible()
    while page.workers:  # the browser takes its time
        page.wait_for_timeout(50)
    page.go_back()  # to seeds that are gone
    expect(page.locator(".playground")).to_be_visible()
