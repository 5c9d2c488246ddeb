"""A run's steps once more, exactly: weights after every step, states in the middle of an epoch.

Replay starts from the nearest kept state and does what the run did, bit for bit. A run whose
weights were changed by hand has pieces: within one, each row follows from the row before. All
pieces lie in one array, so the caller's `most` steps are all the memory that replay takes.

`altered` is the same with one thing changed: the batches in another order, a state edited after
every step, another option of the model. With nothing changed it gives the bits of the run.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope import _kernel
from dynascope.cached import cached_property
from dynascope.edits import steps_per_epoch
from dynascope.errors import DynascopeError
from dynascope.run import Run
from dynascope.tape import Kernel
from dynascope.trainer import Trainer, make_kernel

Array = npt.NDArray[Any]

_ALL = 2**62  # steps: no limit
_MARKS = 3  # states that are remembered, and the latest
_BLOCK = 2**22  # bytes of weights in double precision, or of states, at a time

# Of a state [3, packed], in place; given the weights before the step.
StateEdit = Callable[[Array, Array], None]


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

    def part(self, start: int, stop: int) -> "Piece":
        """Its steps from `start` to `stop`, counted from its own first."""
        return Piece(self.done + start, self.weights[start : stop + 1], self.curves[start:stop])


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
        self._start = self._kernel.state()
        self._marks: dict[int, Array] = {}  # the last states that were gone to, besides those kept
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

    def states(self, first: int, last: int) -> Iterator[Array]:
        """Blocks of states [n, 3, packed]: those at the ends of the epochs first to last."""
        packed, dtype = self._run.weights.shape[1], self._run.weights.dtype
        size = max(1, _BLOCK // (3 * self.step_bytes))
        kept = [int(e) for e in self._run.state_epochs if first < e <= last]  # edited, perhaps
        edges = sorted({*range(first, last + 1, size), *kept, last + 1})
        for a, b in itertools.pairwise(edges):
            self._go(a)
            rows = np.empty((b - a, 3, packed), dtype)
            rows[0] = self._kernel.state()
            self._kernel.advance(b - a - 1, _ALL, states=rows[1:], state_every=1)
            yield rows

    def altered(
        self,
        epoch: int,
        steps: int,
        *,
        state: Array | None = None,
        order: int | None = None,
        options: Mapping[str, object] | None = None,
        edit: StateEdit | None = None,
    ) -> Array:
        """[steps + 1, packed]: weights step by step, from the run's state at the end of an epoch.

        `state`: another one to begin with. `order`: the epoch whose batches come instead of those
        after `epoch` (one that the run never had gives an order that it never saw). `options`:
        other ones, by their whole names. `edit` changes the state after each step. Rows after a
        divergence are NaN.
        """
        state = self.state(epoch) if state is None else state
        kernel = self._kernel if options is None else self._with(options)
        kernel.set_state(state, epoch if order is None else order, self._run.steps_done(epoch))
        rows = np.full((steps + 1, state.shape[1]), np.nan, state.dtype)
        rows[0] = state[0]
        if edit is None:
            kernel.advance(_ALL, steps, step_weights=rows[1:])
            return rows
        for step in range(steps):
            kernel.advance(_ALL, 1)
            if kernel.diverged >= 0:
                break
            snapshot, numbers, progress = kernel.snapshot()
            edit(rows[step], snapshot[:3])
            kernel.restore(snapshot, numbers, progress)
            rows[step + 1] = snapshot[0]
        return rows

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
    def _twin(self) -> Kernel:
        return self._with({"precision": "float64"})

    def _with(self, options: Mapping[str, object]) -> Kernel:
        """Another kernel for the same run, with other options."""
        config = self._config.replace(options)
        start = self._run.parameters(0).astype(config.precision)
        return make_kernel(config, self._run.seed, self._run.data, start)

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
        nearest = max((e for e in self._marks if e <= epoch), default=0)
        state = self._marks.get(nearest, self._start)
        if len(kept) and kept[-1] >= nearest:
            nearest, state = int(kept[-1]), np.ascontiguousarray(self._run.states[len(kept) - 1])
        self._kernel.set_state(state, nearest, self._run.steps_done(nearest))
        if epoch > nearest:
            self._kernel.advance(epoch - nearest, _ALL)
            self._marks = dict([*self._marks.items()][-_MARKS:]) | {epoch: self._kernel.state()}
