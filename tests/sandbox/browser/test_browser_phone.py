"""An exported run on a telephone: one column, played, scrubbed and changed with a finger."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_page import LivePage
from playwright.sync_api import Browser, Page, expect

import dynascope as ds

SIZE = {"width": 390, "height": 844}


@pytest.fixture
def phone(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    run = ds.train({"training.epochs": 60}, [15], progress=False)[0]
    ds.export(run, tmp_path / "run.html", progress=False)
    context = browser.new_context(
        viewport=SIZE,  # type: ignore[arg-type]
        has_touch=True,
        is_mobile=True,
        device_scale_factor=2,
        offline=True,
    )
    context.add_init_script("localStorage.setItem('dynascope.introduced', 'yes')")
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto((tmp_path / "run.html").as_uri())
    page.wait_for_function("() => dynascope.slots.value[0]?.scene.value")
    yield page
    assert problems == []
    context.close()


def touches(page: Page, places: list[tuple[float, float]]) -> None:
    """A finger goes down at the first place, over the others, and up."""
    session = page.context.new_cdp_session(page)

    def send(kind: str, points: list[dict[str, Any]]) -> None:
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    send("touchStart", [{"x": places[0][0], "y": places[0][1]}])
    for x, y in places[1:]:
        send("touchMove", [{"x": x, "y": y}])
    send("touchEnd", [])


def test_it_is_one_column_that_is_played_and_scrubbed(phone: Page) -> None:
    assert phone.evaluate("() => document.documentElement.scrollWidth") == SIZE["width"]
    lefts = phone.locator("[data-panel]").evaluate_all(
        "(panels) => panels.map((panel) => Math.round(panel.getBoundingClientRect().left))"
    )
    assert len(set(lefts)) == 1
    box = phone.locator(".track").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    epoch = phone.locator(".time .epoch, .time b").first
    phone.locator(".play").tap()
    phone.wait_for_function("() => dynascope.view.value.epoch === 60")
    phone.touchscreen.tap(box["x"] + 0.5 * box["width"], middle)
    phone.wait_for_function("() => Math.abs(dynascope.view.value.epoch - 30) < 6")
    expect(epoch).to_be_visible()
    across = [(box["x"] + share * box["width"], middle) for share in (0.5, 0.6, 0.7, 0.8, 0.9)]
    touches(phone, across)
    phone.wait_for_function("() => dynascope.view.value.epoch > 45")
    touches(phone, across[::-1])
    phone.wait_for_function("() => dynascope.view.value.epoch < 40")


def test_a_finger_moves_a_token_and_the_page_stays(phone: Page) -> None:
    live = LivePage(phone)
    live.seek(40)
    x, y = live.place("tokens", "token", 0)
    before = phone.evaluate("() => scrollY")
    touches(phone, [(x, y), (x + 6, y + 8), (x + 12, y + 20), (x + 15, y + 30)])
    live.answered()
    weights = live.numbers("edited")
    assert phone.evaluate("() => scrollY") == before
    start = ds.train({"training.epochs": 60}, [15], progress=False)[0].parameters(40)
    moved = weights[:2] - start.token_embedding[0]
    assert moved[0] > 0 > moved[1]
