"""How long a run will take, as far as its config tells.

The form follows the kernel: per step it tabulates every (token, position) once; per sequence it
adds up N look-ups and goes through h hidden units of d numbers; each epoch evaluates the distinct
sequences of both sets, forward only. The factors were fitted to the kernel on one core of a current
x86-64 (36 settings, all within 30%); they balance shards, and refuse what would never end. What a
sweep will take on the machine at hand is these costs times one measured factor
(`sweeps.estimate`).
"""

import math
from functools import lru_cache

from dynascope.config import Config
from dynascope.edits import steps_per_epoch

_LANES = 16  # sequences that the kernel takes at once: a smaller batch costs as much
_FORWARD = 0.35  # of a training step's cost
_DOUBLE = 3.5  # float64 against float32

_EPOCH = 2.9e-5  # seconds
_ENTRY = 1.56e-8  # per step, table entry and number in it
_SEQUENCE = 1.5e-8
_LOOK_UP = 1.0e-10  # per position and number
_UNIT = 1.13e-9  # per hidden unit
_WEIGHT = 2.93e-10  # per hidden unit and dimension


@lru_cache(maxsize=65536)
def expected_seconds(config: Config) -> float:
    """The expected time of one run on one core, in seconds of the reference machine.

    >>> small = Config()
    >>> expected_seconds(small.replace({"model.hidden": 64})) > expected_seconds(small)
    True
    """
    task, model, steps = config.task, config.model, steps_per_epoch(config)
    trained = steps * -(-config.training.batch // _LANES) * _LANES
    evaluated = _distinct(task.train_size, task.sequences) + _distinct(
        task.test_size, task.sequences
    )
    each = _SEQUENCE + _LOOK_UP * task.length * (model.dim + 1)
    each += model.hidden * (_UNIT + _WEIGHT * model.dim)
    table = _ENTRY * steps * task.length * task.vocab * (model.dim + 2)
    scale = 1.0 if config.precision == "float32" else _DOUBLE
    epoch = _EPOCH + scale * (table + each * (trained + _FORWARD * evaluated))
    return (config.training.epochs + 1) * epoch


def epoch_seconds(config: Config) -> float:
    """The same of one of its epochs."""
    return expected_seconds(config) / (config.training.epochs + 1)


def _distinct(drawn: int, existing: int) -> float:
    """How many different ones of `existing` are among `drawn`, on average."""
    return -existing * math.expm1(-drawn / existing) if existing < 2**40 else drawn
