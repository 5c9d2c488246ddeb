"""A table of 10,000 runs in a real browser: only what is seen exists, and it agrees with Python."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browsing import Sandbox, serving
from playwright.sync_api import Browser, expect

import dynascope as ds

MANY = 10_000
TINY = {
    "task.length": 6,
    "task.relevant": 3,
    "task.train_size": 32,
    "task.test_size": 32,
    "model.hidden": 4,
    "training.epochs": 2,
}
# What is typed, and how pandas says it.
FILTERS = {
    "accuracy>0.6": "accuracy > 0.6",
    "seed>=9990": "seed >= 9990",
    "seed<5000 accuracy<=0.4": "seed < 5000 and accuracy <= 0.4",
    "seed=77": "seed == 77",
    " accuracy > 0.6  seed >= 100 ": "accuracy > 0.6 and seed >= 100",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    ds.train(ds.Config().replace(TINY), MANY, progress=False).save(folder / "store")
    return folder


@pytest.fixture(scope="module")
def page(store: Path, browser: Browser) -> Iterator[Sandbox]:
    with serving(store) as server:
        page = Sandbox(browser, server.address)
        yield page.open_table()
        page.context.close()
        assert page.problems == []


def seeds(page: Sandbox) -> list[int]:
    return [int(text) for text in page.rows.locator("td:nth-child(2)").all_inner_texts()]


def test_only_rows_in_sight_exist(page: Sandbox) -> None:
    page.open_table()
    expect(page.page.locator(".bar")).to_contain_text("10,000 of 10,000 runs")
    assert 10 < page.rows.count() < 100
    assert page.page.locator("table").get_attribute("aria-rowcount") == str(MANY + 1)


@pytest.mark.parametrize("typed", FILTERS)
def test_a_filter_finds_what_pandas_finds(page: Sandbox, store: Path, typed: str) -> None:
    wanted = ds.load(store / "store").frame().query(FILTERS[typed])
    assert 0 < len(wanted) < MANY
    page.open_table("&sort=seed")
    page.page.get_by_label("Filter the runs").fill(typed)
    expect(page.page.locator(".bar")).to_contain_text(f"{len(wanted):,} of 10,000 runs")
    shown = seeds(page)
    assert shown == sorted(wanted["seed"])[: len(shown)]


def test_sorting_and_scrolling_reach_every_run(page: Sandbox, store: Path) -> None:
    page.open_table()
    heading = page.page.locator("thead th", has_text="seed")
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "descending")
    expect(page.rows.first.locator("td:nth-child(2)")).to_have_text(str(MANY - 1))
    page.page.locator(".runs-page .table").evaluate("(e) => e.scrollTo(0, e.scrollHeight)")
    expect(page.rows.last.locator("td:nth-child(2)")).to_have_text("0")
    assert seeds(page) == list(range(len(seeds(page))))[::-1]


def test_the_best_come_first(page: Sandbox, store: Path) -> None:
    accuracy = ds.load(store / "store").frame().set_index("seed")["accuracy"]
    page.open_table("&sort=-accuracy")
    found = accuracy[seeds(page)].to_numpy()
    np.testing.assert_array_equal(found, np.sort(accuracy.to_numpy())[::-1][: len(found)])


def test_a_row_opens_its_run(page: Sandbox, store: Path) -> None:
    page.open_table("&filter=seed%3D4321")
    expect(page.rows).to_have_count(1)
    page.rows.first.click()
    page.shows(0)
    expect(page.page.locator("header.top")).to_contain_text("seed 4321")
