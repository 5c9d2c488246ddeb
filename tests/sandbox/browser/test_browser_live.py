"""Training in the page, served and from a file with the network off: Python's bits, also after
edits, branches and changed options; and nothing that grows or falls over."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from browsing import Opener, Sandbox
from live_page import LivePage
from playwright.sync_api import expect

import dynascope as ds

SEED = 3
EPOCHS = 200
SMALL = {
    **{"task.train_size": 64, "task.test_size": 32, "training.batch": 16},
    "training.epochs": 20,
}


@pytest.fixture(params=["served", "file"])
def live(request: pytest.FixtureRequest, fresh: Opener) -> LivePage:
    """A page that can train, by both doors."""
    if request.param == "file":
        alone: Sandbox = request.getfixturevalue("alone")
        alone.go("v=1")
        return LivePage(alone.page)
    sandbox = fresh(size={"width": 1440, "height": 900})
    sandbox.open_table()
    return LivePage(sandbox.page)


def python_loss(config: ds.Config, seed: int, weights: ds.Parameters) -> float:
    tokens, targets = ds.dataset(config.task, seed=seed, split="train")
    return ds.loss_and_gradient(weights, tokens, targets, config.model)[0]


def test_a_run_and_its_branches_have_pythons_bits(live: LivePage, tmp_path: Path) -> None:
    """The default, a dragged token, other options on the way, and the file for Python."""
    config = ds.Config().replace({"training.epochs": EPOCHS})
    live.train({"training.epochs": EPOCHS}, SEED)
    run = ds.train(config, [SEED], progress=False)[0]
    live.is_run(run)

    live.seek(120)
    live.drag("tokens", "token", 0, (24, -18))
    edited = live.edited(config)
    moved = edited.token_embedding - run.parameters(120).token_embedding
    assert np.all(moved[0] != 0)
    assert np.all(moved[1] == 0)
    told = live.answered()
    np.testing.assert_allclose(told, python_loss(config, SEED, edited), rtol=1e-5)

    live.page.locator("summary", has_text="Other options for the branch").click()
    live.page.get_by_label("training.lr", exact=True).fill("0.01")
    live.page.get_by_label("training.batch", exact=True).fill("64")
    live.page.get_by_label("training.optimizer", exact=True).select_option("sgd")
    live.branch()
    live.reaches(EPOCHS, slot=1)
    trainer = run.trainer(120)
    trainer.change({"training.lr": 0.01, "training.batch": 64, "training.optimizer": "sgd"})
    trainer.parameters = edited
    trainer.advance(EPOCHS - 120)
    live.is_run(trainer.run, slot=1)
    live.is_run(run)  # the parent is as it was

    live.page.get_by_role("button", name="Save", exact=True).click()
    with live.page.expect_download() as download:
        live.page.get_by_role("button", name="for Python").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    (loaded,) = ds.load(file)
    assert loaded.id == trainer.run.id
    assert np.array_equal(loaded.weights, trainer.run.weights)
    live.no_trouble()


def test_undo_gives_everything_back(live: LivePage) -> None:
    live.train(SMALL, SEED)
    live.seek(12)
    points = "() => [...dynascope.slots.value[0].scene.value.points.sequence.x]"
    before = live.page.evaluate(points)
    live.drag("positions", "position", 7, (20, 10))
    first = live.numbers("edited")
    live.type_vector(1.5, -0.25)
    second = live.numbers("edited")
    assert not np.array_equal(first, second)
    live.page.keyboard.press("Escape")
    live.page.keyboard.press("Control+z")
    live.page.keyboard.press("Control+z")
    expect(live.page.get_by_label("number 1", exact=True)).not_to_have_value("1.5")
    assert np.array_equal(live.numbers("edited"), first)
    live.page.keyboard.press("Control+Shift+z")
    live.page.keyboard.press("Control+Shift+z")
    assert np.array_equal(live.numbers("edited"), second)
    live.page.get_by_role("button", name="As it was").click()
    live.page.wait_for_function("() => dynascope.slots.value[0]?.unedited.value === null")
    assert live.page.evaluate(points) == before
    live.no_trouble()


def test_batches_are_shown_one_by_one(alone: Sandbox) -> None:
    """Also on planes, which are chosen anew whenever training stops."""
    alone.go("v=1")
    live, page = LivePage(alone.page), alone.page
    options = {**SMALL, "model.dim": 3}
    live.train(options, SEED)
    trainer = ds.Trainer(ds.Config().replace(options), seed=SEED)
    trainer.advance(20)
    for batch in (1, 2):
        page.get_by_role("button", name="+1 batch").click()
        trainer.advance_steps(1)
        shown = "(first) => dynascope.slots.value[0]?.shownWeights.value?.[0] === first"
        page.wait_for_function(shown, arg=float(trainer.parameters.flat[0]))
        expect(page.locator(".live-now")).to_have_text(f"epoch 20, batch {batch} of 4")
    expect(page.get_by_role("button", name="Train on from here")).to_be_disabled()
    for epoch in (21, 22):
        page.get_by_role("button", name="+1 epoch").click()
        trainer.advance(1)
        page.wait_for_function(
            "(epoch) => dynascope.slots.value[0]?.scene.value?.epoch === epoch", arg=epoch
        )
    live.is_run(trainer.run)
    page.wait_for_timeout(500)
    assert page.evaluate("() => dynascope.slots.value[0].scene.value !== null")
    live.no_trouble()


MOVED = {  # panel: what is dragged there, and which parameter that moves
    "tokens": ("token", 0, "token_embedding"),
    "positions": ("position", 4, "position_embedding"),
    "normalized": ("query", 0, "query"),
    "receptors": ("hidden unit", 1, "receptors"),
    "assemblers": ("hidden unit", 2, "assemblers"),
}


def test_every_kind_of_vector_can_be_dragged(alone: Sandbox) -> None:
    """It alone moves, by what the hand moved."""
    alone.go("v=1")
    live = LivePage(alone.page)
    config = ds.Config().replace(SMALL)
    live.train(SMALL, SEED)
    live.seek(20)
    run = ds.train(config, [SEED], progress=False)[0]
    for panel, (kind, index, parameter) in MOVED.items():
        live.drag(panel, kind, index, (15, 12))
        edited = live.edited(config)
        for name, before in run.parameters(20).items():
            moved = np.abs(edited[name] - before) > 0
            assert moved.any() == (name == parameter), (panel, name)
            assert moved.sum() <= config.model.dim
        alone.page.get_by_role("button", name="As it was").click()
        alone.page.wait_for_function("() => dynascope.slots.value[0]?.unedited.value === null")


def test_a_stored_run_is_branched_with_its_bits(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    """Also one of which not every epoch was kept."""
    run = runs["sparse"]
    live = LivePage(fresh(size={"width": 1440, "height": 900}).open(run, epoch=17).page)
    live.drag("tokens", "token", 1, (-20, 15))
    edited = live.edited(run.config)
    live.branch()
    live.reaches(run.epochs, slot=1)
    trainer = run.trainer(17)
    trainer.parameters = edited
    trainer.advance(run.epochs - 17)
    wanted = np.array([trainer.run.parameters(epoch).flat for epoch in range(17, run.epochs + 1)])
    got = live.numbers("weights", slot=1).reshape(-1, wanted.shape[1])[17:]
    assert np.array_equal(got, wanted)


def test_keys_alone_reach_every_intervention(alone: Sandbox) -> None:
    """Tab and Enter, arrows and space: no mouse. What is reached is what the card has."""
    alone.go("v=1")
    live = LivePage(alone.page)
    live.train(SMALL, SEED)
    live.seek(12)
    page, keyboard = alone.page, alone.page.keyboard

    def reach(found: Callable[[], bool]) -> None:
        for _ in range(80):
            if found():
                return
            keyboard.press("Tab")
        raise AssertionError("no way there by Tab")

    def named(name: str) -> Callable[[], bool]:
        focus = (
            "(name) => (document.activeElement?.ariaLabel ?? "
            "document.activeElement?.textContent ?? '').trim() === name || "
            "(document.activeElement?.closest('label')?.textContent ?? '').includes(name)"
        )
        return lambda: bool(page.evaluate(focus, name))

    reach(named("what to change"))
    keyboard.press("ArrowDown")  # a position
    reach(named("number 1"))
    keyboard.press("Control+a")
    keyboard.type("2.5")
    keyboard.press("Enter")
    live.answered()
    assert "it was" in page.locator(".answer").inner_text()
    reach(named("Undo"))
    keyboard.press("Enter")
    reach(named("Switch off, freeze, patch"))
    keyboard.press("Enter")
    reach(named("no attention to position 0"))
    keyboard.press("Space")
    page.wait_for_function(
        "() => dynascope.slots.value[0].edited.value?.whatIf.cut.positions.join() === '0'"
    )
    keyboard.press("Space")
    reach(named("freeze position 0"))
    keyboard.press("Space")
    reach(named("Take"))
    keyboard.press("Enter")
    start = live.numbers("weights").reshape(SMALL["training.epochs"] + 1, -1)[0]
    wanted = ds.Parameters.from_flat(start.copy(), ds.Config().shapes).position_embedding[0]
    taken = "(wanted) => dynascope.slots.value[0].edited.value?.whatIf.weights[4] === wanted"
    page.wait_for_function(taken, arg=float(wanted[0]))
    config = ds.Config().replace(SMALL)
    assert np.array_equal(live.edited(config).position_embedding[0], wanted)
    reach(named("what to patch"))
    reach(named("Patch"))
    keyboard.press("Enter")
    page.wait_for_function("() => dynascope.slots.value[0].edited.value?.whatIf.patch")
    reach(named("Other options for the branch"))
    keyboard.press("Enter")
    reach(named("hold the attention"))
    keyboard.press("Space")
    reach(named("Train on from here"))
    keyboard.press("Enter")
    live.reaches(20, slot=1)
    changed = page.evaluate("() => dynascope.slots.value[1].info.edits[0].options")
    assert changed["training.frozen"] == ["position_embedding[0]"]
    assert changed["training.clamps"] == ["attention[0:5]=1.0@12:112"]
    live.no_trouble()


def test_a_tab_in_the_background_trains_on(alone: Sandbox) -> None:
    alone.go("v=1")
    live, page = LivePage(alone.page), alone.page
    page.get_by_label("training.epochs").fill("3000")
    page.locator(".live-form button[type=submit]").click()
    page.wait_for_function("() => dynascope.slots.value[0]?.live?.now.value.epoch > 5")
    page.evaluate(
        """() => { Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
        globalThis.requestAnimationFrame = () => 0; // as browsers do there
        document.dispatchEvent(new Event("visibilitychange")); }"""
    )
    before = page.evaluate("() => dynascope.slots.value[0].live.now.value.epoch")
    page.wait_for_function(
        "(epoch) => dynascope.slots.value[0].live.now.value.epoch > epoch + 100", arg=before
    )
    page.get_by_role("button", name="Stop").click()
    page.wait_for_function("() => !dynascope.slots.value[0].live.now.value.training")
    live.no_trouble()


@pytest.mark.slow
def test_memory_does_not_grow_by_restarts_and_branches(alone: Sandbox) -> None:
    """Twenty of each: as many workers as before, and a heap that holds what was recorded."""
    alone.go("v=1")
    live, page = LivePage(alone.page), alone.page
    live.train(SMALL, SEED)
    session = alone.context.new_cdp_session(page)

    def heap() -> int:
        page.wait_for_timeout(300)
        session.send("HeapProfiler.collectGarbage")
        return int(session.send("Runtime.getHeapUsage")["usedSize"])

    def restart() -> None:
        known = page.evaluate("() => dynascope.slots.value[0].info.id")
        page.get_by_role("button", name="Restart").click()
        there = "(known) => dynascope.slots.value[0]?.info.id !== known"
        page.wait_for_function(there, arg=known)
        live.reaches(20)

    for _ in range(3):
        restart()
    first, workers = heap(), len(page.workers)
    for _ in range(20):
        restart()
    assert heap() < first + 2e6
    assert len(page.workers) <= workers

    def branch() -> None:
        live.seek(10)
        live.branch()
        live.reaches(20, slot=1)
        page.get_by_role("button", name="Close the right one").click()
        page.wait_for_function("() => dynascope.slots.value.length === 1")

    for _ in range(3):
        branch()
    first = heap()
    for _ in range(20):
        branch()
    recorded = 23 * 21 * 4 * (196 + 60)  # bytes of all branches: weights and curves
    assert heap() < first + recorded + 4e6
    assert len(page.workers) <= workers + 3  # that train are kept for a while
    expect(page.locator(".branch-tree li")).to_have_count(24)
    live.no_trouble()


def test_a_link_to_a_run_that_is_gone_says_so(alone: Sandbox) -> None:
    """Live runs end with their page; a link to one shows a sentence."""
    alone.go("v=1&run=live-7&t=3")
    expect(alone.page.get_by_role("alert")).to_contain_text("That run was trained in a page")
    expect(alone.page.locator(".playground")).to_be_visible()
