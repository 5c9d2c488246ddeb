"""The routes of a folder of runs, and the application of them; API.md has their shapes."""

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from dynascope.errors import DynascopeError
from dynascope.printing import print
from dynascope.sandbox import analysis_answers, replay_answers, run_answers
from dynascope.sandbox.background import BackgroundWork, StoppedError, Work
from dynascope.sandbox.client import send_file
from dynascope.sandbox.contents import (
    Blob,
    Document,
    body_of,
    json_bytes,
    send_blob,
    send_document,
    send_text,
)
from dynascope.sandbox.embedded_client import PAGE, bare_page, embedded_client
from dynascope.sandbox.guard import refused
from dynascope.sandbox.library import NAMES, Library, Opened
from dynascope.sandbox.run_questions import quick_answer
from dynascope.sandbox.saving_runs import SavingRuns
from dynascope.sandbox.security import RequestError, parameters
from dynascope.sandbox.store_answers import Offer, Shown, about_answers
from dynascope.sandbox.table_answers import OfState, Sparklines, table_document
from dynascope.store.recipe_plan import LARGEST
from dynascope.store.stored import StoredRun
from dynascope.store.tables import schema_of

_ID = re.compile(r"[0-9a-f]{20}", re.ASCII)
_OFFERS: tuple[Offer, ...] = ("table", "curvature", "docs")
_DAMAGE_NAMED = 20  # damaged files


class Api:
    """What is asked for over and over, and the answers. Plain functions run in threads."""

    def __init__(
        self,
        library: Library,
        background: BackgroundWork,
        replaying: BackgroundWork,
        static: Path,
        shown: Shown,
        saving: SavingRuns | None = None,
    ) -> None:
        self._library, self._static, self._shown = library, static, shown
        self._saving = saving
        self._background, self._replaying = background, replaying
        self._replays = replay_answers.Replays()
        self._table, self._sparklines = OfState(table_document), OfState(Sparklines())

    def routes(self) -> list[Route]:
        """All routes; any other path is a file."""
        run = "/api/run/{id}"
        written = [Route("/api/runs", self.save, methods=["POST"])] if self._saving else []
        return [
            *written,
            Route("/api/store", self.store),
            Route("/api/runs", self.runs),
            Route("/api/runs/sparklines", self.sparklines),
            Route(run, self.about),
            Route(f"{run}/replayed", self.replayed),
            Route(f"{run}/analysis", self.analysis),
            Route(f"{run}/{{question:path}}", self.question),
            Route(PAGE, self.page),
            Route("/{path:path}", self.file),
        ]

    def store(self, request: Request) -> Response:
        parameters(request.url.query)
        told = _about_store(self._library.fresh(), self._shown)
        if self._saving is None:
            return _send(request, told)
        offers = (*_OFFERS, "save")
        whole = json_bytes({**told, "offers": offers, "write": self._saving.key})
        # A secret is not to lie in the browser's cache.
        return Response(whole, 200, {"Cache-Control": "no-store"}, "application/json")

    async def save(self, request: Request) -> Response:
        parameters(request.url.query)
        assert self._saving is not None
        contents = await body_of(request, LARGEST)
        told = await self._saving.result(contents, partial(_gone, request))
        return Response(told, 200, {"Cache-Control": "no-store"}, "application/json")

    def runs(self, request: Request) -> Response:
        parameters(request.url.query)
        return send_document(request, self._table(self._library.fresh()))

    def sparklines(self, request: Request) -> Response:
        asked = parameters(request.url.query, state=re.compile("[0-9a-f]{16}"))
        opened = self._library.opened
        if asked.get("state", opened.state) != opened.state:
            raise RequestError(409, "The store has changed; ask for /api/runs again.")
        return send_blob(request, self._sparklines(opened))

    def about(self, request: Request) -> Response:
        parameters(request.url.query)
        opened, run = self._run(request)
        return _send(request, run_answers.about(run, opened.found(run.id)))

    def question(self, request: Request) -> Response:
        run, question = self._run(request)[1], request.path_params["question"]
        found = quick_answer(run, question, request.url.query)
        return send_blob(request, found) if isinstance(found, Blob) else _send(request, found)

    async def analysis(self, request: Request) -> Response:
        asked = parameters(request.url.query, curvature=re.compile("0|1"))
        _, run = await run_in_threadpool(self._run, request)
        told = await self._job(request, run, analysis_answers.analysis)
        if asked.get("curvature") == "1":
            told = analysis_answers.joined(
                told, await self._job(request, run, analysis_answers.curvature)
            )
        return send_document(request, await run_in_threadpool(Document.of, told))

    async def replayed(self, request: Request) -> Response:
        epoch = replay_answers.EPOCH
        asked = parameters(request.url.query, first=epoch, last=epoch)
        _, run = await run_in_threadpool(self._run, request)
        first, last = await run_in_threadpool(replay_answers.checked_span, run, asked)
        work: Work = partial(self._replays.weights, run, first, last)
        key = (run.id, run.file.name, first, last)
        rows = await self._replaying.result(key, work, partial(_gone, request))
        return send_blob(request, Blob.of(rows))

    def page(self, request: Request) -> Response:
        """Text, which no browser opens as a page of this server."""
        parameters(request.url.query)
        return send_text(request, bare_page(embedded_client(self._static)))

    def file(self, request: Request) -> Response:
        if request.url.path.startswith("/api/"):
            raise RequestError(404, "There is nothing at this address.")
        return send_file(request, self._static)

    async def _job(
        self,
        request: Request,
        run: StoredRun,
        make: Callable[[StoredRun, Callable[[], None]], bytes],
    ) -> bytes:
        work: Work = partial(make, run)
        key = (make.__name__, run.id, run.file.name)  # a file's name says what is in it
        return await self._background.result(key, work, partial(_gone, request))

    def _run(self, request: Request) -> tuple[Opened, StoredRun]:
        name = request.path_params["id"]
        if not _ID.fullmatch(name):
            raise RequestError(404, "Expected a run's id: 20 hexadecimal digits.")
        return self._library.run(name)


