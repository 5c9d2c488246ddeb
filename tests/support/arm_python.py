"""A Python for 64-bit ARM, run by QEMU: Debian's own packages, unpacked into a folder.

Nothing is installed, and apt's settings stay as they are: it gets a state of its own, in which this
machine is an ARM. Processes that such a Python starts are such Pythons again.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from variant import tool

PYTHON = "3.11"
PACKAGES = [
    *("libc6", "libgcc-s1", "libstdc++6", "zlib1g", "libexpat1", "libssl3", "libffi8"),
    *("libbz2-1.0", "liblzma5", "libsqlite3-0", "libuuid1", "libcrypt1"),
    *("python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib"),
]
# What numpy and others call the C library that they need at least; Debian 12 has 2.36.
GLIBCS = ("manylinux2014", "manylinux_2_17", "manylinux_2_26", "manylinux_2_27", "manylinux_2_28")
_APT = """\
APT::Architecture "arm64";
APT::Architectures {{ "arm64"; }};
Dir::State "{0}/state";
Dir::State::status "{0}/state/status";
Dir::Cache "{0}/cache";
"""
_SITE = "import sys\nsys.executable = {!r}\n"


@dataclass(frozen=True)
class ArmPython:
    """A program, and the folder of what it can import."""

    program: Path
    site: Path

    def install(self, *wanted: str | Path) -> None:
        """Wheels for ARM, by this machine's pip."""
        platforms = [word for glibc in GLIBCS for word in ("--platform", f"{glibc}_aarch64")]
        words = ["--target", self.site, *platforms, "--python-version", PYTHON, "--upgrade"]
        words += ["--only-binary", ":all:", "--quiet", "--disable-pip-version-check"]
        _run([sys.executable, "-m", "pip", "install", *words, *wanted])

    def finished(
        self, *words: str | Path, cwd: Path, **variables: str
    ) -> "subprocess.CompletedProcess[str]":
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "PYTHON"))}
        return subprocess.run(
            [str(self.program), *map(str, words)],
            cwd=cwd,
            env={**kept, "PYTHONPATH": str(self.site), **variables},
            capture_output=True,
            text=True,
            check=False,
        )


def arm_python(folder: Path) -> ArmPython:
    """A new one, in a new folder."""
    qemu = tool("qemu-aarch64-static", setup="all")
    if shutil.which("apt-get") is None:
        raise SystemExit("arm_python: expected apt-get, which gets Debian's Python for ARM.")
    root, debs, site = folder / "root", folder / "debs", folder / "site"
    for each in (root, debs, site, folder / "state/lists/partial", folder / "cache/archives"):
        each.mkdir(parents=True)
    (folder / "state/status").touch()
    (folder / "apt.conf").write_text(_APT.format(folder))
    apt = {**os.environ, "APT_CONFIG": str(folder / "apt.conf")}
    _run(["apt-get", "-qq", "update"], env=apt)
    _run(["apt-get", "-qq", "download", *PACKAGES], env=apt, cwd=debs)
    for package in debs.glob("*.deb"):
        _run(["dpkg-deb", "-x", package, root])
    program = folder / "python"
    program.write_text(f'#!/bin/sh\nexec {qemu} -L {root} {root}/usr/bin/python{PYTHON} "$@"\n')
    program.chmod(0o755)
    (site / "sitecustomize.py").write_text(_SITE.format(str(program)))
    return ArmPython(program, site)


def _run(
    words: list[str | Path], env: dict[str, str] | None = None, cwd: Path | None = None
) -> None:
    done = subprocess.run(
        list(map(str, words)), env=env, cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"arm_python: {words[0]} failed:\n{done.stdout}\n{done.stderr}")
