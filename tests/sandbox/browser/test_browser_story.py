"""The story of a run above its time: captions that lead to their moments, served and exported."""

import re
from pathlib import Path
from typing import Any

import pytest
from browsing import Opener, Sandbox
from playwright.sync_api import Browser, Locator, Route, expect

import dynascope as ds
from dynascope.analysis.story import Moment

MARKED = re.compile(r"\bmarked\b")


def captions(page: Sandbox) -> Locator:
    return page.page.get_by_role("list", name="Story").get_by_role("button")


def tells(page: Sandbox, moments: tuple[Moment, ...]) -> None:
    """All captions are there, and each leads to its moment and marks what it speaks of."""
    expect(captions(page)).to_have_text([f"{m.epoch} {m.caption}" for m in moments])
    for i, moment in enumerate(moments):
        caption = captions(page).nth(i)
        caption.click()
        expect(page.epoch).to_have_text(f"epoch {moment.epoch}")
        expect(page.page.get_by_role("slider", name="Epoch")).to_have_attribute(
            "aria-valuenow", str(moment.epoch)
        )
        expect(caption).to_have_attribute("aria-current", "step")
        expect(page.page.locator(".story-text")).to_have_text(moment.text)
        expect(page.page.locator(".panel.marked")).to_have_count(len(moment.panels))
        for panel in moment.panels:
            expect(page.panel(panel)).to_have_class(MARKED)
    expect(page.page.locator(".marked")).to_have_count(0)  # after a while


@pytest.mark.parametrize("name", ["solved", "spike"])
def test_a_caption_leads_to_its_moment_and_marks_its_panels(
    name: str, page: Sandbox, runs: dict[str, ds.Run]
) -> None:
    page.open(runs[name], epoch=50)
    tells(page, ds.analysis.story(runs[name]).moments)


@pytest.mark.slow
def test_it_does_so_in_an_exported_file(
    browser: Browser, runs: dict[str, ds.Run], tmp_path: Path
) -> None:
    file = tmp_path / "run.html"
    ds.export([runs["solved"]], file, progress=False)
    page = Sandbox(browser, file.as_uri())
    page.context.set_offline(True)
    page.open(runs["solved"], epoch=50)
    tells(page, ds.analysis.story(runs["solved"]).moments)
    assert page.problems == []
    page.context.close()


def test_the_caption_follows_the_playhead_and_answers_to_keys(
    page: Sandbox, runs: dict[str, ds.Run]
) -> None:
    moments = ds.analysis.story(runs["solved"]).moments
    first, second = moments[1], moments[2]
    page.open(runs["solved"], epoch=first.epoch)
    current = page.page.locator(".story [aria-current]")
    expect(current).to_have_text(f"{first.epoch} {first.caption}")
    page.press("ArrowRight", second.epoch)
    expect(current).to_have_text(f"{second.epoch} {second.caption}")
    captions(page).last.focus()
    page.page.keyboard.press("Enter")
    expect(page.epoch).to_have_text(f"epoch {runs['solved'].epochs}")
    expect(captions(page).last).to_be_focused()


def test_in_the_view_of_a_spike_a_caption_leaves_it(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.go(f"v=1&run={runs['spike'].id}&t=100&spike=0")
    expect(page.page.locator(".half")).to_have_count(2)
    captions(page).first.click()
    expect(page.page.locator(".half")).to_have_count(1)
    page.shows(0)


def test_of_two_runs_the_left_one_is_told(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"], runs["noted"], epoch=9)
    expect(page.page.locator(".story-row")).to_contain_text("left run")
    captions(page).filter(has_text="Embeddings gather").click()
    left, right = page.panel("sequence").all()
    expect(left).to_have_class(MARKED)
    expect(right).not_to_have_class(MARKED)


def test_answers_of_earlier_versions_have_no_story(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    def without(route: Route) -> None:
        answer: dict[str, Any] = route.fetch().json()
        del answer["story"]
        route.fulfill(json=answer)

    page = fresh()
    page.context.route("**/analysis", without)
    page.open(runs["spike"], epoch=9)
    expect(page.page.get_by_role("button", name="1 spike")).to_be_visible()
    expect(page.page.locator(".story")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_telephone_it_stays_within_the_page(
    theme: str, fresh: Opener, runs: dict[str, ds.Run]
) -> None:
    page = fresh(size={"width": 390, "height": 844}, theme=theme)
    page.open(runs["solved"], epoch=9)
    captions(page).last.click()
    expect(page.epoch).to_have_text(f"epoch {runs['solved'].epochs}")
    assert page.page.evaluate("document.documentElement.scrollWidth") == 390
    box = captions(page).last.bounding_box()
    assert box is not None
    assert 0 <= box["x"] <= 390 - box["width"]
