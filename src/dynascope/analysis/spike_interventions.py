"""A spike's epoch trained once more with one thing taken away: how much of the rise remains?

All start from the run's own state at the beginning of the epoch in which the rise begins and go on
to the end of the one in which it ends, with the kernel's own steps. What remains is how far the
highest loss on the way is above the low before the rise, as a share of what that is when nothing is
taken away.

- `second moments`: each is held at its largest of the last 80 epochs, so that a gradient meets the
  caution of the time when such gradients were ordinary. It belongs to the cause `optimizer`.
- `smooth norm`: a norm without the steep place at the origin. It begins to differ from `rms` below
  the length of the shortest vector that is normalised when the epoch begins, so that the model is
  the same at first. It belongs to the cause `normalisation`.
- `clip`: no step longer than usual. This removes nearly every spike, whatever it came from, since
  any rise needs movement: it confirms nothing, and is there to be compared with.
- `nudge`: every weight is changed at random by about a thousandth. This takes nothing away: where
  it removes the rise as well, training was so sensitive that no other intervention says much.
- other orders of the same batches: how many spike as well, from the beginning of the epoch and, if
  most do, from twelve epochs earlier.

To the cause `feed-forward` none belongs: one that is less steep is another model at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope import _kernel
from dynascope.analysis import thresholds as th
from dynascope.analysis.amplification import TrainSet, lengths
from dynascope.analysis.spike_rise import Rise, half_way
from dynascope.catalog import OPTIONS
from dynascope.config import TrainingConfig
from dynascope.model import kernel_training
from dynascope.replay import Replay
from dynascope.run import Run

Array = npt.NDArray[Any]

BELONGS: Mapping[str, str] = {"optimizer": "second moments", "normalisation": "smooth norm"}


@dataclass(frozen=True)
class Intervention:
    """What one of them left of the rise."""

    name: str
    remains: float | None  # share of the rise; None: it could not be made
    why_not: str | None = None

    @property
    def removes(self) -> bool | None:
        """Whether less than half remains."""
        return None if self.remains is None else self.remains < th.SPIKE_REMAINS


@dataclass(frozen=True)
class Orders:
    """How many other orders of the batches spike as well, half as high by factors or higher."""

    tried: int
    spiking: int  # from the beginning of the epoch
    spiking_earlier: int | None  # from twelve epochs earlier; None: not tried, or there is none

    @property
    def verdict(self) -> str:
        """`unstable state` where most orders spike, and more than did twelve epochs earlier; else
        `batch order`."""
        built_up = self.spiking > (self.spiking_earlier or 0)
        return "unstable state" if self._most(self.spiking) and built_up else "batch order"

    @property
    def confirmed(self) -> bool:
        """Whether the verdict's opposite spikes rarely: other batches, or the earlier state."""
        if self.verdict == "batch order":
            return not self._most(self.spiking)
        return self.spiking_earlier is not None and not self._most(self.spiking_earlier)

    def _most(self, count: int) -> bool:
        return 2 * count >= self.tried


