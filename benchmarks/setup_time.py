"""How long `scripts/setup` takes, with and without Node: of this commit, and of earlier ones.

    python benchmarks/setup_time.py            # writes the table of docs/install.md
    python benchmarks/setup_time.py ac8730a    # beside another commit, in turns; writes nothing

Each time a new clone with nothing compiled, and caches of zig and npm of its own; only what pip has
downloaded before comes from its cache, as in a first setup at a fast network.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pages import publish, rows
from report import machine
from settings import available_cores

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "release"))

from empty_machine import programs_without  # noqa: E402

RESULTS = Path(__file__).with_suffix(".json")
NODE = re.compile("node|nodejs|npm|npx|corepack")
WAYS = {"with Node": True, "without Node": False}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commits", nargs="*", metavar="COMMIT")
    parser.add_argument("--times", type=int, default=2, metavar="N")
    given = parser.parse_args()
    about = machine(available_cores(), ("dynascope",))  # before it is busy
    if os.getloadavg()[0] > 0.5:
        print("Warning: this machine is busy; the figures are worth little.", file=sys.stderr)
    seconds: dict[str, dict[str, list[float]]] = {}
    for _ in range(given.times):
        for commit in [*given.commits, "HEAD"]:
            for way, node in WAYS.items():
                found = seconds.setdefault(commit, {}).setdefault(way, [])
                found.append(round(_setup(commit, node), 1))
                print(f"{commit}, {way}: {found[-1]:.0f} s", flush=True)
    results = {"machine": about, "seconds": seconds["HEAD"]}
    publish("install.md", tables(results), results, RESULTS, dry=bool(given.commits))


def tables(results: dict[str, Any]) -> dict[str, str]:
    """The table of the page, by its name there."""
    made: list[tuple[str, ...]] = [("`scripts/setup`", "median", "slowest")]
    for way, found in results["seconds"].items():
        made.append((way, f"{statistics.median(found):.0f} s", f"{max(found):.0f} s"))
    about, count = results["machine"], min(map(len, results["seconds"].values()))
    text = (
        f"Measured {'once' if count == 1 else f'{count} times'}, on all {about['cores']} cores of "
        f"an {about['processor']}, with packages that were downloaded before "
        "(`benchmarks/setup_time.py`)."
    )
    return {"setup": f"{rows(*made)}\n\n{text}"}


def _setup(commit: str, node: bool) -> float:
    """Seconds of it, in a clone of its own."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder, "clone")
        _run(["git", "clone", "--quiet", str(ROOT), str(clone)], ROOT, dict(os.environ))
        _run(["git", "checkout", "--quiet", commit], clone, dict(os.environ))
        caches = {"ZIG_GLOBAL_CACHE_DIR": f"{folder}/zig", "ZIG_LOCAL_CACHE_DIR": f"{folder}/zig"}
        variables = {**os.environ, **caches, "npm_config_cache": f"{folder}/npm"}
        if not node:
            variables["PATH"] = str(programs_without(NODE, Path(folder, "programs")))
        began = time.perf_counter()
        _run(["scripts/setup"], clone, variables)
        return time.perf_counter() - began


def _run(words: list[str], folder: Path, variables: dict[str, str]) -> None:
    done = subprocess.run(
        words, cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
