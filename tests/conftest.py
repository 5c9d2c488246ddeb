"""Shared by all tests: which process runs which, and small stores."""

import contextlib
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

# Whatever started the tests may have made them deaf to these; the processes they start are not to
# be. (A handler is not inherited, and deafness is.)
for _number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, lambda number, frame: None)

with contextlib.suppress(ModuleNotFoundError):  # the sanitizer runs go without PyTorch
    import torch

    torch.set_num_threads(1)

with contextlib.suppress(ModuleNotFoundError):  # nor do they have Hypothesis
    from hypothesis import settings

    # How long an example takes depends on what else the machine does.
    settings.register_profile("untimed", deadline=None)
    settings.load_profile("untimed")

# They hold no doctests, and pytest cannot import several of one name for that.
collect_ignore_glob = ["*conftest.py", "*sitecustomize.py"]

# Which tests go to the same of the processes that share them (`pytest -n 2`).
# Paths below tests/, and all that begins so.
_TOGETHER = ("sandbox/browser/", "kernel/wasm/")  # one of them at a time is enough
# Long, and sharing next to nothing.
_APART = ("cli/test_cli", "docs/", "kernel/test_mutations", "sweeps/test_sweep_faults")


@pytest.hookimpl(optionalhook=True)  # without xdist there is one process
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A module's tests stay together, as what it makes once is made once. Large groups go first,
    and single tests last, so that all processes end at about the same time.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Modules(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            place = file.removeprefix("tests/")
            if place.startswith(_APART):
                return nodeid
            return next((begin for begin in _TOGETHER if place.startswith(begin)), file)

    return Modules(config, log)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three runs that nobody has analysed."""
    from analysed import three

    three().save(tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture(scope="session")
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
