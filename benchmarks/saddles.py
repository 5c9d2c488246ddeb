"""Are plateaus saddles, and are they left along negative directions? A table of docs/theory.md.

    python benchmarks/saddles.py                              trains, measures, writes; some minutes
    python benchmarks/saddles.py --seeds 3 --full 2 --dry     a smoke test: prints, writes nothing

Seeds 500 and on: no threshold was set on them.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import dynascope as ds
from dynascope.findings.make_analyses import in_threads
from dynascope.progress import reporter
from dynascope.share_interval import wilson
from dynascope.theory.curvature import curvature
from dynascope.theory.escape import Alignment, Escape
from dynascope.theory.saddles import Plateau, saddles
from pages import publish

RESULTS = Path(__file__).with_suffix(".json")
FIRST = 500
FULL = {"training.batch": 2048}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seeds", type=int, default=50)
    options.add_argument("--full", type=int, default=100, help="seeds of the full-batch runs")
    options.add_argument("--threads", type=int)
    options.add_argument("--dry", action="store_true")
    given = options.parse_args()
    results = {
        "batch 32": measure(ds.Config(), given.seeds, given.threads),
        "full batch": measure(ds.Config().replace(FULL), given.full, given.threads),
    }
    publish("theory.md", tables(results), results, RESULTS, given.dry)


def measure(config: ds.Config, count: int, threads: int | None) -> dict[str, Any]:
    """All that the table says about runs of one config."""
    runs = ds.train(config, range(FIRST, FIRST + count), threads=threads)
    found: list[tuple[Plateau, ...]] = [()] * count

    def work(index: int) -> None:
        found[index] = saddles(runs[index], threads=1, progress=False)

    in_threads(work, [run.epochs for run in runs], threads, reporter(True))
    left = [each for plateaus in found for each in plateaus if each.drop is not None]
    stayed = [plateaus[-1] for plateaus in found]
    first = [plateaus[0] for plateaus in found if plateaus[0].drop is not None]
    return {
        "seeds": [FIRST, FIRST + count - 1],
        "runs": count,
        "runs_with_drops": len(first),
        "left": dict(Counter(each.verdict for each in left)),
        "first": dict(Counter(each.verdict for each in first)),
        "stayed": dict(Counter(each.verdict for each in stayed)),
        "exits_aligned": sum(each.exit is not None and each.exit.deciding.aligned for each in left),
        "negative": quartiles([each.spectrum.negative for each in left]),
        "folds": quartiles([each.fold_epochs for each in left]),
        "lengths": quartiles([each.end - each.start for each in left]),
        "gradient_ratios": quartiles([each.gradient_ratio for each in left]),
        "control": control(runs, found, threads),
        "escape_shares": five([each.escape for each in left]),
        "exit_shares": five([each.exit for each in left]),
        "falls": sum(each.fall > 0 for each in left),
        "ways": {
            "escape, metric": ways([each.escape for each in left], lambda way: way.deciding),
            "escape, plain": ways([each.escape for each in left], lambda way: way.plain),
            "exit, metric": ways([each.exit for each in left], lambda way: way.deciding),
            "exit, plain": ways([each.exit for each in left], lambda way: way.plain),
        },
    }


def control(
    runs: ds.Runs, found: Sequence[Sequence[Plateau]], threads: int | None
) -> dict[str, list[float]]:
    """Negative directions elsewhere: before training, in the middle of drops, at the end."""
    counts: dict[str, list[float]] = {"start": [], "drop": [], "end": []}
    for run, plateaus in zip(runs, found, strict=True):
        drops = [each.drop.epoch for each in plateaus if each.drop is not None]
        wanted = [1, *drops, run.epochs]
        seen = curvature(run, wanted, directions=1, threads=threads, progress=False)
        places = ["start", *["drop"] * len(drops), "end"]
        for place, each in zip(places, seen, strict=True):
            counts[place].append(each.spectrum.negative)
    return {place: quartiles(values) for place, values in counts.items()}


def five(found: Sequence[Escape | None]) -> list[float]:
    """The share of each way along the five most negative directions."""
    return [round(way.deciding.escape.five, 4) for way in found if way is not None]


def ways(
    found: Sequence[Escape | None], which: Callable[[Escape], Alignment]
) -> dict[str, list[float]]:
    """Quartiles of the shares along five and along all negative directions, and of both nulls."""
    each = [which(way) for way in found if way is not None]
    steps = [one.update for one in each if one.update is not None]
    return {
        "five": quartiles([one.escape.five for one in each]),
        "five, chance": quartiles([one.chance.five for one in each]),
        "five, step": quartiles([step.five for step in steps]),
        "all": quartiles([one.escape.negative for one in each]),
        "all, chance": quartiles([one.chance.negative for one in each]),
        "all, step": quartiles([step.negative for step in steps]),
    }


def quartiles(values: Sequence[float | None]) -> list[float]:
    known = [value for value in values if value is not None]
    if not known:
        return []
    # "nearest": an infinite one has no mean with its neighbour.
    return [float(f"{q:.4g}") for q in np.quantile(known, [0.25, 0.5, 0.75], method="nearest")]


# ---- the table -----------------------------------------------------------------------------------

ROWS: Sequence[tuple[str, Callable[[dict[str, Any]], str]]] = (
    ("runs, with a drop of the loss", lambda r: f"{r['runs']}, {r['runs_with_drops']}"),
    ("plateaus before a drop", lambda r: str(total(r["left"]))),
    ("... that are saddles", lambda r: share(saddles_of(r["left"]), total(r["left"]))),
    ("... the first of each run alone", lambda r: share(saddles_of(r["first"]), total(r["first"]))),
    ("... slopes; flat", lambda r: f"{part(r, 'slope')}; {part(r, 'flat or minimum')}"),
    ("negative directions there, of 160", lambda r: spread(r["negative"], "{:.0f}")),
    ("... after one epoch, of 196", lambda r: spread(r["control"]["start"], "{:.0f}")),
    ("... in the middle of drops", lambda r: spread(r["control"]["drop"], "{:.0f}")),
    ("... at the end", lambda r: spread(r["control"]["end"], "{:.0f}")),
    ("gradient, of the largest in the drop", lambda r: spread(r["gradient_ratios"], "{:.1%}")),
    ("epochs to grow e-fold", lambda r: spread(r["folds"], "{:.3g}")),
    ("epochs of the plateau", lambda r: spread(r["lengths"], "{:.0f}")),
    (
        "saddles left along them",
        lambda r: share(confirmed(r), saddles_of(r["left"])),
    ),
    ("drops aligned where they start", lambda r: share(r["exits_aligned"], total(r["left"]))),
    ("share of the escape along five directions", lambda r: way(r, "escape, metric", "five")),
    ("... in plain coordinates", lambda r: way(r, "escape, plain", "five")),
    ("... along all negative ones", lambda r: way(r, "escape, metric", "all")),
    ("share of the drop along five directions", lambda r: way(r, "exit, metric", "five")),
    ("... in plain coordinates", lambda r: way(r, "exit, plain", "five")),
    ("... along all negative ones", lambda r: way(r, "exit, metric", "all")),
    ("last plateaus, by verdict", lambda r: listed(r["stayed"])),
)


def tables(results: dict[str, Any]) -> dict[str, str]:
    """The tables by their marks in the page."""
    lines = ["| | " + " | ".join(results) + " |", "|---" * (len(results) + 1) + "|"]
    for name, cell in ROWS:
        lines.append(f"| {name} | " + " | ".join(cell(each) for each in results.values()) + " |")
    return {"saddles": "\n".join(lines)}


def total(verdicts: dict[str, int]) -> int:
    return sum(verdicts.values())


def saddles_of(verdicts: dict[str, int]) -> int:
    return sum(count for verdict, count in verdicts.items() if verdict.startswith("saddle"))


def confirmed(r: dict[str, Any]) -> int:
    return int(r["left"].get("saddle, escaped along negative directions", 0))


def part(r: dict[str, Any], verdict: str) -> int:
    return int(r["left"].get(verdict, 0))


def listed(verdicts: dict[str, int]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())


def spread(values: list[float], form: str) -> str:
    """The median, and the quartiles in brackets."""
    if not values:
        return "none"
    low, middle, high = (form.format(value) for value in values)
    return f"{middle} ({low} to {high})"


def way(r: dict[str, Any], which: str, much: str) -> str:
    found, form = r["ways"][which], "{:.0%}"
    if not found[much]:
        return "none"
    chance = form.format(found[f"{much}, chance"][1])
    step = form.format(found[f"{much}, step"][1]) if found[f"{much}, step"] else "none"
    return f"{spread(found[much], form)}; random {chance}, step {step}"


def share(count: int, of: int) -> str:
    if not of:
        return "0 of 0"
    low, high = wilson(count, of)
    return f"{count} of {of} ({count / of:.0%}; 95% interval {low:.0%} to {high:.0%})"


if __name__ == "__main__":
    main()
