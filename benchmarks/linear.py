"""Does our cost grow linearly? Seconds against size, one option at a time.

A straight line, seconds = fixed + slope * size, is fitted by least squares of the relative errors:
`fixed` is what does not depend on the option (a larger train set leaves the test set as it is).
Linear growth means that no point lies far from the line; the exponent, the log-log slope of the
upper half of the sizes, says the same where `fixed` is small.

The number of samples is varied at p=3: at p=2 only 4096 sequences exist, and equal ones are
evaluated once, so the cost would grow less than linearly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

import dynascope as ds
from ours import seconds_per_run

FEWER = 200  # epochs, where they are not what is varied
RUNS_PER_CORE = 2
REPEATS = 3  # the fastest counts: noise only adds


@dataclass(frozen=True)
class Sweep:
    option: str
    values: tuple[int, ...]
    base: Mapping[str, int] = field(default_factory=lambda: {"training.epochs": FEWER})


SWEEPS = (
    Sweep(
        "task.train_size",
        (1024, 2048, 4096, 8192, 16384, 32768),
        {"training.epochs": FEWER // 2, "task.vocab": 3},
    ),
    Sweep("training.epochs", (100, 200, 400, 800, 1600), {}),
    Sweep("model.hidden", (16, 32, 64, 128, 256, 512, 1024)),
)


@dataclass(frozen=True)
class Growth:
    """Seconds per run, all cores busy, at each value of one option."""

    option: str
    values: tuple[int, ...]
    seconds: tuple[float, ...]
    fixed: float
    slope: float
    deviation: float  # of the point farthest from the line, relative
    exponent: float


def measure_growth(sweep: Sweep, cores: int) -> Growth:
    seconds = [
        min(
            seconds_per_run(
                ds.Config().replace({**sweep.base, sweep.option: value}),
                cores * RUNS_PER_CORE,
                cores,
            )
            for _ in range(REPEATS)
        )
        for value in sweep.values
    ]
    line = straight_line(sweep.values, seconds)
    return Growth(
        sweep.option, sweep.values, tuple(seconds), *line, exponent(sweep.values, seconds)
    )


def straight_line(sizes: Sequence[float], seconds: Sequence[float]) -> tuple[float, float, float]:
    """Intercept, slope and the largest relative deviation of the best line.

    >>> [round(x, 6) for x in straight_line([1, 2, 4], [5.0, 7.0, 11.0])]
    [3.0, 2.0, 0.0]
    """
    slope, fixed = np.polyfit(sizes, seconds, 1, w=1 / np.asarray(seconds))
    fitted = fixed + slope * np.asarray(sizes)
    return float(fixed), float(slope), float(np.abs(fitted / np.asarray(seconds) - 1).max())


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The log-log slope of the upper half (of five: the last three).

    >>> round(exponent([1, 2, 4, 8], [1.0, 1.0, 3.0, 12.0]), 6)
    2.0
    """
    half = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[half:]), np.log(seconds[half:]), 1)[0])
