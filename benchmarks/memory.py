"""Peak memory of a large training job, in a process of its own."""

import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import dynascope as ds
from processes import together

CONFIG = ds.Config().replace({"record.weights_every": 10})
STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Memory:
    runs: int
    epochs: int
    seconds: float
    before_bytes: int  # of the process with dynascope imported
    peak_bytes: int


def measure_memory(runs: int) -> Memory:
    """Trains `runs` seeds of the default setting, weights kept every 10 epochs."""
    return together(_train, [runs])[0]


def _train(runs: int) -> Memory:
    before, begin = peak_bytes(), time.perf_counter()
    kept = ds.train(CONFIG, seeds=range(runs), progress=False)
    seconds = time.perf_counter() - begin
    peak = peak_bytes()
    del kept  # not before: holding the result is part of the cost
    return Memory(runs, CONFIG.training.epochs, seconds, before, peak)


def peak_bytes() -> int:
    """The greatest resident size so far; Linux's getrusage counts the parent's before exec too."""
    if STATUS.exists():
        lines = STATUS.read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
