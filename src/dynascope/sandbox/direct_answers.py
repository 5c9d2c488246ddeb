"""The API's questions about given runs, answered in this process: for a notebook, without a server.

The answers are those of the server's own functions; `offers` says what there is not.
"""

import re
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from dynascope.errors import DynascopeError
from dynascope.run import Run
from dynascope.sandbox import analysis_answers, replay_answers, run_answers
from dynascope.sandbox.analysis_answers import Check
from dynascope.sandbox.contents import Blob, json_bytes
from dynascope.sandbox.run_questions import quick_answer
from dynascope.sandbox.security import RequestError, parameters
from dynascope.sandbox.store_answers import Shown, about_answers
from dynascope.store.sidecar_columns import SHOWN

_RUN = re.compile(r"/api/run/([0-9a-f]{20})(?:/(.*))?", re.ASCII)
_SLOW = re.compile(r"/api/run/[0-9a-f]+/(analysis|replayed)\b", re.ASCII)


class DirectAnswer(NamedTuple):
    """As HTTP would have it."""

    status: int
    contents: bytes


def is_slow(path: str) -> bool:
    """Whether an answer may take seconds."""
    return _SLOW.match(path) is not None


class DirectAnswers:
    """Answers about runs, for any thread."""

    def __init__(self, runs: Sequence[Run], shown: Shown) -> None:
        self._runs = {run.id: run for run in runs}
        self._shown = shown
        self._analyses: dict[str, bytes] = {}
        self._lock = threading.Lock()  # an analysis is made once, whoever asks
        self._replays = replay_answers.Replays()

    def answer(
        self, path: str, part: tuple[int, int] | None, check: Check = lambda: None
    ) -> DirectAnswer:
        """What a path says, or a part of its bytes; `check` raises when nobody waits any more."""
        try:
            found = self._contents(path, check)
        except RequestError as error:
            return DirectAnswer(error.status, json_bytes({"error": error.why}))
        except DynascopeError as error:
            return DirectAnswer(422, json_bytes({"error": str(error)}))
        if part is None:
            return DirectAnswer(200, found.read(0, found.size))
        begin, end = max(0, part[0]), min(part[1], found.size)
        return DirectAnswer(206, found.read(begin, max(begin, end)))

    def _contents(self, path: str, check: Check) -> Blob:
        address = urlsplit(path)
        if address.path == "/api/store":
            return Blob.of(json_bytes(self._store()))
        match = _RUN.fullmatch(address.path)
        run = self._runs.get(match[1]) if match else None
        if match is None or run is None:
            raise RequestError(404, "There is nothing at this address.")
        found = self._about(run, match[2], address.query, check)
        return found if isinstance(found, Blob) else Blob.of(json_bytes(found))

    def _store(self) -> dict[str, object]:
        about = about_answers("", self._shown, ("curvature",))
        return {**about, "runs": len(self._runs), "damage": []}

    def _about(
        self, run: Run, question: str | None, query: str, check: Check
    ) -> Blob | dict[str, Any]:
        if question is None:
            parameters(query)
            return run_answers.about(run, dict.fromkeys(SHOWN))
        if question == "analysis":
            asked = parameters(query, curvature=re.compile("0|1"))
            return Blob.of(self._analysis(run, asked.get("curvature") == "1", check))
        if question == "replayed":
            epoch = replay_answers.EPOCH
            span = replay_answers.checked_span(run, parameters(query, first=epoch, last=epoch))
            return Blob.of(self._replays.weights(run, *span, check))
        return quick_answer(run, question, query)

    def analysis(self, run: Run, check: Check) -> bytes:
        """What happened in a run; found once."""
        return self._analysis(run, False, check)

    def _analysis(self, run: Run, curvature: bool, check: Check) -> bytes:
        with self._lock:
            known = self._analyses
            if run.id not in known:
                known[run.id] = analysis_answers.analysis(run, check)
            if not curvature:
                return known[run.id]
            return analysis_answers.joined(known[run.id], analysis_answers.curvature(run, check))
