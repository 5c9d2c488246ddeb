"""The metric in which an optimizer follows the gradient: how it weighs each weight.

A step of Adam is θ -= lr D^-1 m with D = (1 - beta1^t) (sqrt(v / (1 - beta2^t)) + eps) / rate,
where `rate` is the weight's own learning rate relative to lr; one of SGD has D = 1 / rate. In the
coordinates D^1/2 θ that is plain momentum, along the gradient there, on the Hessian
D^-1/2 H D^-1/2. So it becomes unstable where the top eigenvalue of that matrix passes the limit of
plain momentum: with m = b m + g, (2 + 2b) / lr, and (2 + 2b) / ((1 + 2b) lr) where the step looks
ahead (Nesterov: along g + b m, so that on a curvature c the two-step matrix has determinant
b (1 - lr c) and trace 1 + b - lr c (1 + b)); Adam's m = b m + (1 - b) g has a learning rate
(1 - b) times as large, so (2 + 2b) / ((1 - b) lr), which is 38 / lr for b = 0.9. That is for full
batches and for D that changes slowly. Clipping, constraints and AdamW's own decay are
not taken into account. A rule that is not linear in the gradient (Lion, Muon) has neither metric
nor limit, and nor has any rule with SAM, whose gradient is that of another place.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope.catalog import PARAMETERS
from dynascope.config import Config, TrainingConfig
from dynascope.edits import steps_per_epoch
from dynascope.model import kernel_training

Array = npt.NDArray[Any]


class Metric(NamedTuple):
    """An optimizer after some step."""

    scale: Array | None  # D over all weights; None where it is 1, or where no step has been done
    known: bool  # whether D is known: not for Adam before its first step
    update: Array | None  # the direction of the last step, over all weights; None: no step done
    lr: float  # of the last step, or of the first if there was none
    limit: float | None  # of the top eigenvalue in this metric; None: the rule has none
    decay: float  # weight decay that is part of the gradient, and so adds to every curvature


def metric(config: Config, steps: int, state: Array | None, gradient: Array) -> Metric:
    """The metric after so many steps. `state` is [weights, first, second moments], None: not known;
    `gradient` on the whole train set stands for the update of SGD without momentum."""
    training = config.training
    lr = learning_rate(config, max(steps - 1, 0))
    rate = rates(config)
    if training.metric == "nonlinear":
        return Metric(None, False, None, lr, None, gradient_decay(training))
    if training.metric == "plain":
        moment = gradient if not training.momentum else None if state is None else state[1]
        if training.nesterov and moment is not None:  # the step was along g + b m
            moment = gradient + training.momentum * moment
        update = None if moment is None or not steps else -rate * moment
        plain = training.mlp_lr_discount == 1
        scale = None if plain else 1 / rate
        return Metric(scale, True, update, lr, limit(training, lr), gradient_decay(training))
    decay = gradient_decay(training)
    if not steps or state is None:
        return Metric(None, False, None, lr, limit(training, lr), decay)
    first, second = np.asarray(state[1:], np.float64)
    unbias1, unbias2 = kernel_training(training).unbias(steps)
    root = np.sqrt(second / unbias2) + training.eps
    scale = unbias1 * root / rate
    return Metric(scale, True, -first / scale, lr, limit(training, lr), decay)


def gradient_decay(training: TrainingConfig) -> float:
    """Weight decay that is part of the gradient: AdamW's is not."""
    return 0.0 if training.rule.decoupled_decay else training.weight_decay


def limit(training: TrainingConfig, lr: float) -> float | None:
    """The curvature from which on steps of this length grow instead of shrink; None where they do
    not follow the gradient linearly.

    >>> round(limit(TrainingConfig(), 0.5), 9), limit(TrainingConfig(optimizer="sgd"), 0.5)
    (76.0, 4.0)
    >>> limit(TrainingConfig(optimizer="sgd", momentum=0.5), 0.5)
    6.0
    >>> limit(TrainingConfig(optimizer="sgd", momentum=0.5, nesterov=True), 0.5)
    3.0
    >>> limit(TrainingConfig(optimizer="muon"), 0.5), limit(TrainingConfig(sam=0.05), 0.5)
    (None, None)
    """
    if training.metric == "nonlinear":
        return None
    if lr == 0:
        return math.inf
    if training.metric == "plain":
        ahead = 1 + 2 * training.momentum if training.nesterov else 1
        return (2 + 2 * training.momentum) / (ahead * lr)
    return (2 + 2 * training.beta1) / ((1 - training.beta1) * lr)


def rates(config: Config) -> Array:
    """The learning rate of each weight relative to lr: the feed-forward's is discounted."""
    fed = 1 / config.training.mlp_lr_discount
    return np.concatenate(
        [
            np.full(int(np.prod(shape)), fed if PARAMETERS[name].part == "feed_forward" else 1.0)
            for name, shape in config.shapes.items()
        ]
    )


def learning_rate(config: Config, step: int) -> float:
    """Of a step, counted from 0."""
    total = config.training.epochs * steps_per_epoch(config)
    return kernel_training(config.training).learning_rate(step, total)
