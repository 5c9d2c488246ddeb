"""What the kernel does in a step besides the gradient: learning rate, Adam's corrections."""

from functools import lru_cache

from dynascope import _kernel
from dynascope.config import Config, TrainingConfig
from dynascope.option_tables import to_tables
from dynascope.run_size import steps_per_epoch


def learning_rate(config: Config, step: int) -> float:
    """Of a step, counted from 0."""
    total = config.training.epochs * steps_per_epoch(config)
    return _of(config.training).learning_rate(step, total)


def unbias(training: TrainingConfig, steps: int) -> tuple[float, float]:
    """What Adam divides its moments by after so many steps: 1 - beta^steps.

    >>> [round(factor, 6) for factor in unbias(TrainingConfig(), 3)]
    [0.271, 0.002997]
    """
    return _of(training).unbias(steps)


@lru_cache(maxsize=256)
def _of(training: TrainingConfig) -> _kernel.Training:
    return _kernel.Training(to_tables(training))
