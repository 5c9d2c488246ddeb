"""Runs that the page trained, into the folder that is shown: one at a time, each trained again.

Nothing that comes is believed but what a run began with and what was changed: the server trains it,
so a stored run is what its id says. Work stops when whoever asked has gone, until it is written:
that is then done to the end. The store's files are there whole or not at all.
"""

import hashlib
import threading
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import numpy as np

from dynascope.errors import DynascopeError
from dynascope.progress import Status, clock
from dynascope.run import Run, Runs
from dynascope.sandbox.analysis_answers import Check
from dynascope.sandbox.background import BackgroundWork
from dynascope.sandbox.contents import json_bytes
from dynascope.sandbox.security import RequestError
from dynascope.store.damage import DamagedError
from dynascope.store.files import WriteError, check_folders
from dynascope.store.index import open_index
from dynascope.store.recipe_plan import Recipe, parse_recipe
from dynascope.store.stored import StoredRuns
from dynascope.store.writable import check_writable

_SECONDS = 600.0  # that training one may take
_WAITING = 8  # pieces of work, with the one that is done
_LAST_WRITE = 60.0  # seconds that a run on its way to the disk is waited for at the end


class SavingRuns:
    """Adds runs to a folder; `key`: the secret of those who may."""

    def __init__(self, folder: Path, key: str, seconds: float = _SECONDS) -> None:
        self.key = key
        self._folder, self._seconds = folder, seconds
        self._work = BackgroundWork(threads=1, most=_WAITING, kept_bytes=0)  # one after the other
        self._writing = threading.Lock()

    async def result(self, contents: bytes, gone: Callable[[], Awaitable[None]]) -> bytes:
        """What became of a recipe, as JSON; `gone` as in `BackgroundWork`."""
        key = hashlib.sha256(contents).digest()
        return await self._work.result(key, partial(self.save, contents), gone)

    def save(self, contents: bytes, check: Check) -> bytes:
        """Train a run again and add it, in one of our threads."""
        recipe = self._recipe(contents)
        self._check_writable()
        run = recipe.train(self._limited(check))
        check()
        with self._writing:
            epochs, already = self._add(run)
        return json_bytes({"id": run.id, "epochs": epochs, "already": already})

    def close(self, seconds: float) -> bool:
        """Stop what is being trained; what is being written comes to its end."""
        ended = self._work.close(seconds)
        if not ended and self._writing.acquire(timeout=_LAST_WRITE if self._is_writing else 0):
            self._writing.release()
            return self._work.close(seconds)
        return ended

    @property
    def _is_writing(self) -> bool:
        return self._writing.locked()

    def _recipe(self, contents: bytes) -> Recipe:
        try:
            return parse_recipe(contents, self._seconds)
        except DamagedError as error:
            raise RequestError(400, f"Expected a run as the page saves it, but {error}.") from None

    def _check_writable(self) -> None:
        """Before training: minutes of it would be lost."""
        try:
            check_folders(self._folder)
            check_writable(self._folder, self._folder)
        except DynascopeError as error:
            raise RequestError(507, str(error)) from None

    def _limited(self, check: Check) -> Callable[[Status], None]:
        end = time.monotonic() + 2 * self._seconds  # an estimate may be wrong

        def look(status: Status) -> None:
            check()
            if time.monotonic() > end:
                raise RequestError(
                    422,
                    f"Training this run again takes longer than {clock(2 * self._seconds)}; save "
                    "it as a file, for Python.",
                )

        return look

    def _add(self, run: Run) -> tuple[int, bool]:
        """How many epochs of a run the folder has now, and whether it had them before."""
        index = open_index(self._folder)
        places = np.flatnonzero(index.ids == run.id.encode())
        if len(places) and index.hidden[places[0]]:
            raise RequestError(
                409,
                f"Run {run.id} was deleted from this folder; `dynascope restore` brings it back.",
            )
        if len(places):
            there = StoredRuns(index, places)[0].epochs
            if there >= run.epochs:
                return there, True
        try:
            Runs([run]).save(self._folder, append=True)
        except WriteError as error:
            raise RequestError(507, str(error)) from None
        return run.epochs, False
