"""The sandbox in Firefox: it draws, scrubs, trains, is changed by hand and branches, with the bits
that Chromium and Python have; and nothing leaves the machine."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from bidi import Firefox, Page, firefox
from browsing import SEEN, Opener, Sandbox
from showing import Server, until

import dynascope as ds
from dynascope.sandbox.one_file import playground

pytestmark = pytest.mark.slow

SEED = 15  # solves the task
EPOCHS = 200
FIXED = "&axes=fixed&hide=hessian"  # axes that follow depend on what was seen before
WINDOW = {"width": 1440, "height": 900}

_SHOWS = "(epoch) => dynascope.slots.value[0]?.scene.value?.epoch === epoch"
_SEEK = "(epoch) => { const { view } = dynascope; view.value = { ...view.value, epoch }; }"
# How many colours each panel's picture has that is in sight.
_COLOURS = """() => {
    const inSight = (canvas) => canvas.getBoundingClientRect().top < 640;
    const colours = (canvas) => new Set(new Uint32Array(canvas.getContext("2d")
        .getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size;
    return Object.fromEntries([...document.querySelectorAll("[data-panel]")]
        .map((panel) => [panel.dataset.panel, panel.querySelector("canvas")])
        .filter(([, canvas]) => inSight(canvas)).map(([name, canvas]) => [name, colours(canvas)]));
}"""
_MAPPED = """() => ["decision_map", "output_map"].every((name) =>
    dynascope.slots.value[0].scene.value.maps[name].logits.some((logit) => logit > 0))"""
_TRAINED = """([slot, epochs]) => { const now = dynascope.slots.value[slot]?.live?.now.value;
    return now?.epoch === epochs && !now.training; }"""
_RECORDED = """(slot) => {
    const { curves, weights } = dynascope.slots.value[slot].live;
    const bits = ({ buffer, byteOffset, byteLength }) =>
        new Uint8Array(buffer, byteOffset, byteLength).toBase64();
    return { weights: bits(weights.rows(0, weights.count)),
        curves: Object.fromEntries(Object.entries(curves).map(([k, curve]) => [k, bits(curve)])) };
}"""
_TOKENS = """() => { const canvas = document.querySelector("[data-panel=tokens] canvas");
    const { left, top, width, height } = canvas.getBoundingClientRect();
    return [left, top, width, height]; }"""
_POINTED = '() => document.querySelector(".pointer dt")?.textContent === "token"'
_ANSWER = '() => document.querySelector(".answer")?.textContent'
_EDITED = "() => [...dynascope.slots.value[0].edited.value.whatIf.weights]"

Tab = Callable[..., Page]


@pytest.fixture(scope="module")
def running() -> Iterator[Firefox]:
    with firefox() as started:
        yield started


@pytest.fixture
def tab(running: Firefox) -> Iterator[Tab]:
    """Opens an address; what is on disk without a network."""
    made: list[Page] = []

    def make(address: str, wait: str = "() => true", given: Any = None) -> Page:
        page = Page(running, **WINDOW)
        made.append(page)
        if address.startswith("file:"):
            page.go_offline()
        page.goto(address)
        page.wait_for(wait, given)
        return page

    yield make
    for page in made:
        page.close()


@pytest.fixture
def playing(tab: Tab, tmp_path: Path) -> Iterator[Page]:
    """A playground in which a run has been trained."""
    (tmp_path / "play.html").write_bytes(playground())
    page = tab((tmp_path / "play.html").as_uri(), "() => document.querySelector('#live-seed')")
    page.fill("#live-seed", str(SEED))
    page.fill("[id='option-training.epochs']", str(EPOCHS))
    page.click(".live-form button[type=submit]")
    page.wait_for(_TRAINED, [0, EPOCHS])
    yield page
    check_alone(page)


def check_alone(page: Page, host: str | None = None) -> None:
    """It has met no error, and asked no other host."""
    assert page.problems == []
    asked = [urlsplit(url) for url in page.requests]
    assert {url.scheme for url in asked} <= {"http" if host else "file", "data", "blob"}
    assert {url.netloc for url in asked if url.scheme == "http"} == ({host} if host else set())


def scrub(page: Page, epochs: list[int]) -> None:
    for epoch in epochs:
        page.evaluate(_SEEK, epoch)
        page.wait_for(_SHOWS, epoch)


def same_run(page: Page, slot: int, run: ds.Run) -> None:
    """Every curve and all weights, bit for bit."""
    got = page.evaluate(_RECORDED, slot)
    bits = {name: base64.b64decode(curve) for name, curve in got["curves"].items()}
    assert bits.keys() == run.curves.keys()
    for name, curve in run.curves.items():
        assert bits[name] == np.asarray(curve).tobytes(), name
    assert base64.b64decode(got["weights"]) == run.weights.tobytes()


def same_view(page: Page, chromium: Sandbox) -> None:
    """All but the maps, which are as wide as their panels: these have their browser's letters."""
    [got] = json.loads(page.evaluate(SEEN, []))
    [wanted] = json.loads(chromium.page.evaluate(SEEN, []))
    for part, value in wanted.items():
        assert (part, got[part]) == (part, value)
    page.wait_for(_MAPPED)


@pytest.mark.parametrize("how", ["served", "exported"])
@pytest.mark.parametrize("name", ["solved", "three"])
def test_it_draws_and_scrubs_as_in_chromium(
    name: str,
    how: str,
    tab: Tab,
    fresh: Opener,
    runs: dict[str, ds.Run],
    server: Server,
    tmp_path: Path,
) -> None:
    run, chromium = runs[name], fresh(size=WINDOW)
    address = server.address
    if how == "exported":
        ds.export(run, tmp_path / "run.html", progress=False)
        address = (tmp_path / "run.html").as_uri()
    page = tab(f"{address}#v=1&run={run.id}&t=0{FIXED}", _SHOWS, 0)
    drawn = page.wait_for(f"() => {{ const all = ({_COLOURS})(); return all.tokens > 3 && all; }}")
    assert len(drawn) > 8
    assert min(drawn.values()) > 3

    for key, epoch in {"ArrowRight": 1, "End": run.epochs, "ArrowLeft": run.epochs - 1}.items():
        page.press(key)
        page.wait_for(_SHOWS, epoch)
    page.evaluate("() => document.querySelector('[role=slider]').focus()")
    page.press("Home")
    page.wait_for(_SHOWS, 0)
    for epoch in (17, run.epochs, 3):
        scrub(page, [epoch])
        chromium.open(run, epoch=epoch, more=FIXED)
        same_view(page, chromium)
    check_alone(page, f"127.0.0.1:{server.port}" if how == "served" else None)


def test_it_trains_with_the_bits_of_python(playing: Page, tmp_path: Path) -> None:
    config = ds.Config().replace({"training.epochs": EPOCHS})
    same_run(playing, 0, ds.train(config, [SEED], progress=False)[0])
    scrub(playing, [0, 120, EPOCHS])
    playing.screenshot(tmp_path / "trained.png")
    assert (tmp_path / "trained.png").read_bytes().startswith(b"\x89PNG")


def test_a_token_is_dragged_and_the_branch_is_that_of_python(playing: Page) -> None:
    begun = EPOCHS - 40
    scrub(playing, [begun])
    x, y = token_place(playing)
    playing.pointer((x, y), "down", (x + 10, y + 5), (x + 30, y + 12))
    first = playing.wait_for(f"() => ({_ANSWER})()?.startsWith('train loss') && ({_ANSWER})()")
    playing.pointer((x + 60, y + 20), "up")
    playing.wait_for(
        f"(before) => ({_ANSWER})().startsWith('train') && ({_ANSWER})() !== before", first
    )

    config = ds.Config().replace({"training.epochs": EPOCHS})
    run = ds.train(config, [SEED], progress=False)[0]
    trainer = run.trainer(begun)
    before, after = trainer.parameters.flat, np.float32(playing.evaluate(_EDITED))
    assert 0 < (before != after).sum() <= 2  # of one token
    trainer.parameters = ds.Parameters.from_flat(after, config.shapes)
    trainer.advance(EPOCHS - begun)

    playing.click(".train-on")
    playing.wait_for(_TRAINED, [1, EPOCHS])
    same_branch(playing, trainer.run, begun)
    same_run(playing, 0, run)  # its parent is as it was


def token_place(page: Page) -> tuple[float, float]:
    """Where the card beside says that a token is under the mouse."""
    left, top, width, height = page.evaluate(_TOKENS)
    for y in np.arange(6, height, 12):
        for x in np.arange(6, width, 12):
            page.pointer((left + x, top + y))
            if page.evaluate(_POINTED):
                return float(left + x), float(top + y)
    raise AssertionError("Expected a token somewhere in its panel, but found none.")


def same_branch(page: Page, run: ds.Run, begun: int) -> None:
    """The weights of a branch since it began, and its losses."""
    got = page.evaluate(_RECORDED, 1)
    weights = np.frombuffer(base64.b64decode(got["weights"]), np.float32)
    assert weights.reshape(run.weights.shape)[begun:].tobytes() == run.weights[begun:].tobytes()
    for name in ("train_loss", "test_loss"):
        curve = np.frombuffer(base64.b64decode(got["curves"][name]), np.float32)
        assert curve[begun + 1 :].tobytes() == run.curves[name][begun + 1 :].tobytes()


def test_what_would_go_wrong_is_noticed(tab: Tab, server: Server) -> None:
    page = tab(server.address)
    assert page.problems == []
    page.evaluate("() => { console.warn('a warning'); setTimeout(() => { throw Error('late') }); }")
    assert until(lambda: len(page.problems) == 2)
    page.evaluate("() => fetch('/api/elsewhere').catch(() => null)")
    assert page.requests[-1].endswith("/api/elsewhere")
    page.go_offline()
    assert page.evaluate("() => fetch('/').then(() => 'there', () => 'none')") == "none"
