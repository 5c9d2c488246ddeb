"""Put measured times on two pages: all of them in benchmarks/README.md, one sentence in the README.

    python benchmarks/throughput.py --json benchmarks/results.json
    python benchmarks/table.py

Both are made from `benchmarks/results.json` alone, and a test checks that the pages have them.
"""

import json
from pathlib import Path
from typing import Any

from pages import put

RESULTS = Path(__file__).parent / "results.json"


def markdown(results: dict[str, Any]) -> str:
    """The table, and a paragraph on how it was measured."""
    names = list(results["settings"][0]["implementations"])
    lines = ["| seconds per run of 1000 epochs | " + " | ".join(names) + " | share of peak |"]
    lines.append("|---" * (len(names) + 2) + "|")
    for setting in results["settings"]:
        cells = [setting["setting"]]
        for name in names:
            measured = setting["implementations"].get(name)
            cells.append(cell(measured) if measured else "")
        cells.append(f"{setting['share_of_peak']:.0%}")
        lines.append("| " + " | ".join(cells) + " |")
    machine = results["machine"]
    versions = machine["versions"]
    lines += [
        "",
        f"All {machine['cores']} cores of an {machine['processor']} busy, everything timed in",
        "one run; in brackets, how many times longer than dynascope it takes. PyTorch",
        f"{versions['torch']} with fused Adam, JAX {versions['jax']}. Each evaluates the train and",
        "test sets and records weights and gradient norms at every epoch. *JAX* is the model",
        "written plainly; the *tuned* one uses our table of (token, position) pairs and is as",
        "fast as we could make it. Peak: the multiplies and adds, none of them fused, that the",
        "same cores reach in a loop that does nothing else.",
    ]
    return "\n".join(lines)


def headline(results: dict[str, Any]) -> str:
    """The default setting in one sentence."""
    default = results["settings"][0]["implementations"]
    ours, eager = default["dynascope"], default["eager PyTorch"]
    machine = results["machine"]
    return (
        f"All {machine['cores']} cores of an {machine['processor']} together finish a run of "
        f"1000 epochs every\n{shown(ours['seconds_per_run'])} seconds. "
        f"Eager PyTorch takes {shown(eager['ratio_to_dynascope'])} times as long."
    )


def cell(measured: dict[str, Any]) -> str:
    ratio = measured["ratio_to_dynascope"]
    told = "" if ratio == 1 else f" ({shown(ratio)}x)"
    return shown(measured["seconds_per_run"]) + told


def shown(number: float) -> str:
    """Two digits that mean something.

    >>> shown(1955.4), shown(47.5), shown(6.35), shown(0.1496)
    ('1,955', '48', '6.4', '0.15')
    """
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}" if number >= 1 else f"{number:.2f}"


def main() -> None:
    results = json.loads(RESULTS.read_text())
    put("../README.md", "speed", headline(results))
    put("../benchmarks/README.md", "speed", markdown(results))


if __name__ == "__main__":
    main()
