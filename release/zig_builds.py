"""The kernel for other platforms, cross-compiled by the Clang of the `ziglang` package.

Zig brings the C library of every target along, as old as it is told to be, so that no container
and no second machine is needed.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

import ziglang
from pythons import pythons, variable
from running import ROOT, fail, module, run, said, tool

GLIBC = (2, 17)  # of 2012: older than that of any Linux on which Python 3.11 is had


@dataclass(frozen=True)
class Target:
    """What zig and CMake call a platform."""

    zig: str
    system: str
    processor: str


LINUX = {
    processor: Target(f"{processor}-linux-gnu.{GLIBC[0]}.{GLIBC[1]}", "Linux", processor)
    for processor in ("x86_64", "aarch64")
}
OTHERS = {
    "macos-arm64": Target("aarch64-macos", "Darwin", "arm64"),
    "macos-x86_64": Target("x86_64-macos", "Darwin", "x86_64"),
    "windows-x86_64": Target("x86_64-windows-gnu", "Windows", "AMD64"),
}


def kernel_library(name: str) -> Path:
    """The kernel without Python, linked as a library of a platform on which we cannot run it."""
    folder = _configured(f"kernel-{name}", OTHERS[name], "-DDYNASCOPE_WITHOUT_PYTHON=ON")
    run([tool("ninja"), "-C", folder, "kernel"])
    (made,) = (file for file in folder.iterdir() if file.suffix in (".dylib", ".dll"))
    return made


def extension(version: str, target: Target) -> Path:
    """`_kernel` for one Python, such as "3.12". Its parts are compiled once: zig remembers them."""
    python = _python(version)
    folder = _configured(
        f"{version}-{target.zig}",
        target,
        f"-DPython_EXECUTABLE={python}",
        f"-DPython_INCLUDE_DIR={_headers(python, version)}",
        f"-Dnanobind_DIR={said([*module('nanobind'), '--cmake_dir'])}",
        "-DCMAKE_MODULE_LINKER_FLAGS=-s",
    )
    run([tool("ninja"), "-C", folder, "_kernel"])
    (made,) = folder.glob("_kernel*.so")
    return made


def _configured(name: str, target: Target, *more: str) -> Path:
    """A folder in which CMake compiles for the target."""
    zig = Path(ziglang.__file__).parent / "zig"
    folder = ROOT / "build" / "wheels" / name
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_MAKE_PROGRAM": tool("ninja"),
        "CMAKE_SYSTEM_NAME": target.system,
        "CMAKE_SYSTEM_PROCESSOR": target.processor,
        "CMAKE_CXX_COMPILER": f"{zig};c++",
        "CMAKE_CXX_FLAGS": f"-target {target.zig}",
        "CMAKE_AR": _archiver(zig),
        "CMAKE_RANLIB": shutil.which("true"),  # zig's archives have their index already
    }
    defined = [f"-D{option}={value}" for option, value in options.items()]
    run([tool("cmake"), "--fresh", "-G", "Ninja", "-S", ROOT, "-B", folder, *defined, *more])
    return folder


def _archiver(zig: Path) -> Path:
    """`zig ar` as a program of one word, as CMake wants it."""
    script = ROOT / "build" / "wheels" / "ar"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(f'#!/bin/sh\nexec "{zig}" ar "$@"\n')
    script.chmod(0o755)
    return script


def _python(version: str) -> Path:
    """A Python of this version that has its C headers."""
    for python in pythons(version):
        if (_include(python) / "Python.h").exists():
            return python
    return fail(
        f"expected Python {version} with its C headers, but found none; install it (on Debian: "
        f"python{version}-dev) or set {variable(version)} to its path."
    )


def _headers(python: Path, version: str) -> Path:
    """A copy of Python's headers in one folder: Debian keeps one of them elsewhere."""
    folder = ROOT / "build" / "wheels" / f"include-{version}"
    given = _include(python)
    triple = said([python, "-c", "import sysconfig as s; print(s.get_config_var('MULTIARCH'))"])
    settings = given.parent / triple / given.name / "pyconfig.h"
    shutil.copytree(given, folder, dirs_exist_ok=True)
    if settings.exists():
        shutil.copy(settings, folder)
    return folder


def _include(python: Path) -> Path:
    return Path(said([python, "-c", "import sysconfig as s; print(s.get_path('include'))"]))
