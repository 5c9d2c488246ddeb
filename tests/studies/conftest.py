"""Small studies in the place of the paper's."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import small_studies

import dynascope as ds
from dynascope.studies.results import StudyResults


@pytest.fixture
def small() -> Iterator[None]:
    """Within a test, studies are small ones."""
    small_studies.install()
    yield
    small_studies.uninstall()


@pytest.fixture(scope="session")
def studied(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """Two small studies, carried out."""
    small_studies.install()
    try:
        return made(tmp_path_factory.mktemp("studied") / "small")
    finally:
        small_studies.uninstall()


def made(folder: Path) -> StudyResults:
    return ds.study(["width", "bounds"], out=folder, progress=False)
