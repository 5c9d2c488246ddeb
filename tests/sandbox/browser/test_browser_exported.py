"""Exported files in a real browser, from disk and with the network off: the page as served."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import SEEN, SIZE, Opener, Sandbox, majority, serving
from playwright.sync_api import Browser, expect
from showing import Server

import dynascope as ds

HOSTILE = '</script><img src=x onerror="window.hacked=1">\u2028<!--<script>window.hacked=1</script>'

_ANALYSED = """() => dynascope.slots.value.length &&
    dynascope.slots.value.every((slot) => slot.analysis.value)"""
_ANALYSES = "() => dynascope.slots.value.map((slot) => slot.analysis.value)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("exported")


@pytest.fixture(scope="module")
def runs(folder: Path) -> dict[str, ds.Run]:
    """Each in a store of its own kind of trouble; all in one."""
    store = folder / "store"
    sizes = {"task.length": 8, "task.train_size": 400, "task.test_size": 200}
    table: dict[str, tuple[dict[str, Any], ds.Data | None]] = {
        "plain": ({}, None),
        "wide": ({"model.dim": 8}, None),
        "sparse": ({"record.weights_every": 7, "record.state_every": 12}, None),
        "diverged": ({"training.lr": 100.0}, None),
        "double": ({"precision": "float64"}, None),
        "own data": (sizes, majority()),
    }
    for seed, (changes, data) in enumerate(table.values()):
        config = ds.Config().replace({"training.epochs": 40} | changes)
        ds.train(config, [seed], data=data, progress=False).save(store, append=seed > 0)
    ds.load(store)[:1].note(HOSTILE)
    return dict(zip(table, ds.load(store), strict=True))


@pytest.fixture(scope="module")
def server(runs: dict[str, ds.Run], folder: Path) -> Iterator[Server]:
    with serving(folder) as running:
        yield running


class ExportedFile(Sandbox):
    """A page of its own, without a network."""

    def __init__(self, browser: Browser, file: Path) -> None:
        super().__init__(browser, file.as_uri())
        self.context.set_offline(True)

    def check_alone(self) -> None:
        """It has met no error and asked for nothing but itself and its own workers."""
        assert self.problems == []
        file = self.address.partition("#")[0]
        own = [url for url in self.requests if url.partition("#")[0] == file]
        assert {
            url for url in self.requests if url not in own and url[:10] != "blob:null/"
        } == set()
        assert own


Exporter = Callable[..., ExportedFile]


@pytest.fixture
def exporting(browser: Browser, tmp_path: Path) -> Iterator[Exporter]:
    """Exports runs, and opens the file."""
    made: list[ExportedFile] = []

    def make(*found: ds.Run, **more: Any) -> ExportedFile:
        target = tmp_path / f"{len(made)}.html"
        ds.export(found, target, progress=False, **more)
        made.append(ExportedFile(browser, target))
        return made[-1]

    yield make
    for each in made:
        each.check_alone()
        each.context.close()


# Axes that follow depend on what was seen before, and on the size of panels: as many on both pages.
FIXED = "&axes=fixed&hide=hessian"


MAPS = ("decision_map", "output_map")


def same_view(first: Sandbox, second: Sandbox, maps: tuple[str, ...] = MAPS) -> None:
    """Maps, of which those are made that are in sight, follow the axes a moment later: until then
    they may differ."""

    def seen(page: Sandbox) -> str:
        return str(page.page.evaluate(SEEN, list(maps)))

    for _ in range(50):
        if seen(first) == seen(second):
            return
        second.page.wait_for_timeout(100)
    for one, other in zip(json.loads(seen(first)), json.loads(seen(second)), strict=True):
        for part, value in one.items():
            assert (part, other[part]) == (part, value)


EPOCHS = {"diverged": [0, 1]}


@pytest.mark.parametrize(
    "name",
    [
        *("plain", "diverged"),
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("wide", "sparse", "double", "own data")
        ),
    ],
)
def test_the_file_shows_what_the_server_shows(
    name: str, page: Sandbox, exporting: Exporter, runs: dict[str, ds.Run]
) -> None:
    run, file = runs[name], exporting(runs[name])
    for epoch in EPOCHS.get(name, [0, 17, 40]):
        page.open(run, epoch=epoch, more=FIXED)
        file.open(run, epoch=epoch, more=FIXED)
        same_view(page, file)
    for each in (page, file):
        each.page.wait_for_function(_ANALYSED)
    assert file.page.evaluate(_ANALYSES) == page.page.evaluate(_ANALYSES)


def test_it_opens_where_it_was_asked_to(exporting: Exporter, runs: dict[str, ds.Run]) -> None:
    file = exporting(runs["plain"], epoch=25)
    file.page.goto(file.address)
    file.shows(25)
    expect(file.page.locator(".where")).to_have_text(re.compile("^store › seed 0"))


def test_it_is_scrubbed_and_played(exporting: Exporter, runs: dict[str, ds.Run]) -> None:
    file = exporting(runs["plain"])
    file.open(runs["plain"])
    before = file.pictures()
    file.click_track(0.5)
    file.shows(file.epoch_now)
    assert 15 <= file.epoch_now <= 25
    file.changed(before, list(before))
    file.press("End", 40)
    file.press("Home", 0)
    file.page.keyboard.press(" ")
    expect(file.epoch).to_have_text("epoch 40")


def test_panels_are_saved_as_when_served(
    page: Sandbox, exporting: Exporter, runs: dict[str, ds.Run]
) -> None:
    file = exporting(runs["plain"])
    for each in (page, file):
        each.open(runs["plain"], epoch=20, more=FIXED)
    for how in ("Save as SVG", "Data as CSV"):
        assert file.saved("sequence", how) == page.saved("sequence", how)


def test_two_runs_side_by_side(page: Sandbox, exporting: Exporter, runs: dict[str, ds.Run]) -> None:
    file = exporting(runs["plain"], runs["wide"], epoch=9)
    file.page.goto(file.address)
    file.shows(9, 9)
    for each in (page, file):
        each.open(runs["plain"], runs["wide"], epoch=9, more=FIXED)
    same_view(page, file, maps=("decision_map",))  # the other is further down
    expect(file.page.locator(".half h2")).to_have_count(2)


def test_what_needs_a_server_is_left_out(
    page: Sandbox, exporting: Exporter, runs: dict[str, ds.Run]
) -> None:
    """The table of runs, analyses on demand and the documentation."""
    file = exporting(runs["plain"])
    for each, there in ((page, True), (file, False)):
        each.open(runs["plain"], epoch=5)
        count = 1 if there else 0
        expect(each.page.get_by_role("button", name="All runs")).to_have_count(count)
        expect(each.panel("hessian")).to_have_count(count)
        expect(each.page.locator("h2", has_text="Curvature")).to_have_count(count)
        each.page.locator(".chip").first.hover()
        expect(each.page.locator(".explanation")).to_be_visible()
        expect(each.page.locator(".explanation a")).to_have_count(count)
        each.page.mouse.move(2, 2)
    file.page.keyboard.press("?")
    assert len(file.context.pages) == 1
    file.go("v=1&page=runs")  # as an address from elsewhere may say
    file.shows(0)


def test_curvature_that_was_exported_is_shown(exporting: Exporter, runs: dict[str, ds.Run]) -> None:
    file = exporting(runs["plain"], curvature=True)
    file.open(runs["plain"], epoch=5)
    expect(file.page.locator("h2", has_text="Curvature")).to_contain_text("at epoch")
    expect(file.panel("hessian")).to_have_count(1)


def test_epochs_that_were_left_out_are_told(exporting: Exporter, runs: dict[str, ds.Run]) -> None:
    file = exporting(runs["plain"], every=8)
    file.go(f"v=1&run={runs['plain'].id}&t=21")
    file.shows(16)
    note = file.page.locator(".weights-note")
    expect(note).to_have_text("not kept · panels: epoch 16")
    expect(note).to_have_attribute("title", re.compile("has the weights of one epoch in 8"))


def test_typed_sequences_of_own_data_have_targets(
    page: Sandbox, exporting: Exporter, runs: dict[str, ds.Run]
) -> None:
    tokens, _ = runs["own data"].examples("test")
    typed = "".join(str(each) for each in tokens[0])
    file = exporting(runs["own data"])
    for each in (page, file):
        each.open(runs["own data"], epoch=5, more=f"{FIXED}&seq={typed}")
    same_view(page, file)
    targets = "() => [...dynascope.slots.value[0].sequences.value.targets]"
    assert file.page.evaluate(targets) == page.page.evaluate(targets)


def test_strings_of_a_run_are_never_markup(
    browser: Browser, tmp_path: Path, runs: dict[str, ds.Run]
) -> None:
    """Neither in the file, nor on the page; and what got there all the same could not run."""
    place = tmp_path / "a<img src=x onerror=window.hacked=1>"
    ds.Runs([runs["plain"].loaded()]).save(place)
    ds.load(place)[:1].note(HOSTILE)
    ds.export(ds.load(place)[0], tmp_path / "run.html", progress=False)
    text = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "hacked" not in text
    file = ExportedFile(browser, tmp_path / "run.html")
    file.page.goto(file.address)
    file.shows(0)
    expect(file.page.locator(".where")).to_contain_text("<img src=x")
    assert file.page.evaluate("() => window.hacked") is None
    file.check_alone()
    file.page.evaluate("""() => { document.body.insertAdjacentHTML("beforeend",
        '<img src="x" onerror="window.hacked = 1"><a href="javascript:window.hacked=1">x</a>');
        const script = document.createElement("script");
        script.textContent = "window.hacked = 1";
        document.body.append(script); }""")
    file.page.locator("a", has_text="x").last.evaluate("(link) => link.click()")
    asked = """async () => { try { await fetch("http://127.0.0.1:9/"); return "sent" }
        catch { return "refused" } }"""
    assert file.page.evaluate(asked) == "refused"
    file.page.wait_for_timeout(200)
    assert file.page.evaluate("() => window.hacked") is None
    assert "http://127.0.0.1:9/" not in file.requests  # by the policy: not even tried
    file.context.close()


def test_a_damaged_file_says_so(browser: Browser, tmp_path: Path, runs: dict[str, ds.Run]) -> None:
    ds.export(runs["plain"], tmp_path / "run.html", progress=False)
    text = (tmp_path / "run.html").read_text(encoding="utf-8")
    begin = text.index('id="dynascope-archive">') + len('id="dynascope-archive">')
    damaged = {
        "cut": text[: begin + 40] + text[text.index("</script>", begin) :],
        "empty": text[:begin] + text[text.index("</script>", begin) :],
        "strange": text[:begin] + "AAAA" + text[begin + 4 :],
    }
    for name, contents in damaged.items():
        (tmp_path / f"{name}.html").write_text(contents, encoding="utf-8")
        context = browser.new_context(viewport=SIZE, offline=True)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto((tmp_path / f"{name}.html").as_uri())
        expect(page.locator(".notice")).to_have_text("This file is damaged; export the run again.")
        context.close()


def test_the_served_page_asks_its_server(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    page = fresh()
    page.open(runs["plain"], epoch=3)
    assert any(url.endswith(f"/api/run/{runs['plain'].id}/weights") for url in page.requests)
