"""The sandbox in a real browser: what a person does to it, and what is drawn against Python."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from browsing import CHROMIUM, NOTE, RUNS, Sandbox, make_store, points, tokens
from playwright.sync_api import Browser, Route, expect, sync_playwright
from showing import Server, show

import dynascope as ds
from dynascope.projection import plane
from dynascope.sandbox import client

pytestmark = pytest.mark.xdist_group("browser")  # one browser for all of it

POINTS = {  # panel: the stage of the model that it shows, one row for each sequence
    "sequence": "sequence",
    "sequence_normalized": "sequence_normalized",
    "feed_forward": "feed_forward",
    "output": "output",
}
PAIRS = {"embeddings": "embedding", "normalized": "normalized", "values": "values"}
Opener = Callable[..., Sandbox]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="module")
def runs(folder: Path) -> dict[str, ds.Run]:
    return make_store(folder / "store")


@pytest.fixture(scope="module")
def server(runs: dict[str, ds.Run], folder: Path) -> Iterator[Server]:
    """The client as it is built now: a copy, so that a build meanwhile does not matter."""
    client.check_built(client.FOLDER)
    shutil.copytree(client.FOLDER, folder / "static")
    with show(folder / "static", folder / "store", "--no-open") as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


def check(page: Sandbox, server: Server) -> None:
    """It has met no error and asked no other host."""
    assert page.problems == []
    assert {urlsplit(url).netloc for url in page.requests} == {f"127.0.0.1:{server.port}"}


@pytest.fixture
def fresh(browser: Browser, server: Server) -> Iterator[Opener]:
    """Makes pages in browsers that know nothing yet."""
    made: list[Sandbox] = []

    def make(**more: Any) -> Sandbox:
        made.append(Sandbox(browser, server.address, **more))
        return made[-1]

    yield make
    for each in made:
        each.context.close()
        check(each, server)


@pytest.fixture(scope="module")
def kept(browser: Browser, server: Server) -> Iterator[Sandbox]:
    found = Sandbox(browser, server.address)
    yield found
    found.context.close()


@pytest.fixture
def page(kept: Sandbox, server: Server) -> Iterator[Sandbox]:
    """One page for all who begin with a view of their own: loading takes most of the time."""
    yield kept
    check(kept, server)


# ---- time ---------------------------------------------------------------------------------------
def test_it_loads(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    page = fresh()
    page.open(runs["solved"], epoch=10)
    expect(page.page.locator(".panel")).to_have_count(20)
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


# ---- what is drawn is what Python computes ------------------------------------------------------
@pytest.mark.parametrize(("name", "epoch"), [("solved", 0), ("solved", 97), ("three", 40)])
def test_points_are_pythons(page: Sandbox, runs: dict[str, ds.Run], name: str, epoch: int) -> None:
    page.open(runs[name], epoch=epoch)
    weights = runs[name].parameters(epoch)
    model = runs[name].config.model
    for panel, wanted in {
        "tokens": weights.token_embedding,
        "positions": weights.position_embedding,
        "receptors": weights.receptors,
        "assemblers": weights.assemblers.T,
    }.items():
        np.testing.assert_allclose(points(page.data(panel)), wanted, atol=1e-6, err_msg=panel)
    for panel, stage in POINTS.items():
        rows = page.data(panel)
        wanted = getattr(ds.forward(weights, tokens(rows), model), stage)
        np.testing.assert_allclose(points(rows), wanted, atol=1e-6, err_msg=panel)
    length, vocab = runs[name].config.task.length, runs[name].config.task.vocab
    constant = np.repeat(np.arange(vocab)[:, None], length, axis=1)  # each token everywhere
    for panel, stage in PAIRS.items():
        rows = [row for row in page.data(panel) if row["token"] != "query"]
        wanted = getattr(ds.forward(weights, constant, model), stage).reshape(-1, 2)
        where = [int(row["token"]) * length + int(row["position"]) for row in rows]
        assert where == list(range(vocab * length))
        np.testing.assert_allclose(points(rows), wanted, atol=1e-6, err_msg=panel)


@pytest.mark.parametrize("name", ["solved", "three", "wide"])
def test_attention_and_probabilities_are_pythons(
    page: Sandbox, runs: dict[str, ds.Run], name: str
) -> None:
    run, epoch = runs[name], 33
    page.open(run, epoch=epoch)
    attention, probabilities = page.data("attention"), page.data("probabilities")
    length, vocab = run.config.task.length, run.config.task.vocab
    sequences = tokens(attention[::length])
    wanted = ds.forward(run.parameters(epoch), sequences, run.config.model)
    found = np.array([float(row["attention"]) for row in attention]).reshape(-1, length)
    np.testing.assert_allclose(found, wanted.attention, atol=1e-6)
    assert (tokens(probabilities[::vocab]) == sequences).all()
    found = np.array([float(row["probability"]) for row in probabilities]).reshape(-1, vocab)
    np.testing.assert_allclose(found, wanted.probabilities, atol=1e-6)
    sums = sequences[:, run.config.task.positions].sum(axis=1) % vocab
    assert [int(row["target"]) for row in probabilities[::vocab]] == sums.tolist()


def test_more_dimensions_are_projected(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    run = runs["wide"]
    page.open(run, epoch=15)
    rows = page.data("sequence")
    at_end, now = (
        ds.forward(run.parameters(epoch), tokens(rows), run.config.model).sequence
        for epoch in (run.epochs, 15)
    )
    found = plane(at_end)
    np.testing.assert_allclose(points(rows), now @ found.axes.T, atol=1e-6)
    kept = round(100 * float(found.shares.sum()))
    expect(page.panel("sequence").locator(".plane")).to_have_text(f"plane, {kept}%")


def test_losses_are_the_runs(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"], epoch=90)
    curves = runs["solved"].curves
    told = page.page.locator(".losses").inner_text()
    for name in ("train", "test"):
        found = re.search(rf"{name} (\S+)", told)
        assert found is not None, told
        assert float(found[1]) == pytest.approx(curves[f"{name}_loss"][90], rel=5e-3)  # 3 digits
    rows = page.data("loss")
    for name in ("train_loss", "test_loss"):
        saved = np.array([float(row[name]) for row in rows])
        np.testing.assert_array_equal(saved.astype(curves[name].dtype), curves[name])


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
    assert facts["p of the target"] == f"{100 * wanted.probabilities[0, target]:.2f}%"
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
    expect(panels).to_have_count(20)
    page.panel("output").locator("canvas").hover()
    page.page.keyboard.press("e")
    expect(panels).to_have_count(1)
    page.page.keyboard.press("Escape")
    expect(panels).to_have_count(20)


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
    expect(page.page.locator(".panel")).to_have_count(19)
    page.page.goto(f"{server.address}#v=1&run={runs['three'].id}")  # which does not say it
    page.shows(0)
    expect(page.page.locator(".panel")).to_have_count(19)
    page.page.get_by_role("button", name="Panels").click()
    page.page.get_by_role("button", name="Show all").click()
    expect(page.page.locator(".panel")).to_have_count(20)


# ---- the view -----------------------------------------------------------------------------------
def test_reloading_restores_the_view(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    page = fresh()
    page.open(runs["three"], epoch=12)
    page.page.get_by_label("Light or dark").click()
    page.press("Shift+ArrowRight", 22)
    expect(page.page).to_have_url(re.compile(r"run=\w+&t=22&theme=dark"))
    page.page.evaluate("localStorage.removeItem('dynascope.view')")  # the address alone
    page.page.reload()
    page.shows(22)
    expect(page.page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.page.locator(".where")).to_contain_text(runs["three"].id[:6])


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
    expect(page.rows).to_have_count(0)
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


# ---- a browser that cannot ----------------------------------------------------------------------
def test_a_browser_without_simd_gets_a_sentence(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    """The kernel runs in a worker, which no script of the page reaches: its own text is changed."""
    page = fresh()

    def without(route: Route) -> None:
        answer = route.fetch()
        lacking = "WebAssembly.validate = () => false;\n"
        route.fulfill(response=answer, body=lacking + answer.text())

    page.context.route("**/assets/worker-*.js", without)
    page.go(f"v=1&run={runs['solved'].id}")
    expect(page.page.locator(".notice")).to_contain_text("This browser has no WebAssembly SIMD")
    expect(page.page.locator(".panel")).to_have_count(0)
