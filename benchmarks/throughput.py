"""How fast is the engine? Against eager PyTorch and JAX, on this machine, in one run.

    python benchmarks/throughput.py --quick            a smoke test, about 20 seconds
    python benchmarks/throughput.py --json speed.json  all settings, some minutes
    python benchmarks/throughput.py --linear           does the cost grow linearly?
    python benchmarks/throughput.py --memory           peak memory of 1000 runs

All times are seconds per run of 1000 epochs with all cores busy: with one process or thread per
core, each needing t seconds for a run, t / cores. Every implementation starts from the same data
and weights and records the same: at each epoch loss and accuracy on train and test set and all
weights, and the gradient norm of each parameter over the steps. Before anything is timed, their
losses, gradients and optimizers are compared with each other.
"""

import argparse
import importlib.util
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

import dynascope as ds
import linear
import memory
import ours
from peak import UnknownPeakError, measure_peak
from report import (
    OURS,
    Comparison,
    machine,
    print_comparison,
    print_growth,
    print_memory,
)
from settings import SETTINGS, Measurement, available_cores

PEERS = ("eager", "jax")
QUICK = {"settings": ["default"], "seconds": 0.5}


def main() -> int:
    options = parse()
    console = Console()
    warn_if_busy(options.cores, console)
    result: dict[str, Any] = {
        "machine": machine(options.cores, ("dynascope", "torch", "jax", "numpy"))
    }
    if options.linear:
        growths = [linear.measure_growth(sweep, options.cores) for sweep in linear.SWEEPS]
        for growth in growths:
            print_growth(console, growth)
        result["linear"] = [vars(growth) for growth in growths]
    if options.memory:
        used = memory.measure_memory(options.memory)
        print_memory(console, used)
        result["memory"] = vars(used)
    if not (options.linear or options.memory):
        result |= compare(options, console)
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")
    return 0


def compare(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    from check import check_peers  # not at the top: a JAX process must not load PyTorch

    peers = present(options.peers, console)
    agreement = check_peers(ds.Config(), with_jax="jax" in peers)
    for name, size in agreement.items():
        console.print(f"agreement, {name}: {size:.1e}", highlight=False)
    peak = find_peak(options.cores, console)
    done = []
    for setting in options.settings:
        with console.status(f"measuring: {setting}"):
            times = dict(measure(SETTINGS[setting], peers, options))
        done.append(Comparison(setting, times, peak))
        print_comparison(console, done[-1])
    return {
        "agreement": agreement,
        "peak_operations_per_second": peak,
        "eager_records": options.record,
        "settings": [comparison.to_dict() for comparison in done],
    }


def measure(
    config: ds.Config, peers: list[str], options: argparse.Namespace
) -> Iterator[tuple[str, Measurement]]:
    yield OURS, ours.measure(config, options.cores, options.seconds)
    if "eager" in peers:
        from peers import eager

        name = "eager PyTorch" if options.record else "eager PyTorch (no record)"
        yield name, eager.measure(config, options.cores, options.seconds, options.record)
    if "jax" in peers:
        from peers import jax_scan

        widths = jax_scan.WIDTHS[1:2] if options.quick else jax_scan.WIDTHS
        measured = (config, options.cores, options.seconds, widths)
        yield "JAX", jax_scan.measure(*measured, plain=True)
        yield "JAX, tuned, with our table", jax_scan.measure(*measured)


def warn_if_busy(cores: int, console: Console) -> None:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if load > 0.25 * cores:
        console.print(f"[yellow]The machine is busy (load {load:.1f}): do not trust the times.[/]")


def present(peers: list[str], console: Console) -> list[str]:
    if "jax" in peers and importlib.util.find_spec("jax") is None:
        console.print("JAX is left out: it is not installed (pip install 'dynascope[bench]').")
        return [peer for peer in peers if peer != "jax"]
    return peers


def find_peak(cores: int, console: Console) -> float | None:
    try:
        peak = measure_peak(cores)
    except UnknownPeakError as error:
        console.print(f"The share of the machine's peak is left out: {error}.")
        return None
    console.print(f"peak, {cores} cores: {peak / 1e9:.1f} billion multiplies and adds/s\n")
    return peak


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="one setting, half a second each, one JAX width")
    names = ", ".join(map(repr, SETTINGS))
    add("--settings", nargs="+", choices=SETTINGS, metavar="NAME", help=f"any of {names} (all)")
    add("--peers", nargs="*", choices=PEERS, default=list(PEERS), help="whom to measure (both)")
    add(
        "--no-record",
        dest="record",
        action="store_false",
        help="eager PyTorch keeps neither weights nor gradient norms; the others still do",
    )
    add("--seconds", type=float, help="to time each for, at least (2)")
    add("--cores", type=int, default=available_cores(), help="to keep busy (all: %(default)s)")
    add("--json", type=Path, metavar="FILE", help="also write everything to FILE")
    add(
        "--linear",
        action="store_true",
        help="instead: our time against train_size, epochs and hidden",
    )
    add(
        "--memory",
        type=int,
        nargs="?",
        const=1000,
        metavar="RUNS",
        help="instead: peak memory of RUNS runs of 1000 epochs (1000: takes minutes)",
    )
    options = parser.parse_args()
    defaults = QUICK if options.quick else {"settings": list(SETTINGS), "seconds": 2.0}
    for name, value in defaults.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    return options


if __name__ == "__main__":
    raise SystemExit(main())
