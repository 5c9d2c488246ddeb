"""The circuit that a run has become, as the paper names circuits."""

from collections import Counter
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from dynascope.analysis.checks import check_fit
from dynascope.analysis.circuit import Circuit, measured
from dynascope.analysis.run_epochs import check_symmetries, kept_epochs, last_sound_epoch, shares
from dynascope.findings.kind import Cells, Kind, Listing, RunRow, RunRows, Totals
from dynascope.findings.spread import spread
from dynascope.findings.words import and_more, counted, is_solved, many
from dynascope.number_text import fraction, percent
from dynascope.plain import plain
from dynascope.run import SOLVED_ACCURACY, Run

_VARIANCE = (
    "of the sequence embedding, between multisets / between orderings / from irrelevant tokens"
)
_SHARES = 200  # epochs at which shares of the variance are told: a pixel or two each


class FoundCircuit(NamedTuple):
    circuit: Circuit
    relevant: tuple[int, ...]  # positions


def _shares(run: Run) -> dict[str, Any]:
    """The shares of the variance over the run."""
    epochs = spread(kept_epochs(run, "variance shares"), _SHARES)
    names = ("between", "permutation", "suffix")
    return {"epochs": epochs, **dict(zip(names, shares(run, epochs).T, strict=True))}


def _positions(found: FoundCircuit) -> Listing:
    """A row for each position; `*` marks the relevant ones."""
    here = found.circuit
    measures = {
        "attention": here.attention,
        "value spread": here.value_spread,
        "redraw effect": here.redraw_effect,
        "cut": here.accuracy_without_attention,
        "averaged": here.accuracy_without_value,
    }
    positions = range(len(here.attention))
    names = [f"{at} {'*' if at in found.relevant else ' '}" for at in positions]
    columns = {name: [fraction(value) for value in measures[name]] for name in measures}
    return Listing(
        {"position": names} | columns,
        "* relevant; cut, averaged: accuracy without its attention, with its mean value",
    )


def _verdict(row: RunRow) -> str:
    return row["verdict"] or "-"


def _margin(row: RunRow) -> str:
    return "none" if row["verdict_margin"] is None else f"{row['verdict_margin']:.4g}"


def _variance(row: RunRow) -> str:
    parts = [row[f"{name}_share"] for name in ("between", "permutation", "suffix")]
    told = [percent(part, places=0).removesuffix("%") for part in parts]
    return "-" if None in parts else "/".join(told)


def _clusters(row: RunRow) -> str:
    return "-" if row["clusters"] is None else f"{row['clusters']}/{row['expected_clusters']}"


def _culprits(row: RunRow) -> str:
    culprits = row["culprits"] or []
    return " ".join(map(str, culprits[:3])) + and_more(culprits, 3) or "-"


class CircuitKind(Kind[FoundCircuit]):
    title = "Circuit after epoch {epoch}"
    of_epoch = True
    parts = ("circuit",)
    story_part = "circuit"

    def make(self, run: Run, epoch: int = -1) -> FoundCircuit:
        check_symmetries(run)
        weights = run.parameters(last_sound_epoch(run) if epoch == -1 else epoch)
        fitting, config = check_fit(weights, run.config)
        found = measured(np.ascontiguousarray(fitting.flat)[None], config, sums=False)[0]
        return FoundCircuit(found, config.task.positions)

    def for_story(self, found: FoundCircuit) -> Circuit:
        return found.circuit

    def row(self, found: FoundCircuit) -> dict[str, Any]:
        here = found.circuit
        variance = here.embedding
        return {
            "verdict": here.verdict.name,
            "verdict_margin": here.verdict.margin,
            "exact_accuracy": here.accuracy,
            "between_share": variance and variance.between,
            "permutation_share": variance and variance.permutation,
            "suffix_share": variance and variance.suffix,
            "permutation_survival": here.permutation_survival,
            "suffix_survival": here.suffix_survival,
            "relevant_attention": here.relevant_attention,
            "clusters": here.clusters,
            "expected_clusters": here.expected_clusters,
            "culprits": here.verdict.culprits,
            **dict.fromkeys(("alias_weights", "alias_share", "alias_holds")),  # kept for old rows
        }

    def json(self, found: FoundCircuit) -> dict[str, Any]:
        told: dict[str, Any] = plain(found.circuit)
        del told["sum"]  # which is an analysis of its own
        return {"circuit": told}

    def text(self, found: FoundCircuit) -> Iterator[str | Listing]:
        here, verdict = found.circuit, found.circuit.verdict
        whole = "all" if here.exhaustive else "a sample of"
        yield f"{verdict.name}, decided by {verdict.decided_by} (margin {verdict.margin:.3g})"
        yield f"accuracy {fraction(here.accuracy, places=4)} on {whole} {here.sequences} sequences"
        for name, variance in (("sequence embedding", here.embedding), ("logits", here.logits)):
            if variance is not None:
                yield (
                    f"variance of the {name}: {percent(variance.between)} between multisets, "
                    f"{percent(variance.permutation)} between orderings, "
                    f"{percent(variance.suffix)} from irrelevant tokens"
                )
        yield (
            f"predictions survive {percent(here.permutation_survival)} of reorderings, "
            f"{percent(here.suffix_survival)} of new irrelevant tokens"
        )
        clusters = "no" if here.clusters is None else here.clusters
        yield (
            f"{clusters} clusters, {here.expected_clusters} expected (gap "
            f"{here.cluster_gap:.3g}); {percent(here.relevant_attention)} of attention is on "
            "relevant positions"
        )
        if verdict.culprits:
            yield f"culprits: positions {', '.join(map(str, verdict.culprits))}"
        yield _positions(found)

    details = MappingProxyType({"shares": _shares})

    # ---- many runs

    cells = (
        Cells("verdict", 3, _verdict),
        Cells("margin", 9, _margin, True, "how far the verdict is from its threshold, 0 to 1"),
        Cells("variance %", 7, _variance, meaning=_VARIANCE),
        Cells("clusters", 6, _clusters, True, "found/expected"),
        Cells("culprits", 11, _culprits, meaning="positions that break an invariance, worst first"),
    )
    brief = Cells("verdict", 0, _verdict)

    def totals(self, rows: RunRows) -> Totals:
        named: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        for row in rows:
            if row["verdict"]:
                named[is_solved(row)][row["verdict"]] += 1
        return {
            "solved": dict(named[True].most_common()),
            "other": dict(named[False].most_common()),
        }

    def totals_text(self, totals: Totals) -> Iterator[str]:
        for name, how in (("solved", "above"), ("other", "not above")):
            verdicts = totals[name]
            if verdicts:
                runs = many(sum(verdicts.values()), "run")
                yield f"circuits of {runs} {how} {SOLVED_ACCURACY}: {counted(verdicts)}"

    def introduction(self, totals: Totals) -> Iterator[str]:
        if totals["solved"]:
            yield f"Their circuits: {counted(totals['solved'])}."


KIND = CircuitKind()
