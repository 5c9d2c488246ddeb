"""A real browser for tests of the sandbox: a small store, and a page with hands and eyes."""

import contextlib
import csv
import io
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
from playwright.sync_api import (
    Browser,
    Download,
    Locator,
    Page,
    TimeoutError,
    expect,
    sync_playwright,
)
from showing import Server, show

import dynascope as ds
from dynascope.sandbox import client

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
expect.set_options(timeout=20_000)  # milliseconds: a busy machine may take its time
SIZE = {"width": 1900, "height": 1460}  # every panel is in sight, and so drawn
PANELS = 21  # of a run
NOTE = '</script><img src=x onerror="window.hacked=1"><b>bold</b>'

# name: what differs from the defaults, seed. One is solved, one has a spike.
RUNS: dict[str, tuple[dict[str, Any], int]] = {
    "solved": ({"training.lr": 0.05}, 7),
    "spike": ({"training.lr": 0.05, "training.epochs": 240}, 0),
    "wide": ({"model.dim": 8, "training.epochs": 40}, 1),
    "three": ({"task.vocab": 3, "training.epochs": 40}, 2),
    "sparse": ({"record.weights_every": 7, "training.epochs": 40}, 4),
    "noted": ({}, 3),
}

# What a person can operate, by its role: each must have a name for those who do not see it.
CONTROLS = {
    *("button", "checkbox", "columnheader", "combobox", "dialog", "link", "menu", "menuitem"),
    *("meter", "option", "radio", "region", "rowheader", "searchbox", "slider", "spinbutton"),
    *("switch", "tab", "table", "textbox"),
}

# Pictures of all panels on the page; those out of sight or without data do not change.
_PICTURES = """() => Object.fromEntries([...document.querySelectorAll("[data-panel]")].map(
    (panel) => [panel.dataset.panel, panel.querySelector("canvas").toDataURL()]))"""
_CHANGED = f"""([before, names]) => {{
    const now = ({_PICTURES})();
    return names.every((name) => now[name] !== before[name]); }}"""
_OPEN = """(ids) => dynascope.slots.value.map((slot) => slot.info.id).join() === ids"""
# The runs of the view before follow the slider until those of the address are there.
_SHOWN = """(epochs) => { const slots = dynascope.slots.value;
    const asked = new URLSearchParams(location.hash.slice(1)).get("run")?.split(",");
    return slots.length === epochs.length &&
        slots.every((slot) => !asked || asked.includes(slot.info.id)) &&
        slots.every((slot, i) => slot.scene.value?.epoch === epochs[i]); }"""
# All that a view shows: of what is drawn how many bytes, and a hash of them.
SEEN = """(mapped) => JSON.stringify(dynascope.slots.value.map((slot) => {
    const bits = (array) => {
        let hash = 5381;
        for (const byte of new Uint8Array(array.buffer, array.byteOffset, array.byteLength))
            hash = (Math.imul(hash, 16777619) ^ byte) >>> 0;
        return [array.byteLength, hash]; };
    const scene = slot.scene.value;
    const points = Object.entries(scene.points).map(([name, { x, y }]) => [name, bits(x), bits(y)]);
    const arrays = ["scores", "attention", "hidden", "probabilities", "predictions"];
    const maps = mapped.map((name) => {
        const { width, extent, logits } = scene.maps[name];
        return [name, width, width ? extent : null, bits(logits)]; });
    return { epoch: scene.epoch, source: scene.source, finite: scene.finite, points, maps,
        arrays: arrays.map((name) => bits(scene[name])),
        curves: Object.entries(slot.curves).map(([name, curve]) => [name, bits(curve)]),
        extents: slot.extents.value, ending: bits(slot.ending.weights) }; }))"""


def make_store(folder: Path) -> dict[str, ds.Run]:
    """The runs of the table above, analysed as far as is cheap; the last has a hostile note."""
    for i, (changes, seed) in enumerate(RUNS.values()):
        config = ds.Config().replace({"training.epochs": 150} | changes)
        ds.train(config, [seed], progress=False).save(folder, append=i > 0)
    runs = ds.load(folder)
    runs[:2].analyse(["spikes", "phases"], progress=False)
    runs[len(RUNS) - 1 :].note(NOTE)
    return dict(zip(RUNS, ds.load(folder), strict=True))


