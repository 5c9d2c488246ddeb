"""Clients that begin a request and never end it are hung up on: uvicorn has no limit for them.

A request must have come whole so many seconds after its first byte, or after the connection was
opened. uvicorn's protocol is wrapped, not changed: bytes pass by here on their way in, and the
application says when it has been asked; where a body follows, when it has read the last of that.
The client's address tells which belongs to which.
"""

import asyncio
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dynascope.sandbox.security import has_body

Client = tuple[str, int]


class Deadlines:
    """The deadlines of all connections of one server."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.connections: dict[Client, Connection] = {}

    def application(self, app: ASGIApp) -> ASGIApp:
        """An application around another one."""

        async def asked(scope: Scope, receive: Receive, send: Send) -> None:
            connection = self.connections.get(tuple(scope.get("client") or ()))
            if connection is None:
                return await app(scope, receive, send)
            if has_body(scope["headers"]):
                receive = connection.receiving(receive)
            else:
                connection.begin_answer()
            try:
                await app(scope, receive, send)
            finally:
                connection.end_answer()

        return asked

    def protocol(self, inner: type[asyncio.Protocol]) -> type[asyncio.Protocol]:
        """A protocol around another one."""
        deadlines = self

        class Timed(Connection):
            def __init__(self, **settings: Any) -> None:
                super().__init__(inner(**settings), deadlines)

        return Timed


class Connection(asyncio.Protocol):
    """A connection that is closed if a request takes too long to come."""

    def __init__(self, inner: asyncio.Protocol, deadlines: Deadlines) -> None:
        self._inner, self._deadlines = inner, deadlines
        self._timer: asyncio.TimerHandle | None = None
        self._answering = False

    def begin_answer(self) -> None:
        """A request has come whole."""
        self._answering = True
        self._stop_timer()

    def receiving(self, receive: Receive) -> Receive:
        """What an application reads a body with."""

        async def received() -> Message:
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body", False):
                self.begin_answer()
            return message

        return received

    def end_answer(self) -> None:
        """Whatever comes now is another one."""
        self._answering = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        host, port = transport.get_extra_info("peername")[:2]
        self._client: Client = (str(host), int(port))
        self._deadlines.connections[self._client] = self
        self._start_timer()
        self._inner.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        if self._timer is None and not self._answering:
            self._start_timer()
        self._inner.data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._deadlines.connections.pop(self._client, None)
        self._inner.connection_lost(exc)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def _start_timer(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._deadlines.seconds, self._transport.close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
