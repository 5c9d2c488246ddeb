"""The wheel for ARM itself, under QEMU with Debian's Python for ARM: the bits, the twin, circuits,
curvature, and runs that are saved and loaded. (Slow: some twenty minutes.)
"""

import json
from pathlib import Path

import pytest
from arm_python import ArmPython, arm_python
from docs_pages import ROOT
from fingerprints import fingerprints
from wheel_files import wheel_of

pytestmark = pytest.mark.slow

PRINT = "import json, fingerprints as t; print(json.dumps([t._kernel.isa(), *t.fingerprints()]))"
FILES = (
    "training/test_reproducible.py",
    "kernel/test_twin.py",
    "theory/test_curvature.py",
    "analysis/test_circuit.py",
)


@pytest.fixture(scope="module")
def arm(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> ArmPython:
    made = arm_python(tmp_path_factory.mktemp("arm"))
    wheel = wheel_of(dist, "aarch64")
    made.install(f"dynascope[sql,theory] @ {wheel.as_uri()}", "pytest", "hypothesis")
    return made


def test_all_bits(arm: ArmPython, tmp_path: Path) -> None:
    support = f"{arm.site}:{ROOT / 'tests/support'}"
    done = arm.finished("-c", PRINT, cwd=tmp_path, PYTHONPATH=support)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["portable", *fingerprints()]


@pytest.mark.parametrize("file", FILES)
def test_the_kernels_tests(file: str, arm: ArmPython, tmp_path: Path) -> None:
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow"]
    words += ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
    done = arm.finished(*words, ROOT / "tests" / file, cwd=tmp_path)
    print(done.stdout[-300:])
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
