"""Files that a page makes of what it shows: opened from disk with the network off, they show the
same, train on, and are shared again. And saved runs, opened in a page."""

import base64
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from archives import unpacked
from browsing import SEEN, Opener, Sandbox
from live_page import LivePage
from playwright.sync_api import Browser, FileChooser, Page, expect

import dynascope as ds
from dynascope.sandbox import one_file
from dynascope.sandbox.direct_answers import DirectAnswers
from dynascope.sandbox.embedded_client import KERNEL, bare_page, embedded_client
from dynascope.sandbox.one_file import LARGE
from dynascope.sandbox.store_answers import Shown

SMALL = {
    **{"task.train_size": 64, "task.test_size": 32, "training.batch": 16},
    "training.epochs": 20,
}
FIXED = "&axes=fixed&hide=hessian"
CLIENT = Path(__file__).parents[3] / "web/src"


def share(page: Page, file: Path, every: int | None = None) -> Path:
    """By the menu, as a person does it."""
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Share as one file").click()
    if every is not None:
        page.get_by_label("keep the weights of every N-th epoch").fill(str(every))
    with page.expect_download(timeout=60_000) as download:
        page.get_by_role("button", name="Make the file").click()
    assert re.fullmatch(r"dynascope-seed-[\w-]+\.html", download.value.suggested_filename)
    download.value.save_as(file)
    expect(page.locator(".share [role=status]")).to_have_text(re.compile(r"^Saved .* MB\.$"))
    page.keyboard.press("Escape")
    return file


def archive_in(file: Path) -> dict[str, bytes]:
    text = file.read_text(encoding="utf-8")
    (held,) = re.findall(r'id="dynascope-archive">([^<]*)<', text)
    return unpacked(base64.b64decode(held))


def seen(sandbox: Sandbox) -> Any:
    """The end of a live run is where it was when it was opened: that is left out."""
    slots = json.loads(sandbox.page.evaluate(SEEN, []))
    return [{part: slot[part] for part in slot if part != "ending"} for slot in slots]


def same(first: Sandbox, second: Sandbox) -> None:
    for _ in range(50):
        if seen(first) == seen(second):
            return
        second.page.wait_for_timeout(100)
    for one, other in zip(seen(first), seen(second), strict=True):
        for part, value in one.items():
            assert (part, other[part]) == (part, value)


Reader = Callable[[Path], Sandbox]


@pytest.fixture
def opened(browser: Browser) -> Iterator[Reader]:
    """Opens files from disk; each has met no error and asked for nothing but itself."""
    made: list[Sandbox] = []

    def make(file: Path) -> Sandbox:
        made.append(Sandbox(browser, file.as_uri()))
        made[-1].context.set_offline(True)
        made[-1].page.goto(file.as_uri())
        return made[-1]

    yield make
    for each in made:
        each.context.close()
        assert each.problems == []
        assert {url.partition(":")[0] for url in each.requests} <= {"file", "blob", "data"}


