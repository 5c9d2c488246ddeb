"""The optimizer's state at the longest step of a rise: the gradient, and what should tame it."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis import thresholds as th
from dynascope.analysis.spike_rise import Rise
from dynascope.model import kernel_training
from dynascope.replay import Replay
from dynascope.run import Run

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Adam:
    """The optimizer's state at the longest step in or just before the rise.

    `second_moments` is the root of the second moments against the largest among the kept states up
    to then: far below 1, they have decayed, and a gradient that was once ordinary now makes a long
    step. Both are None for an optimizer that does not divide every step by second moments. The
    norm is that of the gradient at the weights; with SAM, the moments are of those taken uphill.
    """

    gradient: float  # norm of the batch's gradient over its median in the history
    surprise: float | None  # the same over the root of the second moments
    second_moments: float | None
    step_over_lr: float  # root mean square of the weights' step over the learning rate

    def describe(self) -> str:
        told = f"the batch's gradient was {self.gradient:.3g} times its median"
        if self.surprise is None:
            return f"{told}."
        return (
            f"{told} and {self.surprise:.3g} times the root of the second moments, which was at "
            f"{self.second_moments:.2g} of its largest."
        )


def adam(run: Run, replay: Replay, rise: Rise) -> Adam:
    """Of the longest step in the rise, or in the ten steps of its epoch before."""
    piece, training = rise.piece, run.config.training
    within = (piece.done + rise.low) % replay.per_epoch  # its epoch
    start = rise.low - min(th.SPIKE_MOMENTUM, within, rise.low)
    rows = itertools.pairwise(piece.weights[start : rise.high + 1])
    lengths = np.array([np.sqrt(((b.astype(float) - a) ** 2).mean()) for a, b in rows])
    at = start + int(np.argmax(lengths))
    earlier = np.concatenate([part.gradient_norms for part in rise.history])
    now, usual = float(piece.gradient_norms[at]), float(np.median(earlier))
    surprise, decayed = None, None
    if training.rule.metric == "second_moment":
        surprise, decayed = _second_moments(run, replay, piece.done + at)
    return Adam(
        gradient=now / usual if usual > 0 else float("inf"),
        surprise=surprise,
        second_moments=decayed,
        step_over_lr=float(lengths.max() / training.lr),
    )


def _second_moments(run: Run, replay: Replay, done: int) -> tuple[float, float]:
    """Of the step after so many: its gradient over the root of the second moments, and that root
    over the largest one kept."""
    epoch, offset = divmod(done, replay.per_epoch)
    t = run.config.training
    before, after = (replay.state(epoch, offset + i).astype(float) for i in (0, 1))
    gradient = (after[1] - t.beta1 * before[1]) / (1 - t.beta1)
    unbias = kernel_training(t).unbias
    root = np.sqrt(before[2].sum() / unbias(max(done, 1))[1])
    kept = (run.state_epochs > 0) & (run.state_epochs <= epoch)
    age = run.state_epochs[kept] * replay.per_epoch
    biases = np.array([unbias(int(steps))[1] for steps in age])
    roots = np.sqrt(run.states[kept, 2].astype(float).sum(axis=1) / biases)
    largest = max(root, roots.max(initial=0.0))
    norm = float(np.sqrt((gradient**2).sum()))
    surprise = norm / root if root > 0 else float("inf")
    return float(surprise), float(root / largest) if largest > 0 else 1.0
