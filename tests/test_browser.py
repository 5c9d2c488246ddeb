"""The sandbox in a real browser: what a person does to it, and what is drawn against Python."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import NOTE, RUNS, Sandbox, make_store, points, serving, tokens
from playwright.sync_api import Browser, Route, expect
from showing import Server

import dynascope as ds
from dynascope.projection import plane

POINTS = {  # panel: the stage of the model that it shows, one row for each sequence
    "sequence": "sequence",
    "sequence_normalized": "sequence_normalized",
    "feed_forward": "feed_forward",
    "output": "output",
}
MAPS = {"decision_map": "sequence", "output_map": "output"}
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
    with serving(folder) as running:
        yield running


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
        each.check(server)


@pytest.fixture(scope="module")
def kept(browser: Browser, server: Server) -> Iterator[Sandbox]:
    found = Sandbox(browser, server.address)
    yield found
    found.context.close()


@pytest.fixture
def page(kept: Sandbox, server: Server) -> Iterator[Sandbox]:
    """One page for all who begin with a view of their own: loading takes most of the time."""
    yield kept
    kept.check(server)


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


def test_space_plays_after_a_click_elsewhere(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"])
    page.page.get_by_label("One epoch on").click()
    page.page.keyboard.press(" ")
    expect(page.page.get_by_role("button", name="Pause")).to_be_visible()
    page.page.keyboard.press(" ")


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


@pytest.mark.parametrize("name", ["solved", "three"])
@pytest.mark.parametrize(
    ("panel", "stage"), [("decision_map", "sequence"), ("output_map", "output")]
)
def test_maps_are_pythons(
    page: Sandbox, runs: dict[str, ds.Run], name: str, panel: str, stage: str
) -> None:
    run, epoch = runs[name], 33
    page.open(run, epoch=epoch)
    rows = page.data(panel)[:: 101 * run.config.task.vocab]  # some of 64 x 64 cells
    places = points(rows)
    sequences = np.zeros((len(places), run.config.task.length), np.int32)
    wanted = ds.forward(
        run.parameters(epoch), sequences, run.config.model, None, {MAPS[panel]: places}
    )
    classes = np.array([int(row["class"]) for row in rows])
    found = np.array([float(row["logit"]) for row in rows])
    np.testing.assert_allclose(found, wanted.logits[np.arange(len(rows)), classes], atol=1e-4)


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
    """At an epoch whose losses are far from its neighbours'."""
    epoch, curves = 10, runs["solved"].curves
    page.open(runs["solved"], epoch=epoch - 1)
    page.press("ArrowRight", epoch)
    told = page.page.locator(".losses").inner_text()
    for name in ("train", "test"):
        found = re.search(rf"{name} (\S+)", told)
        assert found is not None, told
        near = np.isclose(curves[f"{name}_loss"], float(found[1]), rtol=5e-3)  # three digits
        assert near[epoch - 1 : epoch + 2].tolist() == [False, True, False]
    rows = page.data("loss")
    for name in ("train_loss", "test_loss"):
        saved = np.array([float(row[name]) for row in rows])
        np.testing.assert_array_equal(saved.astype(curves[name].dtype), curves[name])


def test_files_are_named_by_what_they_hold(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    """Weights are kept every seventh epoch: at 17 it is those of 14 that are seen and saved."""
    run = runs["sparse"]
    page.go(f"v=1&run={run.id}&t=17")
    page.page.wait_for_function("(id) => dynascope.slots.value[0]?.info.id === id", arg=run.id)
    page.shows(14)
    expect(page.epoch).to_have_text("epoch 17")
    for panel, how, name in [
        ("tokens", "Data as CSV", "epoch14-tokens.csv"),
        ("sequence", "Save as SVG", "epoch14-sequence.svg"),
        ("decision_map", "Save as PNG", "epoch14-decision_map.png"),
        ("loss", "Save as SVG", "epoch17-loss.svg"),  # with the playhead in it
        ("loss", "Data as CSV", "loss.csv"),  # of all epochs
    ]:
        assert page.download(panel, how).suggested_filename == f"{run.id[:8]}-{name}"
    np.testing.assert_allclose(
        points(page.data("tokens")), run.parameters(14).token_embedding, atol=1e-6
    )


@pytest.mark.parametrize(("gap", "clusters"), [(0, "6 of 6"), (1e9, "not clear")])
def test_the_server_says_what_is_clear(
    fresh: Opener, runs: dict[str, ds.Run], gap: float, clusters: str
) -> None:
    page, run = fresh(), runs["solved"]

    def otherwise(route: Route) -> None:
        answer = route.fetch()
        told = answer.json()
        route.fulfill(
            response=answer, json=told | {"thresholds": told["thresholds"] | {"clear_gap": gap}}
        )

    page.context.route(f"**/api/run/{run.id}", otherwise)
    page.open(run, epoch=run.epochs)
    fact = page.page.locator(".card dt:text-is('clusters') + dd")
    expect(fact).to_have_text(clusters)


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
        expect(page.page.locator(panels)).to_have_count(20 - hidden)
    page.page.get_by_role("button", name="Panels").click()
    page.page.get_by_role("button", name="Show all").click()
    expect(page.page).to_have_url(re.compile("&hide=&"))
    page.page.reload()
    page.shows(3)
    expect(page.page.locator(panels)).to_have_count(20)


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
