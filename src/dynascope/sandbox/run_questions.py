"""Questions about one run that are answered at once, by the part of the path after its id."""

import re
from typing import Any

from dynascope.run import Run
from dynascope.sandbox import run_answers
from dynascope.sandbox.contents import Blob
from dynascope.sandbox.security import RequestError, parameters

_EPOCH = re.compile(r"[0-9]{1,9}", re.ASCII)
_MOST = re.compile(r"[1-9][0-9]{0,2}", re.ASCII)
_PLAIN = {"curves": run_answers.curves, "weights": run_answers.weights}


def quick_answer(run: Run, question: str, query: str) -> Blob | dict[str, Any]:
    """Bytes, or what JSON is made of."""
    name, slash, rest = question.partition("/")
    if name == "state" and slash:
        return _state(run, rest, query)
    if not slash and name in _PLAIN:
        parameters(query)
        return _PLAIN[name](run)
    if question == "examples":
        return _examples(run, query)
    if question == "sequences":
        return _sequences(run, query)
    raise RequestError(404, "There is nothing at this address.")


def _state(run: Run, epoch: str, query: str) -> Blob:
    parameters(query)
    if not _EPOCH.fullmatch(epoch):
        raise RequestError(404, "Expected an epoch: a whole number.")
    return run_answers.state(run, int(epoch))


def _examples(run: Run, query: str) -> Blob:
    asked = parameters(query, split=re.compile("|".join(run_answers.SPLITS)))
    if "split" not in asked:
        raise RequestError(400, "Expected split=train or split=test.")
    return run_answers.examples(run, asked["split"])


def _sequences(run: Run, query: str) -> dict[str, Any]:
    asked = parameters(query, most=_MOST)
    if "most" not in asked:
        raise RequestError(400, "Expected most=256, or another number from 1 to 999.")
    return run_answers.sequences(run, int(asked["most"]))
