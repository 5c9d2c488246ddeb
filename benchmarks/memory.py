"""Peak memory of a large training job, in a process that does nothing else.

python benchmarks/memory.py RUNS
"""

import json
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import dynascope as ds

CONFIG = ds.Config().replace({"record.weights_every": 10})
STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Memory:
    runs: int
    epochs: int
    seconds: float
    before_bytes: int  # with dynascope imported
    peak_bytes: int


def measure_memory(runs: int) -> Memory:
    """Trains `runs` seeds of the default setting on all cores, weights kept every 10 epochs."""
    command = [sys.executable, __file__, str(runs)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Memory(**json.loads(done.stdout))


def train(runs: int) -> Memory:
    before, begin = peak_bytes(), time.perf_counter()
    kept = ds.train(CONFIG, seeds=range(runs), progress=False)
    seconds = time.perf_counter() - begin
    return Memory(len(kept), CONFIG.training.epochs, seconds, before, peak_bytes())


def peak_bytes() -> int:
    """The greatest resident size so far; Linux's getrusage counts the parent's before exec too."""
    if STATUS.exists():
        lines = STATUS.read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    print(json.dumps(asdict(train(int(sys.argv[1])))))
