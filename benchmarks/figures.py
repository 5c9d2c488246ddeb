"""How long figures take: made, drawn and saved as PNG.

    python benchmarks/figures.py

A figure of sixteen panels is to take at most 1.5 s. Use an idle machine.
"""

import statistics
import time
from io import BytesIO

import dynascope as ds

SIXTEEN = (
    *("tokens", "positions", "embeddings", "normalized", "attention", "values", "sequence"),
    *("decision_map", "sequence_normalized", "receptors", "assemblers", "feed_forward", "output"),
    *("output_map", "probabilities", "loss"),
)
REPEATS = 7


def seconds(layout: str, run: ds.Run, **how: object) -> float:
    began = time.perf_counter()
    ds.plots.figure(layout, run, **how).savefig(BytesIO(), format="png", dpi=200)
    return time.perf_counter() - began


def main() -> None:
    run = ds.train(seeds=[15], progress=False)[0]
    cases: dict[str, tuple[str, dict[str, object]]] = {
        "16 panels": ("panels", {"panels": SIXTEEN, "epochs": 400}),
        "phases": ("phases", {}),
        "spike": ("spike", {}),
        "attention": ("attention", {}),
        "gradients": ("gradients", {}),
    }
    for name, (layout, how) in cases.items():
        first = seconds(layout, run, **how)
        rest = [seconds(layout, run, **how) for _ in range(REPEATS)]
        print(f"{name:<12} {statistics.median(rest):.2f} s (first {first:.2f} s)")


if __name__ == "__main__":
    main()
