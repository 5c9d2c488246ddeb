"""Work that takes seconds: in a few threads, once however many ask for it, and kept for a while.

All methods but the work itself run in the event loop's thread, so nothing here needs a lock.
"""

import asyncio
import contextlib
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from dynascope.sandbox.security import RequestError

Work = Callable[[Callable[[], None]], bytes]  # is given what raises when it is to stop


class StoppedError(Exception):
    """Nobody waits for this work any more."""


class _Running:
    """A piece of work under way, and how many wait for it."""

    def __init__(self, work: Work, pool: ThreadPoolExecutor) -> None:
        self.waiting = 0
        self._work, self._stop = work, threading.Event()
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = self._loop.create_future()
        self.future: Future[bytes] = pool.submit(self._run)
        self.future.add_done_callback(self._tell)

    def _tell(self, future: "Future[bytes]") -> None:
        with contextlib.suppress(RuntimeError):  # the loop is gone, and so are all who waited
            self._loop.call_soon_threadsafe(self.ended.set_result, None)

    def _run(self) -> bytes:
        self._check()
        return self._work(self._check)

    def _check(self) -> None:
        if self._stop.is_set():
            raise StoppedError

    def stop(self) -> None:
        """It ends when it next looks."""
        self._stop.set()
        self.future.cancel()


class BackgroundWork:
    """Pieces of work by their keys."""

    def __init__(self, threads: int = 2, most: int = 64, kept_bytes: int = 2**26) -> None:
        self._pool = ThreadPoolExecutor(threads, "dynascope-analysis")
        self._most, self._room = most, kept_bytes
        self._under_way: dict[Hashable, _Running] = {}
        self._running: set[Future[bytes]] = set()
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()

    async def result(self, key: Hashable, work: Work, gone: Callable[[], Awaitable[None]]) -> bytes:
        """What the work makes; waiting for `gone()` ends when whoever asks no longer listens."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        running = self._under_way.get(key) or self._begin(key, work)
        running.waiting += 1
        left = asyncio.ensure_future(gone())
        try:
            await asyncio.wait({running.ended, left}, return_when=asyncio.FIRST_COMPLETED)
            if not running.ended.done():
                raise StoppedError
            return running.future.result()
        finally:
            left.cancel()
            running.waiting -= 1
            if not running.waiting and not running.ended.done():
                del self._under_way[key]  # whoever asks next begins anew
                running.stop()

    def _begin(self, key: Hashable, work: Work) -> _Running:
        if len(self._running) >= self._most:
            raise RequestError(503, "Too much is being computed; try again later.")
        running = self._under_way[key] = _Running(work, self._pool)
        self._running.add(running.future)
        running.ended.add_done_callback(lambda ended: self._end(key, running))
        return running

    def _end(self, key: Hashable, running: _Running) -> None:
        self._running.discard(running.future)
        if self._under_way.get(key) is running:
            del self._under_way[key]
        if not running.future.cancelled() and running.future.exception() is None:
            self._keep(key, running.future.result())

    def _keep(self, key: Hashable, made: bytes) -> None:
        self._room += len(self._kept.pop(key, b"")) - len(made)
        self._kept[key] = made
        while self._room < 0 and self._kept:
            self._room += len(self._kept.popitem(last=False)[1])

    def close(self, seconds: float) -> bool:
        """Stop all work; whether it has ended within so many seconds."""
        for running in self._under_way.values():
            running.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)
        return not wait(self._running, seconds).not_done
