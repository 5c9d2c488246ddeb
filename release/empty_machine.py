"""What somebody has who has nothing: a new environment, and neither a compiler nor Node.

Its processes find the ordinary programs of this machine, but none that builds. Packages are
downloaded before, so that an installation can be timed, and needs no network.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from running import ROOT, fail, run

# With the prefixes and versions that systems give them, as in x86_64-linux-gnu-g++-12.
_ABSENT = re.compile(
    r".*python.*|(.+-)?(c\+\+|g\+\+|gcc|cc|cpp|clang|clang\+\+|ld|lld|as|c89|c99)(-[\d.]+)?"
    r"|node|nodejs|npm|npx|corepack|cmake|ctest|ninja|make|gmake|zig|rustc|cargo"
)
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\S*")
_KEPT = ("LANG", "TMPDIR", "CHROMIUM")  # variables that say nothing about programs
DOWNLOADS = ROOT / "build" / "downloads"


@dataclass(frozen=True)
class EmptyMachine:
    """A virtual environment, and the variables with which it finds little else."""

    folder: Path
    version: str  # of its Python
    variables: dict[str, str]

    @property
    def programs(self) -> Path:
        return self.folder / "venv" / "bin"

    def finished(
        self, *words: str | Path, timeout: float = 600, cwd: Path | None = None, **more: str
    ) -> "subprocess.CompletedProcess[str]":
        """A program of the environment to its end; `more` are variables."""
        return subprocess.run(
            self.command(*words),
            cwd=cwd or self.folder,
            env={**self.variables, **more},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def command(self, program: str | Path, *words: str | Path) -> list[str]:
        return [str(self.programs / program), *map(str, words)]

    def pip(self, *words: str | Path) -> "subprocess.CompletedProcess[str]":
        """`pip` without a network: from what was downloaded before."""
        offline = ("--no-index", "--disable-pip-version-check", "--find-links", str(self.downloads))
        return self.finished("python", "-m", "pip", *words[:1], *offline, *words[1:])

    @contextmanager
    def demo(self) -> Iterator[str]:
        """`dynascope demo` for as long as the block lasts: its address, once it is there."""
        words = self.command("dynascope", "demo", "--no-open")
        with subprocess.Popen(
            words, cwd=self.folder, env=self.variables, stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                told = (_ADDRESS.search(line) for line in process.stdout or ())
                address = next((found[0] for found in told if found), None)
                yield address or fail("dynascope demo ended without an address.")
            finally:
                process.terminate()

    @property
    def downloads(self) -> Path:
        """One folder for all environments of a Python, kept from one time to the next."""
        return DOWNLOADS / self.version


def programs_without(absent: re.Pattern[str], folder: Path) -> Path:
    """A new folder for PATH, with links to this machine's programs but for those of such names."""
    folder.mkdir(parents=True)
    for place in map(Path, os.get_exec_path()):
        for program in sorted(place.iterdir()) if place.is_dir() else ():
            link = folder / program.name
            if not (absent.fullmatch(program.name) or link.is_symlink()):
                link.symlink_to(program)
    return folder


def empty_machine(folder: Path, python: Path, version: str) -> EmptyMachine:
    """A new one, in a new folder, around this Python."""
    programs = programs_without(_ABSENT, folder / "programs")
    run([python, "-m", "venv", folder / "venv"])
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    path = os.pathsep.join(map(str, (folder / "venv" / "bin", programs)))
    return EmptyMachine(folder, version, {**kept, "PATH": path, "HOME": str(folder)})


def download(machine: EmptyMachine, *wanted: str | Path) -> None:
    """What these need, wheels only, by the network and the settings that pip has here."""
    folder = str(machine.downloads)
    machine.downloads.mkdir(parents=True, exist_ok=True)
    words = ["download", "--quiet", "--only-binary", ":all:", "--find-links", folder, "-d", folder]
    command = machine.command("python", "-m", "pip", *words, *wanted)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        fail(f"{wanted} could not be downloaded with what they need:\n{done.stderr[-2000:]}")
