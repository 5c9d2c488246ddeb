"""The arrays that a trainer records into, and how they grow.

Row numbers follow from the epoch: curves have a row per epoch, weights and states one for each
epoch divisible by `weights_every` and `state_every`; the last ones are added when a run is read.
There is one spare row for these, so that a tape can become a run without being copied.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope._kernel import CURVE_NAMES, STEP_CURVE_NAMES, Trainer32, Trainer64
from dynascope.config import Config
from dynascope.edits import Edit, steps_done
from dynascope.run import Run, Steps, step_curves
from dynascope.run_size import kept_rows, weight_count

Array = npt.NDArray[Any]
Kernel = Trainer32 | Trainer64


class Tape:
    """What one trainer has recorded."""

    def __init__(self, config: Config, edits: Sequence[Edit] = ()) -> None:
        self._config, self._changes = config, tuple(edits)
        self._size = weight_count(config)
        self._dtype = np.dtype(config.precision)
        self._weights_every = config.record.weights_every
        self._state_every = config.record.state_every
        self.table = self._empty(0, len(CURVE_NAMES))
        self._weights = self._empty(0, self._size)
        self._states = self._empty(0, 3, self._size)
        # States at which weights were changed by hand: replay must not start before them.
        self._edits: dict[int, Array] = {}
        self._fence: int | None = None  # an edit within an epoch: keep the state at its end
        self._steps: tuple[Array, Array] | None = None
        self._steps_done = 0
        if config.record.steps:
            count = self._steps_until(config.record.steps[1])
            self._steps = (
                self._empty(count, len(STEP_CURVE_NAMES)),
                self._empty(count, self._size),
            )
        self.reserve(config.training.epochs)

    @classmethod
    def of(cls, run: Run, epoch: int) -> "Tape":
        """The tape as it was when `run` had reached `epoch`."""
        recorded = run.table[: epoch + 1]  # first: it is damage if that is not so long
        tape = cls(run.config, run.edits)
        tape.reserve(max(epoch, run.config.training.epochs))
        tape.table[: epoch + 1] = recorded
        for kept, at in zip(run.weights, run.weight_epochs, strict=True):
            if at <= epoch and _is_regular(at, tape._weights_every):
                tape._weights[at // tape._weights_every if at else 0] = kept
        for kept, at in zip(run.states, run.state_epochs, strict=True):
            if at > epoch:
                continue
            if _is_regular(at, tape._state_every):
                tape._states[at // tape._state_every if at else 0] = kept
            elif run.origin is not None and run.origin.kind == "branch":
                tape._edits[int(at)] = kept.copy()
        if run.steps and tape._steps:
            tape._steps_done = tape._steps_until(min(epoch, run.steps.last_epoch))
            for name, curve in run.steps.curves.items():
                column = STEP_CURVE_NAMES.index(name)
                tape._steps[0][: tape._steps_done, column] = curve[: tape._steps_done]
            tape._steps[1][: tape._steps_done] = run.steps.weights[: tape._steps_done]
        return tape

    @property
    def edited(self) -> bool:
        """Weights were changed in the middle of an epoch that has not ended yet."""
        return self._fence is not None

    def begin(self, kernel: Kernel) -> None:
        kernel.record_now(self.table[:1], self._weights[:1], self._states[:1])

    def reserve(self, epochs: int) -> None:
        """Room for this many epochs."""
        self.table = self._grown(self.table, epochs + 1)
        self._weights = self._grown(self._weights, kept_rows(epochs, self._weights_every) + 1)
        self._states = self._grown(self._states, kept_rows(epochs, self._state_every) + 1)

    def until(self, epoch: int, target: int) -> int:
        """How many epochs from `epoch` on can be done in one go: recording of steps starts or ends,
        or the state must be kept, at the next boundary."""
        stops = [target]
        if self._config.record.steps:
            stops += [at for at in self._config.record.steps if epoch < at < target]
        if self._fence is not None:
            stops.append(self._fence)
        return min(stops) - epoch

    def advance(self, kernel: Kernel, epochs: int, steps: int) -> None:
        at = kernel.epoch
        arrays: dict[str, Any] = {"curves": self.table[at + 1 :]}
        if self._weights_every:
            arrays["weights"] = self._weights[at // self._weights_every + 1 :]
            arrays["weights_every"] = self._weights_every
        if self._state_every:
            arrays["states"] = self._states[at // self._state_every + 1 :]
            arrays["state_every"] = self._state_every
        span = self._config.record.steps
        if self._steps and span and span[0] <= at < span[1]:
            left = len(self._steps[0]) - self._steps_done
            steps = min(steps, left)
            arrays["step_curves"] = self._steps[0][self._steps_done :]
            arrays["step_weights"] = self._steps[1][self._steps_done :]
            before = kernel.step
            kernel.advance(epochs, steps, **arrays)
            self._steps_done += kernel.step - before
        else:
            kernel.advance(epochs, steps, **arrays)
        if self._fence is not None and kernel.epoch >= self._fence:
            self._edits[kernel.epoch] = kernel.state()
            self._fence = None

    def change(self, edits: Sequence[Edit]) -> None:
        """From here on there are other options, and so perhaps another number of steps to keep."""
        self._changes = tuple(edits)
        if self._steps and self._config.record.steps:
            count = self._steps_until(self._config.record.steps[1])
            curves, weights = (self._grown(rows[: self._steps_done], count) for rows in self._steps)
            self._steps = (curves[:count], weights[:count])

    def _steps_until(self, epoch: int) -> int:
        """How many steps are kept by the end of an epoch."""
        first = self._config.record.steps[0] if self._config.record.steps else epoch
        before = steps_done(self._config, self._changes, first)
        return max(0, steps_done(self._config, self._changes, epoch) - before)

    def mark_edit(self, kernel: Kernel) -> None:
        """The weights have been changed by hand: keep what replay needs."""
        if kernel.step_in_epoch:
            self._fence = kernel.epoch + 1
            return
        epoch = kernel.epoch
        self._edits[epoch] = kernel.state()
        for rows, every, new in (
            (self._weights, self._weights_every, kernel.parameters()),
            (self._states, self._state_every, self._edits[epoch]),
        ):
            if _is_regular(epoch, every):
                rows[epoch // every if every else 0] = new

    def kept(
        self, kernel: Kernel, copy: bool = True
    ) -> tuple[Array, npt.NDArray[np.int64], Array, npt.NDArray[np.int64]]:
        """Weights and states so far with their epochs, the present ones last.

        Without `copy` they are the tape's own arrays where possible: then nothing may be recorded
        after that.
        """
        last, added, edits = kernel.epoch, {}, self._edits
        if not kernel.step_in_epoch:  # in the middle of an epoch the present belongs to none
            added = {last: kernel.parameters()}
            edits = {last: kernel.state()} | edits
        weights = _joined(self._weights, self._weights_every, last, added, copy)
        return *weights, *_joined(self._states, self._state_every, last, edits, copy)

    def curves(self, epochs: int, copy: bool = True) -> Array:
        """The table up to an epoch."""
        return _first(self.table, epochs + 1, copy)

    def steps(self, copy: bool = True) -> Steps | None:
        span = self._config.record.steps
        if not self._steps or not span:
            return None
        curves, weights = (_first(array, self._steps_done, copy) for array in self._steps)
        return Steps(span[0], span[1], step_curves(curves, self._config), weights)

    def _empty(self, *shape: int) -> Array:
        return np.full(shape, np.nan, self._dtype)

    def _grown(self, array: Array, rows: int) -> Array:
        if rows <= len(array):
            return array
        # By half as much again, so that a run advanced bit by bit is not copied every time.
        grown = self._empty(max(rows, len(array) * 3 // 2), *array.shape[1:])
        grown[: len(array)] = array
        return grown


def _is_regular(epoch: int, every: int) -> bool:
    """Whether an epoch is one of those kept every so many epochs."""
    return epoch == 0 or (every > 0 and epoch % every == 0)


def _joined(
    rows: Array, every: int, last: int, more: dict[int, Array], copy: bool
) -> tuple[Array, npt.NDArray[np.int64]]:
    """The rows kept every so many epochs, those of `more` at other epochs, and all their epochs."""
    count = kept_rows(last, every)
    regular = np.arange(count, dtype=np.int64) * every
    added = [at for at in sorted(more) if not _is_regular(at, every)]
    if not added:
        return _first(rows, count, copy), regular
    if not copy and added == [last] and count < len(rows):
        rows[count] = more[last]
        return _first(rows, count + 1, copy), np.append(regular, last)
    epochs = np.append(regular, np.array(added, dtype=np.int64))
    order = np.argsort(epochs)
    joined = np.empty((len(epochs), *rows.shape[1:]), rows.dtype)
    places = np.argsort(order)  # where each goes
    joined[places[:count]] = rows[:count]
    for place, at in zip(places[count:], added, strict=True):
        joined[place] = more[at]
    return joined, epochs[order]


def _first(rows: Array, count: int, copy: bool) -> Array:
    """The first rows; a view that would keep much more than itself in memory is a copy, too."""
    return rows[:count].copy() if copy or count < len(rows) * 3 // 4 else rows[:count]
