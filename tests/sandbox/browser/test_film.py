"""The whole stage as a picture, on paper, and as a film that is made in the page."""

import re
from pathlib import Path

import numpy as np
import pytest
from browsing import Opener, Sandbox
from films import decoded, decoded_gif, difference, loudness, picture
from playwright.sync_api import expect

import dynascope as ds

SMALL = {"width": 800, "height": 600}  # on a screen with two pixels for each of these
# A place to save to that needs no window: the browser's own file system. Films are written there as
# to any other file.
_OWN_FILES = """window.showSaveFilePicker = async ({ suggestedName }) =>
    (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true });"""
_ONLY_DOWNLOADS = "delete window.showSaveFilePicker;"  # as in Firefox and Safari
_SIZES = """async () => {
    const found = {};
    const folder = await navigator.storage.getDirectory();
    for await (const [name, file] of folder) found[name] = (await file.getFile()).size;
    return found; }"""


def opened(fresh: Opener, run: ds.Run, epoch: int, more: str, script: str = "") -> Sandbox:
    page = fresh(size=SMALL, dense=2)
    page.context.add_init_script(script or _ONLY_DOWNLOADS)
    page.open(run, epoch=epoch, more=more)
    page.page.wait_for_function("() => dynascope.slots.value.every((slot) => slot.analysis.value)")
    return page


def saved(page: Sandbox, how: str, tmp_path: Path) -> Path:
    page.page.get_by_role("button", name="Save", exact=True).click()
    with page.page.expect_download() as download:
        page.page.get_by_role("button", name=how).click()
    kept = tmp_path / download.value.suggested_filename
    download.value.save_as(kept)
    return kept


def open_form(page: Sandbox) -> None:
    page.page.get_by_role("button", name="Save", exact=True).click()
    page.page.get_by_role("button", name="Film", exact=True).click()


