"""How large a run will be: weights, rows and bytes of its record."""

from functools import lru_cache

import numpy as np

from dynascope._kernel import CURVE_NAMES, STEP_CURVE_NAMES
from dynascope.config import Config
from dynascope.edits import steps_per_epoch


def weight_count(config: Config) -> int:
    """Numbers that are trained."""
    return sum(int(np.prod(shape)) for shape in config.shapes.values())


@lru_cache(maxsize=4096)  # a sweep asks for each of its runs
def recorded_bytes(config: Config) -> int:
    """Memory that the record of one run takes."""
    record, epochs = config.record, config.training.epochs
    size, item = weight_count(config), 4 if config.precision == "float32" else 8
    numbers = (epochs + 1) * len(CURVE_NAMES)
    numbers += (kept_rows(epochs, record.weights_every) + 1) * size
    numbers += (kept_rows(epochs, record.state_every) + 1) * 3 * size
    if record.steps:
        steps = (record.steps[1] - record.steps[0]) * steps_per_epoch(config)
        numbers += steps * (size + len(STEP_CURVE_NAMES))
    return numbers * item


def kept_rows(epochs: int, every: int) -> int:
    """How often something is kept that is kept every so many epochs, from before training on."""
    return epochs // every + 1 if every else 1
