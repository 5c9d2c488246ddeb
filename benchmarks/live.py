"""How long live training takes in the page, how smoothly the panels follow, and how soon an edit is
answered; and the size and first picture of an exported run.

    python benchmarks/live.py            writes the table of docs/live.md; a minute
    python benchmarks/live.py --dry      prints it

A headless Chromium without a GPU, 1440x900, with the playground and an exported run from disk.
`training` is from the click on *Train* to the last of 1000 epochs of the default setting, with all
panels on the page; its peer is Python's kernel on one thread, which records the same. A `frame` is
from one drawn frame to the next, while it trains. An edit is a step of the mouse that drags a
token: `answered` is from its event until the loss and everything that the panels draw is there,
`drawn` until the end of the frame that draws it.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

import dynascope as ds
from dynascope.sandbox.one_file import export, playground
from pages import put, rows
from report import machine
from sandbox import FIRST, SEED, VISITS, first_picture, launched, new_page, summary
from settings import available_cores

RESULTS = Path(__file__).with_suffix(".json")
EPOCHS = 1000
RUNS = 5
MOVES = 120

WATCH = """(epochs) => {
    const watched = { frames: [], scenes: 0, ended: null };
    let seen = null;
    const look = (now) => {
        const [slot] = dynascope.slots.value;
        const trained = slot?.live?.now.value.epoch;
        if (trained) watched.frames.push(now);
        if (trained && slot.scene.value !== seen) watched.scenes++;
        seen = slot?.scene.value ?? null;
        if (watched.ended === null) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    addEventListener("click", (event) => {
        if (!event.target.matches(".live-form button[type=submit]")) return;
        watched.began = performance.now();
    }, true);
    const ask = setInterval(() => {
        const live = dynascope.slots.value[0]?.live?.now.value;
        if (!live || live.epoch < epochs) return;
        watched.ended = performance.now();
        clearInterval(ask);
    }, 5);
    globalThis.watched = watched;
}"""
# Where a token can be taken hold of: the card beside says what is under the pointer.
_PLACE = """async () => {
    const canvas = document.querySelector("[data-panel=tokens] canvas");
    const box = canvas.getBoundingClientRect();
    for (let y = 4; y < box.height; y += 4)
        for (let x = 4; x < box.width; x += 4) {
            const at = { clientX: box.left + x, clientY: box.top + y, bubbles: true };
            canvas.dispatchEvent(new PointerEvent("pointermove", at));
            await Promise.resolve();
            if (document.querySelector(".pointer dt")?.textContent === "token")
                return [at.clientX, at.clientY];
        }
}"""
_EDITS = """() => {
    const [slot] = dynascope.slots.value;
    const times = { answered: [], drawn: [] };
    let began = null;
    addEventListener("pointermove", () => { began ??= performance.now(); }, true);
    slot.scene.subscribe(() => {
        if (began === null || !slot.scores.value) return;
        const since = began;
        began = null;
        times.answered.push(performance.now() - since);
        requestAnimationFrame(() => {
            const after = new MessageChannel();
            after.port1.onmessage = () => times.drawn.push(performance.now() - since);
            after.port2.postMessage(0);
        });
    });
    globalThis.edits = times;
}"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--dry", action="store_true")
    given = options.parse_args()
    about = machine(available_cores(), ("dynascope",))  # before it is busy
    if os.getloadavg()[0] > 0.5:
        print("Warning: this machine is busy; the figures are worth little.", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        results = _measured(playwright.chromium, Path(folder))
    made = table(results)
    print(made)
    if not given.dry:
        put("live.md", "fast", made)
        RESULTS.write_text(json.dumps({"machine": about, **results}, indent=1) + "\n")


def table(results: dict[str, Any]) -> str:
    """The table of the page."""
    seconds, peer = (statistics.median(results[name]) for name in ("training_s", "python_s"))
    python = f"the same in Python on one thread, {seconds / peer:.1f} times as fast"
    made = [
        ("", "median or mean", "worst"),
        ("training, 1000 epochs", f"{seconds:.2f} s", f"{max(results['training_s']):.2f} s"),
        (python, f"{peer:.2f} s", ""),
        ("from frame to frame, while it trains", *_times(results["frame_ms"])),
        ("frames that show a new epoch", f"{results['scenes_per_s']:.0f} in a second", ""),
        ("an edit is answered", *_times(results["answered_ms"])),
        ("and drawn", *_times(results["drawn_ms"])),
    ]
    times = results["first_s"]
    size = f"exported run of 1000 epochs, {results['exported_bytes'] / 1e6:.2f} MB: first picture"
    made.append((size, f"{statistics.median(times):.2f} s", f"{max(times):.2f} s"))
    return rows(*made)


def _times(found: tuple[float, float]) -> tuple[str, str]:
    mean, late = found
    return f"{mean:.1f} ms", f"{late:.1f} ms (99th percentile)"


# ---- what is measured ---------------------------------------------------------------------------
def _measured(chromium: Any, folder: Path) -> dict[str, Any]:
    play, run = folder / "play.html", folder / "run.html"
    play.write_bytes(playground())
    config = ds.Config().replace({"training.epochs": EPOCHS})
    export(ds.train(config, [SEED], progress=False)[0], run, progress=False)
    with launched(chromium, ["--no-sandbox", "--disable-gpu"]) as browser:
        first = [first_picture(browser, run.as_uri()) for _ in range(VISITS)]
        trained = []
        for _ in range(RUNS):
            page = new_page(browser)
            trained.append(_train(page, play.as_uri()))
            if len(trained) < RUNS:
                page.context.close()
        edited = _edit(page)
    frames = [each for one in trained for each in one["frames"]]
    return {
        "training_s": [one["seconds"] for one in trained],
        "python_s": [_python(config) for _ in range(RUNS)],
        "frame_ms": summary(frames),
        "scenes_per_s": statistics.median(one["scenes_per_s"] for one in trained),
        **{f"{name}_ms": summary(times) for name, times in edited.items()},
        "exported_bytes": run.stat().st_size,
        "first_s": first,
    }


def _train(page: Page, address: str) -> dict[str, Any]:
    """A run of the default from the form, as a person starts it."""
    page.goto(address)
    page.locator("#live-seed").fill(str(SEED))
    page.evaluate(WATCH, EPOCHS)
    page.locator(".live-form button[type=submit]").click()
    page.wait_for_function("() => watched.ended !== null", timeout=120_000)
    found = page.evaluate("() => watched")
    frames = np.diff(found["frames"]).tolist()
    return {
        "seconds": (found["ended"] - found["began"]) / 1000,
        "frames": frames,
        "scenes_per_s": 1000 * found["scenes"] / sum(frames),
    }


def _edit(page: Page) -> dict[str, list[float]]:
    """Drags a token around, at the end of the run."""
    page.wait_for_function(FIRST)
    page.wait_for_timeout(1500)  # measures and axes come to rest
    place = page.evaluate(_PLACE)
    page.evaluate(_EDITS)
    page.mouse.move(*place)
    page.mouse.down()
    for i in range(MOVES):
        page.mouse.move(place[0] + 20 * np.sin(i / 9), place[1] + 15 * np.sin(i / 7) + 3)
        page.wait_for_timeout(30)
    page.mouse.up()
    return dict(page.evaluate("() => edits"))


def _python(config: ds.Config) -> float:
    began = time.perf_counter()
    ds.train(config, [SEED], threads=1, progress=False)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
