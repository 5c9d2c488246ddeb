"""Methods of objects that one thread at a time can use.

The kernel lets other threads run while it computes. A second one that reads or moves the same
trainer meanwhile would get numbers of no epoch at all, so it gets a sentence instead. It does not
wait: what it asked for would then be answered about another epoch than the one that it saw.
"""

import functools
import threading
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from dynascope.errors import DynascopeError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Turn:
    """Whose turn it is to use an object. The thread that has it may take it again."""

    def __init__(self, what: str) -> None:
        self._what, self._lock = what, threading.RLock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise DynascopeError(
                f"{self._what}: it is at work in another thread; wait for that to end, or make a "
                f"copy for each thread beforehand: copy.copy({self._what})."
            )

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def in_turn(
    method: Callable[Concatenate[Any, Arguments], Result],
) -> Callable[Concatenate[Any, Arguments], Result]:
    """For methods that hold the turn of their object, `_turn`, while they work."""

    @functools.wraps(method)
    def held(self: Any, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with self._turn:
            return method(self, *args, **kwargs)

    return held
