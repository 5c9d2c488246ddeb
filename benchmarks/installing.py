"""How long it takes from a wheel to the first picture of the demo, and whether a wheel is as fast
as what you compile here.

    scripts/build-wheels                   # first: into dist/
    python benchmarks/installing.py        # writes the table of docs/install.md; five minutes
    python benchmarks/installing.py --dry  # prints it

Each time a new environment without a compiler and Node; packages were downloaded before. *Install*
is what `pip install` takes, of the wheel and all that it needs; then `dynascope demo`, until its
address is there, which comes after 20 runs and their analyses; then Chromium, until a run's first
picture is on the page. Speed: the default setting, all cores busy; wheel and source take turns.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from pages import publish, rows
from report import machine
from sandbox import first_picture, launched
from settings import available_cores

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "release"))

from empty_machine import EmptyMachine, download, empty_machine  # noqa: E402
from pythons import pythons  # noqa: E402
from wheel_files import wheel_of  # noqa: E402

RESULTS = Path(__file__).with_suffix(".json")
PYTHON = "3.11"
TIMES = 3
TURNS = 7
RUNS = 20
_SPEED = f"""
import time, dynascope as ds
ds.train(seeds=4, progress=False)
began = time.perf_counter()
assert ds.train(seeds={RUNS}, progress=False).solved() == 8
print((time.perf_counter() - began) / {RUNS})
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dry", action="store_true")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist")
    given = parser.parse_args()
    about = machine(available_cores(), ("dynascope",))  # before it is busy
    if os.getloadavg()[0] > 0.5:
        print("Warning: this machine is busy; the figures are worth little.", file=sys.stderr)
    wheel = wheel_of(given.dist, os.uname().machine)
    results: dict[str, Any] = {"machine": about, "wheels_mb": _sizes(given.dist), "demos": []}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(TIMES):
            place = empty_machine(Path(folder, str(number)), next(pythons(PYTHON)), PYTHON)
            results["demos"].append(_demo(place, wheel))
        results["seconds_per_run"] = _speeds(place)
    publish("install.md", tables(results), results, RESULTS, given.dry)


def tables(results: dict[str, Any]) -> dict[str, str]:
    """The table of the page, by its name there."""
    demos, speeds = results["demos"], results["seconds_per_run"]
    made: list[tuple[str, ...]] = [("", "median", "slowest")]
    for name, told in (
        ("install", "`pip install` of the wheel and what it needs, already downloaded"),
        ("address", "`dynascope demo`, until 20 runs are trained and analysed"),
        ("picture", "then the first picture in the browser"),
        ("all", "**together**"),
    ):
        times = [demo[name] for demo in demos]
        made.append((told, f"{statistics.median(times):.1f} s", f"{max(times):.1f} s"))
    for name, told in (("wheel", "from the wheel"), ("source", "compiled by `scripts/setup dev`")):
        times = speeds[name]  # a busy neighbour makes a turn slower, and nothing makes it faster
        middle = f"{statistics.median(times):.3f} s (fastest {min(times):.3f} s)"
        made.append((f"a run of 1000 epochs, {told}", middle, f"{max(times):.3f} s"))
    sizes = ", ".join(f"{size:.1f} MB ({name})" for name, size in results["wheels_mb"].items())
    about = results["machine"]
    text = (
        f"The wheels have {sizes}. Measured by `benchmarks/installing.py` with all "
        f"{about['cores']} cores of an {about['processor']}, in new environments without a "
        f"compiler and Node ({len(demos)} times), and with the two builds taking turns "
        f"({TURNS} times {RUNS} runs each)."
    )
    return {"installed": f"{rows(*made)}\n\n{text}"}


def _sizes(dist: Path) -> dict[str, float]:
    names = ("x86_64", "aarch64")
    return {name: wheel_of(dist, name).stat().st_size / 1e6 for name in names}


def _demo(place: EmptyMachine, wheel: Path) -> dict[str, float]:
    """Seconds until each is there."""
    download(place, wheel)
    began = time.perf_counter()
    done = place.pip("install", wheel)
    if done.returncode:
        raise SystemExit(done.stderr)
    installed = time.perf_counter()
    with place.demo() as address:
        served = time.perf_counter()
        picture = _picture(address)
    times = {"install": installed - began, "address": served - installed, "picture": picture}
    return times | {"all": sum(times.values())}


def _picture(address: str) -> float:
    """The browser itself is there already, as it is for most people."""
    with sync_playwright() as playwright, launched(playwright.chromium, ["--no-sandbox"]) as found:
        browser: Browser = found
        return first_picture(browser, address)


def _speeds(place: EmptyMachine) -> dict[str, list[float]]:
    """Seconds per run, in turns."""
    source = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    found: dict[str, list[float]] = {"wheel": [], "source": []}
    for _ in range(TURNS):
        found["wheel"].append(_seconds(place.command("python"), place.variables))
        found["source"].append(_seconds([sys.executable], source))
    return found


def _seconds(python: list[str], variables: dict[str, str]) -> float:
    words = [*python, "-c", _SPEED]
    return float(subprocess.run(words, env=variables, capture_output=True, check=True).stdout)


if __name__ == "__main__":
    main()
