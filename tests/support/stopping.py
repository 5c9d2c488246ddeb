"""Training that is stopped at a known place, however fast or slow the machine is."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from dynascope import engine, progress
from dynascope.trainer import Trainer

ALL_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stopped_after(epochs: int, ends: tuple[int, ...] = (signal.SIGINT,)) -> Iterator[None]:
    """Within its block this process is sent signals when jobs have done so many epochs in all.
    (Without any, the caller stops them.)

    The threads wait until everybody has been told to stop: none gets much further than that.
    """
    at_work: list[engine.Trainers] = []
    asked: list[bool] = []
    make: Callable[..., None] = engine.Trainers.__init__
    train = Trainer.advance

    def made(self: engine.Trainers, *arguments: Any) -> None:
        make(self, *arguments)
        at_work.append(self)

    def count(self: progress.Status, index: int, more: int) -> None:
        self.finished_epochs += more
        if self.finished_epochs >= epochs and not asked:
            asked.append(True)
            for end in ends:
                os.kill(os.getpid(), end)

    def advance(self: Trainer, more: int = 1) -> None:
        assert not asked or at_work[-1]._stop.wait(60)
        train(self, more)

    before = {end: signal.getsignal(end) for end in ALL_ENDS}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine.Trainers, "__init__", made)
        patch.setattr(progress.Status, "advance", count)
        patch.setattr(Trainer, "advance", advance)
        patch.setattr(engine, "_SLICE", 0.0)  # each thread looks around after each epoch
        try:
            yield
        finally:
            for end, handler in before.items():  # the command is deaf to them from the first on
                signal.signal(end, handler)
