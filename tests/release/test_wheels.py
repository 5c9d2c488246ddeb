"""The wheel of this processor, as people get it: installed where there is no compiler and no Node.

It gives the bits that a compiled one gives, for every Python, and on a processor with nothing but
SSE2; the README runs; the sandbox opens in Chromium and trains. (Slow.)
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from browsing import Sandbox, chromium
from docs_pages import README, ROOT
from empty_machine import EmptyMachine, download, empty_machine
from fingerprints import fingerprints
from live_page import LivePage
from page_examples import run_page
from playwright.sync_api import Browser
from pythons import pythons
from variant import tool
from wheel_files import HELD, faults, wheel_of

import dynascope as ds

pytestmark = pytest.mark.slow

# What wheels are built with, and the later ones that are here.
VERSIONS = ["3.11", "3.12", *(version for version in ("3.13", "3.14") if any(pythons(version)))]
PRINT = "import json, fingerprints as t; print(json.dumps([t._kernel.isa(), *t.fingerprints()]))"
SUPPORT = {"PYTHONPATH": str(ROOT / "tests/support")}


@pytest.fixture(scope="module")
def machines(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, EmptyMachine]:
    """With the wheel installed, one for each Python."""
    return {
        version: installed(version, wheel, tmp_path_factory.mktemp("v")) for version in VERSIONS
    }


def installed(version: str, wheel: Path, folder: Path) -> EmptyMachine:
    python = next(pythons(version), None)
    assert python, f"expected Python {version}; install it, or say by a variable where it is"
    machine = empty_machine(folder / "machine", python, version)
    wanted = f"dynascope[sql,theory] @ {wheel.as_uri()}"
    download(machine, wanted)
    done = machine.pip("install", wanted)
    assert done.returncode == 0, done.stdout + done.stderr
    return machine


def test_nothing_there_builds(machines: dict[str, EmptyMachine]) -> None:
    for machine in machines.values():
        path = machine.variables["PATH"]
        for name in ("cc", "c++", "gcc", "g++", "clang", "cmake", "node", "npm", "zig", "make"):
            assert shutil.which(name, path=path) is None
        assert shutil.which("bash", path=path)


@pytest.mark.parametrize("processor", ["x86_64", "aarch64"])
def test_everything_is_in_it(processor: str, dist: Path) -> None:
    assert faults(wheel_of(dist, processor)) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_the_demo_and_all_bits(version: str, machines: dict[str, EmptyMachine]) -> None:
    machine = machines[version]
    done = machine.finished("dynascope", "demo", "--no-show")
    assert (done.returncode, done.stderr) == (0, "")
    assert "8 of 20 solved the task" in done.stdout
    found = machine.finished("python", "-c", PRINT, **SUPPORT)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout) == [ds._kernel.isa(), *fingerprints()]


def test_the_readme(machines: dict[str, EmptyMachine], tmp_path: Path) -> None:
    machine = machines["3.11"]
    work = tmp_path / "work"
    done = run_page(README, machine.command("python"), machine.variables, work)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def test_an_old_processor(machines: dict[str, EmptyMachine]) -> None:
    """One of 2008, without AVX2: older ones do for the kernel, but not for NumPy and Arrow."""
    machine = machines["3.11"]
    emulated = [tool("qemu-x86_64-static", setup="all"), "-cpu", "Nehalem"]
    real = os.path.realpath(machine.programs / "python")
    libraries = machine.folder / "venv/lib/python3.11/site-packages"
    environment = {
        **machine.variables,
        "PYTHONPATH": f"{libraries}:{SUPPORT['PYTHONPATH']}",
    }
    words = [*emulated, real, "-c", PRINT]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["sse2", *fingerprints()]


# ---- the sandbox ---------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


def test_the_demo_opens_in_a_browser(machines: dict[str, EmptyMachine], browser: Browser) -> None:
    with machines["3.12"].demo() as address:
        sandbox = Sandbox(browser, address, size={"width": 1440, "height": 900})
        sandbox.page.goto(address)
        sandbox.page.wait_for_function("() => dynascope.slots.value[0]?.scene.value")
        live = LivePage(sandbox.page)
        live.seek(80)
        live.train({"training.epochs": 30}, 3)
        live.is_run(ds.train({"training.epochs": 30}, [3], progress=False)[0])
        assert sandbox.problems == []
        assert {urlsplit(url).hostname for url in sandbox.requests} <= {"127.0.0.1", None}
        sandbox.context.close()


def test_a_playground_of_the_wheel_trains(
    machines: dict[str, EmptyMachine], browser: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "play.html"
    done = machines[VERSIONS[-1]].finished("dynascope", "export", "--playground", "-o", file)
    assert done.returncode == 0, done.stderr
    sandbox = Sandbox(browser, file.as_uri(), size={"width": 1440, "height": 900})
    sandbox.context.set_offline(True)
    sandbox.go("v=1")
    live = LivePage(sandbox.page)
    live.train({"training.epochs": 30}, 3)
    live.is_run(ds.train({"training.epochs": 30}, [3], progress=False)[0])
    assert sandbox.problems == []
    sandbox.context.close()


# ---- from the sdist ------------------------------------------------------------------------------
def test_the_sdist_has_the_client(dist: Path, tmp_path: Path) -> None:
    """So that whoever compiles it gets the sandbox without Node."""
    (sdist,) = dist.glob("dynascope-*.tar.gz")
    shutil.unpack_archive(sdist, tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    wanted = [name for name in HELD if "*" not in name]
    assert [name for name in wanted if not (folder / "src" / name).is_file()] == []
    assert not (folder / "web/node_modules").exists()


def test_without_a_compiler_the_sdist_says_so(
    dist: Path, machines: dict[str, EmptyMachine], tmp_path: Path
) -> None:
    """What pip shows on a platform for which there is no wheel."""
    (sdist,) = dist.glob("dynascope-*.tar.gz")
    machine = empty_machine(tmp_path / "machine", next(pythons("3.11")), "3.11")
    download(machine, "scikit-build-core", "nanobind", "cmake", "ninja")
    done = machine.pip("install", "--no-deps", sdist)
    assert done.returncode != 0
    told = " ".join((done.stdout + done.stderr).split())
    assert "dynascope: expected a C++ compiler (GCC or Clang), but found none; install one" in told


# ---- what pip says where the wheel is of no use --------------------------------------------------
@pytest.mark.parametrize(
    ("processor", "words", "told"),
    [
        ("aarch64", [], "is not a supported wheel on this platform"),
        ("x86_64", ["--python-version", "3.10", "--only-binary", ":all:"], "is not a supported"),
    ],
)
def test_refused_by_pip(
    processor: str, words: list[str], told: str, dist: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-index", *words]
    done = subprocess.run(
        [*command, "-d", tmp_path, wheel_of(dist, processor)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert told in done.stderr
