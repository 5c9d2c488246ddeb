"""Processes around the package under test."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import dynascope as ds

COMMAND = [sys.executable, "-m", "dynascope"]


def environment(*without: str, **more: str) -> dict[str, str]:
    """This process's, in which `import dynascope` finds the package under test."""
    kept = {name: value for name, value in os.environ.items() if name not in without}
    return {**kept, "PYTHONPATH": str(Path(ds.__file__).parents[1]), **more}


def finished(command: list[str], **options: Any) -> "subprocess.CompletedProcess[str]":
    """A command to its end, which must come within a minute, and what it printed."""
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        **options,
    )
