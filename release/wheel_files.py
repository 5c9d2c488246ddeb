"""Wheels as files: two extensions in one, and what every wheel of ours must hold.

One wheel per platform serves every CPython from 3.11 on. nanobind needs more of the stable ABI
than 3.11 has, so there are two extensions: `_kernel.abi3` for 3.12 and all later ones, and one
whose name only 3.11 knows, and prefers. It costs about 3 MB installed, and the download of them.
"""

import shutil
import tempfile
import zipfile
from email.parser import Parser
from pathlib import Path

from running import ROOT, fail, module, run

PYTHONS = {"3.11": "cp311-cp311", "3.12": "cp312-abi3"}  # compiled against, and the tag of it
LARGEST = 10_000_000  # bytes
STATIC = "dynascope/sandbox/static"
HELD = (
    "dynascope/_kernel.pyi",
    "dynascope/py.typed",
    f"{STATIC}/index.html",
    f"{STATIC}/kernel.wasm",
    "*.dist-info/licenses/LICENSE",
)


def bare_wheel(out: Path) -> Path:
    """A wheel with all but the extensions."""
    return _built("wheel", out, "-Cwheel.cmake=false", "-Cwheel.py-api=py3")


def sdist(out: Path) -> Path:
    """The sources with the built client, so that whoever compiles them needs no Node."""
    return _built("sdist", out)


def with_extensions(
    bare: Path, extensions: dict[str, Path], platforms: list[str], out: Path
) -> Path:
    """The wheel of a platform, with all its names: what is to be put there, by file name."""
    with tempfile.TemporaryDirectory() as folder:
        unpacked = _unpacked(bare, Path(folder))
        for name, extension in extensions.items():
            shutil.copy(extension, unpacked / "dynascope" / name)
        return _packed(unpacked, platforms, out)


def joined(one: Path, other: Path, out: Path) -> Path:
    """The wheels of 3.11 and of the stable ABI that cibuildwheel makes for a platform, as one."""
    platforms = one.stem.split("-")[-1].split(".")
    with tempfile.TemporaryDirectory() as folder:
        package = _unpacked(other, Path(folder)) / "dynascope"
        found = {f.name: f for f in package.glob("_kernel.*") if f.suffix in (".so", ".pyd")}
        return with_extensions(one, found, platforms, out)


def wheel_of(folder: Path, processor: str) -> Path:
    """That of Linux on such a processor, among those that were built."""
    found = sorted(folder.glob(f"dynascope-*_{processor}.whl"))
    if len(found) != 1:
        names = ", ".join(wheel.name for wheel in found) or "none"
        fail(f"expected one wheel for {processor} in {folder}, but got {names}.")
    return found[0]


def faults(wheel: Path) -> list[str]:
    """What is wrong with a wheel of ours: things that are missing, or too much."""
    with zipfile.ZipFile(wheel) as opened:
        names = [Path(name) for name in opened.namelist()]
        about = next(name for name in names if name.match("*.dist-info/METADATA"))
        told = Parser().parsestr(opened.read(about.as_posix()).decode())
    found = [f"no {pattern}" for pattern in HELD if not any(n.match(pattern) for n in names)]
    extensions = sorted(
        n.name for n in names if n.match("dynascope/_kernel.*") and n.suffix != ".pyi"
    )
    if len(extensions) != len(PYTHONS):
        found.append(f"expected {len(PYTHONS)} extensions, but it has {extensions}")
    strange = {n.parts[0] for n in names if not n.parts[0].startswith("dynascope")}
    found += [f"{name} is no part of dynascope" for name in sorted(strange)]
    if told["License-Expression"] != "MIT":
        found.append(f"its licence is said to be {told['License-Expression']}")
    if (size := wheel.stat().st_size) > LARGEST:
        found.append(f"it has {size / 1e6:.1f} MB, more than {LARGEST / 1e6:.0f}")
    return found


def _built(kind: str, out: Path, *settings: str) -> Path:
    with tempfile.TemporaryDirectory() as folder:
        run([*module("build"), f"--{kind}", "--no-isolation", "-o", folder, *settings, ROOT])
        (made,) = Path(folder).iterdir()
        return Path(shutil.copy(made, out))


def _unpacked(wheel: Path, folder: Path) -> Path:
    run([*module("wheel"), "unpack", wheel, "-d", folder])
    (unpacked,) = folder.iterdir()
    return unpacked


def _packed(unpacked: Path, platforms: list[str], out: Path) -> Path:
    (about,) = unpacked.glob("*.dist-info/WHEEL")
    lines = [
        line for line in about.read_text().splitlines() if line and not line.startswith("Tag:")
    ]
    lines = ["Root-Is-Purelib: false" if line.startswith("Root-") else line for line in lines]
    tags = [f"Tag: {tag}-{platform}" for tag in PYTHONS.values() for platform in platforms]
    about.write_text("\n".join([*lines, *tags]) + "\n")
    with tempfile.TemporaryDirectory() as folder:
        run([*module("wheel"), "pack", unpacked, "-d", folder])
        (made,) = Path(folder).iterdir()
        return Path(shutil.copy(made, out))
