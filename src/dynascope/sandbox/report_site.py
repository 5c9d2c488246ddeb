"""A report, with the folders of runs that its links lead to, as one site.

`/` is the report, `/runs/NAME/` the sandbox of a folder. The page is the file as it is, but for a
mark by which its script knows that links can be followed. Of scripts it may run those that `policy`
names: a report that somebody else made, or changed, gets no further than that.
"""

import re
import threading
from collections.abc import Mapping
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from dynascope.errors import DynascopeError
from dynascope.sandbox import client
from dynascope.sandbox.app import answering
from dynascope.sandbox.contents import ASK_AGAIN, is_known, tag
from dynascope.sandbox.security import RequestError, parameters, static_file
from dynascope.sandbox.store_answers import Shown
from dynascope.sandbox.store_site import StoreSite, Workers

STORES = "/runs"
_IN_STORE = re.compile(rf"{STORES}/([^/]+)(/.*)", re.ASCII)
_PLAIN, _SERVED = b'<html lang="en">', b'<html lang="en" data-served="">'


class ReportSite:
    """`report`: the file; `stores`: folders by name, of which each is opened when it is asked for;
    `policy`: what the page may do, in the words of a Content-Security-Policy."""

    def __init__(
        self,
        report: Path,
        stores: Mapping[str, Path],
        policy: str,
        told: str,
        static: Path | None = None,
    ) -> None:
        self._report, self._stores, self._policy, self._told = report, stores, policy, told
        self._static = static or client.FOLDER
        client.check_built(self._static)
        self._workers, self._lock = Workers(), threading.Lock()
        self._opened: dict[str, ASGIApp] = {}
        if self._file() is None:
            raise DynascopeError(f"{report}: cannot be read; run the same study again.")

    def application(self) -> ASGIApp:
        own = answering([Route("/", self._page), Route(f"{STORES}/{{name}}/", self._refuse)])

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            inside = _IN_STORE.fullmatch(scope["path"])
            app = own
            if inside is not None and inside[1] in self._stores:
                try:
                    app = await run_in_threadpool(self._store, inside[1])
                    scope = {**scope, **_place(inside[2])}
                except DynascopeError:  # `own` says why
                    scope = {**scope, **_place(f"{STORES}/{inside[1]}/")}
            await app(scope, receive, send)

        return answer

    def close(self, seconds: float) -> bool:
        return self._workers.close(seconds)

    def __str__(self) -> str:
        return self._told

    def _store(self, name: str) -> ASGIApp:
        with self._lock:
            if name not in self._opened:
                site = StoreSite(self._stores[name], Shown(), self._static, self._workers)
                self._opened[name] = site.application()
            return self._opened[name]

    def _refuse(self, request: Request) -> Response:
        """The folder of a name that there is not, or that cannot be opened: the sentence why."""
        name = request.path_params["name"]
        if name not in self._stores:
            raise RequestError(404, "There is nothing at this address.")
        self._store(name)  # raises the sentence
        raise RequestError(503, "Reload the page.")  # it can be opened by now

    def _page(self, request: Request) -> Response:
        parameters(request.url.query)
        file = self._file()
        if file is None:
            raise RequestError(404, "The report is gone; run the same study again.")
        page = file.read_bytes().replace(_PLAIN, _SERVED, 1)
        headers = {
            "ETag": tag(page),
            "Cache-Control": ASK_AGAIN,
            "Content-Security-Policy": f"{self._policy}; frame-ancestors 'none'",
        }
        if is_known(request, headers["ETag"]):
            return Response(status_code=304, headers=headers)
        return Response(page, 200, headers, "text/html")

    def _file(self) -> Path | None:
        """The report, if it is one of its own folder's files."""
        return static_file(self._report.parent, f"/{self._report.name}".encode())


def _place(path: str) -> dict[str, object]:
    """A request's address, as who answers it sees that."""
    return {"path": path, "raw_path": path.encode("ascii")}
