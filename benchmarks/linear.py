"""Does our cost grow linearly? Seconds against size, one option at a time.

Not everything in a run depends on the option that is varied (a larger train set leaves the test set
as it is), so the seconds per unit fall at first. The exponent is the slope of log(seconds) against
log(size), fitted by least squares to the upper half of the sizes; 1 is linear.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import dynascope as ds
from ours import seconds_per_run

FEWER = 200  # epochs, where they are not what is varied
RUNS_PER_CORE = 2


@dataclass(frozen=True)
class Sweep:
    option: str
    values: tuple[int, ...]


SWEEPS = (
    Sweep("task.train_size", (512, 1024, 2048, 4096, 8192)),
    Sweep("training.epochs", (100, 200, 400, 800, 1600)),
    Sweep("model.hidden", (16, 32, 64, 128, 256, 512)),
)


@dataclass(frozen=True)
class Growth:
    """Seconds per run, all cores busy, at each value of one option."""

    option: str
    values: tuple[int, ...]
    seconds: tuple[float, ...]
    exponent: float


def measure_growth(sweep: Sweep, cores: int) -> Growth:
    base = {} if sweep.option == "training.epochs" else {"training.epochs": FEWER}
    seconds = [
        seconds_per_run(
            ds.Config().replace({**base, sweep.option: value}), cores * RUNS_PER_CORE, cores
        )
        for value in sweep.values
    ]
    return Growth(sweep.option, sweep.values, tuple(seconds), exponent(sweep.values, seconds))


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The log-log slope of the upper half (of five: the last three).

    >>> round(exponent([1, 2, 4, 8], [1.0, 1.0, 3.0, 12.0]), 6)
    2.0
    """
    half = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[half:]), np.log(seconds[half:]), 1)[0])
