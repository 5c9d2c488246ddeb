"""Make a release: build everything, and check it as the people who get it will.

    scripts/release --dry-run    # all but the last step, of the files as they are
    scripts/release              # of a clean checkout with a dated changelog; then tag it

The steps: the changelog; the client; wheels for Linux and the sdist, and what is in them; the
kernel for macOS and Windows; the site; then tests of what was built (tests/release, tests/site), in
environments without a compiler and Node: the demo, pinned bits, the README, the sandbox in
Chromium, and the wheel for ARM under QEMU. Nothing is published: a tag that is pushed makes
.github/workflows/release.yml build for every platform and publish.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import build_wheels
import changelog
from running import ROOT, fail, run, said

VERSION = changelog.version_of((ROOT / "src/dynascope/version.py").read_text(encoding="utf-8"))


def main() -> None:
    given = _arguments()
    out = given.out.resolve()
    steps: dict[str, Callable[[], None]] = {
        "changelog": lambda: _check_changelog(released=not given.dry_run),
        "checkout": lambda: None if given.dry_run else _check_clean(),
        "wheels and sdist": lambda: build_wheels.linux(out),
        "kernel for macOS and Windows": build_wheels.kernels_elsewhere,
        "site": lambda: _show([ROOT / "scripts/build-site", "-o", out / "site"]),
        "tests of what was built": lambda: _test(out),
        "tag": lambda: None if given.dry_run else _tag(),
    }
    began = time.monotonic()
    for number, (name, step) in enumerate(steps.items(), 1):
        print(f"release: {number} of {len(steps)}, {name} ...", flush=True)
        step()
    minutes, seconds = divmod(round(time.monotonic() - began), 60)
    print(
        f"release: {VERSION} is fit to be released, after {minutes} min {seconds} s; it is in {out}"
    )
    if not given.dry_run:
        print(f"release: to publish it: git push origin {_TAG}")


_TAG = f"v{VERSION}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "scripts/release", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--dry-run", action="store_true", help="build and check, but tag nothing")
    parser.add_argument("-o", "--out", type=Path, default=ROOT / "dist", metavar="FOLDER")
    return parser.parse_args()


def _check_changelog(*, released: bool) -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if found := changelog.faults(VERSION, text, released=released):
        fail(f"CHANGELOG.md: {'; '.join(found)}.")


def _check_clean() -> None:
    if changed := said(["git", "status", "--porcelain"]):
        fail(f"expected a checkout without changes, but these are not committed:\n{changed}")
    if said(["git", "tag", "--list", _TAG]):
        fail(f"the tag {_TAG} exists already; raise the version in src/dynascope/version.py.")


def _test(out: Path) -> None:
    words = ["-m", "pytest", "-q", "-m", "slow or not slow", "tests/release", "tests/site"]
    _show([sys.executable, *words], DYNASCOPE_DIST=str(out))


def _show(command: list[str | Path], **variables: str) -> None:
    """Run it, with what it prints for all to see."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=ROOT, env={**os.environ, **variables}, check=False)
    if done.returncode:
        fail(f"this failed, and what it printed is above: {' '.join(words)}")


def _tag() -> None:
    run(["git", "tag", "--annotate", _TAG, "--message", f"dynascope {VERSION}"])


if __name__ == "__main__":
    main()
