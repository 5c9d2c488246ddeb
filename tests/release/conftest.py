"""The wheels under test: those of DYNASCOPE_DIST, which scripts/release sets, or new ones."""

import os
import subprocess
from pathlib import Path

import pytest
from running import ROOT
from wheel_files import wheel_of


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if given := os.environ.get("DYNASCOPE_DIST"):
        return Path(given)
    folder = tmp_path_factory.mktemp("dist")
    words = [ROOT / "scripts/build-wheels", "-o", folder]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="session")
def wheel(dist: Path) -> Path:
    """That of this processor."""
    return wheel_of(dist, os.uname().machine)
