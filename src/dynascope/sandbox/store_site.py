"""A folder of runs as a server shows it: the sandbox's client, and the answers that it asks for."""

from pathlib import Path

from starlette.types import ASGIApp

from dynascope.findings.words import many
from dynascope.sandbox import client
from dynascope.sandbox.app import Api, answering
from dynascope.sandbox.background import BackgroundWork
from dynascope.sandbox.library import Library
from dynascope.sandbox.saving_runs import SavingRuns
from dynascope.sandbox.store_answers import Shown


class Workers:
    """The threads of what takes a server long."""

    def __init__(self) -> None:
        self.background = BackgroundWork()
        self.replaying = BackgroundWork(threads=1)  # a playhead does not wait for analyses

    def close(self, seconds: float) -> bool:
        """Whether all has stopped."""
        each = [work.close(seconds) for work in (self.background, self.replaying)]
        return all(each)


class StoreSite:
    """One folder; `workers`: those of others, where it is one of several; `write_key`: with which
    the page adds runs, None: it cannot."""

    def __init__(
        self,
        folder: Path,
        shown: Shown,
        static: Path,
        workers: Workers | None = None,
        write_key: str | None = None,
    ) -> None:
        client.check_built(static)
        self.library = Library(folder)
        self.workers = workers or Workers()
        own = self.workers
        self._saving = SavingRuns(folder, write_key) if write_key is not None else None
        self._api = Api(self.library, own.background, own.replaying, static, shown, self._saving)

    def application(self) -> ASGIApp:
        return answering(self._api.routes())

    def close(self, seconds: float) -> bool:
        saved = self._saving is None or self._saving.close(seconds)
        return self.workers.close(seconds) and saved

    def __str__(self) -> str:
        more = "" if self._saving is None else " (the page can add more)"
        return many(len(self.library.opened.runs), "run") + more
