"""A server: bound to a port, then serving a site until it is told to stop.

A site is one folder of runs (`Sandbox`), or a report with the folders that it leads to
(`report_site`).
"""

import errno
import socket
from pathlib import Path
from typing import Protocol

import uvicorn
from starlette.types import ASGIApp

from dynascope.errors import DynascopeError, expected
from dynascope.platforms import system
from dynascope.sandbox import client
from dynascope.sandbox.deadlines import Deadlines
from dynascope.sandbox.guard import Guard
from dynascope.sandbox.security import LARGEST_HEAD, WILDCARDS, Keys, is_loopback, write_key
from dynascope.sandbox.store_answers import Shown
from dynascope.sandbox.store_site import StoreSite

LOOPBACK = "127.0.0.1"
_MOST_CONNECTIONS = 512  # below the files that a process may have open
_REQUEST_SECONDS = 10.0  # in which a request must have come whole
_LAST_SECONDS = 1.0  # that answers under way are given at the end


class Site(Protocol):
    """What a server shows, without a thought of who asks."""

    def application(self) -> ASGIApp: ...

    def close(self, seconds: float) -> bool:
        """Stop what is still being computed; whether it has stopped in this time."""

    def __str__(self) -> str:
        """What it is, for the person who started it: "20 runs"."""


class LocalServer:
    """A server that is bound: `address` works as soon as it runs."""

    def __init__(
        self,
        site: Site,
        host: str = LOOPBACK,
        port: int = 0,
        view: str = "",
        write_key: str | None = None,
    ) -> None:
        self.site, self._view = site, view
        self._socket = bind(host, port)
        bound, self.port = self._socket.getsockname()[:2]
        self.host = bound if bound in WILDCARDS else host
        self.loopback = is_loopback(bound)  # whether only this machine reaches it
        self.keys = Keys(self.port, write=write_key)
        if write_key is not None and not self.loopback:
            self._socket.close()
            raise DynascopeError(
                f"--writable: cannot be combined with --host {host}, which other machines can "
                "reach; leave out one of them."
            )
        self._server = uvicorn.Server(self._config())

    def _config(self) -> uvicorn.Config:
        deadlines = Deadlines(_REQUEST_SECONDS)
        config = uvicorn.Config(
            deadlines.application(Guard(self.site.application(), self.keys, self.host)),
            http="h11",  # in Python, and the same wherever it runs
            ws="none",
            loop="asyncio",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            log_level="critical",
            access_log=False,
            proxy_headers=False,  # nobody is to say on whose behalf they ask
            server_header=False,
            limit_concurrency=_MOST_CONNECTIONS,
            backlog=_MOST_CONNECTIONS,
            h11_max_incomplete_event_size=LARGEST_HEAD,
            timeout_graceful_shutdown=int(_LAST_SECONDS),
        )
        config.load()
        config.http_protocol_class = deadlines.protocol(config.http_protocol_class)
        return config

    @property
    def address(self) -> str:
        """What a person opens: it holds the token, and the view to begin with."""
        name = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(self.host, self.host)
        where = f"http://{f'[{name}]' if ':' in name else name}:{self.port}/"
        return f"{where}?token={self.keys.token}{self._view}"

    def run(self) -> None:
        """Serve until Ctrl-C, SIGTERM or `stop`."""
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """End it from another thread."""
        self._server.should_exit = True

    def close(self) -> bool:
        """Stop what is still being computed; whether it has stopped."""
        self._socket.close()
        return self.site.close(_LAST_SECONDS)


class Sandbox(LocalServer):
    """A server of one folder of runs. `static`: where the built client is, for tests; `writable`:
    the page may add runs."""

    def __init__(
        self,
        folder: Path,
        host: str = LOOPBACK,
        port: int = 0,
        shown: Shown | None = None,
        static: Path | None = None,
        writable: bool = False,
    ) -> None:
        key = write_key() if writable else None
        site = StoreSite(folder, shown or Shown(), static or client.FOLDER, write_key=key)
        super().__init__(site, host, port, _fragment(shown or Shown()), key)
        self.library, self.workers = site.library, site.workers


def _fragment(shown: Shown) -> str:
    """The view as the client writes it into its address."""
    parts = {"run": shown.run, "t": shown.epoch}
    said = [f"{key}={value}" for key, value in parts.items() if value is not None]
    return "#" + "&".join(["v=1", *said]) if said else ""


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any that is free."""
    if not isinstance(port, int) or not 0 <= port <= 65535:
        raise expected("--port", "a whole number from 0 to 65535 (0: any that is free)", port)
    if not host:  # the system would take it for every address there is
        raise expected("--host", "a name or address of this machine", host)
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError):
        raise expected("--host", "a name or address of this machine", host) from None
    try:
        made.setsockopt(socket.SOL_SOCKET, system.LISTENING, 1)
        made.bind(place)
        made.listen(_MOST_CONNECTIONS)
    except OSError as error:
        made.close()
        raise _cannot_bind(error, host, port) from None
    return made


def _cannot_bind(error: OSError, host: str, port: int) -> DynascopeError:
    if error.errno == errno.EADDRINUSE:
        return DynascopeError(
            f"--port: expected a free port, but {port} is taken; choose another, or leave it out "
            "for any that is free."
        )
    if error.errno == errno.EACCES:
        return expected("--port", "a port that you may use", port, "take one above 1023")
    return expected("--host", "a name or address of this machine", host)
