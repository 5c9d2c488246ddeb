"""One spike of a run, replayed step by step, explained and put to the test."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis import thresholds as th
from dynascope.analysis.amplification import TrainSet
from dynascope.analysis.spike_causes import Mechanisms, mechanisms
from dynascope.analysis.spike_detection import Event
from dynascope.analysis.spike_interventions import (
    BELONGS,
    Intervention,
    Orders,
    Scene,
    interventions,
    other_orders,
)
from dynascope.analysis.spike_optimizer import Adam, adam
from dynascope.analysis.spike_rise import Rise, find
from dynascope.replay import Replay
from dynascope.run import Run
from dynascope.sharpness import relative_sharpness

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Cause:
    """Why the loss rose.

    `named` are the causes that the screen names (`Mechanisms.causes`); where it names none, the
    verdict is that of `orders`.
    """

    epoch: int  # the rise begins within it
    step: int  # steps done when it begins, over all epochs
    steps: int  # that it takes
    low: float  # loss on the whole train set before it
    high: float  # and after
    largest: float  # share of the rise that its largest single step makes
    at_floor: bool  # the loss before was below what the precision can tell from 0
    recurs_in_float64: bool  # the same steps in double precision spike as well
    aftershock_of: int | None  # the peak of a spike at most twelve epochs before this one
    sharpness: float | None  # preconditioned, before the rise, over its limit; None: it has none
    mechanisms: Mechanisms
    adam: Adam
    interventions: tuple[Intervention, ...]
    orders: Orders

    @property
    def named(self) -> tuple[str, ...]:
        """The causes in the verdict, one by one."""
        return self.mechanisms.causes or (self.orders.verdict,)

    @property
    def verdict(self) -> str:
        """`normalisation`, `feed-forward`, `optimizer`, several joined by "+"; `batch order` or
        `unstable state`."""
        return "+".join(self.named)

    @property
    def confirmed(self) -> bool | None:
        """Whether each named cause, taken away, leaves less than half of the rise. None: to one of
        them no intervention belongs, or it could not be made, and none of the others fails."""
        each = [self._confirmed(name) for name in self.named]
        return False if False in each else None if None in each else True

    @property
    def factor(self) -> float:
        """By which the loss rises from step to step; below the floor, a loss counts as that."""
        return self.high / max(self.low, float(np.finfo(np.float32).eps))

    @property
    def tested(self) -> str:
        """`confirmed` in a word or two."""
        return TESTED[self.confirmed]

    def _confirmed(self, name: str) -> bool | None:
        if not self.mechanisms.causes:
            return self.orders.confirmed
        made = {each.name: each for each in self.interventions}
        return made[BELONGS[name]].removes if name in BELONGS else None


TESTED = {True: "confirmed", False: "not confirmed", None: "not tested"}


def explain(
    run: Run,
    replay: Replay,
    train: TrainSet,
    event: Event,
    losses: Array,
    others: Sequence[Event] = (),
) -> Cause | str:
    """The cause of a spike of the train loss, or why it cannot be told.

    `losses`: the curve in which the spike was found, by epoch, values below the floor raised to it;
    `others`: the other spikes in it, which are not part of what is usual.
    """
    rise = find(replay, train, event, losses, others)
    if isinstance(rise, str):
        return rise
    before, after = rise.piece.weights[[rise.low, rise.high]]
    past = [part.weights for part in rise.history]
    why = mechanisms(train, past, before, after, rise.steps)
    if why is None:
        return "too few steps before it, outside other spikes, can be replayed to say what is usual"
    scene = Scene.of(run, replay, train, rise)
    low, high = rise.losses[[0, -1]]
    return Cause(
        epoch=rise.done // replay.per_epoch + 1,
        step=rise.done,
        steps=rise.steps,
        low=float(low),
        high=float(high),
        largest=float(np.diff(rise.losses).max() / (high - low)),
        at_floor=bool(low < np.finfo(run.config.precision).eps),
        recurs_in_float64=_recurs(run, replay, train, rise.done, rise.losses),
        aftershock_of=_aftershock_of(event, others),
        sharpness=_sharpness(run, replay, train, rise),
        mechanisms=why,
        adam=adam(run, replay, rise),
        interventions=interventions(scene),
        orders=other_orders(scene, event.before, _level_before(losses, scene.epoch)),
    )


def _aftershock_of(event: Event, others: Sequence[Event]) -> int | None:
    peaks = [o.peak for o in others if event.start - th.SPIKE_EARLIER <= o.peak < event.start]
    return max(peaks, default=None)


def _level_before(losses: Array, epoch: int) -> float | None:
    """What the level of the loss was twelve epochs earlier, as a spike's is taken; None: there was
    no such epoch."""
    then = epoch - th.SPIKE_EARLIER + 1
    return float(np.median(losses[max(0, then - th.SPIKE_WINDOW) : then])) if then > 0 else None


def _sharpness(run: Run, replay: Replay, train: TrainSet, rise: Rise) -> float | None:
    """Of the state before the rise."""
    epoch, offset = divmod(rise.done, replay.per_epoch)
    state = replay.state(epoch, offset)
    return relative_sharpness(run.config, rise.done, state, (train.tokens, train.targets))


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
