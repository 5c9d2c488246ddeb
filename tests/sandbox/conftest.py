"""`dynascope show` of what a module calls its `store`, with a tiny client."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from showing import Server, show, tiny_client


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny client in the place of the built one."""
    return tiny_client(tmp_path_factory.mktemp("client"))


@pytest.fixture(scope="module")
def server(store: Path, static: Path) -> Iterator[Server]:
    """`dynascope show` of what the module calls its `store`; it has nothing to complain of."""
    with show(static, store, "--no-open") as running:
        yield running
        assert running.stop() == (0, "")
