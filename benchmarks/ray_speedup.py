"""What does a second worker node bring? The throughput of two over that of one, in one run.

    python benchmarks/ray_speedup.py                  some minutes
    python benchmarks/ray_speedup.py --seconds 1      a smoke test
    python benchmarks/ray_speedup.py --json ray.json

A real Ray cluster on this machine, that of the tests (tests/support/cluster.py): a head without
cores and worker nodes with one each. The same grid is swept with two workers and with one, in
turns, by a process that stays connected. Start-up is left out: before each time is taken, every
worker has trained a small sweep. What is left is what a long sweep is made of: sending, training,
collecting and writing shards. With less than two cores free, and one for the process that sweeps,
the second worker has nothing to work with.
"""

import argparse
import json
import logging
import os
import runpy
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console

import dynascope as ds
from dynascope.run_cost import expected_seconds
from report import machine
from settings import available_cores

BASE = {"training.epochs": 1000, "record.weights_every": 10}
WARM = {"training.epochs": 1}
GOAL = 1.6


def main() -> int:
    options = parse()
    console = Console()
    if os.getloadavg()[0] > 0.25 * available_cores():
        console.print("[yellow]The machine is busy: do not trust the times.[/]")
    cluster = runpy.run_path(str(Path(__file__).parents[1] / "tests/support/cluster.py"))["cluster"]
    with cluster() as made:
        seconds = measure(made, options, console)
    times = {workers: statistics.median(each) for workers, each in seconds.items()}
    ratios = [one / two for one, two in zip(seconds[1], seconds[2], strict=True)]
    ratio = statistics.median(ratios)
    console.print(
        f"{runs(options)} runs: {times[1]:.1f} s with one worker node, {times[2]:.1f} s with two: "
        f"{ratio:.2f} times the throughput (goal: {GOAL})",
        highlight=False,
    )
    if options.json:
        result = {
            "machine": machine(available_cores(), ("dynascope", "ray", "numpy")),
            "runs": runs(options),
            "seconds": seconds,
            "ratios": ratios,
            "ratio": ratio,
        }
        options.json.write_text(json.dumps(result, indent=2) + "\n")
    return 0


def measure(cluster: Any, options: argparse.Namespace, console: Console) -> dict[int, list[float]]:
    """Seconds by number of workers, one of each for each turn."""
    os.environ.update(cluster.environment())  # before Ray reads it
    import ray

    ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.CRITICAL)
    found: dict[int, list[float]] = {1: [], 2: []}
    try:
        for turn in range(options.repeat):
            for workers in (2, 1) if turn % 2 == 0 else (1, 2):
                cluster.complete(workers)
                with console.status(f"turn {turn + 1}: {workers} worker nodes"):
                    wait_for(ray, workers)
                    sweep(WARM, 8 * workers, 1e-6)  # a shard for each run: all get some
                    found[workers].append(sweep(BASE, runs(options), options.shard_seconds))
    finally:
        ray.shutdown()
    return found


def wait_for(ray: Any, workers: int) -> None:
    """Until Ray knows as many cores as there are nodes."""
    while int(ray.cluster_resources().get("CPU", 0)) != workers:
        time.sleep(0.1)


def sweep(base: dict[str, Any], seeds: int, shard_seconds: float | None) -> float:
    """How long a sweep takes on the cluster that this process is connected to."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        made = ds.sweep(
            {"seeds": seeds, "base": base},
            folder,
            ray="auto",
            shard_seconds=shard_seconds,
            progress=False,
        )
        took = time.perf_counter() - began
        assert len(made) == seeds
    return took


def runs(options: argparse.Namespace) -> int:
    """As many as two workers take the wanted time for."""
    each = expected_seconds(ds.Config().replace(BASE))
    return max(2, round(2 * float(options.seconds) / each))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--seconds", type=float, default=20.0, help="for two workers, about (%(default)s)")
    add("--repeat", type=int, default=3, help="turns, of which the median counts (%(default)s)")
    add("--shard-seconds", type=float, help="as in `dynascope sweep` (as suits the sweep)")
    add("--json", type=Path, metavar="FILE", help="also write everything to FILE")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
