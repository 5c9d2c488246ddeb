"""Which sums circuits keep, and how often the same search finds one where there is none.

Part of `what_happened.py`. Three nulls, with the same candidates and no accuracy in the rule:
untrained models, trained ones at chance, and solved ones asked about other positions than theirs.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

import dynascope as ds
from dynascope.analysis import VERDICTS
from dynascope.analysis.kept_sum import KeptSum, kept_sums
from dynascope.analysis.thresholds import LEAD_PAIRS
from dynascope.catalog import SUM_KINDS
from pages import rows, share

SOLVED, CHANCE = 0.9, 0.6  # accuracies above and below which runs count as such
Rows = Sequence[dict[str, Any]]


def measure(runs: ds.Runs, found: Rows) -> dict[str, Any]:
    """Counts, of everything that the tables say."""
    solved = [row for row in found if row["accuracy"] > SOLVED]
    last = {run.id: run.weights[-1] for run in runs}
    return {
        "solved": _kinds(row["sum_kind"] for row in solved),
        "verdicts": {
            verdict: _kinds(row["sum_kind"] for row in solved if row["verdict"] == verdict)
            for verdict in VERDICTS
        },
        "by": _kinds(row["sum_by"] for row in solved if row["sum_by"]),
        "nulls": {
            "untrained": _names(kept_sums(np.array([run.weights[0] for run in runs]), ds.Config())),
            "at chance": _kinds(row["sum_kind"] for row in found if row["accuracy"] < CHANCE),
            "other positions": _elsewhere(np.array([last[row["id"]] for row in solved])),
        },
        "dated": [sum(row["sum_lead"] is not None for row in solved), len(solved)],
        "leads": [_order(solved, i) for i in range(len(LEAD_PAIRS))],
    }


def _elsewhere(weights: Any) -> dict[str, int]:
    """The same models, as if other positions were the relevant ones: drawn for each of them."""
    rng = np.random.default_rng(0)
    found = []
    for row in weights:
        positions = sorted(rng.choice(12, 5, replace=False).tolist())
        if positions == [0, 1, 2, 3, 4]:
            continue
        found += kept_sums(row[None], ds.Config().replace({"task.relevant": positions}))
    return _names(found)


def _names(found: Iterable[KeptSum | None]) -> dict[str, int]:
    return _kinds(one.kind for one in found if one is not None)


def _kinds(names: Iterable[str]) -> dict[str, int]:
    return dict(Counter(names))


def _order(found: Rows, pair: int) -> list[int]:
    """How often clustering came before, with and after fitting, at a pair of heights."""
    leads = [row["sum_leads"][pair] for row in found if len(row["sum_leads"] or ()) > pair]
    return [sum(x > 0 for x in leads), sum(x == 0 for x in leads), sum(x < 0 for x in leads)]


# ---- more tokens --------------------------------------------------------------------------------
def measure_three(seeds: range) -> dict[str, Any]:
    """Solved runs of three tokens: fine-tuned from two, and from scratch with d = 8."""
    base = ds.Config().replace({"record.weights_every": 0})
    three = base.replace({"task.vocab": 3})
    parents = [run for run in ds.train(base, seeds) if _accuracy(run) > SOLVED]
    tuned = [
        ds.train(three, seeds=[run.seed], start=run.parameters(), progress=False)[0]
        for run in parents
    ]
    wide = three.replace({"model.dim": 8})
    return {
        "fine-tuned from two": _of_three(tuned, three),
        "from scratch, d = 8": _of_three(list(ds.train(wide, seeds)), wide),
    }


def _of_three(runs: Sequence[ds.Run], config: ds.Config) -> dict[str, Any]:
    solved = [run.weights[-1] for run in runs if _accuracy(run) > SOLVED]
    start = np.array([run.weights[0] for run in runs])
    return {
        "runs": len(runs),
        "solved": _names(kept_sums(np.array(solved), config)),
        "start": _names(kept_sums(start, config)),
    }


def _accuracy(run: ds.Run) -> float:
    return float(run.summary()["accuracy"] or 0)


# ---- guided against exhaustive ------------------------------------------------------------------
def measure_searches(runs: ds.Runs) -> dict[str, Any]:
    """Where the two searches disagree."""
    rows_ = np.array([run.weights[-1] for run in runs])
    guided, everything = (kept_sums(rows_, ds.Config(), exhaustive=e) for e in (False, True))
    pairs = zip(runs, guided, everything, strict=True)
    differ = [
        [run.seed, *_told(one), *_told(other)]
        for run, one, other in pairs
        if one and other and not _same(one, other)
    ]
    return {"runs": len(runs), "differ": differ}


def _same(one: KeptSum, other: KeptSum) -> bool:
    """What is unexplained has no sum that would have to be the same."""
    return one.kind == other.kind and (not one.holds or one.formula() == other.formula())


def _told(one: KeptSum) -> list[Any]:
    return [one.kind, one.formula(), round(one.corrected, 4)]


# ---- tables -------------------------------------------------------------------------------------
def tables(r: dict[str, Any]) -> dict[str, str]:
    return {"sums": _sums(r), "sums by verdict": _verdicts(r), "leads": _leads(r)}


def _sums(r: dict[str, Any]) -> str:
    groups = {"solved": r["solved"], **r["nulls"]}
    head = ("sum", *(f"{name} ({sum(g.values())})" for name, g in groups.items()))
    cells = [(kind, *(str(g.get(kind, 0) or "") for g in groups.values())) for kind in SUM_KINDS]
    explained = ("explained", *(_explained(g) for g in groups.values()))
    return rows(head, *cells, explained)


def _explained(kinds: dict[str, int]) -> str:
    of = sum(kinds.values())
    return share(of - kinds.get("unexplained", 0), of)


def _verdicts(r: dict[str, Any]) -> str:
    named = {verdict: kinds for verdict, kinds in r["verdicts"].items() if kinds}
    cells = [
        (verdict, str(sum(kinds.values())), *(str(kinds.get(k, 0) or "") for k in SUM_KINDS))
        for verdict, kinds in named.items()
    ]
    return rows(("verdict", "runs", *SUM_KINDS), *cells)


def _leads(r: dict[str, Any]) -> str:
    dated, solved = r["dated"]
    head = ("clustering", "accuracy", "clustering first", "together", "accuracy first")
    words = {0.5: "half", 0.9: "nine tenths", 0.1: "a tenth"}
    cells = [
        (words[one], words[other], *map(str, counts))
        for (one, other), counts in zip(LEAD_PAIRS, r["leads"], strict=True)
    ]
    return f"{share(dated, solved)} solved runs can be dated:\n\n{rows(head, *cells)}"


def three_table(r: dict[str, Any]) -> str:
    head = ("three tokens", "runs", "solved", *SUM_KINDS, "explained", "explained at the start")
    cells = [
        (
            name,
            str(group["runs"]),
            str(sum(group["solved"].values())),
            *(str(group["solved"].get(kind, 0) or "") for kind in SUM_KINDS),
            _explained(group["solved"]),
            _explained(group["start"]),
        )
        for name, group in r.items()
    ]
    return rows(head, *cells)


def searches_text(r: dict[str, Any]) -> str:
    same = r["runs"] - len(r["differ"])
    return f"The guided and the exhaustive search agree in {same} of {r['runs']} runs." + "".join(
        f"\n- seed {seed}: {a} {one} ({x}), exhaustive {b} {other} ({y})"
        for seed, a, one, x, b, other, y in r["differ"]
    )
