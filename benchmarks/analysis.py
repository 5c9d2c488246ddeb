"""What do analyses cost?

    python benchmarks/analysis.py                 some minutes on an idle machine
    python benchmarks/analysis.py --runs 40       a smoke test
    python benchmarks/analysis.py --json analysis.json

One circuit of a trained default model (all 4096 sequences, everything measured); the circuits of
all epochs of a run, on all cores; and the same sweep without and with `analyse`, of which the ratio
counts.
"""

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import dynascope as ds
from dynascope.analysis import circuit, circuits
from dynascope.analysis_columns import KINDS
from report import machine
from settings import available_cores


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--runs", type=int, default=1000)
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    results = {
        "machine": machine(available_cores(), ("dynascope", "numpy")),
        **one_run(),
        **sweeps(given.runs),
    }
    told = {name: value for name, value in results.items() if name != "machine"}
    print(json.dumps(told, indent=1))
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n")


def one_run() -> dict[str, float]:
    run = ds.train(seeds=[15], progress=False)[0]
    weights = run.parameters()
    circuit(weights, run.config)  # the sequences are made once for each task
    single = [timed(lambda: circuit(weights, run.config)) for _ in range(50)]
    return {
        "circuit_ms": round(1000 * statistics.median(single), 2),
        "all_epochs_s": round(timed(lambda: circuits(run)), 2),
    }


def sweeps(runs: int) -> dict[str, Any]:
    grid: dict[str, Any] = {"seeds": runs}
    with tempfile.TemporaryDirectory() as folder:
        plain = timed(lambda: ds.sweep(grid, Path(folder, "plain"), progress=False))
        grid["analyse"] = list(KINDS)
        analysed = timed(lambda: ds.sweep(grid, Path(folder, "analysed"), progress=False))
    return {
        "runs": runs,
        "sweep_s": round(plain, 1),
        "with_analyse_s": round(analysed, 1),
        "ratio": round(analysed / plain, 2),
    }


def timed(work: Any) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
