"""How long a frame takes in Firefox, while a run is scrubbed and while it is trained in the page.

    python benchmarks/firefox.py            writes the table of docs/live.md; a minute
    python benchmarks/firefox.py --dry      prints it

Debian's Firefox without a window and without a GPU, 1440x900, driven as in the tests
(tests/support/bidi.py), with the playground from disk. A run of the default is trained, 1000 epochs
with all panels on the page, then scrubbed from end to end, a new epoch in each frame. `redraw` is
the time in which all visible panels are drawn; `frame` is from one frame to the next, of which the
browser makes 60 in a second at best.
"""

import argparse
import json
import os
import runpy
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from dynascope.sandbox.one_file import playground
from live import EPOCHS, WATCH
from pages import put, rows
from report import machine
from sandbox import SCRUB, SEED, SIZE, summary
from settings import available_cores

RESULTS = Path(__file__).with_suffix(".json")
RUNS = 3
FRAMES = 500

_TIMES = "() => ({ ...watched, draw: dynascope.frameTimes() })"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--dry", action="store_true")
    given = options.parse_args()
    about = machine(available_cores(), ("dynascope",))  # before it is busy
    if os.getloadavg()[0] > 0.5:
        print("Warning: this machine is busy; the figures are worth little.", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        results = _measured(Path(folder))
    made = table(results)
    print(made)
    if not given.dry:
        put("live.md", "firefox", made)
        RESULTS.write_text(json.dumps({"machine": about, **results}, indent=1) + "\n")


def table(results: dict[str, Any]) -> str:
    """The table of the page."""
    made = [(f"Firefox {results['firefox']}", "mean", "99th percentile")]
    for when, told in (("scrub", "while you scrub"), ("train", "while it trains")):
        for kind, name in (("draw_ms", "redraw"), ("frame_ms", "from frame to frame")):
            mean, late = results[when][kind]
            made.append((f"{name}, {told}", f"{mean:.1f} ms", f"{late:.1f} ms"))
    seconds = results["training_s"]
    worst = f"{max(seconds):.2f} s at most"
    made.append(("training, 1000 epochs", f"{statistics.mean(seconds):.2f} s", worst))
    return rows(*made)


def _measured(folder: Path) -> dict[str, Any]:
    driver = runpy.run_path(str(Path(__file__).parents[1] / "tests/support/bidi.py"))
    file = folder / "play.html"
    file.write_bytes(playground())
    trained, scrubbed = [], []
    with driver["firefox"]() as browser:
        for _ in range(RUNS):
            page = driver["Page"](browser, **SIZE)
            trained.append(_train(page, file.as_uri()))
            page.evaluate("() => new Promise((done) => setTimeout(done, 3000))")  # analyses arrive
            scrubbed.append(page.evaluate(SCRUB, FRAMES))
            version = page.evaluate("() => navigator.userAgent").rpartition("/")[2]
            page.close()
    return {
        "firefox": version,
        "training_s": [one["seconds"] for one in trained],
        "train": _times(trained),
        "scrub": _times(scrubbed),
    }


def _train(page: Any, address: str) -> dict[str, Any]:
    """A run of the default from the form, as a person starts it."""
    page.goto(address)
    page.fill("#live-seed", str(SEED))
    page.evaluate(WATCH, EPOCHS)
    page.evaluate("() => { dynascope.frameTimes(); }")
    page.click(".live-form button[type=submit]")
    page.wait_for("() => watched.ended !== null", seconds=120)
    found = page.evaluate(_TIMES)
    return {
        "seconds": (found["ended"] - found["began"]) / 1000,
        "frame": np.diff(found["frames"]).tolist(),
        "draw": found["draw"],
    }


def _times(measured: list[dict[str, Any]]) -> dict[str, tuple[float, float]]:
    return {
        f"{kind}_ms": summary([time for one in measured for time in one[kind]])
        for kind in ("draw", "frame")
    }


if __name__ == "__main__":
    main()
