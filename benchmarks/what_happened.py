"""What happens in 200 runs of the default setting? The tables of docs/analysis.md.

    python benchmarks/what_happened.py                     trains, analyses, writes both; a minute
    python benchmarks/what_happened.py --seeds 20 --dry    a smoke test: prints, writes nothing

The thresholds of the analysis were set on seeds 0 to 199 (and below); these are seeds 200 to 399.
"""

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import dynascope as ds
import spike_tables
from dynascope.analysis import VERDICTS
from dynascope.findings.words import wilson
from pages import publish

RESULTS = Path(__file__).with_suffix(".json")
FIRST = 200
BANDS = ((0.999, "at least 0.999"), (0.9, "0.9 to 0.999"), (0.6, "0.6 to 0.9"), (0.0, "below 0.6"))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seeds", type=int, default=200)
    options.add_argument("--dry", action="store_true")
    given = options.parse_args()
    results = measure(range(FIRST, FIRST + given.seeds))
    publish("analysis.md", tables(results), results, RESULTS, given.dry)


def measure(seeds: range) -> dict[str, Any]:
    """Counts, of everything that the tables say."""
    runs = ds.train(ds.Config(), seeds)
    rows = runs.analyse().to_pylist()
    for row, run in zip(rows, runs, strict=True):
        row["accuracy"] = float(run.summary()["accuracy"] or 0)
    solved = [row for row in rows if row["verdict"] not in (None, "unsolved")]
    leads = [row["lead"] for row in rows if row["lead"] is not None]
    causes = Counter(cause or "unexplained" for row in rows for cause in row["spike_causes"] or ())
    return {
        "seeds": [seeds.start, seeds.stop - 1],
        "runs": len(rows),
        "verdicts": {
            band: Counter(r["verdict"] for r in rows if in_band(r, band)) for _, band in BANDS
        },
        "solved": len(solved),
        "aliases": {
            v: [
                sum(bool(r["alias_holds"]) for r in rows if r["verdict"] == v),
                sum(r["verdict"] == v for r in rows),
            ]
            for v in VERDICTS
        },
        "agree": sum(bool(row["drops_agree"]) for row in rows),
        "agree_solved": sum(bool(row["drops_agree"]) for row in solved),
        "drops": {
            str(n): count for n, count in sorted(Counter(len(r["drops"]) for r in solved).items())
        },
        "lead_known": len(leads),
        "lead_known_solved": sum(row["lead"] is not None for row in solved),
        "lead_positive": sum(lead > 0 for lead in leads),
        "lead_quartiles": [float(q) for q in np.quantile(leads, [0.25, 0.5, 0.75])]
        if leads
        else [],
        "spikes": sum(row["spikes"] or 0 for row in rows),
        "runs_with_spikes": sum(bool(row["spikes"]) for row in rows),
        "causes": {cause: [count, *interval(rows, cause)] for cause, count in causes.most_common()},
        "spike_tests": spike_tables.measure(runs),
    }


def interval(rows: list[dict[str, Any]], cause: str) -> list[float]:
    """The 95% interval of a cause's share of all spikes, by drawing runs anew: the spikes of one
    run are not independent."""
    each = np.array(
        [[(row["spike_causes"] or []).count(cause), row["spikes"] or 0] for row in rows], float
    )
    drawn = np.random.default_rng(0).integers(0, len(rows), (2000, len(rows)))
    some, all_of = each[drawn].sum(axis=1).T
    return [round(float(q), 4) for q in np.quantile(some / all_of, [0.025, 0.975])]


def in_band(row: dict[str, Any], band: str) -> bool:
    return next(name for least, name in BANDS if row["accuracy"] >= least) == band


def tables(r: dict[str, Any]) -> dict[str, str]:
    """The tables by their marks in the page."""
    return {
        "verdicts": verdicts(r),
        "aliases": aliases(r),
        "phases": phases(r),
        "causes": causes(r),
    }


def verdicts(r: dict[str, Any]) -> str:
    lines = ["| test accuracy | runs | " + " | ".join(VERDICTS) + " |"]
    lines.append("|---" * (len(VERDICTS) + 2) + "|")
    for _, band in BANDS:
        counts = r["verdicts"][band]
        cells = [str(counts.get(name, 0) or "") for name in VERDICTS]
        lines.append(f"| {band} | {sum(counts.values())} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def aliases(r: dict[str, Any]) -> str:
    lines = ["| verdict | runs | whose embedding is a weighted sum |", "|---|---|---|"]
    for name, (held, of) in r["aliases"].items():
        lines.append(f"| {name} | {of} | {held} |")
    return "\n".join(lines)


def phases(r: dict[str, Any]) -> str:
    few = ", ".join(f"{count} with {drops}" for drops, count in r["drops"].items())
    low, middle, high = r["lead_quartiles"]
    return "\n".join(
        [
            "| | |",
            "|---|---|",
            f"| the two methods agree on the drops | {share(r['agree'], r['runs'])} runs |",
            f"| ... of solved runs | {share(r['agree_solved'], r['solved'])} |",
            f"| drops of solved runs | {few} |",
            "| clustering precedes fitting | "
            f"{share(r['lead_positive'], r['lead_known'])} runs in which both happened |",
            f"| ... of solved runs | both happened in {r['lead_known_solved']} of {r['solved']} |",
            f"| by how many epochs (quartiles) | {low:.0f}, {middle:.0f}, {high:.0f} |",
        ]
    )


def causes(r: dict[str, Any]) -> str:
    lines = [
        f"{r['spikes']} spikes in {r['runs_with_spikes']} of {r['runs']} runs:",
        "",
        "| cause | spikes | share (95% interval) |",
        "|---|---|---|",
    ]
    total = sum(count for count, _, _ in r["causes"].values())
    for cause, (count, low, high) in r["causes"].items():
        lines.append(f"| {cause} | {count} | {count / total:.0%} ({low:.0%} to {high:.0%}) |")
    if "spike_tests" in r:  # not in results from before there were tests
        lines += ["", spike_tables.tables(r["spike_tests"])]
    return "\n".join(lines)


def share(count: int, of: int) -> str:
    low, high = wilson(count, of)
    return f"{count} of {of} ({count / of:.0%}; 95% interval {low:.0%} to {high:.0%})"


if __name__ == "__main__":
    main()