def majority() -> ds.Data:
    """The example of docs/train.md."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, 2, (600, 8))
    targets = (drawn.sum(axis=1) >= 4).astype(int)
    return ds.Data(train=(drawn[:400], targets[:400]), test=(drawn[400:], targets[400:]))


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """A headless one. It ends with the block: asyncio cannot be used while it is there."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """`dynascope show` of the store in a folder, with the client as it is built now: a copy of it,
    so that a build meanwhile does not matter."""
    client.check_built(client.FOLDER)
    shutil.copytree(client.FOLDER, folder / "static")
    with show(folder / "static", folder / "store", "--no-open") as running:
        yield running


class Sandbox:
    """One page in a browser that knows nothing yet, but has seen the introduction."""

    def __init__(
        self, browser: Browser, address: str, theme: Any = "light", size: Any = SIZE, dense: int = 1
    ) -> None:
        self.address = address  # after the first visit it goes without the token
        self.context = browser.new_context(
            viewport=size, color_scheme=theme, device_scale_factor=dense
        )
        self.context.set_default_timeout(20_000)
        self.context.add_init_script("localStorage.setItem('dynascope.introduced', 'yes')")
        self.page: Page = self.context.new_page()
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", self._listen)
        self.context.on("request", lambda request: self.requests.append(request.url))

    def _listen(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(message.text)

    def check(self, server: Server) -> None:
        """It has met no error and asked no other host."""
        assert self.problems == []
        assert {urlsplit(url).netloc for url in self.requests} == {f"127.0.0.1:{server.port}"}

    # ---- going somewhere ---------------------------------------------------------------------
    def open(self, *runs: ds.Run, epoch: int = 0, more: str = "") -> "Sandbox":
        """The view of one run, or of two, at an epoch; all else as at first."""
        ids = ",".join(run.id for run in runs)
        self.go(f"v=1&run={ids}&t={epoch}{more}")
        self.page.wait_for_function(_OPEN, arg=ids)
        return self.shows(*(min(epoch, run.epochs) for run in runs))

    def open_table(self, more: str = "") -> "Sandbox":
        self.go(f"v=1&page=runs{more}")
        self.rows.first.wait_for()
        return self

    def go(self, fragment: str) -> None:
        """To a view: the page is loaded once, and follows its address from then on."""
        self.page.mouse.move(2, 2)
        self.page.goto(f"{self.address}#{fragment}")
        self.address = self.address.partition("?")[0]

    def shows(self, *epochs: int) -> "Sandbox":
        """Wait until what is drawn is that of these epochs, one for each run on the stage."""
        self.page.wait_for_function(_SHOWN, arg=list(epochs))
        return self

    def press(self, key: str, epoch: int) -> None:
        """A key, and the epoch to which it must lead."""
        self.page.keyboard.press(key)
        expect(self.epoch).to_have_text(f"epoch {epoch}")

    def click_track(self, share: float) -> None:
        """Click on the time bar, at a share of its width."""
        box = self.page.locator(".track").bounding_box()
        assert box is not None
        self.page.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)

    # ---- looking -----------------------------------------------------------------------------
    @property
    def epoch(self) -> Locator:
        return self.page.locator(".epoch")

    @property
    def epoch_now(self) -> int:
        return int(self.epoch.inner_text().removeprefix("epoch "))

    @property
    def rows(self) -> Locator:
        return self.page.locator(".runs-page tbody tr[aria-rowindex]")

    def panel(self, name: str) -> Locator:
        return self.page.locator(f"[data-panel={name}]")

    def pictures(self) -> dict[str, str]:
        found: dict[str, str] = self.page.evaluate(_PICTURES)
        return found

    def changed(self, before: dict[str, str], names: list[str]) -> None:
        """Wait until the pictures of these panels are others than before."""
        self.page.wait_for_function(_CHANGED, arg=[before, names])

    def facts(self) -> dict[str, str]:
        """What the card "Under the pointer" says."""
        card = self.page.locator(".pointer")
        names, values = card.locator("dt").all_inner_texts(), card.locator("dd").all_inner_texts()
        return dict(zip(names, values, strict=True))

    def told(self) -> list[tuple[str, str, dict[str, Any]]]:
        """What a screen reader is told of: role, name and properties, in order."""
        session = self.context.new_cdp_session(self.page)
        nodes = session.send("Accessibility.getFullAXTree")["nodes"]
        session.detach()
        return [
            (
                node["role"]["value"],
                node.get("name", {}).get("value", "").strip(),
                {each["name"]: each["value"].get("value") for each in node.get("properties", [])},
            )
            for node in nodes
            if not node["ignored"]
        ]

    # ---- files -------------------------------------------------------------------------------
    def download(self, panel: str, how: str) -> Download:
        """The file that an entry of the panel's menu saves.

        Asked for twice, if need be: on a busy machine, one of the many downloads of a test was once
        seen never to begin.
        """
        try:
            return self._download(panel, how, 10_000)
        except TimeoutError:
            self.page.keyboard.press("Escape")
            return self._download(panel, how, 20_000)

    def _download(self, panel: str, how: str, patience: float) -> Download:
        self.panel(panel).get_by_label(re.compile("save or hide")).click()
        with self.page.expect_download(timeout=patience) as download:
            self.panel(panel).get_by_role("menuitem", name=how).click()
        return download.value

    def saved(self, panel: str, how: str) -> str:
        return self.download(panel, how).path().read_text(encoding="utf-8")

    def data(self, panel: str) -> list[dict[str, str]]:
        """A panel's numbers, as it saves them."""
        return list(csv.DictReader(io.StringIO(self.saved(panel, "Data as CSV"))))


Opener = Callable[..., Sandbox]


def points(rows: list[dict[str, str]]) -> npt.NDArray[np.float64]:
    """Coordinates [n, 2] of saved points."""
    return np.array([[float(row["x"]), float(row["y"])] for row in rows])


def tokens(rows: list[dict[str, str]]) -> npt.NDArray[np.int64]:
    """The sequences [n, length] of saved rows; a dot parts relevant positions from the others."""
    return np.array([[int(each) for each in row["sequence"].replace("·", "")] for row in rows])
