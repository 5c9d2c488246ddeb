"""The weights after epochs that a run did not keep, computed again, exactly.

Training is repeated from the nearest state that is known: one that the run kept, or one that was
reached here before. So whoever asks for epoch after epoch, or gives up and asks again, goes on from
where it stopped. What comes out is compared with the recorded loss of every epoch: weights that the
run did not have are never returned. Not for several threads at once.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope import _kernel
from dynascope.errors import DynascopeError, expected
from dynascope.run import Run
from dynascope.trainer import make_kernel

Array = npt.NDArray[Any]


_ALL = 2**62  # steps: no limit
_MEASURED = ("gradients", "full_gradients", "unseen")
_MARKS = 16  # states that are remembered
_LOSS = _kernel.CURVE_NAMES.index("train_loss")


class EpochReplay:
    """One run, and how far its training has been repeated."""

    def __init__(self, run: Run) -> None:
        run.check_replayable()
        self._run = run
        self._kept = {int(epoch): row for row, epoch in enumerate(run.state_epochs)}
        self._loss = np.asarray(run.curves["train_loss"])
        self._first = run.parameters(0).flat
        self._marks: OrderedDict[int, Array] = OrderedDict()  # the one used last, last
        self._stopped: tuple[int, Array] = (0, self._first[None, :][:0])  # first epoch, rows
        self._kernel, self._made_at = self._made(0), 0

    def weights(self, first: int, last: int, check: Callable[[], None] = lambda: None) -> Array:
        """[last - first + 1, packed]: the weights after these epochs. `check` is called before each
        epoch that is trained, and raises when the work is to stop."""
        end = self._run.checked_epoch(-1)
        if not 0 <= first <= last <= end:
            raise expected("epochs", f"epochs from 0 to {end}, rising", [first, last])
        rows = np.empty((last - first + 1, len(self._first)), self._first.dtype)
        done = self._rows_of(first)[: len(rows)]
        rows[: len(done)] = done
        count = len(done)
        try:
            self._go_on_to(first + max(count - 1, 0), check)
            if count == 0:
                rows[0], count = self._kernel.parameters(), 1
            while count < len(rows):
                self._next(check)
                rows[count], count = self._kernel.parameters(), count + 1
        finally:
            self._remember()
            self._stopped = first, rows[: count if count < len(rows) else 0]
        return rows

    def _rows_of(self, first: int) -> Array:
        """What there is of a request from this epoch on, if the last one was that and was stopped:
        without it, one that takes longer than it may would begin anew each time."""
        begin, rows = self._stopped
        return rows if begin == first else rows[:0]

    def _go_on_to(self, epoch: int, check: Callable[[], None]) -> None:
        self._go_to_state(epoch)
        while self._kernel.epoch < epoch:
            self._next(check)

    @property
    def reached(self) -> int:
        """The epoch that was computed last."""
        return int(self._kernel.epoch)

    def _go_to_state(self, epoch: int) -> None:
        """To the known state that is nearest to the end of an epoch."""
        kept = max((at for at in self._kept if at <= epoch), default=0)
        marked = max((at for at in self._marks if at <= epoch), default=-1)
        if marked > kept:
            self._marks.move_to_end(marked)
            self._set(marked, self._marks[marked], kept)
        else:
            self._restore(kept)

    def _next(self, check: Callable[[], None]) -> None:
        """One epoch on. Where the run kept its state, that is taken: weights or options may have
        been changed there by hand."""
        check()
        epoch = self._kernel.epoch + 1
        if epoch in self._kept:
            self._restore(epoch)
        elif not self._train(epoch):
            raise DynascopeError(
                f"run {self._run.id}: epoch {epoch} could not be computed again: its loss comes "
                "out as another one than was recorded."
            )

    def _train(self, epoch: int) -> bool:
        """Repeat an epoch; whether it ended with the loss that was recorded."""
        curves = np.full((1, len(_kernel.CURVE_NAMES)), np.nan, self._first.dtype)
        self._kernel.advance(1, _ALL, curves=curves)
        same = np.array_equal(curves[0, _LOSS], self._loss[epoch], equal_nan=True)
        return same and self._kernel.epoch == epoch

    def _restore(self, epoch: int) -> None:
        """To a state that the run kept; the very first need not be among them."""
        if epoch in self._kept:
            self._set(epoch, np.ascontiguousarray(self._run.states[self._kept[epoch]]), epoch)
        else:
            self._kernel, self._made_at = self._made(0), 0

    def _set(self, epoch: int, state: Array, options_from: int) -> None:
        """`options_from`: the kept state since which the options are the same."""
        if self._run.edits and self._made_at != options_from:
            self._kernel, self._made_at = self._made(options_from), options_from
        self._kernel.set_state(state, epoch, self._run.steps_done(epoch))

    def _made(self, epoch: int) -> "_kernel.Trainer32 | _kernel.Trainer64":
        """The run's own kernel, with the options that hold from the end of an epoch on; only the
        loss is measured again."""
        run, unrecorded = self._run, {f"record.{name}": False for name in _MEASURED}
        config, since = run.config_at(epoch).replace(unrecorded), run.slots_since(epoch)
        return make_kernel(config, run.seed, run.data, run.parameters(0), since)

    def _remember(self) -> None:
        """Where the kernel stands, for whoever asks next."""
        epoch = self._kernel.epoch
        if epoch in self._kept or epoch == 0 or self._kernel.diverged >= 0:
            return
        self._marks[epoch] = self._kernel.state()
        self._marks.move_to_end(epoch)
        if len(self._marks) > _MARKS:
            self._marks.popitem(last=False)
