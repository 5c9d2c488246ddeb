"""The steps in which the loss rises to a spike, and the steps before that say what is usual.

The rise is looked for among exactly replayed steps, by the loss on the whole train set: from where
it was last near its level before the spike up to the spike's peak, over whatever dips lie between.
"Usual" is what the steps before it did, without those of other spikes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis import thresholds as th
from dynascope.analysis.amplification import TrainSet
from dynascope.analysis.spike_detection import Event
from dynascope.replay import Piece, Replay

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Rise:
    """Rows of a replayed piece between which the loss rises, and what was replayed before."""

    piece: Piece
    low: int
    high: int
    losses: Array  # of the rows from low to high
    history: Sequence[Piece]  # steps before the low that belong to no other spike

    @property
    def done(self) -> int:
        """Steps done when it begins, over all epochs."""
        return self.piece.done + self.low

    @property
    def steps(self) -> int:
        """That it takes."""
        return self.high - self.low


def find_rise(losses: Array, before: float, begin: int = 0) -> tuple[int, int]:
    """The rows between which the loss rises to its peak: a low and the peak.

    The peak is the highest from row `begin` on. The low is where the loss was last near the level
    `before` (or, if it never was, last below half way to the peak, by factors), and from there down
    to the next low, which may be before `begin`; less a slow creep at either end.

    >>> find_rise(np.array([1, 1, 0.9, 0.91, 8, 9, 2, 10.0]), before=1.0)
    (3, 7)
    """
    tail = losses[begin:]
    low, high = _foot_and_peak(tail, before)
    low, high = begin + low, begin + high
    while low > 0 and losses[low - 1] < losses[low]:
        low -= 1
    if losses[high] <= losses[low]:
        return low, high  # it only falls
    # Below, by factors: of a rise from 1e-6 to 1 the beginning counts. Above, as the loss does.
    least = max(losses[low], np.finfo(np.float32).eps)  # a loss can be 0
    onset = least * (max(losses[high], least) / least) ** th.SPIKE_EDGE
    low += int(np.flatnonzero(losses[low:high] <= onset)[-1])
    top = losses[high] - th.SPIKE_EDGE * (losses[high] - losses[low])
    high = low + 1 + int(np.flatnonzero(losses[low + 1 : high + 1] >= top)[0])
    return low, high


def _foot_and_peak(losses: Array, before: float) -> tuple[int, int]:
    peak = int(np.argmax(losses))
    level = half_way(before, float(losses[peak]))
    for bound in (min(level, th.SPIKE_RECOVERED * before), level):
        under = np.flatnonzero(losses[:peak] <= bound)
        if len(under):
            return int(under[-1]), peak
    # It begins high and may only fall: then the steepest step up, as far as that goes.
    low = int(np.argmax(np.diff(losses)))
    high = low + 1
    while high + 1 < len(losses) and losses[high + 1] > losses[high]:
        high += 1
    return low, high


def half_way(before: float, height: float) -> float:
    """The level half way up, by factors: from 0.01 to 1 it is 0.1."""
    return float(np.sqrt(before * height))


def find(
    replay: Replay, train: TrainSet, event: Event, losses: Array, others: Sequence[Event]
) -> Rise | str:
    """The rise to a spike, or why it cannot be told. `others`: the other spikes of the run."""
    per_epoch, last = replay.per_epoch, event.peak
    most = th.SPIKE_BYTES // replay.step_bytes
    first = _first_epoch(event, losses)
    first = max(first, last - max(0, most - th.SPIKE_STEPS) // per_epoch)  # in fewer, if need be
    if first == last:
        return f"the steps of epoch {last} take more than {th.SPIKE_BYTES >> 20} MB"
    spiking = _spiking(others)
    start, skipped = _usual_epochs(first, per_epoch, spiking)
    used = (last - first + skipped) * per_epoch + th.SPIKE_HISTORY
    pieces = replay.steps(start, last, min(most, used))
    piece = pieces[-1] if pieces else None
    if piece is None or piece.end < last * per_epoch:
        return f"replay does not reproduce epoch {last}; were the weights changed during it?"
    begin = max(0, first * per_epoch - piece.done)
    row, found = _step_losses(train, piece.weights, begin, event.before)
    edited = len(pieces) > 1 and piece.done >= first * per_epoch
    if edited and found[0] > half_way(event.before, found.max()):
        epoch = piece.done // per_epoch
        return f"the loss rose because weights were changed by hand after epoch {epoch}"
    low, high = find_rise(found, event.before, max(0, begin - row))
    if found[high] <= found[low]:
        return f"no step of epoch {last} raised the loss"
    earlier = [*pieces[:-1], piece.part(0, row + low)]
    history = [part for each in earlier for part in _without(each, spiking, per_epoch)]
    return Rise(piece, row + low, row + high, found[low : high + 1], history)


def _first_epoch(event: Event, losses: Array) -> int:
    """The last epoch before the peak that ended below half way to it, not too far back."""
    level = half_way(event.before, event.height)
    first = event.peak - 1
    while first > max(0, event.peak - th.SPIKE_REACH) and losses[first] > level:
        first -= 1
    return first


def _spiking(others: Sequence[Event]) -> frozenset[int]:
    """The epochs that belong to spikes, by their numbers: epoch 1 is the first that is trained."""
    return frozenset(e for other in others for e in range(other.start, other.stop))


def _usual_epochs(first: int, per_epoch: int, spiking: frozenset[int]) -> tuple[int, int]:
    """How far to go back from the end of an epoch for enough steps that belong to no spike, and how
    many epochs of spikes lie on the way."""
    wanted, start, skipped = -(-th.SPIKE_STEPS // per_epoch), first, 0
    while start > 0 and wanted > 0 and first - start < th.SPIKE_BACK:
        clean = start not in spiking
        wanted, skipped, start = wanted - clean, skipped + (not clean), start - 1
    return start, skipped


def _without(piece: Piece, spiking: frozenset[int], per_epoch: int) -> Iterator[Piece]:
    """The parts of a piece that lie in no spiking epoch."""
    steps = np.arange(piece.done, piece.end) // per_epoch + 1  # the epoch of each
    clean = np.concatenate([[False], ~np.isin(steps, list(spiking)), [False]])
    edges = np.flatnonzero(clean[1:] != clean[:-1])
    for a, b in zip(edges[::2], edges[1::2], strict=True):
        yield piece.part(int(a), int(b))


def _step_losses(train: TrainSet, weights: Array, begin: int, before: float) -> tuple[int, Array]:
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
