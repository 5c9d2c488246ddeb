"""Spikes of the loss: where do they come from?"""

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from dynascope.studies.claims import Claim, Measure
from dynascope.studies.counting import entries_share
from dynascope.studies.estimates import Measured
from dynascope.studies.examples import opened
from dynascope.studies.paired_estimates import rank_correlation
from dynascope.studies.shared_sweeps import DEFAULT
from dynascope.studies.study import Study, StudyFigure
from dynascope.studies.table import Tables

if TYPE_CHECKING:
    from dynascope.plots import PublicationFigure


_SOME = 0.1  # of spikes: what a cause has to have to be one of note
_WEAK = 0.1  # rank correlation: below, one number says nothing about the other


def _cause(word: str) -> Measure:
    return lambda tables: entries_share(tables[DEFAULT.name], "spike_causes", word)


def _goes_with(column: str) -> Measure:
    """With the number of spikes, over runs."""

    def measure(tables: Tables) -> Measured:
        runs = tables[DEFAULT.name]
        return rank_correlation(runs[column], runs["spikes"])

    return measure


CLAIMS = (
    Claim(
        "normalisation",
        "spikes come from the normalisation's curvature near the origin",
        "section 4.4, figure 10",
        "share of spikes of which normalisation is a cause (usual without it, and the rise gone)",
        _cause("normalisation"),
        effect=_SOME,
    ),
    Claim(
        "feed-forward",
        "spikes come from a steep feed-forward near a decision boundary",
        "section 4.4, figures 11 and 12",
        "share of spikes of which the feed-forward is a cause",
        _cause("feed-forward"),
        effect=_SOME,
    ),
    Claim(
        "optimizer",
        "(ours) spikes come from steps that are longer than usual, since Adam's second moments "
        "had decayed",
        "not in the paper",
        "share of spikes of which the optimizer is a cause",
        _cause("optimizer"),
        effect=0.5,
    ),
    Claim(
        "step against length",
        "a step is safe only while the learning rate is below the length of what is normalised",
        "section 4.4",
        "rank correlation over runs of the number of epochs in which it is not, with spikes",
        _goes_with("unsafe_epochs"),
        effect=_WEAK,
    ),
    Claim(
        "heavy assemblers",
        "spikes go with heavy assemblers",
        "section 4.4, figure 12",
        "rank correlation over runs of the heaviest assembler's length over the median, at the "
        "end, with spikes",
        _goes_with("heaviest_assembler_ratio"),
        effect=_WEAK,
    ),
    Claim(
        "correlated assemblers",
        "spikes go with small but correlated assemblers",
        "section 4.4, figure 12",
        "rank correlation over runs of the assemblers' mean cosine, weighted by length, at the "
        "end, with spikes",
        _goes_with("assembler_correlation"),
        effect=_WEAK,
    ),
)


def _draw_causes(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    figure, ax = plots.subplots(width="column")
    lists = tables[DEFAULT.name].lists("spike_causes")
    counts = Counter(str(each) for own in lists for each in own)
    names = [name for name, _ in counts.most_common()]
    total = sum(counts.values())
    plots.bars(names, [counts[name] for name in names], ax, of=total, x_label="share of spikes")
    return figure


def _draw_against(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    figure, axes = plots.subplots(1, 3, sharey=True)
    runs = tables[DEFAULT.name]
    for ax, (column, label) in zip(axes, _BESIDE.items(), strict=True):
        plots.cloud(
            runs[column], runs["spikes"], ax, runs=runs.addresses(), x_label=label, y_label="spikes"
        )
    return figure


def _draw_spike(cause: str, tables: Tables) -> "PublicationFigure":
    """The first run by seed with a spike of which this is a cause."""
    from dynascope import plots

    runs = tables[DEFAULT.name]
    for place, causes in enumerate(runs.lists("spike_causes")):
        for number, each in enumerate(causes):
            if cause in each.split("+"):
                peak = int(runs["spike_epochs"][place][number])
                return plots.figure("spike", (opened(runs, place), peak))
    return plots.subplots()[0]


_BESIDE = {
    "unsafe_epochs": "epochs with lr above the shortest length",
    "heaviest_assembler_ratio": "heaviest assembler over the median",
    "assembler_correlation": "correlation of assemblers",
}


STUDY = Study(
    "spikes",
    "Where do spikes of the loss come from?",
    "figures 10 to 12, section 4.4",
    (DEFAULT,),
    CLAIMS,
    figures=(
        StudyFigure("causes", "Causes of all spikes of the default runs.", _draw_causes),
        StudyFigure(
            "beside", "The number of spikes of a run against what the paper blames.", _draw_against
        ),
        StudyFigure(
            "normalisation",
            "The first spike by seed of which normalisation is a cause.",
            partial(_draw_spike, "normalisation"),
        ),
        StudyFigure(
            "feed-forward",
            "The first spike by seed of which the feed-forward is a cause.",
            partial(_draw_spike, "feed-forward"),
        ),
    ),
    notes=(
        "A cause is named if it was at least three times the usual, and if without it at least "
        "half of the rise is gone. A spike can have several. The paper names what it sees "
        "beside spikes; the last three claims ask whether that goes with them over runs.",
        "Spikes of the released setting (three rows of the embedding) were counted as well: "
        "the last figure of the study circuits.",
    ),
)
