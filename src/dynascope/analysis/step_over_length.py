"""The learning rate against the shortest vector that is normalised.

The closer x is to the origin, the further norm(x) turns for a small step: a step is safe only while
it is shorter than x. Steps of Adam are about as long as the learning rate in each coordinate, so
that is what lengths are compared with; the steps themselves are not kept.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis._sequences import activations, own_sequences, sequences
from dynascope.analysis.checks import check_run, sound_epoch, sound_parameters
from dynascope.edits import steps_per_epoch
from dynascope.errors import DynascopeError
from dynascope.model import kernel_training
from dynascope.near_misses import guided
from dynascope.parameters import Parameters
from dynascope.run import Run

Array = npt.NDArray[Any]
_CURVES = ("min_norm_embedding", "min_norm_sequence")


@dataclass(frozen=True, eq=False)
class StepOverLength:
    """The learning rate over the length of the shortest vector that is normalised.

    - `shortest_embedding`, `shortest_sequence`: after the last epoch, of E(a) + P(t) over all
      tokens and positions and of the sequence embedding over all sequences; `ratio` is that of the
      shorter one.
    - `by_epoch`: [epochs] with the shortest vectors of each epoch's steps and evaluation, the first
      value being that of epoch 1; NaN where they were not recorded. `most` is the largest, at
      `most_epoch`; None where there is none. `unsafe_epochs`: how many are 1 or more.

    A length of 0 makes a ratio infinite.
    """

    shortest_embedding: float
    shortest_sequence: float
    ratio: float
    by_epoch: Array
    most: float | None
    most_epoch: int | None
    unsafe_epochs: int | None


@guided
def step_over_length(run: Run) -> StepOverLength:
    """The learning rate of a run over the shortest vector that is normalised, up to its divergence.

    >>> import dynascope as ds
    >>> run = ds.train(ds.Config().replace({"training.epochs": 3}), progress=False)[0]
    >>> found = step_over_length(run)
    >>> shortest = min(found.shortest_embedding, found.shortest_sequence)
    >>> bool(np.isclose(found.ratio, 0.003 / shortest)), len(found.by_epoch), found.unsafe_epochs
    (True, 3, 0)
    """
    run = check_run(run)
    if run.config.model.norm == "none":
        raise DynascopeError(f"run {run.id}: model.norm is none, so that nothing is normalised.")
    last = sound_epoch(run, -1)
    parameters, rates = sound_parameters(run, last), learning_rates(run, last)
    lengths = _shortest_embedding(run, parameters), _shortest_sequence(run, parameters)
    now = rates[-1] if last else run.config.training.lr
    by_epoch = _over(rates, _shortest_recorded(run, last))
    known = not np.isnan(by_epoch).all()
    at = int(np.nanargmax(by_epoch)) if known else 0
    return StepOverLength(
        shortest_embedding=lengths[0],
        shortest_sequence=lengths[1],
        ratio=float(_over(np.array([now]), np.array([min(lengths)]))[0]),
        by_epoch=by_epoch,
        most=float(by_epoch[at]) if known else None,
        most_epoch=at + 1 if known else None,
        unsafe_epochs=int((by_epoch >= 1).sum()) if known else None,
    )


def learning_rates(run: Run, last: int) -> Array:
    """[last]: the largest learning rate of a step of each epoch, the first value being epoch 1's.

    A schedule rises and then falls at most, so that the largest is at an end of the epoch, or where
    warming up ends in the middle of it.
    """
    edited = any(edit.options for edit in run.edits)
    if run.config.training.schedule == "constant" and not edited:
        return np.full(last, run.config.training.lr)
    return np.array([_rate(run, epoch) for epoch in range(1, last + 1)])


def _rate(run: Run, epoch: int) -> float:
    config = run.config_at(epoch - 1)
    schedule = kernel_training(config.training)
    total = config.training.epochs * steps_per_epoch(config)
    first, last = run.steps_done(epoch - 1), max(run.steps_done(epoch) - 1, 0)
    peak = min(max(config.training.warmup, first), last)
    return max(schedule.learning_rate(step, total) for step in (first, peak, last))


def _shortest_embedding(run: Run, parameters: Parameters) -> float:
    tokens = parameters.token_embedding[: run.config.task.vocab].astype(float)
    positions = parameters.position_embedding.astype(float)
    return float(min(np.linalg.norm(token + positions, axis=1).min() for token in tokens))


def _shortest_sequence(run: Run, parameters: Parameters) -> float:
    own = own_sequences(run)
    rows = sequences(run.config) if own is None else own
    pieces = activations(parameters, rows, run.config)
    return float(min(np.linalg.norm(got.sequence.astype(float), axis=1).min() for got in pieces))


def _shortest_recorded(run: Run, last: int) -> Array:
    """[last]: the shortest vector of each epoch; NaN where none was recorded."""
    curves = [run.curves[name][1 : last + 1] for name in _CURVES if name in run.curves]
    if not curves:
        return np.full(last, np.nan)
    return np.asarray(np.fmin.reduce([np.asarray(curve, float) for curve in curves]))


def _over(rates: Array, lengths: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(rates / lengths)