def test_a_served_run_is_shared_as_export_writes_it(
    fresh: Opener, opened: Reader, runs: dict[str, ds.Run], tmp_path: Path
) -> None:
    """Every answer has the bytes that Python would have put there."""
    run = runs["solved"]
    page = fresh().open(run, epoch=70, more=FIXED)
    file = share(page.page, tmp_path / "shared.html")
    ds.export(run, tmp_path / "exported.html", epoch=70, progress=False)
    mine, pythons = archive_in(file), archive_in(tmp_path / "exported.html")
    assert mine.keys() == pythons.keys()
    for path in mine:
        if not path.endswith(("/api/store", run.id, "/analysis")):
            assert mine[path] == pythons[path], path
    told, wanted = (json.loads(each[f"/api/run/{run.id}"]) for each in (mine, pythons))
    assert told | {"found": 0} == wanted | {"found": 0}  # the store has analyses, one run has none
    shared = opened(file)
    shared.shows(70)
    same(page, shared)
    expect(shared.page.locator(".panel[data-panel=hessian]")).to_have_count(0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sparse", "wide", "noted"])
def test_other_runs_show_the_same(
    name: str, fresh: Opener, opened: Reader, runs: dict[str, ds.Run], tmp_path: Path
) -> None:
    """Also epochs that the server computed again; strings that look like markup are none."""
    page = fresh().open(runs[name], epoch=17, more=FIXED)
    shared = opened(share(page.page, tmp_path / "shared.html"))
    shared.shows(17)
    same(page, shared)
    page.press("ArrowRight", 18)
    shared.press("ArrowRight", 18)
    for each in (page, shared):
        each.shows(18)
    same(page, shared)
    assert shared.page.evaluate("() => window.hacked") is None


@pytest.mark.slow
def test_two_runs_are_shared_again_and_again(
    fresh: Opener, opened: Reader, runs: dict[str, ds.Run], tmp_path: Path
) -> None:
    page = fresh().open(runs["wide"], runs["three"], epoch=9, more=FIXED)
    first = opened(share(page.page, tmp_path / "first.html"))
    first.shows(9, 9)
    same(page, first)
    second = opened(share(first.page, tmp_path / "second.html"))
    second.shows(9, 9)
    same(page, second)
    assert archive_in(tmp_path / "first.html") == archive_in(tmp_path / "second.html")
    share(second.page, tmp_path / "third.html")
    texts = [(tmp_path / f"{name}.html").read_bytes() for name in ("second", "third")]
    assert texts[0] == texts[1]  # nothing of the running page gets into it
    assert b'<div id="app"><p class="notice">Loading the sandbox.</p></div>' in texts[0]


def test_weights_can_be_left_out(
    fresh: Opener, opened: Reader, runs: dict[str, ds.Run], tmp_path: Path
) -> None:
    page = fresh().open(runs["solved"], epoch=21)
    shared = opened(share(page.page, tmp_path / "thin.html", every=8))
    shared.shows(16)
    note = shared.page.locator(".weights-note")
    expect(note).to_have_attribute("title", re.compile("has the weights of one epoch in 8"))
    ds.export(runs["solved"], tmp_path / "exported.html", every=8, progress=False)
    mine, pythons = archive_in(tmp_path / "thin.html"), archive_in(tmp_path / "exported.html")
    weights = f"/api/run/{runs['solved'].id}/weights"
    assert mine[weights] == pythons[weights]


@pytest.mark.slow
def test_live_runs_are_trained_again_with_every_bit(
    alone: Sandbox, opened: Reader, tmp_path: Path
) -> None:
    """A run and its branch, of which a token was moved and the learning rate changed."""
    alone.go("v=1")
    live = LivePage(alone.page)
    live.train(SMALL, 3)
    live.seek(12)
    live.type_vector(1.5, -0.25)
    live.page.locator("summary", has_text="Other options for the branch").click()
    live.page.get_by_label("training.lr", exact=True).fill("0.01")
    live.branch()
    live.reaches(20, slot=1)
    live.seek(15)
    file = share(alone.page, tmp_path / "live.html")
    shared = opened(file)
    shared.shows(15, 15)
    again = LivePage(shared.page)
    for slot in (0, 1):
        for what in ("weights", "train_loss", "test_accuracy"):
            assert np.array_equal(live.numbers(what, slot), again.numbers(what, slot))
    same(alone, shared)
    expect(shared.page.locator(".branch-tree li")).to_have_count(2)
    expect(shared.page.locator(".branch-tree")).to_contain_text("from epoch 12")
    # It trains on, also after a reload, and is shared again.
    shared.page.reload()
    shared.shows(15, 15)
    shared.page.get_by_role("button", name="Train", exact=True).last.click()
    again.reaches(30, slot=1)
    third = opened(share(shared.page, tmp_path / "again.html"))
    third.page.wait_for_function("() => dynascope.slots.value[1]?.info.epochs === 30")
    again.no_trouble()


def test_a_stored_run_and_its_branch(
    fresh: Opener, opened: Reader, runs: dict[str, ds.Run], tmp_path: Path
) -> None:
    page = fresh().open(runs["wide"], epoch=20)
    live = LivePage(page.page)
    live.branch()
    live.reaches(40, slot=1)
    live.seek(30)
    shared = opened(share(page.page, tmp_path / "branch.html"))
    shared.shows(30, 30)
    assert np.array_equal(LivePage(shared.page).numbers("weights", 1), live.numbers("weights", 1))


_FRAME = """(page) => { const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts allow-downloads allow-forms");
    frame.style.cssText = "width: 100%; height: 1400px";
    frame.onload = () => {
        const [answers, view] = [new MessageChannel(), new MessageChannel()];
        answers.port1.onmessage = async ({ data: { id, path, range } }) => {
            const [status, text] = await globalThis.askPython(path, range);
            const body = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
            answers.port1.postMessage({ id, status, body }, [body]); };
        frame.contentWindow.postMessage(null, "*", [answers.port2, view.port2]); };
    frame.srcdoc = page;
    document.body.append(frame); }"""


def test_a_notebooks_frame_is_shared(
    browser: Browser, opened: Reader, runs: dict[str, ds.Run], tmp_path: Path
) -> None:
    """Its page is text in a frame without an address, and Python answers over a port."""
    run, built = runs["wide"], embedded_client()
    answers = DirectAnswers([run.loaded()], Shown(run.id, 12))

    def ask(path: str, part: list[int] | None) -> tuple[int, str]:
        if path == KERNEL:
            return 200, base64.b64encode(built.kernel).decode()
        status, contents = answers.answer(path, (part[0], part[1]) if part else None)
        return status, base64.b64encode(contents).decode()

    context = browser.new_context(viewport={"width": 1900, "height": 1460})
    page = context.new_page()
    page.expose_function("askPython", ask)
    page.evaluate(_FRAME, bare_page(built).decode())
    frame = page.frame_locator("iframe")
    expect(frame.locator(".epoch")).to_have_text("epoch 12")
    frame.get_by_role("button", name="Save", exact=True).click()
    frame.get_by_role("button", name="Share as one file").click()
    with page.expect_download(timeout=60_000) as download:
        frame.get_by_role("button", name="Make the file").click()
    download.value.save_as(tmp_path / "frame.html")
    frame.get_by_role("button", name="Train", exact=True).first.click()  # it trains there, too
    frame.get_by_label("training.epochs").fill("7")
    frame.locator(".live-form button[type=submit]").click()
    expect(frame.locator(".live-now")).to_have_text("trained to 7")
    context.close()
    opened(tmp_path / "frame.html").shows(12)
    ds.export(run, tmp_path / "exported.html", progress=False)
    mine, pythons = archive_in(tmp_path / "frame.html"), archive_in(tmp_path / "exported.html")
    weights = f"/api/run/{run.id}/weights"
    assert mine[weights] == pythons[weights]


def test_a_large_file_is_warned_of_and_saved_all_the_same(
    fresh: Opener, runs: dict[str, ds.Run], tmp_path: Path
) -> None:
    page = fresh().open(runs["three"], epoch=5)
    page.page.evaluate("""() => {
        const size = Object.getOwnPropertyDescriptor(Blob.prototype, "size");
        Object.defineProperty(Blob.prototype, "size", { get() {
            const own = size.get.call(this);
            return this.type === "text/html" ? own + 50e6 : own; } }); }""")
    page.page.get_by_role("button", name="Save", exact=True).click()
    page.page.get_by_role("button", name="Share as one file").click()
    page.page.get_by_role("button", name="Make the file").click()
    expect(page.page.locator(".share [role=alert]")).to_contain_text(
        re.compile(r"has \d+ MB, which is slow to open.*With one epoch in 3 it is smaller")
    )
    with page.page.expect_download():
        page.page.get_by_role("button", name="Save it anyway").click()


def test_what_is_large_is_the_same_everywhere() -> None:
    text = (CLIENT / "model/server/one-file.ts").read_text(encoding="utf-8")
    (large,) = re.findall(r"LARGE = ([\d.e]+);", text)
    assert float(large) == LARGE


# ---- saved runs ----------------------------------------------------------------------------------


def saved(page: Page, file: Path) -> Path:
    page.get_by_role("button", name="Save", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="for Python").click()
    download.value.save_as(file)
    return file


def test_a_saved_run_is_opened_again(alone: Sandbox, opened: Reader, tmp_path: Path) -> None:
    """With a change in the middle of an epoch, in another playground, by the keyboard."""
    alone.go("v=1")
    live = LivePage(alone.page)
    live.train(SMALL, 3)
    live.page.get_by_role("button", name="+1 batch").click()
    live.page.wait_for_function("() => dynascope.slots.value[0]?.live?.now.value.stepInEpoch === 1")
    file = saved(live.page, tmp_path / "mine.dynascope.json")
    told = json.loads(file.read_text(encoding="utf-8"))
    size = 196
    told["changes"] = [
        {"epoch": 5, "step": 20, "options": {"training.lr": 0.01, "training.batch": 32}},
        {"epoch": 8, "step": 27, "weights": base64.b64encode(b"\0\0\0\x3e" * size).decode()},
    ]
    file.write_text(json.dumps(told), encoding="utf-8")
    (wanted,) = ds.load(file)

    (tmp_path / "play.html").write_bytes(one_file.playground())
    other = opened(tmp_path / "play.html")
    button = other.page.get_by_role("button", name="Open a saved run")
    button.focus()
    choosers: list[FileChooser] = []
    other.page.on("filechooser", lambda found: choosers.append(found))
    for _ in range(20):  # whoever listens for choosers is told of it a moment later
        if choosers:
            break
        other.page.keyboard.press("Enter")
        other.page.wait_for_timeout(500)
    choosers[0].set_files(file)
    other.shows(20)
    again = LivePage(other.page)
    again.is_run(wanted)
    expect(other.page.locator(".where")).to_contain_text("mine")
    again.no_trouble()


def test_a_file_is_dropped_on_a_served_page(
    fresh: Opener, runs: dict[str, ds.Run], tmp_path: Path
) -> None:
    config = ds.Config().replace(SMALL)
    told = {
        **{"dynascope": "0.1.0", "recipe": 1, "config": config.to_dict(), "seed": 5},
        **{"epochs": 7, "changes": []},
    }
    page = fresh().open(runs["wide"], epoch=3)
    drop = """(text) => { const given = new DataTransfer();
        given.items.add(new File([text], "dropped.dynascope.json"));
        document.body.dispatchEvent(new DragEvent("drop",
            { dataTransfer: given, bubbles: true, cancelable: true })); }"""
    page.page.evaluate(drop, json.dumps(told))
    LivePage(page.page).reaches(7)
    run = ds.train(config.replace({"training.epochs": 7}), [5], progress=False)[0]
    LivePage(page.page).is_run(run)
    page.page.evaluate(drop, "{}")
    expect(page.page.get_by_role("alert")).to_contain_text("recipe: expected a whole number")
    page.shows(7)
