"""Are the plateaus of a run saddles, and does it leave them along their negative directions?

A plateau lies before each drop of the loss, and after the last one. The first begins where the
loss has come down to chance. Of each, the point where the gradient on the whole train set is least
is looked at, and the verdict is the first of these that holds:

- `fitted`: the loss is below a hundredth of that at chance: nothing is left to fall;
- `slope`: the gradient there is not small, against the largest in the drop that follows (in the
  plateau itself, where none follows);
- `flat or minimum`: no direction bends down by more than rounding, or none so much that a
  displacement along it would grow e-fold within the plateau;
- `saddle, no drop follows`: none was found;
- `saddle, escaped along negative directions`: most of the way from the point to the end of the drop
  is along the five most negative ones, in the optimizer's metric (see `escape`);
- `saddle, escaped otherwise`.

The way to the end of a drop is long, and a Hessian holds nearby. So the same shares are given for
the drop alone, with the Hessian where it starts (`exit`); they do not decide. Thresholds are in
`theory.thresholds`; all that was compared with them is in the result.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dynascope.analysis.drops import Drop, loss_drops
from dynascope.analysis.phases import Phases
from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.analysis.thresholds import DROP_FLOOR
from dynascope.edits import steps_per_epoch
from dynascope.errors import Description, expected
from dynascope.near_misses import guided
from dynascope.number_text import percent
from dynascope.optimizer_metric import Metric, gradient_decay, learning_rate
from dynascope.progress import Report, reporter
from dynascope.run import Run
from dynascope.theory import curvature_thresholds as t
from dynascope.theory._surface import Place
from dynascope.theory.curvature import Each, Follower
from dynascope.theory.escape import Bends, Escape, bends, escape
from dynascope.theory.spectrum import Spectrum

Array = npt.NDArray[Any]
SaddleVerdict = Literal[
    "fitted",
    "slope",
    "flat or minimum",
    "saddle, no drop follows",
    "saddle, escaped along negative directions",
    "saddle, escaped otherwise",
]


@dataclass(frozen=True, eq=False)
class Plateau:
    """A stretch without a drop, from `start` to `end`, and its point of least gradient, `epoch`.

    - `chance`: the loss of the best guess that does not look at the sequence.
    - `gradient_scale`: the largest gradient norm in the drop that follows, or in the plateau.
    - `spectrum`: of the Hessian at the point, without directions that are flat by symmetry (zeros
      in their place).
    - `fold_epochs`: in which a displacement along the most negative direction, in the optimizer's
      metric, grows e-fold; infinite without one, None where the metric is not known. `growth`: how
      often that is in the plateau.
    - `along`, `loss_along`: distances along the most negative eigenvector, both ways, and the loss
      there. They reach as far as the escape does (1 without one).
    - `escape`: from the point to the end of the `drop`; `exit`: over the drop alone. None where no
      drop follows.
    """

    start: int
    end: int
    epoch: int
    loss: float
    chance: float
    gradient_norm: float
    gradient_scale: float
    spectrum: Spectrum
    fold_epochs: float | None
    along: Array
    loss_along: Array
    drop: Drop | None
    escape: Escape | None
    exit: Escape | None

    @property
    def gradient_ratio(self) -> float:
        """The gradient norm at the point, of the scale."""
        return self.gradient_norm / self.gradient_scale if self.gradient_scale else 0.0

    @property
    def growth(self) -> float | None:
        """How many e-foldings of the most negative direction the plateau has time for."""
        length = max(self.end - self.start, 1)
        return None if self.fold_epochs is None else length / self.fold_epochs

    @property
    def fall(self) -> float:
        """By how much the loss falls, at most, along the most negative eigenvector."""
        return float(max(self.loss - np.nanmin(self.loss_along), 0.0))

    @property
    def verdict(self) -> SaddleVerdict:
        if self.loss < DROP_FLOOR * self.chance:
            return "fitted"
        if self.gradient_ratio > t.SMALL_GRADIENT:
            return "slope"
        if not self.spectrum.negative or (self.growth is not None and self.growth < t.GROWTH):
            return "flat or minimum"
        if self.escape is None:
            return "saddle, no drop follows"
        if self.escape.deciding.aligned:
            return "saddle, escaped along negative directions"
        return "saddle, escaped otherwise"

    @property
    def confirmed(self) -> bool:
        """The run escaped a saddle, in the sense of the words."""
        return self.verdict == "saddle, escaped along negative directions"

    def describe(self) -> str:
        """The plateau in plain sentences."""
        found = self.spectrum
        text = f"Epochs {self.start} to {self.end}: {self.verdict}. At epoch {self.epoch} the loss"
        text += (
            f" is {self.loss:.4g}, the gradient {percent(self.gradient_ratio)} of the largest; the"
        )
        text += f" Hessian has {found.describe()}"
        if self.fold_epochs is not None and np.isfinite(self.fold_epochs):
            text += f", so the lowest grows e-fold in {self.fold_epochs:.3g} epochs"
        return f"{text}.{self._ways()}"

    def _ways(self) -> str:
        if self.escape is None or self.exit is None or not self.spectrum.negative:
            return ""
        whole, only = self.escape.deciding, self.exit.deciding
        text = f" Of the way to epoch {self.escape.end}, {_told(whole.escape.five)} is along the"
        text += f" five most negative directions (a random one: {_told(whole.chance.five)}"
        if whole.update is not None:
            text += f"; the optimizer's step: {_told(whole.update.five)}"
        return f"{text}); of the drop alone, {_told(only.escape.five)}."


def _told(share: float) -> str:
    return percent(share, places=0)


@guided
def saddles(
    run: Run,
    found: Phases | None = None,
    *,
    threads: int | None = None,
    progress: bool | Report = True,
) -> tuple[Plateau, ...]:
    """The plateaus of a run, in their order, each with its verdict.

    `found`: what `analysis.phases` says of the run, if it is known already: its drops by slope are
    taken. Where hardly any weights were kept, those of a few epochs are computed again.

    >>> import dynascope as ds
    >>> config = ds.Config().replace({"training.epochs": 20, "model.hidden": 4})
    >>> (only,) = saddles(ds.train(config)[0])
    >>> only.start, only.end, only.escape is None
    (1, 20, True)
    """
    follower = Follower(run)
    follower.sound(-1)  # refuses a run that has no sound epoch
    stretches = _stretches(follower.run, _drops(follower.run, found))
    survey = _Survey(follower)
    made = Each(lambda stretch: survey.plateau(*stretch), stretches, "plateaus")
    return made.found(threads, reporter(progress))


def _drops(run: Run, found: Phases | None) -> Sequence[Drop]:
    if found is not None:
        if not isinstance(found, Phases):
            raise expected(
                "found", "what analysis.phases returns", Description(type(found).__name__)
            )
        return found.by_slope
    loss = run.curves["train_loss"][: last_sound_epoch(run) + 1]
    return loss_drops(loss, "slope", ceiling=run.task.chance_loss or None)


def _chance(run: Run) -> float:
    """The loss at chance; NaN where nobody knows it."""
    return math.nan if run.task.chance_loss is None else run.task.chance_loss


def _stretches(run: Run, drops: Sequence[Drop]) -> list[tuple[int, int, Drop | None]]:
    """Start and end of each plateau, and the drop that follows."""
    last = last_sound_epoch(run)
    loss = run.curves["train_loss"][: last + 1]
    first_end = drops[0].start if drops else last
    down = np.flatnonzero(loss[: first_end + 1] <= t.TRANSIENT * _chance(run))
    begins = [int(down[0]) if len(down) else 0, *(drop.end for drop in drops)]
    ends = [*(drop.start for drop in drops), last]
    return list(zip(begins, map(max, begins, ends), [*drops, None], strict=True))


class _Survey:
    """What all plateaus of a run are looked at with."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._run = follower.run
        self._kept = np.unique(self._run.weight_epochs)

    def plateau(self, start: int, end: int, drop: Drop | None) -> Plateau:
        norms = self._gradient_norms(max(start, min(1, end)), end)  # 0 has no optimizer state
        epoch = min(norms, key=lambda each: norms[each])
        place = self._follower.place(epoch)
        own = self._follower.metric(epoch, place)
        bent = bends(place, own)
        way = None if drop is None else self._way(place, own, bent, epoch, drop)
        along, losses = _line(place, bent.plain, 1.0 if way is None else way.distance)
        return Plateau(
            start=start,
            end=end,
            epoch=epoch,
            loss=place.loss_and_gradient[0],
            chance=_chance(self._run),
            gradient_norm=norms[epoch],
            gradient_scale=self._scale(start, end, drop),
            spectrum=bent.plain,
            fold_epochs=self._fold(own, bent.deciding, start, end),
            along=along,
            loss_along=losses,
            drop=drop,
            escape=way,
            exit=None if drop is None else self._exit(drop),
        )

    def _way(self, place: Place, own: Metric, bent: Bends, epoch: int, drop: Drop) -> Escape:
        free = self._follower.surface.free
        there = self._follower.place(drop.end).parameters.flat
        way = (there - place.parameters.flat)[free]
        return escape(place, own, bent, way, epoch, drop.end)

    def _exit(self, drop: Drop) -> Escape:
        place = self._follower.place(drop.start)
        own = self._follower.metric(drop.start, place)
        return self._way(place, own, bends(place, own), drop.start, drop)

    def _scale(self, start: int, end: int, drop: Drop | None) -> float:
        """Where no drop follows, the plateau itself is all there is to compare with."""
        first, last = (start, end) if drop is None else (drop.start, drop.end)
        return max(self._gradient_norms(first, last).values())

    def _fold(self, own: Metric, bend: Spectrum, start: int, end: int) -> float | None:
        """Epochs in which a displacement along the lowest direction grows e-fold. A step multiplies
        it by 1 + lr |eigenvalue|; in SGD momentum b makes lr larger by 1 / (1 - b), in Adam, whose
        moment is a mean, it does not."""
        if not own.known:
            return None
        training = self._run.config.training
        gain = 1 / (1 - training.momentum) if training.metric == "plain" else 1.0
        steps = steps_per_epoch(self._run.config)
        rates = [learning_rate(self._run.config, e * steps) for e in range(start, end + 1)]
        pace = float(np.mean(rates)) * gain * max(-bend.lowest, 0.0) * steps
        return 1 / pace if bend.negative and pace > 0 else float("inf")

    def _gradient_norms(self, first: int, last: int) -> dict[int, float]:
        """On the whole train set, of kept epochs in this stretch, spread evenly; where these are
        hardly any, of a few that are computed again."""
        kept = self._kept[(self._kept >= first) & (self._kept <= last)]
        enough = len(kept) >= min(t.REPLAYED_EPOCHS, last - first + 1)
        epochs = kept if enough else np.arange(first, last + 1)
        most = t.PLATEAU_EPOCHS if enough else t.REPLAYED_EPOCHS
        picked = np.unique(np.linspace(0, len(epochs) - 1, min(most, len(epochs))).round())
        wanted = [int(epochs[int(i)]) for i in picked]
        decay = gradient_decay(self._run.config.training)
        return {epoch: self._follower.place(epoch).descended_norm(decay) for epoch in wanted}


def _line(place: Place, found: Spectrum, reach: float) -> tuple[Array, Array]:
    """Losses along the lowest direction, both ways, at distances in a geometric row."""
    one_way = np.geomspace(t.LINE_NEAR * reach, reach, t.LINE_POINTS // 2) if reach else np.ones(1)
    along = np.concatenate([-one_way[::-1], [0.0], one_way])
    moves = along[:, None] * found.bottom[0]
    return along, place.surface.losses(place.parameters.flat, moves)
