"""The report of studies in a real browser: from disk with the network off, served, and on paper."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import small_studies
from browsing import Sandbox
from playwright.sync_api import Browser, expect
from showing import Server, show
from small_studies import EPOCHS

import dynascope as ds
from dynascope.sandbox import client

WIDTHS = {"narrow": {"width": 390, "height": 844}, "wide": {"width": 1440, "height": 900}}
_OVERLAPS = """() => [...document.querySelectorAll("main *")].filter((each) => {
    const box = each.getBoundingClientRect();
    return !each.closest(".scroll, .paper, [hidden]") && box.width && box.right > innerWidth + 1;
}).map((each) => each.outerHTML.slice(0, 80))"""
# Of text on the page: its colour against the background behind it, as WCAG has it.
_CONTRAST = """() => { const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map((part) => part / 255)
        .map((x) => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const behind = (element) => { for (let e = element; e; e = e.parentElement) {
        const colour = getComputedStyle(e).backgroundColor;
        if (/^rgb\\(/.test(colour)) return colour; }
        return "rgb(255, 255, 255)"; };
    return [...document.querySelectorAll("h1, h2, h3, p, .verdict, .sign, .place, nav a, summary")]
        .filter((each) => each.checkVisibility() && !each.closest("[hidden]")).map((each) => {
        const [a, b] = [light(getComputedStyle(each).color), light(behind(each))];
        return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), each.textContent]; }); }"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """In a folder whose name a shell would take apart."""
    place = tmp_path_factory.mktemp("report") / "it's here"
    small_studies.install()
    try:
        ds.study(["width", "bounds"], out=place, progress=False)
    finally:
        small_studies.uninstall()
    return place


class ReportPage(Sandbox):
    """The report in a browser of its own."""

    @property
    def points(self) -> Any:
        return self.page.locator("a.run")

    @property
    def box(self) -> Any:
        return self.page.locator("#run-box")

    @property
    def command(self) -> str:
        return str(self.box.locator(".command").inner_text())


@pytest.fixture
def from_disk(browser: Browser, folder: Path) -> Iterator[Any]:
    """Opens the page from disk; in the end it has met no error and asked for nothing."""
    made: list[ReportPage] = []

    def make(**more: Any) -> ReportPage:
        opened = ReportPage(browser, (folder / "report.html").as_uri(), **more)
        opened.context.set_offline(True)
        opened.page.goto(opened.address)
        made.append(opened)
        return opened

    yield make
    for each in made:
        each.context.close()
        assert each.problems == []
        assert each.requests == [each.address]


def addresses(folder: Path) -> set[str]:
    return {
        f"{source}#{run.id}@{EPOCHS}"
        for source in ("default", "width")
        for run in ds.load(folder / "runs" / source)
    }


def test_every_point_tells_the_command_that_opens_its_run(from_disk: Any, folder: Path) -> None:
    report = from_disk()
    found = set()
    for place in range(report.points.count()):
        report.points.nth(place).dispatch_event("click")
        expect(report.box).to_be_visible()
        told = re.fullmatch(r"dynascope show '(.*)/runs/(.*)'", report.command)
        assert told, report.command
        assert told[1].replace("'\\''", "'") == str(folder)
        found.add(told[2])
    assert found == addresses(folder)


def test_a_click_and_a_key_open_the_box(from_disk: Any) -> None:
    report = from_disk()
    report.context.grant_permissions(["clipboard-read", "clipboard-write"])
    report.points.nth(3).click()
    expect(report.box).to_be_visible()
    command = report.command
    report.box.get_by_role("button", name="Copy").click()
    expect(report.box.get_by_role("button", name="Copied")).to_be_visible()
    assert report.page.evaluate("navigator.clipboard.readText()") == command
    report.page.keyboard.press("Escape")
    expect(report.box).to_be_hidden()
    assert report.page.evaluate("document.activeElement.classList.contains('run')")
    report.page.keyboard.press("ArrowRight")
    report.page.keyboard.press("Enter")
    expect(report.box).to_be_visible()
    assert report.command != command


def test_all_points_of_a_figure_are_one_stop_of_the_tab_key(from_disk: Any) -> None:
    report = from_disk()
    stops = report.page.evaluate(
        "[...document.querySelectorAll('figure')].map((figure) =>"
        " [...figure.querySelectorAll('a.run')].filter((a) => a.tabIndex >= 0).length)"
    )
    assert stops == [1, 1]
    report.points.first.focus()
    expect(report.points.first).to_have_attribute("aria-label", re.compile(r"run \w{8}, epoch 20"))


def test_data_is_saved_under_its_name(from_disk: Any, folder: Path) -> None:
    report = from_disk()
    with report.page.expect_download() as download:
        report.page.get_by_role("link", name="Data as CSV").first.click()
    assert download.value.suggested_filename == "width-accuracy-by-seed.csv"
    saved = download.value.path().read_bytes()
    assert saved == (folder / "data/width-accuracy-by-seed.csv").read_bytes()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_is_readable_at_every_width_in_both_themes(
    theme: str, width: str, from_disk: Any
) -> None:
    report = from_disk(theme=theme, size=WIDTHS[width])
    page = report.page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(_OVERLAPS) == []
    contrasts = page.evaluate(_CONTRAST)
    assert len(contrasts) > 40
    assert [each for each in contrasts if each[0] < 4.5] == []
    paper = page.locator(".paper").first.evaluate("(e) => getComputedStyle(e).backgroundColor")
    assert paper == "rgb(255, 255, 255)"  # drawings are drawn for it
    assert page.evaluate("window.hacked") is None


def test_it_is_printed_whole(from_disk: Any, tmp_path: Path) -> None:
    """On A4 and light, however dark the screen is; no figure is wider or higher than a page."""
    report = from_disk(theme="dark")
    file = report.page.pdf(path=tmp_path / "report.pdf", format="A4")
    pages = len(re.findall(rb"/Type\s*/Page\b", file))
    assert pages >= 2
    report.page.set_viewport_size({"width": 688, "height": 1016})  # A4 without margins, at 96 dpi
    report.page.emulate_media(media="print", color_scheme="dark")
    boxes = report.page.locator("figure svg").evaluate_all(
        "(all) => all.map((e) => e.getBoundingClientRect().toJSON())"
    )
    assert len(boxes) == 2
    assert all(box["x"] >= 0 and box["right"] <= 688 and box["height"] <= 1016 for box in boxes)
    assert report.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert report.page.evaluate("getComputedStyle(document.body).color") == "rgb(31, 41, 51)"
    assert report.page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    breaks = report.page.evaluate("getComputedStyle(document.querySelector('figure')).breakInside")
    assert breaks == "avoid"


# ---- served -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client as it is built now."""
    client.check_built(client.FOLDER)
    copy = tmp_path_factory.mktemp("client") / "static"
    shutil.copytree(client.FOLDER, copy)
    return copy


