"""One displacement of the weights, seen through the model: which stage makes it larger.

Sequences are weighted by how much the displacement hurts them (the rise of their loss), and the
vectors within a sequence by their attention: what happens to a sequence that stays right, or to a
vector that nobody attends to, does not make a spike, and one vector among many that is thrown
through the origin must not drown in the others.

Stages, and what each does with its input:
- `embeddings`: z = norm(e), for every token of every sequence;
- `sequences`: norm(xi);
- `feed_forward`: its output against norm(xi), with its own weights held as they were before. It is
  measured where it is read, in logits: half the embedding and twice the output are the same model.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope import _kernel
from dynascope.cached import cached_property
from dynascope.config import Config
from dynascope.data import Examples
from dynascope.model import config_shape
from dynascope.run import Run

Array = npt.NDArray[Any]
SeenVectors = dict[str, Array]  # every stage of `dynascope.Activations` by its name

STAGES = ("embeddings", "sequences", "feed_forward")


class TrainSet:
    """The sequences that a run was trained on, and the model that sees them."""

    def __init__(self, config: Config, examples: Examples) -> None:
        self.config, self.shape = config, config_shape(config)
        self.tokens, self.targets = (np.ascontiguousarray(part) for part in examples)

    @classmethod
    def of(cls, run: Run) -> "TrainSet":
        return cls(run.config, run.examples())

    def losses(self, weights: Array) -> Array:
        """[n]: the mean loss at each row of packed weights [n, packed], in their precision."""
        rows = np.ascontiguousarray(weights)
        return _kernel.evaluate(rows, self.shape, self.tokens, self.targets)[0]

    def chosen(self, which: Array) -> "TrainSet":
        return TrainSet(self.config, (self.tokens[which], self.targets[which]))


class Passage:
    """From the weights `before` to the weights `after` (packed), in their precision.

    `whole` is a longer way from the same weights, by which this one weighs the sequences.
    """

    def __init__(
        self, train: TrainSet, before: Array, after: Array, whole: "Passage | None" = None
    ) -> None:
        self._train, self._targets = train, train.targets
        self._weights = before, after
        self.before: SeenVectors = self._seen(0) if whole is None else whole.before
        self.after: SeenVectors = self._seen(1)
        self.hurt: Array = _hurt(self.rises) if whole is None else whole.hurt

    def _seen(self, after: int, **patch: Array) -> SeenVectors:
        fitting = {name: np.ascontiguousarray(array) for name, array in patch.items()}
        return _kernel.inspect(self._weights[after], self._train.shape, self._train.tokens, fitting)

    @cached_property
    def _held(self) -> SeenVectors:
        """The feed-forward moved by its input alone: all weights, and xi, as before."""
        return self._seen(0, sequence_normalized=self.after["sequence_normalized"])

    def _decoded(self) -> Array:
        """[n]: how far that moves the logits, but for what moves them all alike."""
        step = self._held["logits"] - self.before["logits"]
        return lengths(step - step.mean(axis=1, keepdims=True))

    @cached_property
    def rises(self) -> Array:
        """[n]: by how much the loss of each sequence rises."""
        return self._losses(self.after) - self._losses(self.before)

    def worst(self, count: int) -> TrainSet:
        """The sequences that it hurts most."""
        if count >= len(self._targets):
            return self._train
        return self._train.chosen(np.sort(np.argpartition(-self.rises, count)[:count]))

    def closely(self, count: int) -> "Passage":
        """The same way as those sequences see it, in double precision."""
        before, after = (weights.astype(float) for weights in self._weights)
        return Passage(self.worst(count), before, after)

    def within(self, length: float) -> "Passage":
        """The first part of the way, so long at most, for sequences weighted as at its end."""
        before, after = self._weights
        step = after - before
        if lengths(step) <= length:
            return self
        return Passage(self._train, before, before + step * (length / lengths(step)), self)

    def amplification(self) -> dict[str, float]:
        """How far each stage's output moves for each unit that its input moves."""
        attention = np.maximum(self.before["attention"], self.after["attention"])
        tokens = self.hurt[:, None] * attention
        return {
            "embeddings": _ratio(self._moved("normalized"), self._moved("embedding"), tokens),
            "sequences": _ratio(
                self._moved("sequence_normalized"), self._moved("sequence"), self.hurt
            ),
            "feed_forward": _ratio(self._decoded(), self._moved("sequence_normalized"), self.hurt),
        }

    def removed(self, stage: str, usual: float) -> float:
        """Share of the rise that is gone when the stage amplifies no more than `usual`."""
        whole = self.rises.sum()
        if whole <= 0:
            return 0.0
        less = self._losses(self._limited(stage, usual)) - self._losses(self.before)
        return float(1 - less.sum() / whole)

    def margins(self) -> Array:
        """[n]: by how much the right logit led before; below 0 it was not the highest."""
        logits, rows = self.before["logits"].copy(), np.arange(len(self._targets))
        right = logits[rows, self._targets]
        logits[rows, self._targets] = -np.inf
        return np.asarray(right - logits.max(axis=1))

    def _limited(self, stage: str, usual: float) -> SeenVectors:
        if stage == "embeddings":
            limit = usual * self._moved("embedding")
            return self._seen(1, normalized=self._turned("normalized", limit))
        if stage == "sequences":
            limit = usual * self._moved("sequence")
            return self._seen(1, sequence_normalized=self._turned("sequence_normalized", limit))
        step = self._held["feed_forward"] - self.before["feed_forward"]
        allowed = _share(usual * self._moved("sequence_normalized"), self._decoded())
        return self._seen(1, feed_forward=self.after["feed_forward"] - (1 - allowed) * step)

    def _turned(self, name: str, limit: Array) -> Array:
        """A normalised vector on its way from before to after, no farther than `limit`; its length
        is what it would be after, since a norm turns vectors and does not shorten them."""
        old, new = self.before[name], self.after[name]
        share = _share(limit, self._moved(name))
        between = old + share * (new - old)
        length = lengths(between)[..., None]
        ends = lengths(old)[..., None] * (1 - share) + lengths(new)[..., None] * share
        return np.where(length > 0, between * ends / np.where(length > 0, length, 1), old)

    def _moved(self, name: str) -> Array:
        return lengths(self.after[name] - self.before[name])

    def _losses(self, seen: SeenVectors) -> Array:
        logits = seen["logits"]
        top = logits.max(axis=1, keepdims=True)
        rows = np.arange(len(self._targets))
        total = np.log(np.exp(logits - top).sum(axis=1)) + top[:, 0]
        return np.asarray(total - logits[rows, self._targets])


def _hurt(rises: Array) -> Array:
    """The rises of those whose loss rises; all alike where none does."""
    positive = np.maximum(rises, 0)
    return positive if positive.any() else np.ones_like(positive)


def lengths(vectors: Array) -> Array:
    """Of vectors along the last axis."""
    return np.asarray(np.sqrt((vectors**2).sum(axis=-1)))


def _ratio(out: Array, into: Array, weights: Array) -> float:
    """Weighted root mean squares of the one over the other; 1 where nothing moved."""
    moved = (weights * into**2).sum()
    return float(np.sqrt((weights * out**2).sum() / moved)) if moved > 0 else 1.0


def _share(limit: Array, length: Array) -> Array:
    """[..., 1]: the part of a way of this length that stays within the limit."""
    return np.minimum(1, np.divide(limit, length, where=length > 0, out=np.ones_like(length)))[
        ..., None
    ]
