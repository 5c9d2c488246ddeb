"""Hostile floating-point modes: what other libraries may have set in a thread that calls us.

The bits of the control registers: Intel's manual, volume 1, 10.2.3 (MXCSR); Arm's, FPCR.
"""

import ctypes
import itertools
import os
import platform
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from variant import ROOT

_X86 = platform.machine() in ("x86_64", "AMD64")
ROUNDING = (
    {"nearest": 0, "down": 0x2000, "up": 0x4000, "to zero": 0x6000}
    if _X86
    else {"nearest": 0, "up": 1 << 22, "down": 2 << 22, "to zero": 3 << 22}
)
SUBNORMALS = (
    {"kept": 0, "results flushed": 0x8000, "inputs flushed": 0x40, "all flushed": 0x8040}
    if _X86
    else {"kept": 0, "all flushed": 1 << 24}
)
PLAIN = 0x1F80 if _X86 else 0

MODES: dict[str, int] = {
    f"{rounding}, {subnormals}": PLAIN | ROUNDING[rounding] | SUBNORMALS[subnormals]
    for rounding, subnormals in itertools.product(ROUNDING, SUBNORMALS)
}
"""Every rounding with every treatment of subnormal numbers; the first is what everybody has."""

SIGNALS: dict[str, int] = {"signals": 0, "signals, up": ROUNDING["up"]} if _X86 else {}
"""Modes in which an inexact result ends the process. Python itself would not live long in them."""


class FloatModes:
    """The control register of the calling thread, through a small library made for the tests."""

    def __init__(self, folder: Path) -> None:
        library, source = folder / "float_modes.so", ROOT / "tests/support/float_modes.cpp"
        compiler = os.environ.get("CXX", "c++")
        command = [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", "-I", str(ROOT / "kernel")]
        subprocess.run([*command, str(source), "-o", str(library)], check=True)
        loaded = ctypes.CDLL(str(library))
        self.read, self.write = loaded.read_mode, loaded.write_mode
        self.read.restype, self.write.argtypes = ctypes.c_uint64, [ctypes.c_uint64]

    @contextmanager
    def hostile(self, mode: int) -> Iterator[None]:
        """The mode, until the end; it must then still be set, but for flags of what happened."""
        before = self.read()
        self.write(mode)
        try:
            yield
        finally:
            after = self.read()
            self.write(before)
        flags = 0x3F if _X86 else 0
        assert after & ~flags == mode & ~flags, f"mode {mode:#x} was left as {after:#x}"
