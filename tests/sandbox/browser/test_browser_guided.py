"""Guided experiments, done as somebody does them who reads the card: every task can be done, and
the check says so only then."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from browsing import Opener, Sandbox
from live_page import LivePage
from playwright.sync_api import Page, expect

import dynascope as ds
from dynascope import theory


class Guide:
    """The card of an experiment."""

    def __init__(self, page: Page) -> None:
        self.page, self.live = page, LivePage(page)
        self.card = page.locator(".guide-card")

    def act(self, label: str) -> None:
        self.card.get_by_role("button", name=label, exact=True).click()

    def check(self, right: bool) -> str:
        """Press *Check*; what the card says then."""
        self.card.locator(".check").click()
        outcome = self.card.locator(".outcome")
        expect(outcome).to_have_class("outcome done" if right else "outcome")
        return outcome.inner_text()

    def checks_once(self, ready: str) -> str:
        """The same, when something that is computed beside it is there."""
        self.page.wait_for_function(ready)
        return self.check(right=True)

    def next(self) -> None:
        self.act("Next")

    def choose(self, right: str, wrong: str) -> None:
        for text, is_right in ((wrong, False), (right, True)):
            self.card.get_by_label(text).check()
            outcome = self.card.locator(".outcome")
            expect(outcome).to_have_class("outcome done" if is_right else "outcome")

    def vector(self, what: str, index: int, *numbers: float) -> None:
        self.page.get_by_label("what to change").select_option(what)
        self.page.get_by_label("which one").fill(str(index))
        self.live.type_vector(*numbers)

    def cut(self, position: int) -> None:
        self.page.get_by_label("what to change").select_option("position")
        self.page.get_by_label("which one").fill(str(position))
        box = self.page.get_by_label(f"no attention to position {position}")
        if not box.is_visible():
            self.page.get_by_text("Switch off, freeze, patch", exact=True).click()
        box.click()
        self.live.answered()


@pytest.fixture
def opened(alone: Sandbox) -> Iterator[Callable[[str], Guide]]:
    def open_(name: str) -> Guide:
        alone.go(f"v=1&guide={name}")
        guide = Guide(alone.page)
        guide.card.wait_for()
        return guide

    yield open_
    LivePage(alone.page).no_trouble()


def test_a_spike_is_caused_and_explained(opened: Callable[[str], Guide]) -> None:
    guide = opened("spike")
    guide.act("Train seed 15")
    guide.live.reaches(300)
    guide.next()
    guide.act("Go to epoch 200")
    assert "Nothing is changed yet" in guide.check(right=False)
    guide.live.seek(200)
    guide.vector("token", 0, 1.2, 1.3)
    assert "other side" in guide.check(right=False)
    guide.vector("token", 0, 2.79, -0.36)
    assert "hardly stretches a step" in guide.check(right=False)
    guide.vector("token", 0, 0.77, 1.65)
    told = guide.check(right=True)
    assert re.search(
        r"\d+ of 144 embeddings .* times as far\. The train loss went from 4\.47e-5", told
    )
    guide.next()
    assert "The push is there" in guide.check(right=False)
    guide.live.branch()
    guide.live.reaches(300, slot=1)
    compared = guide.page.get_by_role("table", name="Where the two runs differ")
    expect(compared.get_by_role("row", name="test loss").get_by_role("cell").last).to_have_text("–")
    assert "It has recovered: a spike." in guide.check(right=True)
    guide.next()
    guide.choose(
        right="got the direction of other clusters", wrong="The learning rate became larger"
    )
    guide.next()
    guide.act("Train seed 15 with the smooth norm")
    guide.page.wait_for_function(
        "() => dynascope.slots.value[0]?.info.config.model.norm === 'smooth'"
    )
    guide.live.reaches(300)
    guide.live.seek(200)
    guide.vector("token", 0, 0.04, 2.5)
    assert "never stretches a step by more than 2.65 times" in guide.check(right=True)
    guide.act("Finish")
    expect(guide.card).to_have_count(0)


@pytest.mark.slow
def test_two_phases(opened: Callable[[str], Guide]) -> None:
    guide = opened("two-phases")
    guide.act("Train seed 1, full batch")
    guide.live.reaches(2000)
    guide.next()
    measured = "() => dynascope.slots.value[0]?.circuit.value?.epoch === {}"
    for epoch, right in ((100, False), (900, True)):
        guide.live.seek(epoch)
        guide.page.wait_for_function(measured.format(epoch))
        guide.check(right)
    guide.next()
    guide.check(right=False)
    guide.live.seek(1900)
    assert "first passed 90%" in guide.check(right=True)
    guide.next()
    guide.choose(right="The borders between the classes moved", wrong="Nothing")


@pytest.mark.slow
def test_attention_is_cut(opened: Callable[[str], Guide]) -> None:
    guide = opened("cut")
    guide.act("Train seed 15")
    guide.live.reaches(1000)
    guide.live.seek(1000)
    guide.next()
    guide.cut(2)
    assert "The model needs it." in guide.check(right=True)
    guide.next()
    assert "relevant" in guide.check(right=False)
    guide.page.get_by_role("button", name="As it was").click()
    guide.cut(8)
    assert "The model does without it." in guide.check(right=True)
    guide.next()
    guide.choose(right="In half of all cases", wrong="In 80%")


def test_the_ideal_head_is_broken_and_mended(opened: Callable[[str], Guide]) -> None:
    guide = opened("ideal")
    guide.act("Open the ideal head")
    guide.live.seek(0)
    guide.next()
    guide.page.wait_for_function("() => dynascope.slots.value[0]?.circuit.value?.clusters")
    for typed, right in (("7", False), ("6", True)):
        guide.card.get_by_label("points").fill(typed)
        guide.check(right)
    guide.next()
    guide.vector("position", 7, -7.5, 0.5)
    assert "the head bears that" in guide.check(right=False)
    guide.vector("position", 0, 8.0, 2.0)
    guide.check(right=True)
    guide.next()
    guide.live.branch()
    guide.page.wait_for_function("() => dynascope.slots.value[1]?.info.epochs >= 200")
    assert "below that of the ideal head itself" in guide.check(right=True)


@pytest.mark.slow
def test_a_third_token_is_added(opened: Callable[[str], Guide]) -> None:
    guide = opened("third-token")
    guide.act("Train seed 15")
    guide.live.reaches(1000)
    guide.next()
    assert "Add the token first" in guide.check(right=False)
    guide.act("Add a token and train on")
    guide.page.wait_for_function("() => dynascope.slots.value[0]?.info.config.task.vocab === 3")
    guide.live.reaches(1000)
    guide.check(right=True)
    config = ds.Config().replace({"task.vocab": 3})
    first = ds.train({}, [15], progress=False)[0]
    guide.live.is_run(ds.train(config, [15], start=first, progress=False)[0])
    guide.next()
    guide.act("Train from scratch, beside it")
    guide.live.reaches(1000, slot=1)
    told = guide.check(right=True)
    accuracies = [float(each) for each in re.findall(r"([\d.]+)%", told)]
    assert accuracies[0] > 90
    assert accuracies[1] < 50
    guide.next()
    guide.choose(right="Train many seeds both ways", wrong="Train this seed for longer")


@pytest.mark.slow
def test_a_minus_sign(opened: Callable[[str], Guide]) -> None:
    guide = opened("minus")
    guide.act("Train seed 13")
    guide.live.reaches(1000)
    guide.live.seek(1000)
    guide.next()
    field = guide.card.get_by_label("tokens at positions")
    guide.page.wait_for_function("() => dynascope.slots.value[0]?.sum.value?.epoch === 1000")
    for typed, right in (("11110", False), ("0101", False), ("01101", True)):
        field.fill(typed)
        told = guide.check(right)
    assert "x0 + x1 + x2 + x3 - x4" in told
    guide.next()
    guide.choose(right="A token less and a token more", wrong="The feed-forward undoes")
    guide.next()
    guide.choose(right="x0 + x1 + x2 + x3 - x4 + 2 x9", wrong="x0 + x1 + x2 + x3 + x4 + x9")


def test_a_link_opens_an_experiment_in_a_served_page(fresh: Opener) -> None:
    """Without a run, and from the menu beside one; a link to none is passed over."""
    page = fresh(size={"width": 1440, "height": 900})
    page.go("v=1&guide=cut")
    expect(page.page.locator(".guide-start .guide-card")).to_contain_text("Cut the attention")
    page.page.get_by_role("button", name="Leave the experiment").click()
    expect(page.page.locator(".guide-card")).to_have_count(0)
    expect(page.rows.first).to_be_visible()
    page.go("v=1&page=runs&guide=%3Cscript%3E")
    expect(page.rows.first).to_be_visible()


def test_the_ideal_head_is_pythons() -> None:
    folder = Path(__file__).parents[3] / "web/src/model/guided"
    held = json.loads((folder / "ideal-head.json").read_text())
    head = theory.ideal_head(ds.Config())
    assert np.allclose(held, head.parameters.flat, rtol=1e-6, atol=1e-6)