def answering(routes: list[Route]) -> ASGIApp:
    """Routes as an ASGI application, behind which whatever goes wrong is an answer, too."""
    app = Starlette(
        routes=routes,
        exception_handlers={
            RequestError: _refuse,
            DynascopeError: _cannot,
            StoppedError: _nobody,
            ClientDisconnect: _nobody,
            Exception: _fault,
        },
    )
    app.router.redirect_slashes = False
    return app


def _about_store(opened: Opened, shown: Shown) -> dict[str, object]:
    return {
        **about_answers(opened.folder.resolve().name, shown, _OFFERS),
        "runs": len(opened.runs),
        "state": opened.state,
        "columns": {field.name: _type(str(field.type)) for field in schema_of(NAMES)},
        "damage": [str(each) for each in opened.index.damage[:_DAMAGE_NAMED]],
    }


def _type(arrow: str) -> str:
    """Arrow's name of a type; of a list without what its elements are called.

    >>> _type("list<element: int64>")
    'list<int64>'
    """
    return re.sub(r"<\w+: (\w+).*>", r"<\1>", arrow)


def _send(request: Request, told: object) -> Response:
    return send_document(request, Document.of(json_bytes(told)))


async def _gone(request: Request) -> None:
    """Ends when the client has gone away."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


# ---- what goes wrong ----------------------------------------------------------------------------


def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return refused(error, request.url.path)


def _cannot(request: Request, error: Exception) -> Response:
    """A run that is damaged, or has no such thing."""
    return refused(RequestError(422, str(error)), request.url.path)


def _nobody(request: Request, error: Exception) -> Response:
    """For nobody: who asked has gone."""
    return Response(status_code=503)


def _fault(request: Request, error: Exception) -> Response:
    """A fault of ours, or no memory: told in a line, and the server goes on."""
    what = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    print(f"dynascope: {request.method} {request.url.path}: {what}", file=sys.stderr)
    return refused(RequestError(500, f"The server stumbled ({what})."), request.url.path)
