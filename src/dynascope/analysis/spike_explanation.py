"""One spike of a run, replayed step by step and explained."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis import thresholds as th
from dynascope.analysis.amplification import TrainSet
from dynascope.analysis.spike_causes import Amplified, Mechanisms, find_rise, mechanisms
from dynascope.analysis.spike_detection import Event
from dynascope.model import kernel_training
from dynascope.number_text import percent
from dynascope.replay import Piece, Replay
from dynascope.run import Run

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Adam:
    """The optimizer's state at the longest step in or just before the rise.

    `second_moments` is the root of the second moments against the largest among the kept states up
    to then: far below 1, they have decayed, and a gradient that was once ordinary now makes a long
    step. Both are None for an optimizer without second moments.
    """

    gradient: float  # norm of the batch's gradient over its median in the history
    surprise: float | None  # the same over the root of the second moments
    second_moments: float | None
    step_over_lr: float  # root mean square of the weights' step over the learning rate

    def describe(self) -> str:
        told = f"The batch's gradient was {self.gradient:.3g} times its median"
        if self.surprise is None:
            return f"{told}."
        return (
            f"{told} and {self.surprise:.3g} times the root of the second moments, which was at "
            f"{self.second_moments:.2g} of its largest."
        )


@dataclass(frozen=True)
class Cause:
    """Why the loss rose."""

    verdict: str
    epoch: int  # the rise begins within it
    step: int  # steps done when it begins, over all epochs
    steps: int  # that it takes
    low: float  # loss on the whole train set before it
    high: float  # and after
    largest: float  # share of the rise that its largest single step makes
    at_floor: bool  # the loss before was below what the precision can tell from 0
    recurs_in_float64: bool  # the same steps in double precision spike as well
    mechanisms: Mechanisms
    adam: Adam

    def describe(self) -> str:
        """What happened, in sentences; shares are told as between 0 and 100%."""
        m, d, rise = self.mechanisms, self.mechanisms.displacement, self.high - self.low
        parts = sorted(m.attribution.items(), key=lambda part: -part[1])
        return " ".join(
            [
                f"Cause: {self.verdict}.",
                f"In epoch {self.epoch}, after step {self.step}, {_steps(self.steps)} raised the "
                f"train loss from {self.low:.3g} to {self.high:.3g}; the largest step caused "
                f"{_share(self.largest)} of the rise.",
                f"The weights moved {d.ratio:.3g} times as far as usual; moving the usual distance "
                f"would have caused {_share(1 - d.removed)} of the rise.",
                "Compared with the usual, the normalisation of the embeddings amplified "
                f"{_told(m.embeddings)}, that of the sequence embeddings {_told(m.sequences)}, "
                f"the feed-forward {_told(m.feed_forward)}.",
                self.adam.describe(),
                f"By parameter, {parts[0][0]} caused {_share(parts[0][1] / rise)} of the rise "
                f"and {parts[1][0]} {_share(parts[1][1] / rise)}.",
                f"In float64 it {'recurs' if self.recurs_in_float64 else 'does not recur'}.",
            ]
        )


def explain(run: Run, replay: Replay, train: TrainSet, event: Event, losses: Array) -> Cause | str:
    """The cause of a spike of the train loss, or why it cannot be told.

    `losses`: the curve in which the spike was found, by epoch, values below the floor raised to it.
    """
    rise = _find(replay, train, event, losses)
    if isinstance(rise, str):
        return rise
    before, after = rise.piece.weights[[rise.low, rise.high]]
    past = [*(piece.weights for piece in rise.earlier), rise.piece.weights[: rise.low + 1]]
    why = mechanisms(train, past, before, after, rise.high - rise.low)
    if why is None:
        return "too few earlier steps can be replayed to say what is usual"
    done = rise.piece.done + rise.low
    low, high = rise.losses[[0, -1]]
    return Cause(
        verdict=why.verdict,
        epoch=done // replay.per_epoch + 1,
        step=done,
        steps=rise.high - rise.low,
        low=float(low),
        high=float(high),
        largest=float(np.diff(rise.losses).max() / (high - low)),
        at_floor=bool(low < np.finfo(run.config.precision).eps),
        recurs_in_float64=_recurs(run, replay, train, done, rise.losses),
        mechanisms=why,
        adam=_adam(run, replay, rise),
    )


@dataclass(frozen=True, eq=False)
class _Rise:
    """Rows of a replayed piece between which the loss rises."""

    piece: Piece
    low: int
    high: int
    losses: Array  # of the rows from low to high
    earlier: Sequence[Piece]


def _find(replay: Replay, train: TrainSet, event: Event, losses: Array) -> _Rise | str:
    per_epoch, (first, last) = replay.per_epoch, _epochs(event, losses, replay.per_epoch)
    most = th.SPIKE_BYTES // replay.step_bytes
    first = max(first, last - max(0, most - th.SPIKE_STEPS) // per_epoch)  # in fewer, if need be
    if first == last:
        return f"the steps of epoch {last} take more than {th.SPIKE_BYTES >> 20} MB"
    history = -(-th.SPIKE_STEPS // per_epoch)
    used = (last - first) * per_epoch + th.SPIKE_HISTORY
    pieces = replay.steps(max(0, first - history), last, min(most, used))
    piece = pieces[-1] if pieces else None
    if piece is None or piece.end < last * per_epoch:
        return f"replay does not reproduce epoch {last}; were the weights changed during it?"
    begin = max(0, first * per_epoch - piece.done)
    start, found = _found(train, piece.weights, begin, event.before)
    edited = len(pieces) > 1 and piece.done >= first * per_epoch
    if edited and found[0] > np.sqrt(event.before * found.max()):
        epoch = piece.done // per_epoch
        return f"the loss rose because weights were changed by hand after epoch {epoch}"
    low, high = find_rise(found, event.before, max(0, begin - start))
    if found[high] <= found[low]:
        return f"no step of epoch {last} raised the loss"
    return _Rise(piece, start + low, start + high, found[low : high + 1], pieces[:-1])


def _epochs(event: Event, losses: Array, per_epoch: int) -> tuple[int, int]:
    """The epochs (first, last] to look for the rise in: those up to the peak when they are few
    steps, else the one with the steepest rise, and before it those that had risen already."""
    most = max(th.SPIKE_REACH, th.SPIKE_STEPS // per_epoch)
    climb = np.diff(np.log(losses[event.start - 1 : event.peak + 1]))
    steepest = event.start + int(np.argmax(climb))
    level = np.sqrt(event.before * event.height)
    first = steepest - 1
    while first > max(0, steepest - most) and losses[first] > level:
        first -= 1
    few = (event.peak - first) * per_epoch <= th.SPIKE_STEPS
    return first, event.peak if few else steepest


def _found(train: TrainSet, weights: Array, begin: int, before: float) -> tuple[int, Array]:
    """A row to start from and the losses of the rows from there on: from a little before row
    `begin`, where the low may be, or of a long stretch only where a coarse look sees the rise."""
    stride = -(-(len(weights) - begin) // (2 * th.SPIKE_STEPS))
    if stride == 1:
        start = max(0, begin - th.SPIKE_MOMENTUM)
        return start, train.losses(weights[start:])
    coarse = np.arange(begin, len(weights), stride)
    low, high = find_rise(train.losses(weights[coarse]), before)
    stop = int(coarse[min(high + 1, len(coarse) - 1)]) + 1
    start = max(int(coarse[max(0, low - 1)]), stop - 4 * th.SPIKE_STEPS)  # of a slow rise, the end
    return start, train.losses(weights[start:stop])


def _recurs(run: Run, replay: Replay, train: TrainSet, done: int, losses: Array) -> bool:
    """Whether the steps of the rise and some more spike in double precision as well, from the state
    in which their epoch began."""
    if run.config.precision == "float64":
        return True
    epoch, offset = divmod(done, replay.per_epoch)
    level = np.sqrt(max(losses[0], np.finfo(float).tiny) * losses[-1])
    for rows in replay.in_float64(epoch, len(losses) - 1 + th.SPIKE_MOMENTUM, offset):
        again = train.losses(rows.astype(np.float32))  # to see a spike, that is enough
        if not (again < level).all():  # what diverges is not below
            return True
    return False


def _adam(run: Run, replay: Replay, rise: _Rise) -> Adam:
    piece, training = rise.piece, run.config.training
    within = (piece.done + rise.low) % replay.per_epoch  # its epoch
    start = rise.low - min(th.SPIKE_MOMENTUM, within, rise.low)
    rows = itertools.pairwise(piece.weights[start : rise.high + 1])
    lengths = np.array([np.sqrt(((b.astype(float) - a) ** 2).mean()) for a, b in rows])
    at = start + int(np.argmax(lengths))
    earlier = [*(p.gradient_norms for p in rise.earlier), piece.gradient_norms[: rise.low]]
    now, usual = float(piece.gradient_norms[at]), float(np.median(np.concatenate(earlier)))
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


def _told(stage: Amplified) -> str:
    left = f"{_share(1 - stage.removed)} of the rise would be left"
    return f"{stage.ratio:.3g} times (with the usual amplification {left})"


def _share(value: float) -> str:
    """Taking a cause away can lower the loss, or raise it: beyond all or nothing is not told."""
    return percent(min(max(value, 0.0), 1.0), places=0)


def _steps(count: int) -> str:
    return "one step" if count == 1 else f"{count} steps"
