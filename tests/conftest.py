"""Shared by all tests: where the tables are, one thread for PyTorch, small stores."""

import contextlib
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # cases.py and reference.py

with contextlib.suppress(ModuleNotFoundError):  # the sanitizer runs go without PyTorch
    import torch

    torch.set_num_threads(1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three runs that nobody has analysed."""
    from analysed import three

    three().save(tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture(scope="module")
def analysed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from analysed import three

    import dynascope as ds

    path = tmp_path_factory.mktemp("analysed") / "store"
    three().save(path)
    ds.load(path).analyse(progress=False)
    return path


@pytest.fixture
def analysed(analysed_once: Path, tmp_path: Path) -> Path:
    """Three runs with one sidecar."""
    shutil.copytree(analysed_once, tmp_path / "analysed")
    return tmp_path / "analysed"
