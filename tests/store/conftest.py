"""Stores that several modules read and none changes."""

from pathlib import Path

import pytest
from store_cases import few, mixed

import dynascope as ds
from dynascope.platforms import system
from dynascope.platforms.folder_by_path import FolderByPath


def saved(runs: ds.Runs, folder: Path) -> Path:
    runs.save(folder)
    return folder


@pytest.fixture(scope="session")
def mixed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(mixed(), tmp_path_factory.mktemp("mixed") / "runs")


@pytest.fixture(scope="session")
def few_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(few(), tmp_path_factory.mktemp("few") / "runs")


@pytest.fixture(params=["by handle", "by path"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders of stores are reached through their handles; then as on Windows."""
    if request.param == "by path":
        monkeypatch.setattr(system, "open_folder", lambda path: FolderByPath.at(str(path)))
