"""Spikes of the loss: where do they come from?"""

from dynascope.studies.claims import Claim, Measure
from dynascope.studies.counting import entries_share
from dynascope.studies.estimates import Measured
from dynascope.studies.paired_estimates import rank_correlation
from dynascope.studies.shared_sweeps import DEFAULT
from dynascope.studies.study import Study, Tables

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
STUDY = Study(
    "spikes",
    "Where do spikes of the loss come from?",
    "figures 10 to 12, section 4.4",
    (DEFAULT,),
    CLAIMS,
)
