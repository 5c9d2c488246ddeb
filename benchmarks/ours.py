"""Our engine, through the same door that users take: `ds.train` with a thread per core."""

import math
import time

import dynascope as ds
from settings import EPOCHS, Measurement


def seconds_per_run(config: ds.Config, runs: int, cores: int) -> float:
    """Wall time of `runs` runs, divided by them: data, initial weights and recording included."""
    begin = time.perf_counter()
    ds.train(config, seeds=range(runs), threads=cores, progress=False)
    return (time.perf_counter() - begin) / runs


def measure(config: ds.Config, cores: int, seconds: float) -> Measurement:
    """Whole runs for at least `seconds`; fewer epochs, scaled, where those would take too long."""
    whole = _estimate(config, cores, seconds / 8) * cores  # wall time of one run on each core
    epochs = EPOCHS if whole < 4 * seconds else math.ceil(EPOCHS * seconds / whole)
    runs = cores * max(1, math.ceil(seconds / whole))
    taken = seconds_per_run(config.replace({"training.epochs": epochs}), runs, cores)
    scaled = "" if epochs == EPOCHS else f", scaled to {EPOCHS}"
    return Measurement(taken * EPOCHS / epochs, f"{runs} runs of {epochs} epochs{scaled}")


def _estimate(config: ds.Config, cores: int, seconds: float) -> float:
    """Seconds per run, from as few epochs as make starting up negligible."""
    epochs = 1
    while True:
        taken = seconds_per_run(config.replace({"training.epochs": epochs}), cores, cores)
        if taken * cores > seconds or epochs >= EPOCHS:
            return taken * EPOCHS / epochs
        epochs *= 4
