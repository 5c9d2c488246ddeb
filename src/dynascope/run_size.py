"""How large a run will be: weights, rows and bytes of its record, and what its making takes."""

from functools import lru_cache

import numpy as np

from dynascope._kernel import CURVE_NAMES, STEP_CURVE_NAMES
from dynascope.config import Config
from dynascope.edits import steps_per_epoch


def weight_count(config: Config) -> int:
    """Numbers that are trained."""
    return sum(int(np.prod(shape)) for shape in config.shapes.values())


SHARD_BYTES = 2**27  # of records, which a store writes at once unless a single run has more


@lru_cache(maxsize=4096)  # a sweep asks for each of its runs
def recorded_bytes(config: Config) -> int:
    """Memory that the record of one run takes."""
    return _curve_bytes(config) + _trajectory_bytes(config)


def _curve_bytes(config: Config) -> int:
    return (config.training.epochs + 1) * len(CURVE_NAMES) * _item(config)


def _trajectory_bytes(config: Config) -> int:
    record, epochs, size = config.record, config.training.epochs, weight_count(config)
    numbers = (kept_rows(epochs, record.weights_every) + 1) * size
    numbers += (kept_rows(epochs, record.state_every) + 1) * 3 * size
    if record.steps:
        steps = (record.steps[1] - record.steps[0]) * steps_per_epoch(config)
        numbers += steps * (size + len(STEP_CURVE_NAMES))
    return numbers * _item(config)


def _item(config: Config) -> int:
    return 4 if config.precision == "float32" else 8


def working_bytes(config: Config) -> int:
    """Memory of one run in the making, besides its record: data sets, model, moments; generous."""
    task = config.task
    sequences = (task.train_size + task.test_size) * (2 * task.length + 16) * 4
    per_entry = 8 * config.model.dim * task.length * task.vocab
    return sequences + 8 * (per_entry + 8 * weight_count(config) + 200 * config.model.hidden)


def saving_bytes(config: Config, runs: int) -> int:
    """Memory that writing so many runs takes besides their records, at its highest.

    Of what is written at once, the trajectory is there three times more: as tensors, as the bytes
    of each and as those of the file. Then two of them, and the curves as float64: in a table and
    in the bytes of another file.
    """
    at_once = max(1, min(runs, SHARD_BYTES // recorded_bytes(config)))
    trajectory = _trajectory_bytes(config)
    table = 2 * trajectory + 1.5 * 8 / _item(config) * _curve_bytes(config)
    return int(at_once * max(3.3 * trajectory, table))


def fewer_weights(config: Config) -> Config:
    """The same with weights kept at a tenth of the epochs or at a thousand, if these are fewer."""
    every = max(10, -(-config.training.epochs // 1000))
    few = 0 < config.record.weights_every < every
    return config.replace({"record.weights_every": every}) if few else config


def ends_of_record(config: Config) -> Config:
    """The same with nothing kept but the first and the last weights and states."""
    return config.replace(
        {"record.weights_every": 0, "record.state_every": 0, "record.steps": None}
    )


def kept_rows(epochs: int, every: int) -> int:
    """How often something is kept that is kept every so many epochs, from before training on."""
    return epochs // every + 1 if every else 1
