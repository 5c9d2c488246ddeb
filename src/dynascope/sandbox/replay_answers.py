"""Weights of epochs that a run did not keep, computed again for the client.

The work of a request is bounded: after some seconds it is refused with 503, and what was done is
kept, so that asking again goes on from there. It also stops when nobody waits any more.
"""

import re
import time
from collections import OrderedDict
from collections.abc import Callable

import numpy as np

from dynascope.epoch_replay import EpochReplay
from dynascope.run import Run
from dynascope.run_size import weight_count
from dynascope.sandbox.analysis_answers import Check
from dynascope.sandbox.run_answers import little_endian
from dynascope.sandbox.security import RequestError
from dynascope.store.stored import StoredRun

EPOCH = re.compile(r"[0-9]{1,9}", re.ASCII)
MOST_EPOCHS = 256  # of one request
_MOST_BYTES = 2**22  # of one request; a single epoch may be more
_SECONDS = 2.0  # of work for one request: after that, people are told how far it is
_RUNS = 4  # whose states on the way are remembered


class Replays:
    """The runs that were asked for last. Its work is done by one thread."""

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._known: OrderedDict[tuple[str, str], EpochReplay] = OrderedDict()

    def weights(self, run: Run, first: int, last: int, check: Check) -> bytes:
        """[last - first + 1, size]."""
        replay = self._of(run)
        limited = _limited(check, self._seconds, replay, last)
        return little_endian(replay.weights(first, last, limited))

    def _of(self, run: Run) -> EpochReplay:
        key = (run.id, run.file.name if isinstance(run, StoredRun) else "")  # it says what is in it
        found = self._known.pop(key, None) or EpochReplay(run)
        self._known[key] = found
        if len(self._known) > _RUNS:
            self._known.popitem(last=False)
        return found


def checked_span(run: Run, asked: dict[str, str]) -> tuple[int, int]:
    """The epochs that were asked for, if they are there and not too many."""
    if asked.keys() != {"first", "last"}:
        raise RequestError(400, "Expected first and last: the epochs from which and up to which.")
    first, last = int(asked["first"]), int(asked["last"])
    end = run.epochs if run.diverged is None else run.diverged
    if not first <= last <= end:
        raise RequestError(404, f"Expected rising epochs from 0 to {end} of run {run.id}.")
    row = weight_count(run.config) * np.dtype(run.config.precision).itemsize
    if last - first >= max(1, min(MOST_EPOCHS, _MOST_BYTES // row)):
        raise RequestError(400, f"Expected at most {MOST_EPOCHS} epochs and 4 MB in one request.")
    return first, last


def _limited(check: Check, seconds: float, replay: EpochReplay, last: int) -> Callable[[], None]:
    end = time.monotonic() + seconds

    def limited() -> None:
        check()
        if time.monotonic() > end:
            raise RequestError(
                503,
                f"Epoch {last} is still being computed again; ask once more.",
                {"Retry-After": "0"},
                {"reached": replay.reached},
            )

    return limited
