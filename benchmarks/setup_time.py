"""How long `scripts/setup` takes, of this commit and of others, in one run.

    python benchmarks/setup_time.py                 # this commit
    python benchmarks/setup_time.py ac8730a f5fed13 # these too; ten minutes each

Of each commit a new clone with nothing compiled, and caches of zig and npm of its own; only packages
that pip has downloaded before may come from its cache, as in a first setup at a fast network. The
commits take turns.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commits", nargs="*", metavar="COMMIT")
    parser.add_argument("--times", type=int, default=2, metavar="N")
    parser.add_argument("--without-node", action="store_true", help="as if there were no Node")
    given = parser.parse_args()
    if os.getloadavg()[0] > 0.5:
        print("Warning: this machine is busy; the figures are worth little.", file=sys.stderr)
    commits = [*given.commits, "HEAD"]
    times: dict[str, list[float]] = {commit: [] for commit in commits}
    for _ in range(given.times):
        for commit in commits:
            times[commit].append(_setup(commit, given.without_node))
            print(f"{commit}: {times[commit][-1]:.0f} s", flush=True)
    for commit, found in times.items():
        print(f"{commit}: median {statistics.median(found):.0f} s of {len(found)}")


def _setup(commit: str, without_node: bool) -> float:
    """Seconds of it, in a clone of its own."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder, "clone")
        _run(["git", "clone", "--quiet", str(ROOT), str(clone)])
        _run(["git", "-C", str(clone), "checkout", "--quiet", commit])
        caches = {"ZIG_GLOBAL_CACHE_DIR": f"{folder}/zig", "ZIG_LOCAL_CACHE_DIR": f"{folder}/zig"}
        variables = {**os.environ, **caches, "npm_config_cache": f"{folder}/npm"}
        if without_node:
            variables["PATH"] = _path_without_node(Path(folder, "programs"))
        began = time.perf_counter()
        _run(["scripts/setup"], cwd=clone, env=variables)
        return time.perf_counter() - began


def _path_without_node(folder: Path) -> str:
    folder.mkdir()
    for place in os.get_exec_path():
        for program in Path(place).iterdir() if Path(place).is_dir() else ():
            if program.name not in ("node", "nodejs", "npm", "npx"):
                link = folder / program.name
                link.is_symlink() or link.symlink_to(program)
    return str(folder)


def _run(words: list[str], **options: object) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
