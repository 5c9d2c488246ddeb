"""How long the sandbox takes for a frame, for its first picture, and for a table of 10,000 runs.

    python benchmarks/sandbox.py            writes the table of docs/sandbox.md; two minutes
    python benchmarks/sandbox.py --dry      prints it

A headless Chromium without a GPU, 1440x900. Scrubbing goes through a run of 1000 epochs from end to
end, a new epoch in each frame. `redraw` is the time in which all visible panels are drawn; `thread`
is all that the page's main thread does for a frame, composing included, in processor time; `frame`
is from one frame to the next, of which the browser makes 60 in a second at best. A peer draws the
same kind of picture with matplotlib, as a notebook would.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

import dynascope as ds
from pages import put, rows
from report import machine
from settings import available_cores

RESULTS = Path(__file__).with_suffix(".json")
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
SIZE = {"width": 1440, "height": 900}
SEED = 15  # solves the task
MANY = 10_000
VISITS = 5
PEER_FRAMES = 5
SUFFIXES = 8  # with all 32 prefixes: 256 sequences

# name: what differs from the default, whether its sequences are the 256
SETTINGS: dict[str, tuple[dict[str, Any], bool]] = {
    "d=2, p=2": ({}, True),
    "d=8, p=2": ({"model.dim": 8}, True),
    "d=2, p=3": ({"task.vocab": 3}, False),  # 252 are chosen by itself
}

SCRUB = """async (frames) => {
    const { view, slots, frameTimes } = dynascope;
    const [slot] = slots.value;
    const drawn = [];
    let [seen, scenes] = [null, 0];
    frameTimes();
    for (let i = 0; i <= frames; i++) {
        view.value = { ...view.value, epoch: Math.round((i * slot.info.epochs) / frames) };
        drawn.push(await new Promise(requestAnimationFrame));
        if (slot.scene.value !== seen) scenes++;
        seen = slot.scene.value;
    }
    const frame = drawn.slice(1).map((t, i) => t - drawn[i]);
    return { frame, draw: frameTimes(), scenes, sequences: slot.sequences.value.count };
}"""
_TABLE = """async ([filter, sort]) => {
    const { view } = dynascope;
    const painted = () => new Promise((done) => requestAnimationFrame(() => {
        const after = new MessageChannel();
        after.port1.onmessage = () => done(performance.now());
        after.port2.postMessage(0);
    }));
    await painted();
    const began = performance.now();
    view.value = { ...view.value, filter, sort };
    return (await painted()) - began;
}"""
FIRST = """() => { const [slot] = globalThis.dynascope?.slots.value ?? [];
    return slot?.scene.value && performance.now(); }"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--dry", action="store_true")
    given = options.parse_args()
    about = machine(available_cores(), ("dynascope", "matplotlib"))  # before it is busy
    if os.getloadavg()[0] > 0.5:
        print("Warning: this machine is busy; the figures are worth little.", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        stores = _stores(Path(folder))
        results = _measured(playwright.chromium, stores)
    results["matplotlib_ms"] = _peer()
    made = table(results)
    print(made)
    if not given.dry:
        put("sandbox.md", "fast", made)
        told = {"machine": about, **results}
        RESULTS.write_text(json.dumps(told, indent=1) + "\n")


def table(results: dict[str, Any]) -> str:
    """The table of the page."""
    made = [("", "mean", "99th percentile")]
    for name, found in results["scrub"].items():
        about = f"{name}, {found['sequences']} sequences"
        for kind, told in (("draw_ms", "redraw"), ("frame_ms", "from frame to frame")):
            mean, late = found[kind]
            made.append((f"{told}, {about}", f"{mean:.1f} ms", f"{late:.1f} ms"))
        made.append((f"main thread, {about}", f"{found['thread_ms']:.1f} ms", ""))
    peer = results["matplotlib_ms"]
    times = peer / results["scrub"]["d=2, p=2"]["draw_ms"][0]
    made.append((f"matplotlib's redraw ({times:.0f} times)", f"{peer:.0f} ms", ""))
    for name, found in results["first_s"].items():
        made.append((f"first picture, {name}", f"{found[0]:.2f} s", f"{found[1]:.2f} s at most"))
    for name, found in results["table_ms"].items():
        made.append((f"{MANY:,} runs, {name}", f"{found[0]:.0f} ms", f"{found[1]:.0f} ms at most"))
    return rows(*made)


# ---- what is measured ---------------------------------------------------------------------------
def _measured(chromium: Any, stores: dict[str, Path]) -> dict[str, Any]:
    results: dict[str, Any] = {"scrub": {}, "first_s": {}, "table_ms": {}}
    calm = ["--no-sandbox", "--disable-gpu"]
    for name, (_, chosen) in SETTINGS.items():
        run = ds.load(stores[name])[0]
        view = f"#v=1&run={run.id}" + (f"&seq={_sequences(run)}" if chosen else "")
        with _shown(stores[name]) as address, launched(chromium, calm) as browser:
            results["scrub"][name] = _scrub(_opened(browser, address + view))
            times = [first_picture(browser, address + view) for _ in range(VISITS)]
            results["first_s"][name] = (statistics.mean(times), max(times))
    with _shown(stores["many"]) as address, launched(chromium, calm) as browser:
        page = new_page(browser)
        page.goto(address + "#v=1&page=runs")
        page.locator("tbody tr[aria-rowindex]").first.wait_for()
        page.wait_for_timeout(1000)
        results["table_ms"] = _table(page)
    return results


def _scrub(page: Page, frames: int = 500) -> dict[str, Any]:
    """From end to end as fast as frames come, on a page that has not been scrubbed before."""
    metrics = page.context.new_cdp_session(page)
    metrics.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        found = metrics.send("Performance.getMetrics")["metrics"]
        return 1000 * float(next(each["value"] for each in found if each["name"] == "TaskDuration"))

    before = spent()
    found = page.evaluate(SCRUB, frames)
    return {
        "sequences": found["sequences"],
        "scenes": found["scenes"] / (frames + 1),
        "frame_ms": summary(found["frame"]),
        "draw_ms": summary(found["draw"]),
        "thread_ms": (spent() - before) / frames,
    }


def first_picture(browser: Browser, address: str) -> float:
    """Seconds from the address to the first scene on the screen, nothing cached."""
    page = new_page(browser)
    page.goto(address, wait_until="commit")
    seconds = page.wait_for_function(FIRST).json_value() / 1000
    page.context.close()
    return float(seconds)


def _table(page: Page) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for name, steps in {
        "sorted": [("", "-test_accuracy"), ("", "seed"), ("", "-train_loss")],
        "filtered": [("seed>5000", ""), ("seed<20", ""), ("", "")],
        "both": [("seed>100", "-test_loss"), ("accuracy<0.9", "test_loss"), ("", "-seed")],
    }.items():
        times = [page.evaluate(_TABLE, step) for _ in range(5) for step in steps]
        found[name] = (statistics.mean(times), max(times))
    return found


def summary(times: list[float]) -> tuple[float, float]:
    return float(np.mean(times)), float(np.percentile(times, 99))


def _peer() -> float:
    """Milliseconds for a frame of 16 panels by matplotlib: points, level lines, curves."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    random = np.random.default_rng(0)
    x, y = np.meshgrid(np.linspace(-1, 1, 64), np.linspace(-1, 1, 64))
    times = []
    for _ in range(PEER_FRAMES):
        began = time.perf_counter()
        figure, axes = plt.subplots(4, 4, figsize=(14.4, 9), dpi=100)
        for i, panel in enumerate(axes.flat):
            if i % 4 == 3:
                panel.contourf(x, y, np.sin(3 * x) * y, 20)
            elif i == 2:
                panel.semilogy(random.random((1000, 2)))
            if i != 2:
                panel.scatter(*random.normal(size=(2, 256)), c=random.random((256, 3)), s=12)
        figure.canvas.draw()
        plt.close(figure)
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


# ---- what it is measured with -------------------------------------------------------------------
def _stores(folder: Path) -> dict[str, Path]:
    stores = {name: folder / str(i) for i, name in enumerate(SETTINGS)}
    for name, (changes, _) in SETTINGS.items():
        config = ds.Config().replace({"training.epochs": 1000} | changes)
        ds.train(config, [SEED], progress=False).save(stores[name])
    small = {"training.epochs": 4, "task.train_size": 64, "task.test_size": 64}
    many = ds.train(ds.Config().replace(small), MANY, progress=False)
    many.save(folder / "many")
    return {**stores, "many": folder / "many"}


def _sequences(run: ds.Run) -> str:
    """Every prefix with a few suffixes, as a person could type them."""
    task = run.config.task
    free = [t for t in range(task.length) if t not in set(task.positions)]
    random = np.random.default_rng(0)
    tokens = random.integers(
        task.vocab, size=(task.vocab ** len(task.positions), SUFFIXES, task.length)
    )
    tokens[:, :, free] = tokens[:1][:, :, free]
    tokens[:, :, list(task.positions)] = np.array(
        list(product(range(task.vocab), repeat=len(task.positions)))
    )[:, None]
    return ",".join("".join(map(str, row)) for row in tokens.reshape(-1, task.length))


@contextmanager
def _shown(store: Path) -> Iterator[str]:
    """The address of `dynascope show` within the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dynascope", "show", str(store), "--no-open"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        found = re.search(r"http\S+", process.stdout.readline())
        if not found:
            raise SystemExit("dynascope show did not start.")
        yield found[0].partition("#")[0]
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def launched(chromium: Any, options: list[str]) -> Iterator[Browser]:
    browser = chromium.launch(executable_path=CHROMIUM, args=options)
    try:
        yield browser
    finally:
        browser.close()


def new_page(browser: Browser) -> Page:
    context = browser.new_context(viewport=SIZE)  # type: ignore[arg-type]
    context.add_init_script("localStorage.setItem('dynascope.introduced', 'yes')")
    return context.new_page()


def _opened(browser: Browser, address: str) -> Page:
    page = new_page(browser)
    page.goto(address)
    page.wait_for_function(FIRST)
    page.wait_for_timeout(1000)  # analyses arrive
    return page


if __name__ == "__main__":
    main()