@dataclass(frozen=True, eq=False)
class Scene:
    """The epochs of a rise, to be trained again, and what they are measured by."""

    run: Run
    replay: Replay
    train: TrainSet
    epoch: int  # at whose end it begins
    steps: int
    low: float  # the loss before the rise
    high: float  # the highest loss on the way when nothing is changed
    usual_step: float  # length of a step, the median before the rise

    @classmethod
    def of(cls, run: Run, replay: Replay, train: TrainSet, rise: Rise) -> "Scene":
        per_epoch, piece = replay.per_epoch, rise.piece
        # Of epochs with few steps it takes several, for a long step to be among them.
        some = th.SPIKE_MOMENTUM if per_epoch < th.SPIKE_MOMENTUM else 0
        first = max(-(-piece.done // per_epoch), (rise.done - some) // per_epoch)
        steps = -(-(rise.done + rise.steps) // per_epoch) * per_epoch - first * per_epoch
        row = first * per_epoch - piece.done
        rows = piece.weights[row : row + steps + 1]
        moved = [lengths(np.diff(part.weights.astype(float), axis=0)) for part in rise.history]
        return cls(
            run=run,
            replay=replay,
            train=train,
            epoch=first,
            steps=steps,
            low=float(rise.losses[0]),
            high=_highest(train, rows),
            usual_step=float(np.median(np.concatenate(moved))),
        )

    @property
    def why_no_edits(self) -> str | None:
        """Why no state can be changed after each step: that shuffles the train set every time."""
        work = self.steps * len(self.train.targets)
        return "its epoch has too many steps" if work > th.SPIKE_EDITS else None

    def remains(self, rows: Array) -> float:
        """Of the rise, when the weights go this way."""
        return (_highest(self.train, rows) - self.low) / (self.high - self.low)


def interventions(scene: Scene) -> tuple[Intervention, ...]:
    """All that are single changes."""
    return second_moments(scene), smooth_norm(scene), clip(scene), nudge(scene)


def second_moments(scene: Scene) -> Intervention:
    """Each second moment is at least its largest of the last 80 epochs, at every step."""
    name, training = "second moments", scene.run.config.training
    if training.rule.metric != "second_moment":
        return Intervention(name, None, _why_not_held(training))
    if scene.why_no_edits:
        return Intervention(name, None, scene.why_no_edits)
    largest, unbias = largest_second_moments(scene), kernel_training(training).unbias
    done = scene.run.steps_done(scene.epoch)

    def hold(state: Array, step: int) -> None:
        held = largest * unbias(step)[1]  # with the bias that the optimizer expects
        np.maximum(state[2], held.astype(state.dtype), out=state[2])

    steps = iter(range(done + 1, done + scene.steps + 1))
    start = scene.replay.state(scene.epoch)
    hold(start, done)
    rows = scene.replay.altered(
        scene.epoch, scene.steps, state=start, edit=lambda _, state: hold(state, next(steps))
    )
    return Intervention(name, scene.remains(rows))


def _why_not_held(training: TrainingConfig) -> str:
    if "second_moment" in training.rule.slots:
        return f"{training.optimizer} moves matrices without their second moments"
    return f"{training.optimizer} has no second moments"


def largest_second_moments(scene: Scene) -> Array:
    """[packed]: of the ends of the last 80 epochs, without the bias of their first steps."""
    unbias = kernel_training(scene.run.config.training).unbias
    first = max(0, scene.epoch - th.SPIKE_HELD)
    largest, epoch = np.zeros(scene.run.weights.shape[1]), first
    for states in scene.replay.states(first, scene.epoch):
        for moments in states[:, 2]:
            done = scene.run.steps_done(epoch)
            if done > 0:
                largest = np.maximum(largest, moments.astype(float) / unbias(done)[1])
            epoch += 1
    return largest


def smooth_norm(scene: Scene) -> Intervention:
    """The norm `smooth`, where it does not change the model at once."""
    name, model = "smooth norm", scene.run.config.model
    if model.norm != "rms":
        return Intervention(name, None, f"it differs everywhere from the norm {model.norm}")
    weights = scene.replay.state(scene.epoch)[0]
    seen = _kernel.inspect(weights, scene.train.shape, scene.train.tokens, {})
    shortest = min(float(lengths(seen[stage]).min()) for stage in ("embedding", "sequence"))
    if shortest < float(OPTIONS["model.norm_tau"].low or 0):
        return Intervention(name, None, "a vector is at the origin when the epoch begins")
    options = {"model.norm": "smooth", "model.norm_tau": shortest}
    smooth = TrainSet(scene.run.config.replace(options), (scene.train.tokens, scene.train.targets))
    before, after = (float(each.losses(weights[None])[0]) for each in (scene.train, smooth))
    if not abs(after - before) <= th.SPIKE_SAME * before:
        return Intervention(name, None, "it would change the model at once")
    rows = scene.replay.altered(scene.epoch, scene.steps, options=options)
    rise = (_highest(smooth, rows) - scene.low) / (scene.high - scene.low)
    return Intervention(name, rise)


def clip(scene: Scene) -> Intervention:
    """No step is longer than usual. Shortening the step removes nearly every spike, so that this
    alone names nothing."""
    if scene.why_no_edits:
        return Intervention("clip", None, scene.why_no_edits)

    def shorten(before: Array, state: Array) -> None:
        step = state[0].astype(float) - before
        length = float(lengths(step))
        if length > scene.usual_step:
            state[0] = before + step * (scene.usual_step / length)

    rows = scene.replay.altered(scene.epoch, scene.steps, edit=shorten)
    return Intervention("clip", scene.remains(rows))


def nudge(scene: Scene) -> Intervention:
    """The weights at first are others, at random: the control for all the rest."""
    state = scene.replay.state(scene.epoch)
    chance = np.random.Generator(np.random.PCG64(0))  # the same every time
    state[0] *= 1 + th.SPIKE_NUDGE * chance.standard_normal(state.shape[1])
    rows = scene.replay.altered(scene.epoch, scene.steps, state=state)
    return Intervention("nudge", scene.remains(rows))


def other_orders(scene: Scene, before: float, earlier: float | None) -> Orders:
    """Ten other orders of the same epochs. `before`: the level of the loss before the spike, and
    `earlier` that of twelve epochs earlier, which is asked for if most orders spike."""
    factor = half_way(before, scene.high) / before if before > 0 else float("inf")
    now = _spiking_orders(scene, scene.epoch, factor * before)
    then = scene.epoch - th.SPIKE_EARLIER
    if earlier is None or then < 0 or 2 * now < th.SPIKE_ORDERS:
        return Orders(th.SPIKE_ORDERS, now, None)
    return Orders(th.SPIKE_ORDERS, now, _spiking_orders(scene, then, factor * earlier))


def _spiking_orders(scene: Scene, epoch: int, level: float) -> int:
    """From the end of an epoch, how many orders pass a level. No run has had these orders: they are
    those of the last epochs that there can be."""
    last = int(OPTIONS["training.epochs"].high or 0)
    span = -(-scene.steps // scene.replay.per_epoch)
    looks = np.unique(np.linspace(0, scene.steps, th.SPIKE_LOOKS + 1)[1:].astype(int))
    state = scene.replay.state(epoch)
    ways = [
        scene.replay.altered(epoch, scene.steps, state=state, order=last - (i + 1) * span)[looks]
        for i in range(th.SPIKE_ORDERS)
    ]
    losses = scene.train.losses(np.concatenate(ways)).reshape(th.SPIKE_ORDERS, len(looks))
    return int((~(losses < level)).any(axis=1).sum())  # what diverges is not below


def _highest(train: TrainSet, rows: Array) -> float:
    """The highest loss on the way, of many steps at some; infinite where it diverges."""
    some = rows[:: -(-len(rows) // (4 * th.SPIKE_STEPS))]
    return float(np.nan_to_num(train.losses(some), nan=np.inf).max())
