"""A run's steps once more, exactly: weights after every step, states in the middle of an epoch.

Replay starts from the nearest kept state and does what the run did, bit for bit. A run whose
weights were changed by hand has pieces: within one, each row follows from the row before.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope import _kernel
from dynascope.run import Run
from dynascope.tape import steps_per_epoch
from dynascope.trainer import Trainer

Array = npt.NDArray[Any]

_ALL = 2**62  # steps: no limit


@dataclass(frozen=True, eq=False)
class Piece:
    """Consecutive steps. Row 0 of `weights` is before the first of them."""

    epoch: int  # epochs completed at row 0
    weights: Array  # [steps + 1, packed]
    curves: Array  # [steps, STEP_CURVE_NAMES], of the batch, before each step

    @cached_property
    def gradient_norms(self) -> Array:
        """[steps]: norm of the whole gradient."""
        return np.asarray(np.sqrt((self.curves[:, _GRADIENTS].astype(float) ** 2).sum(axis=1)))


_GRADIENTS = [i for i, name in enumerate(_kernel.STEP_CURVE_NAMES) if name.startswith("grad_norm/")]


class Replay:
    """One kernel that goes to any place of a run and records what it does there."""

    def __init__(self, run: Run) -> None:
        self._run, self._config = run, run.config
        self._kernel = Trainer.at(run, 0)._kernel
        self._marks = {0: self._kernel.state()}  # states to start from, besides those kept
        self.per_epoch = steps_per_epoch(run.config)

    def steps(self, first: int, last: int) -> Sequence[Piece]:
        """All steps between the ends of two epochs, in pieces; those of an epoch in which weights
        were changed by hand are left out, since nobody can know them."""
        kept = [int(e) for e in self._run.state_epochs if first < e < last]
        edges = sorted({first, *kept, max(first, last - 1), last})
        pieces: list[Piece] = []
        for a, b in itertools.pairwise(edges):
            piece = self._piece(a, b)
            if pieces and piece is not None and _follows(piece, pieces[-1], self.per_epoch):
                piece = _joined(pieces.pop(), piece)
            pieces += [piece] if piece is not None else []
        return pieces

    def state(self, epoch: int, steps: int = 0) -> Array:
        """[3, packed]: weights, first and second moments so many steps after an epoch."""
        self._go(epoch)
        self._kernel.advance(1, steps)
        return self._kernel.state()

    def in_float64(self, epoch: int) -> Array:
        """[steps + 1, packed]: one epoch from the run's own state, in double precision."""
        twin = self._twin
        twin.set_state(self.state(epoch).astype(np.float64), epoch)
        return _recorded(twin, 1, self.per_epoch)[0]

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

    def _piece(self, first: int, last: int) -> Piece | None:
        """The steps up to the last epoch that comes out as it was recorded."""
        self._go(first)
        self._marks = {0: self._marks[0], first: self._kernel.state()}
        weights, curves, losses = _recorded(self._kernel, last - first, self.per_epoch)
        # Of an edit between two epochs the curve knows nothing yet: both epochs are sound.
        differs = np.flatnonzero(losses != self._run.curves["train_loss"][first + 1 : last + 1])
        rows = (int(differs[0]) if len(differs) else last - first) * self.per_epoch
        return Piece(first, weights[: rows + 1], curves[:rows]) if rows else None

    def _go(self, epoch: int) -> None:
        """To the end of an epoch: from the nearest state that is known."""
        kept = self._run.state_epochs[self._run.state_epochs <= epoch]
        nearest = max(e for e in self._marks if e <= epoch)
        state = self._marks[nearest]
        if len(kept) and kept[-1] >= nearest:
            nearest, state = int(kept[-1]), np.ascontiguousarray(self._run.states[len(kept) - 1])
        self._kernel.set_state(state, nearest)
        self._kernel.advance(epoch - nearest, _ALL)


def _follows(piece: Piece, earlier: Piece, per_epoch: int) -> bool:
    done = earlier.epoch * per_epoch + len(earlier.curves) == piece.epoch * per_epoch
    return done and bool(np.array_equal(piece.weights[0], earlier.weights[-1]))


def _joined(a: Piece, b: Piece) -> Piece:
    weights = np.concatenate([a.weights, b.weights[1:]])
    return Piece(a.epoch, weights, np.concatenate([a.curves, b.curves]))


def _recorded(
    kernel: "_kernel.Trainer32 | _kernel.Trainer64", epochs: int, per_epoch: int
) -> tuple[Array, Array, Array]:
    """The next epochs: weights [steps + 1, packed], curves [steps, ...], train loss [epochs]."""
    before, steps = kernel.parameters(), epochs * per_epoch
    weights = np.empty((steps + 1, len(before)), before.dtype)
    by_step = np.empty((steps, len(_kernel.STEP_CURVE_NAMES)), before.dtype)
    by_epoch = np.empty((epochs, len(_kernel.CURVE_NAMES)), before.dtype)
    weights[0] = before
    kernel.advance(epochs, steps, curves=by_epoch, step_curves=by_step, step_weights=weights[1:])
    return weights, by_step, by_epoch[:, _kernel.CURVE_NAMES.index("train_loss")]
