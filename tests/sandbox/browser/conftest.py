"""A browser, a server and a page in it, for all modules of this folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from browsing import Opener, Sandbox, chromium, make_store, serving
from playwright.sync_api import Browser
from showing import Server

import dynascope as ds
from dynascope.sandbox.one_file import playground


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A headless Chromium. It ends with this package: asyncio cannot be used while it is there."""
    with chromium() as running:
        yield running


@pytest.fixture(scope="package")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the store that is shown."""
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="package")
def runs(place: Path) -> dict[str, ds.Run]:
    return make_store(place / "store")


@pytest.fixture(scope="package")
def server(runs: dict[str, ds.Run], place: Path) -> Iterator[Server]:
    with serving(place) as running:
        yield running


@pytest.fixture
def fresh(browser: Browser, server: Server) -> Iterator[Opener]:
    """Makes pages in browsers that know nothing yet."""
    made: list[Sandbox] = []

    def make(**more: Any) -> Sandbox:
        made.append(Sandbox(browser, server.address, **more))
        return made[-1]

    yield make
    for each in made:
        each.context.close()
        each.check(server)


@pytest.fixture(scope="module")
def kept(browser: Browser, server: Server) -> Iterator[Sandbox]:
    found = Sandbox(browser, server.address)
    yield found
    found.context.close()


@pytest.fixture
def page(kept: Sandbox, server: Server) -> Iterator[Sandbox]:
    """One page for all tests of a module that begin with a view of their own: loading takes most
    of the time."""
    yield kept
    kept.check(server)


@pytest.fixture
def alone(browser: Browser, tmp_path: Path) -> Iterator[Sandbox]:
    """The playground, from disk and with the network off."""
    file = tmp_path / "play.html"
    file.write_bytes(playground())
    sandbox = Sandbox(browser, file.as_uri(), size={"width": 1440, "height": 900})
    sandbox.context.set_offline(True)
    yield sandbox
    sandbox.context.close()
    assert sandbox.problems == []
    assert {urlsplit(url).scheme for url in sandbox.requests} <= {"file", "blob", "data"}
