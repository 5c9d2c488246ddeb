"""How many of the feed-forward's activations are next to nothing."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis._sequences import activations, given, own_sequences, sequences
from dynascope.analysis.checks import check_fit, sound_epoch, sound_parameters
from dynascope.analysis.thresholds import (
    SPARSITY_ALL,
    SPARSITY_DECADES,
    SPARSITY_POINTS,
    SPARSITY_RANGE,
    SPARSITY_SAMPLE,
)
from dynascope.config_input import ConfigLike
from dynascope.errors import expected
from dynascope.near_misses import guided
from dynascope.parameters import Parameters
from dynascope.run import Run

Array = npt.NDArray[Any]

DEFAULT_EPS: Array = np.geomspace(*SPARSITY_RANGE, SPARSITY_POINTS)
DEFAULT_EPS.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Sparsity:
    """The share of hidden activations with |.| < eps, for each eps."""

    eps: Array  # [eps], rising
    share: Array  # [eps]: over all units and sequences
    by_unit: Array  # [eps, hidden]: over the sequences
    sequences: int  # how many there were


@guided
def sparsity(
    parameters: Parameters,
    config: ConfigLike,
    eps: npt.ArrayLike = DEFAULT_EPS,
    tokens: npt.ArrayLike | None = None,
) -> Sparsity:
    """The sparsity of the hidden activations over all sequences (over the test set of seed 0 where
    more than 2**20 exist), or over the sequences given.

    >>> import dynascope as ds
    >>> config = ds.Config(model=ds.ModelConfig(activation="relu", bias=False))
    >>> nothing = 0 * ds.initial_parameters(config)
    >>> sparsity(nothing, config, eps=[0.1, 1]).share.tolist()
    [1.0, 1.0]
    """
    (fitting, config), limits = check_fit(parameters, config), _checked(eps)
    rows = sequences(config) if tokens is None else given(tokens, config)
    hidden = config.model.hidden
    first = np.zeros(hidden * (len(limits) + 1), np.int64)  # by the first limit that is above
    for got in activations(fitting, rows, config):
        place = np.searchsorted(limits, np.abs(got.hidden), side="right")
        flat = place * hidden + np.arange(hidden)
        first += np.bincount(flat.ravel(), minlength=len(first))
    below = first.reshape(-1, hidden)[:-1].cumsum(axis=0)
    by_unit = below / len(rows)
    return Sparsity(limits, by_unit.mean(axis=1), by_unit, len(rows))


def run_sparsity(run: Run, epoch: int = -1) -> Sparsity:
    """The sparsity of a run after an epoch (-1: the last that is sound), for limits a decade apart.

    Over all sequences while at most 2**16 exist, else over a sample, which is the same for every
    run of the task; of a run with data of its own over its train set.
    """
    own = own_sequences(run)
    tokens = sequences(run.config, SPARSITY_ALL, SPARSITY_SAMPLE) if own is None else own
    weights = sound_parameters(run, sound_epoch(run, epoch))
    return sparsity(weights, run.config, SPARSITY_DECADES, tokens)


def _checked(eps: npt.ArrayLike) -> Array:
    what = "one or more rising numbers above 0"
    try:
        limits = np.atleast_1d(np.array(eps, dtype=float))
    except (TypeError, ValueError):
        raise expected("eps", what, eps) from None
    if limits.ndim != 1 or not limits.size or not (limits > 0).all() or (np.diff(limits) < 0).any():
        raise expected("eps", what, eps)
    return limits
