"""A run's steps once more, exactly: weights after every step, states in the middle of an epoch.

Replay starts from the nearest kept state and does what the run did, bit for bit. A run whose
weights were changed by hand has pieces: within one, each row follows from the row before. All
pieces lie in one array, so the caller's `most` steps are all the memory that replay takes.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope import _kernel
from dynascope.cached import cached_property
from dynascope.edits import steps_per_epoch
from dynascope.errors import DynascopeError
from dynascope.run import Run
from dynascope.trainer import Trainer

Array = npt.NDArray[Any]

_ALL = 2**62  # steps: no limit
_BLOCK = 2**22  # bytes of weights in double precision at a time


@dataclass(frozen=True, eq=False)
class Piece:
    """Consecutive steps. Row 0 of `weights` is before the first of them."""

    done: int  # steps at row 0, over all epochs
    weights: Array  # [steps + 1, packed]
    curves: Array  # [steps, STEP_CURVE_NAMES], of the batch, before each step

    @cached_property
    def gradient_norms(self) -> Array:
        """[steps]: norm of the whole gradient."""
        return np.asarray(np.sqrt((self.curves[:, _GRADIENTS].astype(float) ** 2).sum(axis=1)))

    @property
    def end(self) -> int:
        """Steps done at the last row."""
        return self.done + len(self.curves)


_GRADIENTS = [i for i, name in enumerate(_kernel.STEP_CURVE_NAMES) if name.startswith("grad_norm/")]


class Replay:
    """One kernel that goes to any place of a run and records what it does there."""

    def __init__(self, run: Run) -> None:
        if run.edits:
            raise DynascopeError(
                f"run {run.id}: its steps cannot be followed, since its options change at epoch "
                f"{run.edits[0].epoch}; use the run that it branches from."
            )
        self._run, self._config = run, run.config
        self._kernel = Trainer.at(run, 0)._kernel
        self._marks = {0: self._kernel.state()}  # states to start from, besides those kept
        self.per_epoch = steps_per_epoch(run.config)
        self.step_bytes = run.weights[0].nbytes

    def steps(self, first: int, last: int, most: int = _ALL) -> Sequence[Piece]:
        """The steps between the ends of two epochs, the last `most` of them, in pieces; those of an
        epoch in which weights were changed by hand are left out, since nobody can know them."""
        skipped = max(0, (last - first) * self.per_epoch - most)
        first, skipped = first + skipped // self.per_epoch, skipped % self.per_epoch
        kept = [int(e) for e in self._run.state_epochs if first < e < last]
        edges = sorted({first, *kept, max(first, last - 1), last})
        weights, curves = self._room((last - first) * self.per_epoch - skipped + len(edges))
        pieces: list[Piece] = []
        low = high = 0  # rows of the last piece
        for a, b in itertools.pairwise(edges):
            self._go(a)
            self._marks = {0: self._marks[0], a: self._kernel.state()}
            self._kernel.advance(1, skipped)
            done, skipped = a * self.per_epoch + skipped, 0
            if pieces and pieces[-1].end == done and self._stands_at(weights[high]):
                done = pieces.pop().done
            elif pieces:
                low = high = high + 1
            high += self._record(b, weights[high:], curves[high:])
            if high > low:
                pieces.append(Piece(done, weights[low : high + 1], curves[low:high]))
        return pieces

    def state(self, epoch: int, steps: int = 0) -> Array:
        """[3, packed]: weights, first and second moments so many steps after an epoch."""
        self._go(epoch)
        self._kernel.advance(1, steps)
        return self._kernel.state()

    def in_float64(self, epoch: int, steps: int, skipped: int = 0) -> Iterator[Array]:
        """Blocks of rows [n, packed], `steps` + 1 in all: weights in double precision, from the
        run's own state at the end of an epoch, without the first `skipped` steps.

        It goes on over the ends of epochs, also of the run. Rows after a divergence are NaN.
        """
        twin = self._twin
        twin.set_state(self.state(epoch).astype(np.float64), epoch, self._run.steps_done(epoch))
        twin.advance(_ALL, skipped)
        yield twin.parameters()[None]
        size = max(1, _BLOCK // twin.parameters().nbytes)
        for start in range(0, steps, size):
            rows = np.full((min(size, steps - start), len(twin.parameters())), np.nan)
            twin.advance(_ALL, len(rows), step_weights=rows)
            yield rows

    @cached_property
    def _twin(self) -> "_kernel.Trainer32 | _kernel.Trainer64":
        start = replace(
            self._run,
            config=self._config.replace({"precision": "float64"}),
            table=self._run.table[:1].astype(np.float64),
            weights=self._run.weights[:1].astype(np.float64),
            weight_epochs=self._run.weight_epochs[:1],
            states=self._run.states[:0].astype(np.float64),
            state_epochs=self._run.state_epochs[:0],
        )
        return Trainer.at(start, 0)._kernel

    def _room(self, rows: int) -> tuple[Array, Array]:
        """For the weights and the curves of so many steps."""
        dtype = self._run.weights.dtype
        weights = np.empty((rows, self._run.weights.shape[1]), dtype)
        return weights, np.empty((rows, len(_kernel.STEP_CURVE_NAMES)), dtype)

    def _stands_at(self, weights: Array) -> bool:
        return bool(np.array_equal(self._kernel.parameters(), weights))

    def _record(self, last: int, weights: Array, curves: Array) -> int:
        """Go to the end of an epoch; row 0 of `weights` is before the first step. Returns how many
        steps lead up to the last epoch that comes out as it was recorded."""
        kernel, first = self._kernel, self._kernel.epoch
        begun, steps = kernel.step_in_epoch, (last - first) * self.per_epoch - kernel.step_in_epoch
        by_epoch = np.empty((last - first, len(_kernel.CURVE_NAMES)), weights.dtype)
        weights[0] = kernel.parameters()
        kernel.advance(
            last - first, steps, curves=by_epoch, step_curves=curves, step_weights=weights[1:]
        )
        # Of an edit between two epochs the curve knows nothing yet: both epochs are sound.
        losses = by_epoch[:, _kernel.CURVE_NAMES.index("train_loss")]
        differs = np.flatnonzero(losses != self._run.curves["train_loss"][first + 1 : last + 1])
        sound = int(differs[0]) if len(differs) else last - first
        return max(0, sound * self.per_epoch - begun)

    def _go(self, epoch: int) -> None:
        """To the end of an epoch: from the nearest state that is known."""
        kept = self._run.state_epochs[self._run.state_epochs <= epoch]
        nearest = max(e for e in self._marks if e <= epoch)
        state = self._marks[nearest]
        if len(kept) and kept[-1] >= nearest:
            nearest, state = int(kept[-1]), np.ascontiguousarray(self._run.states[len(kept) - 1])
        self._kernel.set_state(state, nearest, self._run.steps_done(nearest))
        self._kernel.advance(epoch - nearest, _ALL)
