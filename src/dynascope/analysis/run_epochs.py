"""Measures of a run at many of its epochs."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope import _kernel
from dynascope.analysis.shares import shares_of
from dynascope.errors import DynascopeError, expected
from dynascope.model import config_shape
from dynascope.run import Run

Array = npt.NDArray[Any]


def last_sound_epoch(run: Run) -> int:
    """The last epoch with finite weights: the last one, or the one before the divergence."""
    return run.epochs if run.diverged is None else max(run.diverged - 1, 0)


def kept_epochs(run: Run, what: str) -> list[int]:
    """Epochs whose weights were kept, up to the divergence; refused where there are none between
    the first and the last.

    `what` is the analysis that needs them, in the plural, for the sentence that refuses.
    """
    if run.config.record.weights_every == 0 and run.epochs > 1:
        raise DynascopeError(
            f"run {run.id}: record.weights_every is 0, but {what} need the weights of more epochs; "
            "train it again with record.weights_every = 1 or more."
        )
    last = last_sound_epoch(run)
    return [int(epoch) for epoch in run.weight_epochs if epoch <= last]


def shares(run: Run, epochs: Sequence[int]) -> Array:
    """[epochs, 3]: the shares between, permutation and suffix of the variance of the sequence
    embedding after each of these kept epochs; NaN where there is no variance at all."""
    check_symmetries(run)
    shape, sequences = config_shape(run.config), run.task.design().arguments
    parts = _kernel.circuits(weights_at(run, epochs), shape, *sequences, ["embedding"])["embedding"]
    found = (shares_of(row) for row in parts)
    none = (np.nan,) * 3
    return np.array([(f.between, f.permutation, f.suffix) if f else none for f in found])


def weights_at(run: Run, epochs: Iterable[int]) -> Array:
    """[epochs, packed]: the weights after each of these epochs, which must be kept ones."""
    given = list(epochs) if isinstance(epochs, Iterable) else [epochs]
    for epoch in given:
        whole = isinstance(epoch, int | np.integer) and not isinstance(epoch, bool)
        if not whole or not 0 <= epoch < 2**53:
            raise expected("epochs", "whole numbers of at least 0", epoch)
    wanted = np.array(given, np.int64)
    rows = np.minimum(np.searchsorted(run.weight_epochs, wanted), len(run.weight_epochs) - 1)
    last = last_sound_epoch(run)
    for epoch in wanted[(run.weight_epochs[rows] != wanted) | (wanted > last)]:
        raise expected("epochs", f"epochs up to {last} whose weights were kept", int(epoch))
    return np.ascontiguousarray(run.weights[rows])


def check_symmetries(run: Run) -> None:
    """Refuse a run whose task has no known symmetries for an analysis that is about them."""
    if run.task.groups is None:
        raise DynascopeError(
            f"run {run.id}: this analysis needs a task whose symmetries are known, but the run has "
            "its own data."
        )
