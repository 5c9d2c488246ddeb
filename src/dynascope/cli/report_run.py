"""The report of one run: its whole circuit position by position, its phases, its spikes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from dynascope.analysis.alias import Alias, alias
from dynascope.analysis.circuit import Circuit
from dynascope.analysis.follow import last_sound_epoch
from dynascope.analysis.rows import attempt, circuit_of, joined, plain
from dynascope.cli.report_table import accuracy, wrapped
from dynascope.cli.table import stdout
from dynascope.run import Run


@dataclass(frozen=True)
class Report:
    """What was found of a run; what could not be is None, with a note."""

    run: Run
    epoch: int  # of the circuit
    circuit: Circuit | None
    alias: Alias | None  # that explains the circuit, where there is one
    phases: Any
    spikes: Any
    notes: dict[str, str]

    @classmethod
    def of(cls, run: Run, epoch: int, kinds: Sequence[str]) -> "Report":
        """Make these analyses; the circuit's at an epoch (-1: the last that can be looked at)."""
        at = last_sound_epoch(run) if epoch == -1 else epoch
        makers: dict[str, Callable[[Run], Any]] = {
            "circuit": lambda run: circuit_of(run, at),
            "phases": _phases,
            "spikes": _spikes,
        }
        found, notes = dict.fromkeys(makers), {}
        for kind in kinds:
            found[kind], note = attempt(makers[kind], run)
            chosen = kind == "circuit" and epoch != -1 and found[kind] is not None
            if note is not None and not chosen:  # how far it was analysed is no question then
                notes[kind] = note
        other = alias(run.parameters(at), run.config) if found["circuit"] else None
        return cls(run, at, found["circuit"], other, found["phases"], found["spikes"], notes)

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON takes it."""
        return {
            "run": plain(self.run.summary() | {"epochs": self.run.epochs}),
            "epoch": self.epoch,
            "circuit": plain(self.circuit),
            "alias": plain(self.alias),
            "phases": plain(self.phases),
            "spikes": plain(self.spikes),
            "notes": self.notes,
        }

    def print(self) -> None:
        """All of it for people."""
        console = stdout()
        console.print(wrapped(_headline(self.run), console))
        if self.circuit is not None:
            console.print(f"\nCircuit after epoch {self.epoch}", style="bold")
            for line in _circuit_lines(self.circuit, self.alias):
                console.print(wrapped(line, console))
            _print_positions(self.circuit, self.run, console)
        for title, found in (("Phases", self.phases), ("Spikes", self.spikes)):
            if found is not None:
                console.print(f"\n{title}", style="bold")
                for line in found.describe().splitlines():
                    console.print(wrapped(line, console))
        if self.notes:
            console.print(f"\n{wrapped(joined(self.notes) or '', console)}")


def _phases(run: Run) -> Any:
    from dynascope.analysis.phases import phases

    return phases(run)


def _spikes(run: Run) -> Any:
    from dynascope.analysis.spikes import spikes

    return spikes(run)


def _headline(run: Run) -> str:
    row = run.summary()
    ended = f"accuracy {accuracy(row)}"
    if run.diverged is not None:
        ended = f"diverged at epoch {run.diverged}"
    return f"Run {run.id}, seed {run.seed}: {run.task.describe()}, {run.epochs} epochs, {ended}"


def _circuit_lines(found: Circuit, other: Alias | None) -> Iterator[str]:
    verdict = found.verdict
    whole = "all" if found.exhaustive else "a sample of"
    yield f"{verdict.name}, decided by {verdict.decided_by} (margin {verdict.margin:.3g})"
    yield f"accuracy {found.accuracy:.4f} on {whole} {found.sequences} sequences"
    for name, shares in (("sequence embedding", found.embedding), ("logits", found.logits)):
        if shares is not None:
            yield (
                f"variance of the {name}: {shares.between:.1%} between groups, "
                f"{shares.permutation:.1%} orderings, {shares.suffix:.1%} suffixes"
            )
    yield (
        f"predictions survive {found.permutation_survival:.1%} of permutations, "
        f"{found.suffix_survival:.1%} of redrawn suffixes"
    )
    clusters = "no" if found.clusters is None else found.clusters
    yield (
        f"{clusters} clusters, {found.expected_clusters} expected (gap "
        f"{found.cluster_gap:.3g}); {found.relevant_attention:.1%} of attention is on relevant "
        "positions"
    )
    if verdict.culprits:
        yield f"positions to blame: {', '.join(map(str, verdict.culprits))}"
    if other is not None and other.holds and not other.plain:
        yield f"it computes another sum that is the same modulo 2: {other.describe()}"


def _print_positions(found: Circuit, run: Run, console: Console) -> None:
    """A row for each position; `*` marks the relevant ones."""
    table = Table(box=None, pad_edge=False, padding=(0, 0, 0, 2), header_style="bold")
    table.add_column("position", justify="right", no_wrap=True)
    columns = {
        "attention": found.attention,
        "value spread": found.value_spread,
        "redraw effect": found.redraw_effect,
        "cut": found.accuracy_without_attention,
        "averaged": found.accuracy_without_value,
    }
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    relevant = set(run.config.task.positions)
    for position in range(len(found.attention)):
        marked = f"{position} {'*' if position in relevant else ' '}"
        table.add_row(marked, *(f"{values[position]:.3f}" for values in columns.values()))
    console.print()
    console.print(table)
    told = "* relevant; cut, averaged: accuracy without its attention, with its mean value"
    console.print(wrapped(told, console))
