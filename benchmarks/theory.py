"""How far is the gradient below its bounds, and what kind of point is the ideal head?

    python benchmarks/theory.py          measures and writes two tables of docs/theory.md; a minute
    python benchmarks/theory.py --dry    prints them

Bounds along runs of the paper's own setting (unit norm, no biases) and of the default one; ideal
heads of the default config at rising confidence.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import dynascope as ds
from dynascope.theory import BoundCurves, approach, bounds_along
from pages import publish, rows

RESULTS = Path(__file__).with_suffix(".json")
SEEDS = 8
SETTINGS = {
    "`unit`, no biases, E and P frozen": {
        "model.norm": "unit",
        "model.bias": False,
        "training.frozen": ["token_embedding", "position_embedding"],
    },
    "`unit`, no biases": {"model.norm": "unit", "model.bias": False},
    "default": {},
}
KINDS = ("paper", "corrected", "tight")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--dry", action="store_true")
    given = options.parse_args()
    results = {
        "bounds": {name: along(changes) for name, changes in SETTINGS.items()},
        "approach": heads(),
    }
    publish("theory.md", tables(results), results, RESULTS, given.dry)


def along(changes: dict[str, Any]) -> dict[str, Any]:
    """How many times the gradient the bounds are: medians over the epochs of each run, of which the
    least and the greatest; and at how many epochs the paper's is below it."""
    curves = [bounds_along(run) for run in ds.train(ds.Config().replace(changes), SEEDS)]
    times = {kind: [_times(each, kind) for each in curves] for kind in KINDS}
    return {
        "epochs": sum(len(each.epochs) for each in curves),
        "below": sum(len(each.paper_fails) for each in curves),
        "times": {kind: [float(f"{q:.2g}") for q in (min(v), max(v))] for kind, v in times.items()},
    }


def _times(curves: BoundCurves, kind: str) -> float:
    measured = curves.paper_gradient_norm if kind == "paper" else curves.gradient_norm
    return float(np.median(getattr(curves, kind) / measured))


def heads() -> dict[str, Any]:
    found = approach()
    spectra = [point.spectrum for point in found.points]
    return {
        "rate": [round(found.rate, 3), round(found.rate_error, 3)],
        "heads": [
            {
                "doubt": float(f"{point.doubt:.2g}"),
                "gradient": float(f"{point.gradient_norm:.3g}"),
                "negative": each.negative,
                "zero": each.zero,
                "lowest": float(f"{each.lowest:.2g}"),
                "highest": float(f"{each.highest:.2g}"),
            }
            for point, each in zip(found.points, spectra, strict=True)
            if each is not None
        ],
    }


def tables(results: dict[str, Any]) -> dict[str, str]:
    """The tables by their marks in the page."""
    bound: list[tuple[str, ...]] = [("runs", *KINDS, "the paper's is below the gradient")]
    for name, r in results["bounds"].items():
        times = ["{:,.0f} to {:,.0f}".format(*r["times"][kind]) for kind in KINDS]
        bound.append((name, *times, f"at {r['below']} of {r['epochs']} epochs"))
    names = ("doubt", "gradient", "negative", "zero", "lowest", "highest")
    head: list[tuple[str, ...]] = [(*names[:4], "lowest eigenvalue", "highest")]
    head += [tuple(str(each[name]) for name in names) for each in results["approach"]["heads"]]
    return {"bounds": rows(*bound), "approach": rows(*head)}


if __name__ == "__main__":
    main()
