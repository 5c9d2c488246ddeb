"""What analyses find: a circuit, the phases of a run, its spikes, its story."""

from collections.abc import Sequence

from dynascope.analysis.circuit import Circuit
from dynascope.analysis.drop_votes import SeenDrop
from dynascope.analysis.drops import METHODS
from dynascope.analysis.kept_sum import KeptSum
from dynascope.analysis.phases import Phases
from dynascope.analysis.spikes import Spike, Spikes
from dynascope.analysis.story import Story
from dynascope.findings.words import many
from dynascope.notebook.analysis_pictures import circuit_picture, phases_picture, spikes_picture
from dynascope.notebook.card import Card, CardColumn, Fact, and_more_line, heading, number
from dynascope.number_text import MISSING, fraction, percent, significant

MOST_SPIKES = 10
MOST_DROPS = 6


def analysis_card(found: object) -> Card:
    if isinstance(found, Circuit):
        return circuit_card(found)
    if isinstance(found, Phases):
        return phases_card(found)
    if isinstance(found, Spikes):
        return spikes_card(found)
    if isinstance(found, Story):
        return story_card(found)
    raise TypeError(f"no card for {type(found).__name__}")


def circuit_card(found: Circuit) -> Card:
    verdict, shares, kept = found.verdict, found.embedding, found.sum
    whole = "all" if found.exhaustive else "a sample of"
    by = verdict.decided_by.replace("_", " ")
    return Card(
        "Circuit",
        f"{verdict.name}, on {whole} {many(found.sequences, 'sequence')}",
        facts=[
            Fact("sum", _sum(kept) if kept else None),
            Fact("sum.share", percent(kept.share) if kept else None),
            Fact("accuracy.all", fraction(found.accuracy, places=4)),
            Fact("share.multiset", percent(shares.between) if shares else None),
            Fact("share.ordering", percent(shares.permutation) if shares else None),
            Fact("share.irrelevant", percent(shares.suffix) if shares else None),
            Fact("attention.relevant", percent(found.relevant_attention)),
            Fact("clusters", f"{found.clusters or 'none'}, {found.expected_clusters} expected"),
            Fact("survives.reordering", percent(found.permutation_survival)),
            Fact("survives.redrawing", percent(found.suffix_survival)),
            Fact("culprits", ", ".join(map(str, verdict.culprits)) or None),
            Fact("verdict.margin", f"{significant(verdict.margin, 2)}, decided by {by}"),
        ],
        picture=circuit_picture(found),
    )


def _sum(kept: KeptSum) -> str:
    if not kept.holds:
        return f"none; the best is {kept.formula()}"
    return f"{kept.formula()} ({kept.kind}{', ' + kept.by if kept.by else ''})"


def phases_card(found: Phases) -> Card:
    pictures = found.snapshots
    return Card(
        "Phases",
        f"to epoch {found.measured_to}",
        facts=[
            Fact("drops", _drops(found.drops)),
            Fact("phase.clustered", _at(found.clustered_epoch)),
            Fact("phase.fitting", _at(found.fitted_epoch)),
            Fact("phase.fitted", _at(pictures.fitted)),
            Fact("lead", _lead(found.lead)),
            Fact("sum.lead", _lead(found.sum_lead)),
            Fact("diverged", _at(found.diverged)),
        ],
        picture=phases_picture(found),
    )


def _drops(drops: Sequence[SeenDrop]) -> str:
    """
    >>> _drops([SeenDrop(66, 60, 72, 1.0, ()), SeenDrop(110, 101, 120, 2.6, ("change", "slope"))])
    '66 (seen by 1 of 3 methods), 110'
    """
    told = [f"{drop.epoch}{_votes(drop)}" for drop in drops[:MOST_DROPS]]
    return ", ".join([*told, *and_more_line(len(told), len(drops), "drops")]) or "none"


def _votes(drop: SeenDrop) -> str:
    of = len(METHODS)
    return "" if drop.votes == of else f" (seen by {drop.votes} of {of} methods)"


def _at(epoch: int | None) -> str | None:
    return None if epoch is None else f"epoch {epoch}"


def _lead(epochs: int | None) -> str | None:
    """
    >>> _lead(12), _lead(-1), _lead(0)
    ('12 epochs', '-1 epoch', '0 epochs')
    """
    return None if epochs is None else f"{epochs} epoch{'' if abs(epochs) == 1 else 's'}"


def spikes_card(found: Spikes) -> Card:
    shown = found.spikes[:MOST_SPIKES]
    return Card(
        "Spikes",
        many(len(found.spikes), "loss spike") if shown else "no loss spikes",
        facts=[Fact("diverged", _at(found.diverged))],
        columns=_spike_columns(shown) if shown else (),
        lines=and_more_line(len(shown), len(found.spikes), "loss spikes"),
        picture=spikes_picture(found) if shown else None,
    )


def _spike_columns(spikes: Sequence[Spike]) -> list[CardColumn]:
    columns = [
        CardColumn(heading("epoch"), [str(spike.peak) for spike in spikes]),
        CardColumn(heading("loss"), [number(spike.height) for spike in spikes]),
        CardColumn(heading("spike.rises", "rise"), [f"{number(spike.rise)} ×" for spike in spikes]),
    ]
    told = [
        CardColumn(heading("spike.causes", "cause", "words"), [_cause(s) for s in spikes], "words"),
        CardColumn(
            heading("spike.confirmed", "tested", "short"), [_tested(s) for s in spikes], "short"
        ),
    ]
    return columns + [each for each in told if any(cell != MISSING for cell in each.cells)]


def _cause(spike: Spike) -> str:
    if spike.cause is not None:
        return spike.cause.verdict
    return f"not explained: {spike.unexplained}" if spike.unexplained else MISSING


def _tested(spike: Spike) -> str:
    return MISSING if spike.cause is None else spike.cause.tested


def story_card(found: Story) -> Card:
    moments = found.moments
    return Card(
        "Story",
        many(len(moments), "moment"),
        columns=[
            CardColumn(heading("epoch"), [str(moment.epoch) for moment in moments]),
            CardColumn(
                heading("story", "moment", "words"),
                [f"{moment.caption}: {moment.text}" for moment in moments],
                "words",
            ),
        ],
        lines=[*found.omissions],
    )