def choose(page: Sandbox, **fields: str) -> None:
    """Open the dialog and fill in what differs."""
    open_form(page)
    dialog = page.page.get_by_role("dialog", name="Save")
    for name, value in fields.items():
        field = dialog.get_by_label(name.replace("_", " "), exact=True)
        if field.evaluate("(e) => e.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)


def record(page: Sandbox) -> None:
    page.page.get_by_role("button", name="Record").click()


# ---- pictures -----------------------------------------------------------------------------------
def test_the_stage_is_saved_as_it_is_shown(
    fresh: Opener, runs: dict[str, ds.Run], tmp_path: Path
) -> None:
    run = runs["solved"]
    page = opened(fresh, run, 30, "&hide=hessian,values&theme=light")
    drawing = saved(page, "Save as SVG", tmp_path)
    assert drawing.name == f"{run.id[:8]}-epoch30-stage.svg"
    text = drawing.read_text(encoding="utf-8")
    for word in ("epoch 30", "Decision map", "Attention", f"seed {run.seed}"):
        assert word in text
    for word in ("Value transform", "Hessian"):
        assert word not in text
    assert text.count("<clipPath") == len(set(re.findall(r'<clipPath id="(\w+)"', text)))
    png = saved(page, "Save as PNG", tmp_path)
    assert png.name == f"{run.id[:8]}-epoch30-stage.png"
    shown = picture(png.read_bytes())
    assert shown.shape == (2 * SMALL["height"], 2 * SMALL["width"], 3)
    assert difference(shown, drawn(page, text)) < 5.0  # edges and letters: 3.6 was seen


def drawn(page: Sandbox, svg: str) -> np.ndarray:
    """An SVG as the browser draws it, at twice its size."""
    context = page.context.browser.new_context(viewport=SMALL, device_scale_factor=2)  # type: ignore
    other = context.new_page()
    other.set_content(
        f"<style>body {{ margin: 0 }} svg {{ width: 100vw; height: 100vh }}</style>{svg}"
    )
    found = picture(other.screenshot())
    context.close()
    return found


@pytest.mark.parametrize(
    ("names", "more", "words"),
    [
        (["solved", "noted"], "", ["left:", "right run"]),
        (["spike"], "&spike=0&t=199", ["Before the spike: epoch", "Now: epoch 199"]),
        (["solved"], "&mode=present", ["Attention", "Probabilities"]),
        (["solved"], "&big=decision_map", ["Decision map"]),
        (["wide"], "", ["plane, "]),
    ],
)
def test_every_view_has_its_picture(
    fresh: Opener,
    runs: dict[str, ds.Run],
    tmp_path: Path,
    names: list[str],
    more: str,
    words: list[str],
) -> None:
    page = fresh(size=SMALL)
    page.go(f"v=1&run={','.join(runs[name].id for name in names)}&t=5{more}")
    page.page.wait_for_function(
        """() => dynascope.slots.value.length && dynascope.slots.value.every((slot) =>
            slot.scene.value && slot.analysis.value &&
            (slot.role !== "before" || slot.held.value !== null))"""
    )
    text = saved(page, "Save as SVG", tmp_path).read_text(encoding="utf-8")
    for word in words:
        assert word in text
    assert "NaN" not in re.sub(r'href="data:[^"]*"', "", text)


def test_a_hostile_name_is_text_in_the_picture(
    fresh: Opener, runs: dict[str, ds.Run], tmp_path: Path
) -> None:
    text = saved(opened(fresh, runs["noted"], 3, ""), "Save as SVG", tmp_path).read_text()
    assert "<script" not in text
    assert "onerror" not in text


def test_paper_has_the_stage_alone(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    page = opened(fresh, runs["solved"], 30, "&theme=dark", "window.print = () => {};")
    page.page.get_by_role("button", name="Save", exact=True).click()
    page.page.get_by_role("button", name=re.compile("^Print")).click()
    sheet = page.page.locator(".sheet-of-paper svg")
    expect(sheet).to_have_count(1)
    expect(sheet).to_contain_text("epoch 30")
    page.page.emulate_media(media="print")
    expect(sheet).to_be_visible()
    expect(page.page.locator(".app")).to_be_hidden()
    sheets = page.page.pdf(prefer_css_page_size=True)
    assert sheets.count(b"/MediaBox") == 1  # one page
    assert b"/Font" in sheets  # letters are letters
    page.page.emulate_media(media="screen")
    expect(sheet).to_be_hidden()
    page.page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(sheet).to_have_count(0)
    page.page.emulate_media(media="print")  # as by the browser's own menu
    expect(page.page.locator(".panels")).to_be_visible()
    expect(page.page.locator(".side")).to_be_hidden()


# ---- films --------------------------------------------------------------------------------------
def test_a_film_shows_what_the_page_shows(
    fresh: Opener, runs: dict[str, ds.Run], tmp_path: Path
) -> None:
    """Frame for frame: the stage at its epoch, and no other."""
    run = runs["solved"]
    page = opened(fresh, run, 0, "&axes=fixed&hide=hessian&theme=light")
    choose(page, from_epoch="20", to_epoch="60", epochs_a_second="60", size="page")
    expect(page.page.get_by_role("dialog", name="Save")).to_contain_text("21 frames, 0:01")
    with page.page.expect_download() as download:
        record(page)
    assert download.value.suggested_filename == f"{run.id[:8]}-film.mp4"
    film = decoded(download.value.path())
    assert (film.codec, len(film.frames)) == ("h264", 21)
    assert film.frames[0].shape == (2 * SMALL["height"], 2 * SMALL["width"], 3)
    assert np.allclose(film.times, np.arange(21) / 30, atol=1e-3)
    for epoch in (20, 40, 60):
        page.go(f"v=1&run={run.id}&t={epoch}&axes=fixed&hide=hessian&theme=light")
        page.shows(epoch)
        page.page.wait_for_function(
            "() => dynascope.slots.value.every((slot) => slot.analysis.value)"
        )
        shown = picture(saved(page, "Save as PNG", tmp_path).read_bytes())
        far = [difference(frame, shown) for frame in film.frames]
        own = (epoch - 20) // 2
        assert int(np.argmin(far)) == own
        assert loudness(film.frames[own], shown) > 32  # what encoding loses: 35 to 37 were seen


def test_a_film_is_written_to_the_chosen_file(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    page = opened(fresh, runs["solved"], 3, "&mode=present", _OWN_FILES)
    choose(page, to_epoch="10", epochs_a_second="30")
    record(page)
    expect(page.page.locator(".film-progress")).to_have_count(1)
    expect(page.page.locator(".film-progress")).to_have_count(0, timeout=60_000)
    sizes = page.page.evaluate(_SIZES)
    assert list(sizes) == [f"{runs['solved'].id[:8]}-film.mp4"]
    assert min(sizes.values()) > 10_000


def test_a_film_can_be_stopped(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    """What is there of it goes, and the page works on."""
    page = opened(fresh, runs["solved"], 3, "", _OWN_FILES)
    choose(page, epochs_a_second="1")  # hundreds of frames
    record(page)
    progress = page.page.locator(".film-progress")
    expect(progress).to_contain_text(re.compile(r"[1-9]\d* of 45\d\d frames, \d+:\d\d left"))
    open_form(page)
    expect(page.page.get_by_role("button", name="Record")).to_be_disabled()  # one at a time
    page.page.keyboard.press("Escape")
    progress.get_by_role("button", name="Cancel").click()
    expect(progress).to_have_count(0)
    assert set(page.page.evaluate(_SIZES).values()) == {0}
    page.press("ArrowRight", 4)
    page.shows(4)


def test_a_film_is_slow_around_spikes(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    page = opened(fresh, runs["spike"], 0, "&mode=present")
    choose(page, from_epoch="150", epochs_a_second="30")
    dialog = page.page.get_by_role("dialog", name="Save")
    expect(dialog).to_contain_text("91 frames")
    dialog.get_by_label("around spikes", exact=True).select_option("4")
    expect(dialog).not_to_contain_text("91 frames")
    told = re.search(r"(\d+) frames", dialog.inner_text())
    assert told is not None
    assert 91 + 3 * 16 <= int(told[1]) < 4 * 91


@pytest.mark.slow
def test_a_gif_has_the_colours_of_the_page(
    fresh: Opener, runs: dict[str, ds.Run], tmp_path: Path
) -> None:
    run = runs["solved"]
    page = opened(fresh, run, 0, "&axes=fixed&mode=present&theme=light")
    choose(page, to_epoch="12", epochs_a_second="40", size="page", file="gif")
    with page.page.expect_download() as download:
        record(page)
    film = decoded_gif(download.value.path())
    assert len(film.frames) == 7
    assert np.allclose(np.diff(film.times), 0.05)
    page.go(f"v=1&run={run.id}&t=8&axes=fixed&mode=present&theme=light")
    page.shows(8)
    shown = picture(saved(page, "Save as PNG", tmp_path).read_bytes())
    far = [difference(frame, shown) for frame in film.frames]
    assert int(np.argmin(far)) == 4
    assert far[4] < 1.5  # what 255 colours lose: 0.7 was seen


def test_a_browser_without_encoders_offers_a_gif(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    script = "delete window.VideoEncoder; " + _ONLY_DOWNLOADS
    page = opened(fresh, runs["solved"], 0, "&mode=present", script)
    choose(page, to_epoch="2", epochs_a_second="20")
    dialog = page.page.get_by_role("dialog", name="Save")
    expect(dialog.get_by_role("alert")).to_contain_text("This browser cannot encode")
    expect(dialog.get_by_role("button", name="Record")).to_be_disabled()
    dialog.get_by_label("file", exact=True).select_option("gif")
    with page.page.expect_download() as download:
        record(page)
    assert len(decoded_gif(download.value.path()).frames) == 3


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"from_epoch": "200"}, "from epoch: expected a whole number from 0 to 150"),
        ({"to_epoch": ""}, "to epoch: expected a whole number"),
        ({"from_epoch": "80", "to_epoch": "79"}, "to epoch: expected 80 or later"),
        ({"epochs_a_second": "0"}, "epochs a second: expected a number from 0.1"),
    ],
)
def test_a_film_that_cannot_be_is_told(
    page: Sandbox, runs: dict[str, ds.Run], fields: dict[str, str], words: str
) -> None:
    page.open(runs["solved"])
    choose(page, **fields)
    dialog = page.page.get_by_role("dialog", name="Save")
    expect(dialog.get_by_role("alert")).to_contain_text(words)
    expect(dialog.get_by_role("button", name="Record")).to_be_disabled()
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
