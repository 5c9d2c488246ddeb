"""Initialisation: is the circuit at the end there at the start?"""

from typing import TYPE_CHECKING

import numpy as np

from dynascope.studies.claims import Claim
from dynascope.studies.counting import share_of, solved_runs
from dynascope.studies.estimates import Measured, known, paired
from dynascope.studies.examples import most_of
from dynascope.studies.shared_sweeps import DEFAULT
from dynascope.studies.study import Study, StudyFigure
from dynascope.studies.table import Table, Tables

if TYPE_CHECKING:
    from dynascope.plots import PublicationFigure


def _solved(tables: Tables) -> Table:
    return solved_runs(tables[DEFAULT.name])


def _more_than_others(tables: Tables) -> Measured:
    runs = _solved(tables)
    return paired(runs["attention_similarity"], runs["attention_similarity_others"])


def _most_similar(tables: Tables) -> Measured:
    """Of 20 starts, the run's own is the most similar one: 1 in 20 by chance."""
    return share_of(known(_solved(tables)["attention_similarity_p"]) <= 0.05)


def _prefers_one(tables: Tables) -> Measured:
    return share_of(known(_solved(tables)["preferred_token_end"]) == 1)


def _keeps_preference(tables: Tables) -> Measured:
    runs = _solved(tables)
    there = ~np.isnan(runs["preferred_token_start"]) & ~np.isnan(runs["preferred_token_end"])
    runs = runs.where(there)
    return share_of(runs["preferred_token_start"] == runs["preferred_token_end"])


CLAIMS = (
    Claim(
        "attention stays similar",
        "attention at the end resembles attention at the start strongly",
        "section 4.2, figure 5",
        "rank correlation of the attention maps of solved runs at start and end, minus that with "
        "the starts of 19 other seeds, mean",
        _more_than_others,
        effect=0.1,
    ),
    Claim(
        "the own start is told",
        "the start decides which circuit comes of it",
        "section 4.2, figure 5",
        "share of solved runs whose own start is the most similar to their end of 20 starts",
        _most_similar,
        effect=0.5,
    ),
    Claim(
        "attention on ones",
        "attention learns to focus on the ones among the relevant tokens",
        "section 4.2, figure 5",
        "share of solved runs whose attention on relevant positions prefers token 1 at the end",
        _prefers_one,
        effect=0.6,
    ),
    Claim(
        "the preference is there at the start",
        "(ours) which token is preferred is decided at the start",
        "not in the paper",
        "share of solved runs that prefer the same token at the start and at the end",
        _keeps_preference,
        effect=0.6,
    ),
)


def _draw_similarity(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    figure, axes = plots.subplots(1, 2)
    runs = _solved(tables)
    names = ["own start"] * len(runs) + ["starts of others"] * len(runs)
    both = [runs["attention_similarity"], runs["attention_similarity_others"]]
    where = runs.addresses() * 2
    plots.dots(names, np.concatenate(both), axes[0], runs=where, y_label="rank correlation")
    for when in ("start", "end"):
        tokens = known(runs[f"preferred_token_{when}"])
        counts, of = [int((tokens == token).sum()) for token in (0, 1)], [len(tokens)] * 2
        plots.rates(["token 0", "token 1"], counts, of, axes[1], label=f"at the {when}")
    return figure


def _draw_attention(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    runs = _solved(tables)
    middle = np.abs(runs["attention_similarity"] - np.nanmedian(runs["attention_similarity"]))
    run = most_of(runs, -middle)
    return plots.figure("attention", run) if run else plots.subplots()[0]


STUDY = Study(
    "initialisation",
    "Is the circuit of the end there at the start, and does attention prefer a token?",
    "figure 5, section 4.2",
    (DEFAULT,),
    CLAIMS,
    figures=(
        StudyFigure(
            "similarity",
            "Solved runs: attention at the end against the own start and those of 19 others; and "
            "the token that attention prefers among relevant ones.",
            _draw_similarity,
        ),
        StudyFigure(
            "attention",
            "Attention at start and end, of the run whose similarity is the median.",
            _draw_attention,
        ),
    ),
    notes=(
        "The paper compares maps of attention by eye. Here likeness is their rank "
        "correlation, less that with the starts of 19 other seeds: what all starts have in "
        "common does not count.",
        "The paper sees a preference for ones in the runs that it shows. To tell a habit of "
        "training from one of the seed, the last claim asks whether the preferred token is "
        "that of the start.",
    ),
)
