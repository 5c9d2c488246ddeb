"""What does the exact Hessian cost, and how does that compare with PyTorch's?

    python benchmarks/curvature.py          writes a table of docs/theory.md; a minute
    python benchmarks/curvature.py --dry    prints it

The Hessian of the default model (196 weights) on its 2048 train sequences, and its spectrum, on one
core; `torch.func.hessian` of the same loss in double precision, on one core and on all, of which
the faster counts; and the curvature of a run of 1000 epochs at every tenth, on all cores.
"""

import os

if __name__ == "__main__":  # before NumPy: one core means one core
    os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import dynascope as ds
from dynascope.theory import curvature
from dynascope.torch import Transformer
from pages import put, rows
from report import machine
from settings import available_cores

RESULTS = Path(__file__).with_suffix(".json")
REPEATS = 15


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--dry", action="store_true")
    given = options.parse_args()
    config = ds.Config(precision="float64")
    p, examples = ds.initial_parameters(config, 15), ds.dataset(config.task, 15)
    peer = _torch_hessian(p, examples, config)
    ours = ds.hessian(p, *examples, config)
    assert np.abs(ours - peer().numpy()).max() < 1e-10 * np.abs(ours).max()
    results = {
        "hessian_ms": 1000 * _median(lambda: ds.hessian(p, *examples, config), REPEATS),
        "spectrum_ms": 1000 * _median(lambda: np.linalg.eigh(ours), REPEATS),
        **_torch_times(peer),
        "run_every_10th_s": _run(),
    }
    results = {name: round(value, 2) for name, value in results.items()}
    made = tables(results)["curvature"]
    print(made)
    if not given.dry:
        put("theory.md", "curvature", made)
        told = {"machine": machine(available_cores(), ("dynascope", "numpy", "torch")), **results}
        RESULTS.write_text(json.dumps(told, indent=1) + "\n")


def tables(results: dict[str, Any]) -> dict[str, str]:
    """The table by its mark in the page."""
    whole = results["hessian_ms"] + results["spectrum_ms"]
    made = [("", "", "of ours"), ("`ds.hessian` and its spectrum, one core", f"{whole:.0f} ms", "")]
    for name, cores in (("one_core", "one core"), ("all_cores", "two cores")):
        peer = results[f"torch_{name}_ms"]
        times = f"{peer / whole:.0f} times"
        made.append((f"`torch.func.hessian`, {cores}", f"{peer:.0f} ms", times))
    along = f"{results['run_every_10th_s']:.1f} s"
    made.append(("`curvature` at 101 epochs of a run, two cores", along, ""))
    return {"curvature": rows(*made)}


def _torch_hessian(p: ds.Parameters, examples: Any, config: ds.Config) -> Callable[[], Any]:
    """A function that computes the Hessian by PyTorch, in the order of `p.flat`."""
    module = Transformer.from_parameters(p, config).double()
    tokens, targets = (torch.as_tensor(each).long() for each in examples)

    def loss(flat: torch.Tensor) -> torch.Tensor:
        parts = torch.split(flat, [array.size for array in p.values()])
        named = {name: part.reshape(p.shapes[name]) for name, part in zip(p, parts, strict=True)}
        logits = torch.func.functional_call(module, named, (tokens,))
        return torch.nn.functional.cross_entropy(logits, targets)

    flat = torch.tensor(p.flat)
    return lambda: torch.func.hessian(loss)(flat).detach()


def _torch_times(peer: Callable[[], Any]) -> dict[str, float]:
    times = {}
    for name, threads in (("one_core", 1), ("all_cores", available_cores())):
        torch.set_num_threads(threads)
        peer()
        times[f"torch_{name}_ms"] = 1000 * _median(peer, 3)
    return times


def _run() -> float:
    run = ds.train(seeds=[15], progress=False)[0]
    return _median(lambda: curvature(run, range(0, 1001, 10), progress=False), 1)


def _median(work: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


if __name__ == "__main__":
    main()
