"""What happens in 1000 runs of the default setting? The tables of docs/analysis.md.

    python benchmarks/what_happened.py                     trains, analyses, writes; half an hour
    python benchmarks/what_happened.py --seeds 20 --dry    a smoke test: prints, writes nothing

Nothing was chosen on these seeds: thresholds and methods were set on others (0 to 399, 30000 to
32100, 40000 to 42059, 50000 to 50023). Whoever changes the analysis after a look at the tables
takes new ones.
"""

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import dynascope as ds
import spike_tables
import sum_tables
from dynascope.analysis import VERDICTS
from dynascope.share_interval import wilson
from pages import publish

RESULTS = Path(__file__).with_suffix(".json")
FIRST = 60_000
THREE = 160  # seeds of three tokens, at most; so many need the same time as all the rest
SEARCHED = 200  # runs on which both searches for a sum are compared, at most
BANDS = ((0.999, "at least 0.999"), (0.9, "0.9 to 0.999"), (0.6, "0.6 to 0.9"), (0.0, "below 0.6"))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seeds", type=int, default=1000)
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
        "sums": sum_tables.measure(runs, rows),
        "searches": sum_tables.measure_searches(runs[:SEARCHED]),
        "three": sum_tables.measure_three(range(seeds.start, seeds.start + min(THREE, len(rows)))),
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
        **sum_tables.tables(r["sums"]),
        "searches": sum_tables.searches_text(r["searches"]),
        "three tokens": sum_tables.three_table(r["three"]),
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
        lines.append(f"| {cause} | {count} | {count / total:.1%} ({low:.1%} to {high:.1%}) |")
    if "spike_tests" in r:  # not in results from before there were tests
        lines += ["", spike_tables.tables(r["spike_tests"])]
    return "\n".join(lines)


def share(count: int, of: int) -> str:
    low, high = wilson(count, of)
    return f"{count} of {of} ({count / of:.1%}; 95% interval {low:.1%} to {high:.1%})"


if __name__ == "__main__":
    main()
