"""What happened in a run, as the server tells it: all that analyses find, as JSON takes it."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.findings.make_analyses import attempt
from dynascope.findings.registry import kinds
from dynascope.findings.run_story import run_story
from dynascope.findings.spread import spread
from dynascope.plain import plain
from dynascope.progress import Status
from dynascope.run import Run

Check = Callable[[], None]  # raises when nobody wants the answer any more

_HESSIANS = 9  # epochs at which the curvature is told: each takes a second


def analysis(run: Run, check: Check) -> bytes:
    """What every kind of analysis finds."""
    answer = _Answer(run.loaded(), check)
    for name, kind in kinds().items():
        answer.add(name, kind.make, kind.json_of)
        for part, make in kind.details.items():
            answer.add(part, make)
    answer.add_story()
    return answer.contents()


def curvature(run: Run, check: Check) -> bytes:
    """The exact curvature along the run, and whether its plateaus are saddles."""

    def stopping(status: Status) -> None:
        check()

    answer = _Answer(run.loaded(), check)
    for name, make in (("curvature", _curvature), ("plateaus", _plateaus)):
        answer.add(name, partial(make, report=stopping))
    return answer.contents()


def joined(first: bytes, second: bytes) -> bytes:
    """Two of these answers in one."""
    a, b = json.loads(first), json.loads(second)
    return json.dumps({**a, **b, "notes": {**a["notes"], **b["notes"]}}).encode()


class _Answer:
    """A JSON document about a run in the making: what is found, and why something is not."""

    def __init__(self, run: Run, check: Check) -> None:
        self._run, self._check = run, check
        self._parts: dict[str, Any] = {}
        self._found: dict[str, Any] = {}  # as it was made
        self._notes: dict[str, str] = {}

    def add(
        self,
        name: str,
        make: Callable[[Run], Any],
        parts: Callable[[Any], dict[str, Any]] | None = None,
    ) -> None:
        """Make something of the run: a part of the document, or those that `parts` makes of it."""
        self._check()
        found, note = attempt(make, self._run)
        self._found[name] = found
        self._parts |= parts(found) if parts else {name: found}
        if note is not None:
            self._notes[name] = note

    def add_story(self) -> None:
        """Of what has been found: it takes no time to speak of."""
        self._parts["story"] = run_story(self._run, self._found, self._notes).moments

    def contents(self) -> bytes:
        return json.dumps({**plain(self._parts), "notes": self._notes}, allow_nan=False).encode()


def _curvature(run: Run, report: Callable[[Status], None]) -> list[dict[str, Any]]:
    from dynascope.findings.curvature_json import curvature_json
    from dynascope.theory import curvature

    epochs = spread(range(last_sound_epoch(run) + 1), _HESSIANS)
    return [curvature_json(each) for each in curvature(run, epochs, progress=report)]


def _plateaus(run: Run, report: Callable[[Status], None]) -> list[dict[str, Any]]:
    from dynascope.findings.curvature_json import plateau_json
    from dynascope.theory import saddles

    return [plateau_json(each) for each in saddles(run, progress=report)]