@pytest.fixture(scope="module")
def server(folder: Path, static: Path) -> Iterator[Server]:
    with show(static, folder, "--no-open") as running:
        yield running


@pytest.fixture
def served(browser: Browser, server: Server) -> Iterator[ReportPage]:
    opened = ReportPage(browser, server.address)
    opened.page.goto(server.address)
    yield opened
    opened.context.close()
    opened.check(server)


@pytest.mark.parametrize(("place", "source"), [(2, "default"), (19, "width")])
def test_a_point_opens_its_run_in_the_sandbox(
    place: int, source: str, served: ReportPage, folder: Path
) -> None:
    told = re.search(r"run=(\w+)", served.points.nth(place).get_attribute("href"))
    assert told
    served.points.nth(place).click()
    served.page.wait_for_url(f"**/runs/{source}/#*")
    served.shows(EPOCHS)
    assert served.page.evaluate("dynascope.slots.value.map((slot) => slot.info.id)") == [told[1]]
    expect(served.epoch).to_have_text(f"epoch {EPOCHS}")
    served.page.go_back()
    expect(served.points.first).to_be_visible()


def test_an_epoch_that_was_not_kept_is_computed_again(
    served: ReportPage, server: Server, folder: Path
) -> None:
    run = ds.load(folder / "runs/default")[1]
    served.page.goto(f"{server.origin}/runs/default/#v=1&run={run.id}&t=7")
    served.shows(7)
    assert served.page.evaluate("dynascope.slots.value[0].scene.value.source") == "recomputed"
    whole = ds.train(run.config.replace({"record.weights_every": 1}), [run.seed], progress=False)
    shown = served.data("tokens")
    expected = whole[0].parameters(7).token_embedding
    assert [float(row["x"]) for row in shown][:2] == pytest.approx(expected[:2, 0], rel=1e-5)


def test_all_runs_of_a_source_are_in_its_table(served: ReportPage) -> None:
    served.page.get_by_role("link", name="default", exact=True).first.click()
    served.page.wait_for_url("**/runs/default/**")
    served.page.goto(served.page.url.partition("#")[0] + "#v=1&page=runs")
    expect(served.rows).to_have_count(8)


def test_the_docs_are_below_a_source_too(served: ReportPage, server: Server) -> None:
    served.page.goto(f"{server.origin}/runs/width/docs/glossary.html")
    expect(served.page.locator("h1").first).to_be_visible()
    served.page.wait_for_load_state("networkidle")


@pytest.mark.slow
def test_a_long_way_to_an_epoch_tells_how_far_it_is(
    browser: Browser, static: Path, tmp_path: Path
) -> None:
    """The server works for a few epochs a request, as it would of a model that takes long."""
    config = ds.Config().replace({"training.epochs": 200, "record.weights_every": 0})
    run = ds.train(config.replace({"record.state_every": 0}), [0], progress=False)[0]
    ds.Runs([run]).save(tmp_path / "store")
    slow = "from dynascope.sandbox.replay_answers import Replays\n"
    slow += "Replays.__init__.__defaults__ = (0.01,)"
    with show(static, tmp_path / "store", "--no-open", change=slow) as running:
        opened = Sandbox(browser, running.address)
        opened.page.goto(f"{running.address}#v=1&run={run.id}&t=190")
        note = opened.page.locator(".weights-note").first
        expect(note).to_have_text(re.compile(r"^recomputing: \d+ of 190 epochs"))
        opened.shows(190)
        expect(note).to_have_text("recomputed")
        opened.context.close()
        assert all("503" in each for each in opened.problems)  # "ask again"
