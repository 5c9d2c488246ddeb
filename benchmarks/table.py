"""Put measured times into the README, between its two speed marks.

    python benchmarks/throughput.py --json benchmarks/results.json
    python benchmarks/table.py

The table is made from `benchmarks/results.json` alone, and a test checks that the README has it.
"""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS, README = HERE / "results.json", HERE.parent / "README.md"
BEGIN, END = "<!-- speed -->", "<!-- /speed -->"


def markdown(results: dict[str, Any]) -> str:
    """The table, and a line on what it was measured on."""
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
        f"{versions['torch']} with fused Adam, JAX {versions['jax']}. Each evaluates train and",
        "test set and records weights and gradient norms at every epoch. *JAX* is the model as it",
        "reads; the *tuned* one uses our table of (token, position) pairs and is as fast as we",
        "could make it. Peak: multiplies and adds that the same cores reach in a loop of nothing",
        "else, none of them fused.",
    ]
    return "\n".join(lines)


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
    before, rest = README.read_text().split(BEGIN)
    table = markdown(json.loads(RESULTS.read_text()))
    README.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.split(END)[-1]}")


if __name__ == "__main__":
    main()
