"""The sandbox in a real browser: time, what is under the pointer, panels, a browser that cannot."""

import re

import numpy as np
import pytest
from browsing import PANELS, RUNS, Opener, Sandbox, tokens
from playwright.sync_api import Route, expect
from showing import Server

import dynascope as ds
from dynascope.number_text import percent


# ---- time ---------------------------------------------------------------------------------------
def test_it_loads(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    page = fresh()
    page.open(runs["solved"], epoch=10)
    expect(page.page.locator(".panel")).to_have_count(PANELS)
    expect(page.page.locator("header.top")).to_contain_text(f"seed {runs['solved'].seed}")
    assert any(url.endswith("/kernel.wasm") for url in page.requests)


def test_the_time_bar_moves_every_panel(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"])
    before = page.pictures()
    page.click_track(0.5)
    expect(page.epoch).not_to_have_text("epoch 0")
    assert 60 <= page.epoch_now <= 90  # of 150; the axis has room at both ends
    page.shows(page.epoch_now)
    page.changed(before, [name for name in before if name != "hessian"])  # not computed yet
    page.click_track(0.999)
    page.shows(150)


def test_keys_step_and_leap(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"], epoch=20)
    page.press("ArrowRight", 21)
    page.press("ArrowLeft", 20)
    page.press("Shift+ArrowRight", 30)
    page.press("Shift+ArrowLeft", 20)
    page.press("End", 150)
    page.press("ArrowRight", 150)
    page.press("Home", 0)
    page.press("ArrowLeft", 0)
    page.shows(0)


def test_space_plays_and_pauses(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"])
    page.page.keyboard.press(" ")
    expect(page.page.get_by_role("button", name="Pause")).to_be_visible()
    page.page.wait_for_function("() => dynascope.view.value.epoch >= 5")
    page.page.keyboard.press(" ")
    expect(page.page.get_by_role("button", name="Play")).to_be_visible()
    stopped = page.epoch_now
    page.shows(stopped)
    page.page.get_by_role("button", name="Play").click()
    page.page.wait_for_function("(then) => dynascope.view.value.epoch > then", arg=stopped)
    expect(page.epoch).to_have_text("epoch 150")  # where playing ends by itself
    expect(page.page.get_by_role("button", name="Play")).to_be_visible()


def test_space_plays_after_a_click_elsewhere(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"])
    page.page.get_by_label("One epoch on").click()
    page.page.keyboard.press(" ")
    expect(page.page.get_by_role("button", name="Pause")).to_be_visible()
    page.page.keyboard.press(" ")


# ---- linking ------------------------------------------------------------------------------------
def test_a_sequence_under_the_pointer_is_marked(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    run, epoch = runs["solved"], 100
    page.open(run, epoch=epoch)
    before = page.pictures()
    page.panel("attention").locator("canvas").hover()
    expect(page.page.locator(".pointer dt").first).to_have_text("sequence")
    page.changed(before, ["attention", "sequence", "output", "decision_map", "embeddings"])
    facts = page.facts()
    sequence = tokens([{"sequence": facts["sequence"]}])
    wanted = ds.forward(run.parameters(epoch), sequence, run.config.model)
    target = int(sequence[0, run.config.task.positions].sum()) % 2
    margin = wanted.logits[0, target] - np.delete(wanted.logits[0], target).max()
    assert facts["margin"].endswith(" nats")
    assert float(facts["margin"].split()[0]) == pytest.approx(margin, rel=5e-3)  # three digits
    assert facts["probability of the target"] == percent(float(wanted.probabilities[0, target]), 2)
    assert facts["target / prediction"].startswith(f"{target} / {wanted.probabilities.argmax()} ")
    told = [float(each) for each in facts["ξ"].split(", ")]
    np.testing.assert_allclose(told, wanted.sequence[0], rtol=5e-3)
    page.page.mouse.move(2, 2)
    expect(page.page.locator(".pointer dt")).to_have_count(0)


def test_a_token_is_found_where_it_is_drawn(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    """Its marker in the saved picture is where the pointer meets it."""
    page.open(runs["solved"], epoch=100)
    picture = page.saved("tokens", "Save as SVG")
    drawn = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', picture)
    assert len(drawn) == 2
    embedding = runs["solved"].parameters(100).token_embedding
    canvas = page.panel("tokens").locator("canvas")
    for token, (x, y) in enumerate(drawn):
        canvas.hover(position={"x": float(x), "y": float(y)})
        expect(page.page.locator(".pointer dd").first).to_have_text(str(token))
        told = [float(each) for each in page.facts()["E"].split(", ")]
        np.testing.assert_allclose(told, embedding[token], rtol=5e-3)


# ---- panels -------------------------------------------------------------------------------------
def test_a_panel_is_enlarged_and_closed(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"], epoch=50)
    panels = page.page.locator(".panel")
    small = page.panel("sequence").bounding_box()
    page.page.get_by_label("Sequence embeddings: enlarge").click()
    expect(panels).to_have_count(1)
    big = page.panel("sequence").bounding_box()
    assert small is not None
    assert big is not None
    assert big["width"] > 3 * small["width"]
    page.page.get_by_label("Sequence embeddings: make small").click()
    expect(panels).to_have_count(PANELS)
    page.panel("output").locator("canvas").hover()
    page.page.keyboard.press("e")
    expect(panels).to_have_count(1)
    page.page.keyboard.press("Escape")
    expect(panels).to_have_count(PANELS)


def test_a_panel_comes_to_rest(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    """Also one that is made small again while its large picture is new."""
    page.open(runs["solved"], epoch=50)
    page.panel("decision_map").locator("canvas").hover()
    for key in ("e", "Escape"):
        page.page.keyboard.press(key)
        page.page.wait_for_timeout(300)
    page.page.mouse.move(2, 2)
    page.page.wait_for_function("() => dynascope.frameTimes().length === 0", polling=1000)


def test_followed_axes_fit_the_points(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    """Outputs grow in training: on axes for the whole run, those of the first epoch are a dot."""
    page = fresh().open(runs["solved"])
    sizes = {}
    for axes in ("follow", "fixed"):
        page.page.get_by_label("axes").select_option(axes)
        page.page.wait_for_timeout(100)
        picture = page.saved("output", "Save as SVG")
        drawn = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', picture)
        sizes[axes] = np.ptp(np.array(drawn, float), axis=0).max()  # pixels
    assert sizes["follow"] > 5 * sizes["fixed"]


def test_a_hidden_panel_stays_hidden(
    fresh: Opener, server: Server, runs: dict[str, ds.Run]
) -> None:
    page = fresh()
    page.open(runs["solved"])
    page.panel("values").get_by_label(re.compile("save or hide")).click()
    page.panel("values").get_by_role("menuitem", name="Hide").click()
    expect(page.panel("values")).to_have_count(0)
    expect(page.page).to_have_url(re.compile("hide=values"))
    page.page.reload()
    expect(page.page.locator(".panel")).to_have_count(PANELS - 1)
    page.page.goto(f"{server.address}#v=1&run={runs['three'].id}")  # which does not say it
    page.shows(0)
    expect(page.page.locator(".panel")).to_have_count(PANELS - 1)
    page.page.get_by_role("button", name="Panels").click()
    page.page.get_by_role("button", name="Show all").click()
    expect(page.page.locator(".panel")).to_have_count(PANELS)


# ---- a browser that cannot ----------------------------------------------------------------------
NO_SIMD = "WebAssembly.validate = () => false;\n"


def test_a_browser_without_simd_gets_a_sentence(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    """The kernel runs in a worker, which no script of the page reaches: its own text is changed."""
    page = fresh()

    def without(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=NO_SIMD + answer.text())

    page.context.route("**/assets/scene-worker-*.js", without)
    page.context.add_init_script(NO_SIMD)
    page.open_table()
    sentence = "This browser has no WebAssembly SIMD"
    expect(page.page.get_by_role("alert")).to_contain_text(sentence)  # before any run is opened
    expect(page.rows).to_have_count(len(RUNS))
    page.page.get_by_label("Filter the runs").fill("accuracy>0.9")
    expect(page.rows).to_have_count(1)
    page.rows.first.click()
    expect(page.page.locator(".notice")).to_contain_text(sentence)
    expect(page.page.locator(".panel")).to_have_count(0)
