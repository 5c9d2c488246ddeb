"""The gate before all routes: applies every rule of `security` to a request, then lets it through.

Whatever is answered, also a refusal, carries the headers that keep a browser from running or
embedding it.
"""

import json
from collections.abc import Iterable
from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dynascope.sandbox import security
from dynascope.sandbox.security import Keys, RequestError
from dynascope.store.recipe_plan import LARGEST

_NO_TOKEN = (
    "Expected the address that `dynascope show` printed, with its token; open that one "
    "(an address of an earlier start does not count)."
)


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, keys: Keys, host: str) -> None:
        self._app, self._keys, self._host = app, keys, host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in security.HEADERS.items():
                    headers.setdefault(name, value)  # an answer may have a policy of its own
            await send(message)

        try:
            answer = self._checked(scope)
        except RequestError as refusal:
            answer = refused(refusal, scope["path"])
            if security.has_body(scope["headers"]):  # which nobody reads
                answer.headers.update(security.CLOSE)
        await (answer or self._app)(scope, receive, guarded)

    def _checked(self, scope: Scope) -> Response | None:
        """None: let it through. The order is from what costs least to what tells most."""
        headers: list[tuple[bytes, bytes]] = list(scope["headers"])
        path, query = scope["raw_path"], scope["query_string"]
        security.check_target(path, query)
        security.check_size(headers)
        writes = self._keys.write is not None and security.is_write(scope["method"], path)
        if not writes:
            security.check_method(scope["method"])
            security.check_no_body(headers)
        host = security.check_host(headers, self._host, self._keys.port)
        security.check_origin(headers, host)
        answer = self._let_in(path, query, headers)
        if writes:
            security.check_write(headers, self._keys, LARGEST)
        return answer

    def _let_in(
        self, path: bytes, query: bytes, headers: Iterable[tuple[bytes, bytes]]
    ) -> Response | None:
        tokens = parse_qs(query.decode("latin-1")).get("token", []) if path == b"/" else []
        if len(tokens) == 1 and self._keys.opened_by(tokens[0]):
            away = {"Location": "/", "Set-Cookie": self._keys.cookie, "Cache-Control": "no-store"}
            return Response(status_code=303, headers=away)
        if tokens or not self._keys.known(headers):
            raise RequestError(403, _NO_TOKEN)
        return None


def refused(refusal: RequestError, path: str) -> Response:
    """A refusal as an answer: JSON for programs, a line of text for people."""
    headers = {"Cache-Control": "no-store", **refusal.headers}
    if "/api/" in path:
        body = json.dumps({"error": refusal.why, **refusal.more})
        return Response(body, refusal.status, headers, "application/json")
    return Response(f"dynascope: {refusal.why}\n", refusal.status, headers, "text/plain")
