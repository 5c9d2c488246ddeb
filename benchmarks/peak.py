"""The machine's peak rate of multiplies and adds, measured by `peak.cpp`, compiled on the spot."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("peak.cpp")
FLAGS = ("-std=c++17", "-O3", "-march=native", "-ffp-contract=off", "-pthread")
ATTEMPTS = 3  # the best counts: on a shared machine any single one may be disturbed


class UnknownPeakError(Exception):
    """The peak cannot be measured here; the text says why."""


def measure_peak(cores: int, seconds: float = 0.3) -> float:
    """Operations per second of all cores: float32, widest vectors, no fused multiply-add."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "peak"
        _run(_compiler(), *FLAGS, "-o", str(program), str(SOURCE))
        rates = [_run(str(program), str(cores), str(seconds)) for _ in range(ATTEMPTS)]
        return max(map(float, rates))


def _compiler() -> str:
    for name in (os.environ.get("CXX", ""), "c++", "g++", "clang++"):
        if name and shutil.which(name):
            return name
    raise UnknownPeakError("no C++ compiler found (set CXX)")


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UnknownPeakError(f"{command[0]} failed: {done.stderr.strip()}")
    return done.stdout
