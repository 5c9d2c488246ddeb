"""Our engine, through the same door that users take: `ds.train` with a thread per core."""

import math
import time

import dynascope as ds
from settings import EPOCHS, Measurement

PILOT_EPOCHS = 5


def seconds_per_run(config: ds.Config, runs: int, cores: int) -> float:
    """Wall time of `runs` runs, divided by them: data, initial weights and recording included."""
    begin = time.perf_counter()
    ds.train(config, seeds=range(runs), threads=cores, progress=False)
    return (time.perf_counter() - begin) / runs


def measure(config: ds.Config, cores: int, seconds: float) -> Measurement:
    """Whole runs for at least `seconds`; fewer epochs, scaled, where one run per core takes longer.

    A pilot of a few epochs decides. It overestimates (it pays for starting up), never by much.
    """
    pilot = config.replace({"training.epochs": PILOT_EPOCHS})
    seconds_per_run(pilot, cores, cores)  # loads code and touches memory
    each = seconds_per_run(pilot, cores, cores) / PILOT_EPOCHS * EPOCHS
    runs = cores * max(1, math.ceil(seconds / (cores * each)))
    epochs = min(EPOCHS, max(PILOT_EPOCHS, math.ceil(EPOCHS * 2 * seconds / (runs * each))))
    taken = seconds_per_run(config.replace({"training.epochs": epochs}), runs, cores)
    scaled = "" if epochs == EPOCHS else f", scaled to {EPOCHS}"
    return Measurement(taken * EPOCHS / epochs, f"{runs} runs of {epochs} epochs{scaled}")
