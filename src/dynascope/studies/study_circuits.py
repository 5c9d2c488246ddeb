"""Circuits: what do runs that solve the task compute?"""

import numpy as np

from dynascope.studies.claims import Claim, Measure
from dynascope.studies.counting import named, share_of, solved_runs
from dynascope.studies.estimates import Measured, known
from dynascope.studies.shared_sweeps import DEFAULT
from dynascope.studies.study import Study, Tables
from dynascope.studies.table import Table

_RARE = 0.02  # of solved runs: what is rarer is a curiosity
_OTHER_SUMS = ("signed", "folded", "split", "two")  # than the plain one


def _solved(tables: Tables) -> Table:
    return solved_runs(tables[DEFAULT.name])


def _verdict(*words: str) -> Measure:
    return lambda tables: named(_solved(tables)["verdict"], *words)


def _corrected(tables: Tables) -> Measured:
    """Of those that cluster by multisets."""
    verdicts = _solved(tables)["verdict"]
    clustered = verdicts[np.isin(verdicts.astype(str), ("ideal", "value-corrected"))]
    return named(clustered, "value-corrected")


def _more_clusters(tables: Tables) -> Measured:
    runs = _solved(tables)
    return share_of(known(runs["clusters"] - runs["expected_clusters"]) > 0)


def _survives(column: str) -> Measure:
    """How often predictions of solved runs change under what should not matter, at times."""
    return lambda tables: share_of(known(_solved(tables)[column]) < 1)


def _explained(tables: Tables) -> Measured:
    kinds = _solved(tables)["sum_kind"]
    return named(kinds, "plain", *_OTHER_SUMS)


def _other_sums(tables: Tables) -> Measured:
    kinds = _solved(tables)["sum_kind"]
    return named(kinds, *_OTHER_SUMS)


CLAIMS = (
    Claim(
        "clustering heads",
        "in practice transformers solve the task by clustering heads: sequences with equal "
        "multisets of relevant tokens have one embedding",
        "sections 3 and 4.2",
        "share of solved runs with verdict ideal or value-corrected",
        _verdict("ideal", "value-corrected"),
        effect=0.5,
    ),
    Claim(
        "attention corrected by values",
        "in many instances attention reaches irrelevant tokens, and values make up for it",
        "section 4.2, figure 2",
        "of solved runs that cluster by multisets, the share whose attention alone would not do",
        _corrected,
        effect=0.25,
    ),
    Claim(
        "partial invariance",
        "frequently not all invariances are learnt: there are more than six clusters",
        "section 4.2, figure 3",
        "share of solved runs with more clusters than multisets",
        _more_clusters,
        effect=0.25,
    ),
    Claim(
        "fuzzy constructions",
        "occasionally embeddings follow unconventional patterns that still generalise",
        "section 4.2, figure 4",
        "share of solved runs with verdict fuzzy",
        _verdict("fuzzy"),
        effect=_RARE,
    ),
    Claim(
        "broken invariances",
        "both invariances, to permutations and to irrelevant tokens, may stay unlearnt",
        "section 4.2, figure 3",
        "share of solved runs of which some prediction changes with what should not matter",
        {
            "a permutation": _survives("permutation_survival"),
            "an irrelevant token": _survives("suffix_survival"),
        },
        effect=_RARE,
    ),
    Claim(
        "circuits are sums",
        "(ours) the embedding of every solved run keeps a weighted sum of tokens",
        "not in the paper",
        "share of solved runs whose embedding a sum explains to 98%, with up to two tokens apart",
        _explained,
        effect=0.9,
    ),
    Claim(
        "other sums",
        "(ours) most of these are not the plain sum of the relevant tokens",
        "not in the paper",
        "share of solved runs with a signed, folded or split sum, or with two",
        _other_sums,
        effect=0.5,
    ),
)
STUDY = Study(
    "circuits",
    "What do runs that solve the task compute, and which invariances do they learn?",
    "figures 2 to 4, section 4.2",
    (DEFAULT,),
    CLAIMS,
)
