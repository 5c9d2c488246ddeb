"""How long a film of 1000 frames takes, and how much memory.

    python benchmarks/film.py            writes the table of docs/films.md; some minutes
    python benchmarks/film.py --dry      prints it

`dynascope movie` of the default run, every panel, from its start to the finished file, in a
headless Chromium without a GPU. Memory is that of the command and all processes of its browser
together (proportional set size: what they share counts once), looked at five times a second.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import dynascope as ds
from pages import publish, rows
from report import machine
from settings import available_cores

RESULTS = Path(__file__).with_suffix(".json")
SEED = 15  # solves the task
FRAMES = 1000
AUTHORS_SECONDS = 4.5  # for a frame, by the code that was released with the paper

# name: arguments of the command
FILMS = {
    "MP4, 1280x720": ["-o", "run.mp4"],
    "MP4, 1920x1080": ["-o", "run.mp4", "--size", "1920x1080"],
    "WebM, 1280x720": ["-o", "run.webm"],
    "MP4, two runs, 1280x720": ["-o", "run.mp4", "--compare", "store#seed=3"],
    "GIF, 1280x720": ["-o", "run.gif"],
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--dry", action="store_true")
    given = options.parse_args()
    about = machine(available_cores(), ("dynascope",))  # before it is busy
    if os.getloadavg()[0] > 0.5:
        print("Warning: this machine is busy; the figures are worth little.", file=sys.stderr)
    with tempfile.TemporaryDirectory() as place:
        runs = ds.train(ds.Config(), [SEED, 3], progress=False)
        runs.save(Path(place) / "store")
        ds.load(Path(place) / "store").analyse(["spikes", "phases"], progress=False)
        found = {name: _measured(Path(place), more) for name, more in FILMS.items()}
    results = {"machine": about, "films": found}
    publish("films.md", {"film": table(found)}, results, RESULTS, given.dry)


def table(found: dict[str, dict[str, float]]) -> str:
    """The table of the page."""
    made = [("film", "seconds", "a frame", "memory", "file")]
    for name, one in found.items():
        frame = f"{1000 * one['seconds'] / FRAMES:.0f} ms"
        memory, size = f"{one['memory'] / 1e6:.0f} MB", f"{one['bytes'] / 1e6:.1f} MB"
        made.append((name, f"{one['seconds']:.0f}", frame, memory, size))
    peer = AUTHORS_SECONDS * FRAMES
    made.append(("the authors' code", f"{peer:.0f}", f"{1000 * AUTHORS_SECONDS:.0f} ms", "", ""))
    return rows(*made)


def _measured(place: Path, more: list[str]) -> dict[str, Any]:
    """Seconds, bytes of memory and of the file."""
    command = [sys.executable, "-m", "dynascope", "movie", f"store#seed={SEED}"]
    began = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--to", str(FRAMES - 1), *more], cwd=place, stdout=subprocess.DEVNULL
    )
    memory = 0
    while process.poll() is None:
        memory = max(memory, sum(map(_resident, _family(process.pid))))
        time.sleep(0.2)
    seconds = time.perf_counter() - began
    if process.returncode:
        raise SystemExit("dynascope movie failed.")
    file = place / more[1]
    size = file.stat().st_size
    file.unlink()
    return {"seconds": seconds, "memory": memory, "bytes": size}


def _family(ancestor: int) -> set[int]:
    """A process and all that it has started, directly or not."""
    parents: dict[int, int] = {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(each.parent.name)] = int(each.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended meanwhile
            continue
    found = {ancestor}
    while more := {child for child, of in parents.items() if of in found} - found:
        found |= more
    return found


def _resident(process: int) -> int:
    """Bytes of memory; what several processes share is divided among them."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


if __name__ == "__main__":
    main()
