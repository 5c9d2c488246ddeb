"""The circuit that a run has become, and the sum that it computes."""

from collections import Counter
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any, NamedTuple

from dynascope.analysis.alias import Alias, alias
from dynascope.analysis.circuit import Circuit, circuit
from dynascope.analysis.run_epochs import check_symmetries, kept_epochs, last_sound_epoch, shares
from dynascope.findings.kind import Cells, Kind, Listing, RunRow, RunRows, Totals
from dynascope.findings.spread import spread
from dynascope.findings.words import and_more, counted, is_solved, many
from dynascope.number_text import fraction, percent
from dynascope.run import SOLVED_ACCURACY, Run

_VARIANCE = (
    "of the sequence embedding, between multisets / between orderings / from irrelevant tokens"
)
_SHARES = 200  # epochs at which shares of the variance are told: a pixel or two each


class FoundCircuit(NamedTuple):
    circuit: Circuit
    alias: Alias | None  # that explains the circuit, where there is one
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


def _is_plain(row: RunRow) -> bool:
    """Whether the sum that a run computes is that of its relevant tokens, each once."""
    return Alias(tuple(row["alias_weights"]), row["alias_share"], sums=0).plain


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
    parts = ("circuit", "alias")

    def make(self, run: Run, epoch: int = -1) -> FoundCircuit:
        check_symmetries(run)
        weights = run.parameters(last_sound_epoch(run) if epoch == -1 else epoch)
        return FoundCircuit(
            circuit(weights, run.config), alias(weights, run.config), run.config.task.positions
        )

    def row(self, found: FoundCircuit) -> dict[str, Any]:
        here, other = found.circuit, found.alias
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
            "alias_weights": other and other.weights,
            "alias_share": other and other.share,
            "alias_holds": other and other.holds,
        }

    def json(self, found: FoundCircuit) -> dict[str, Any]:
        return {"circuit": found.circuit, "alias": found.alias}

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
        if found.alias is not None and found.alias.holds and not found.alias.plain:
            other = found.alias.describe()
            yield f"it computes another sum that is the same modulo 2: {other}"
        yield _positions(found)

    details = MappingProxyType({"shares": _shares})

    # ---- many runs

    cells = (
        Cells("verdict", 3, _verdict),
        Cells("margin", 9, _margin, True, "how far the verdict is from its threshold, 0 to 1"),
        Cells("variance %", 7, _variance, meaning=_VARIANCE),
        Cells("clusters", 4, _clusters, True, "found/expected"),
        Cells("culprits", 11, _culprits, meaning="positions that break an invariance, worst first"),
    )
    brief = Cells("verdict", 0, _verdict)

    def totals(self, rows: RunRows) -> Totals:
        named: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        for row in rows:
            if row["verdict"]:
                named[is_solved(row)][row["verdict"]] += 1
        other_sum = [r for r in rows if is_solved(r) and r.get("alias_holds") and not _is_plain(r)]
        return {
            "solved": dict(named[True].most_common()),
            "other": dict(named[False].most_common()),
            "other_sum": len(other_sum),
        }

    def totals_text(self, totals: Totals) -> Iterator[str]:
        for name, how in (("solved", "above"), ("other", "not above")):
            verdicts = totals[name]
            if verdicts:
                runs = many(sum(verdicts.values()), "run")
                yield f"circuits of {runs} {how} {SOLVED_ACCURACY}: {counted(verdicts)}"
        if other := totals["other_sum"]:
            yield f"{other} of the solved compute another sum that is the same modulo 2 (see --run)"

    def introduction(self, totals: Totals) -> Iterator[str]:
        if totals["solved"]:
            yield f"Their circuits: {counted(totals['solved'])}."
        if totals["other_sum"]:
            yield (
                f"{totals['other_sum']} of them compute another sum that is the same modulo 2, "
                "such as one with a minus sign: `dynascope report` tells which."
            )


KIND = CircuitKind()
