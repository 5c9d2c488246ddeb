"""Run the tools that builds and releases are made of, and say plainly what failed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
Words = Sequence[str | Path]


def fail(sentence: str) -> NoReturn:
    """End the script that was called with one sentence."""
    sys.exit(f"{Path(sys.argv[0]).stem.replace('_', '-')}: {sentence}")


def run(command: Words, *, env: Mapping[str, str] | None = None, cwd: Path = ROOT) -> str:
    """What a command prints; if it fails, all that it printed is shown."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, env=env, cwd=cwd, check=False)
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        fail(f"this failed, and what it printed is above: {' '.join(words)}")
    return done.stdout


def said(command: Words) -> str:
    """What a command prints, without the end of the line."""
    return run(command).strip()


def module(name: str) -> list[str]:
    """A Python module as a command, by the Python that runs this."""
    return [sys.executable, "-m", name]


def tool(name: str) -> str:
    """A program of this Python's environment, or of the machine."""
    beside = Path(sys.executable).parent
    found = shutil.which(name, path=f"{beside}{os.pathsep}{os.environ.get('PATH', '')}")
    return found or fail(f"expected {name}, but found none; run scripts/setup dev.")
