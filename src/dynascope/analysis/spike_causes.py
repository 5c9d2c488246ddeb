"""Why the loss rose: what was unusual about the steps that raised it, and what if it had not been.

Three things can make an ordinary moment of training a bad one, and each is judged twice. First
against what was usual in the steps before (about 128 of them, without those of other spikes), over
as many steps as the rise takes; then by taking it away inside the model and looking how much of the
rise is left. That is a quick screen, which names a cause; `spike_interventions` tests it, by
training the epoch again. The three:

- `optimizer`: the weights moved much farther than usual. Taken away: the same displacement, as long
  as usual.
- `normalisation`: a stage norm(x) moved its output much farther than usual for how far x moved,
  because x was near the origin. Taken away: the output moves as far as is usual for that x.
- `feed-forward`: its output moved much farther than usual for how far its input moved (its own
  weights held), because sequence embeddings were where it is steep. Taken away: likewise.

Shortening the step removes nearly every spike, whatever it came from: that alone names nothing. So
a long step counts only if it is longer than usual.

Amplification is a local property. It is measured over the first part of the displacement, as long
as is usual: a displacement twenty times as long meets steeper places because it is long.

A cause must be unusual and its absence must remove most of the rise. Several can be, since without
either of them there would have been no spike; one that another dwarfs is not named, since the more
sequences are hurt, the nearer those are to a steep place. If none is, the steps were of ordinary
size and passed ordinary places; the attribution still says which weights did it, and other orders
of the same batches say whether it was their order or a state that had become unstable.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis import thresholds as th
from dynascope.analysis.amplification import Passage, TrainSet
from dynascope.analysis.shapley import by_group, members, mixtures, shapley

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Amplified:
    """How far a stage's output moves for each unit that its input moves."""

    now: float
    usual: float
    removed: float  # share of the rise that goes with the usual amplification instead

    @property
    def ratio(self) -> float:
        return self.now / self.usual if self.usual > 0 else float("inf")

    @property
    def stands_out(self) -> bool:
        return self.ratio >= th.SPIKE_AMPLIFIED and self.removed >= th.SPIKE_REMOVED


@dataclass(frozen=True)
class Displacement:
    """How far the weights moved in the rise."""

    length: float
    usual: float
    removed: float  # share of the rise that goes when the displacement is as long as usual
    groups: Mapping[str, float]  # the ratio for each group of weights

    @property
    def ratio(self) -> float:
        return self.length / self.usual if self.usual > 0 else float("inf")

    @property
    def stands_out(self) -> bool:
        return self.ratio >= th.SPIKE_LONGER and self.removed >= th.SPIKE_REMOVED


@dataclass(frozen=True)
class Mechanisms:
    """What the displacement from one row of weights to another did, against its history."""

    displacement: Displacement
    embeddings: Amplified
    sequences: Amplified
    feed_forward: Amplified
    shortest_embedding: float  # of all that were normalised, before the rise
    shortest_sequence: float
    margin_median: float  # by how much the right logit led before the rise: the distance
    margin_low: float  # from the decision boundary; median, and the lowest twentieth
    attribution: Mapping[str, float]  # of the rise, by group of weights; adds up to the rise
    history: int  # displacements that "usual" is the median of

    @property
    def causes(self) -> tuple[str, ...]:
        """Those that stand out, of `normalisation`, `feed-forward` and `optimizer`."""
        d = self.displacement
        factors = {
            "normalisation": max(self._factor(self.embeddings), self._factor(self.sequences)),
            "feed-forward": self._factor(self.feed_forward),
            "optimizer": d.ratio if d.stands_out else 1.0,
        }
        least = max(factors.values()) ** th.SPIKE_SHARE
        return tuple(name for name, by in factors.items() if 1 < by >= least)

    def _factor(self, stage: Amplified) -> float:
        """Its ratio when it stands out, and not only after a displacement far below the usual."""
        outdone = stage.ratio * self.displacement.ratio < th.SPIKE_AMPLIFIED
        return stage.ratio if stage.stands_out and not outdone else 1.0


def mechanisms(
    train: TrainSet, history: Sequence[Array], before: Array, after: Array, steps: int
) -> Mechanisms | None:
    """What `steps` steps from `before` to `after` did.

    `history`: weights step by step [rows, packed] in pieces, all from before the rise. None when
    they hold too few displacements of so many steps.
    """
    past = [(rows[t], rows[t + steps]) for rows in history for t in range(len(rows) - steps)]
    if len(past) < th.SPIKE_LEAST_HISTORY:
        return None
    past = past[-2 * th.SPIKE_STEPS :]  # an epoch can have thousands of steps
    displacement = _displacement(train, past, before, after)
    whole = Passage(train, before, after)
    worst = whole.closely(th.SPIKE_SEQUENCES)
    near = min(displacement.length, displacement.usual)
    now, usual = worst.within(near).amplification(), _usual_amplification(train, past, near)
    stages = {
        stage: Amplified(now[stage], usual[stage], worst.removed(stage, usual[stage]))
        for stage in now
    }
    margins = whole.margins()
    return Mechanisms(
        displacement=displacement,
        **stages,
        shortest_embedding=_shortest(whole.before["embedding"]),
        shortest_sequence=_shortest(whole.before["sequence"]),
        margin_median=float(np.median(margins)),
        margin_low=float(np.quantile(margins, 0.05)),
        attribution=_attribution(train, before, after),
        history=len(past),
    )


def _displacement(
    train: TrainSet, past: Sequence[tuple[Array, Array]], before: Array, after: Array
) -> Displacement:
    groups = members(train.config.shapes).astype(float)
    squares = np.array([groups @ (b.astype(float) - a) ** 2 for a, b in past])  # [past, groups]
    step = after.astype(float) - before
    length, usual = np.sqrt((step**2).sum()), np.median(np.sqrt(squares.sum(axis=1)))
    now, often = np.sqrt(groups @ step**2), np.median(np.sqrt(squares), axis=0)
    ratios = np.divide(now, often, where=often > 0, out=np.where(now > 0, np.inf, 1.0))
    share = min(1.0, usual / length) if length > 0 else 1.0
    ways = np.array([before, before + share * step, after]).astype(before.dtype)
    low, shorter, high = train.losses(ways)
    removed = 1 - (shorter - low) / (high - low) if high > low else 0.0
    return Displacement(float(length), float(usual), float(removed), by_group(ratios))


def _usual_amplification(
    train: TrainSet, past: Sequence[tuple[Array, Array]], near: float
) -> dict[str, float]:
    """Medians over some displacements, each seen by the sequences that it hurt most itself: those
    that are hurt are nearer to a steep place than most, also when nothing is wrong."""
    picked = np.unique(np.linspace(0, len(past) - 1, th.SPIKE_SAMPLES).astype(int))
    ways = (Passage(train, *past[i]).closely(th.SPIKE_SEQUENCES) for i in picked)
    found = [way.within(near).amplification() for way in ways]
    return {stage: float(np.median([each[stage] for each in found])) for stage in found[0]}


def _attribution(train: TrainSet, before: Array, after: Array) -> dict[str, float]:
    mixed = mixtures(before, after, members(train.config.shapes))
    return by_group(shapley(train.losses(mixed)))


def _shortest(vectors: Array) -> float:
    return float(np.sqrt((vectors**2).sum(axis=-1).min()))
