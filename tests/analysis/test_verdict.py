"""Verdicts and culprits: ideal heads, heads damaged by hand, and the thresholds themselves."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dynascope as ds
from dynascope.analysis import circuit
from dynascope.analysis.thresholds import (
    CLEAR_GAP,
    CULPRIT_SHARE,
    INVARIANT_SHARE,
    RELEVANT_ATTENTION,
)
from dynascope.analysis.verdict import Verdict, judge, unlike_the_others
from dynascope.run import SOLVED_ACCURACY
from dynascope.theory import ideal_head

TASKS = [
    (p, k, length)
    for p, k in itertools.product(range(2, 6), range(2, 7))
    for length in range(k, 21)
    if p**length <= 2**20
]
QUICK = [(p, k, length) for p, k, length in TASKS if length == k or p**length <= 2**10]


def is_ideal(p: int, k: int, length: int, dim: int) -> None:
    config = ds.Config().replace(
        {"task.vocab": p, "task.length": length, "task.relevant": k, "model.dim": dim}
    )
    head = ideal_head(config)
    found = circuit(head.parameters, head.config)
    assert found.exhaustive
    assert found.accuracy == 1.0
    assert found.verdict.name == "ideal"
    assert found.verdict.culprits == ()
    assert found.clusters == found.expected_clusters == math.comb(k + p - 1, k)
    assert found.permutation_survival == found.suffix_survival == 1.0


@pytest.mark.parametrize("dim", [2, 3, 8])
@pytest.mark.parametrize(("p", "k", "length"), QUICK)
def test_ideal_heads_of_small_tasks(p: int, k: int, length: int, dim: int) -> None:
    is_ideal(p, k, length, dim)


@pytest.mark.slow
@pytest.mark.parametrize("dim", [2, 3, 8])
@pytest.mark.parametrize(("p", "k", "length"), [task for task in TASKS if task not in QUICK])
def test_ideal_heads_of_large_tasks(p: int, k: int, length: int, dim: int) -> None:
    is_ideal(p, k, length, dim)


# ---- damage -------------------------------------------------------------------------------------
Damage = Callable[[ds.Parameters], None]


def attends_to(position: int) -> Damage:
    """An irrelevant position is treated like a relevant one."""

    def damage(p: ds.Parameters) -> None:
        p.position_embedding[position] = p.position_embedding[0]

    return damage


def ignores(position: int) -> Damage:
    """A relevant position is treated like an irrelevant one."""

    def damage(p: ds.Parameters) -> None:
        p.position_embedding[position] = p.position_embedding[-1]

    return damage


def turned(position: int, angle: float) -> Damage:
    """The embedding of a position points elsewhere: other values, another weight."""

    def damage(p: ds.Parameters) -> None:
        cos, sin = math.cos(angle), math.sin(angle)
        x, y = p.position_embedding[position, :2].copy()
        p.position_embedding[position, :2] = [cos * x - sin * y, sin * x + cos * y]

    return damage


def both(*all_of: Damage) -> Damage:
    def damage(p: ds.Parameters) -> None:
        for each in all_of:
            each(p)

    return damage


def attends_evenly(p: ds.Parameters) -> None:
    """Attention is no longer told by position; values of irrelevant tokens are alike, as before.

    Their embeddings are so long that the token does not matter, so they only add a constant.
    """
    p.query[...] = 0
    p.position_embedding[5:] *= 1e4


DAMAGED: dict[str, tuple[Damage, str, tuple[int, ...], tuple[int, ...]]] = {
    "one irrelevant position": (attends_to(7), "suffix", (), (7,)),
    "two irrelevant positions": (both(attends_to(9), attends_to(6)), "suffix", (), (6, 9)),
    "one position's value": (turned(2, 0.2), "permutation", (2,), ()),
    "one position's attention": (ignores(3), "permutation", (3,), ()),
    "one pair's order": (both(turned(1, 0.2), turned(3, -0.2)), "permutation", (1, 3), ()),
    "both invariances": (both(turned(4, 0.2), attends_to(11)), "both", (4,), (11,)),
}


@pytest.mark.parametrize("dim", [2, 3, 8])
@pytest.mark.parametrize("name", DAMAGED)
def test_the_culprit_of_a_damage_is_named(name: str, dim: int) -> None:
    damage, which, breaks_permutation, breaks_suffix = DAMAGED[name]
    head = ideal_head(ds.Config().replace({"model.dim": dim}))
    broken = head.parameters.copy()
    damage(broken)
    found = circuit(broken, head.config)
    assert set(found.verdict.breaks_permutation) == set(breaks_permutation)
    assert set(found.verdict.breaks_suffix) == set(breaks_suffix)
    assert found.verdict.name not in ("ideal", "value-corrected")
    shares = found.embedding
    assert shares is not None
    assert (shares.permutation > 0.01) == (which != "suffix")
    assert (shares.suffix > 0.01) == (which != "permutation")


def refitted(damage: Damage, **changes: Any) -> ds.theory.Head:
    """A damaged head whose feed-forward has learnt to live with it; all else is as it was."""
    head = ideal_head(ds.Config().replace({"model.hidden": 64}))
    broken = head.parameters.copy()
    damage(broken)
    everything_else = ("token_embedding", "position_embedding", "query", "value")
    config = head.config.replace(
        {"training.frozen": everything_else, "training.epochs": 400, "training.lr": 0.01, **changes}
    )
    run = ds.train(config, start=broken, progress=False)[0]
    return ds.theory.Head(run.parameters(), config)


@pytest.mark.parametrize(
    ("damage", "verdict"),
    [
        (attends_evenly, "value-corrected"),
        (both(attends_to(7), turned(7, 0.4)), "partial"),
        (turned(2, 0.2), "partial"),
    ],
    ids=["attends evenly", "attends to 7", "2 turned"],
)
def test_a_damaged_head_that_was_fitted_again(damage: Damage, verdict: str) -> None:
    head = refitted(damage)
    found = circuit(head.parameters, head.config)
    assert found.accuracy > SOLVED_ACCURACY
    assert found.verdict.name == verdict


# ---- the thresholds -----------------------------------------------------------------------------
def verdict(**measures: Any) -> Verdict:
    plain: dict[str, Any] = {
        "accuracy": 1.0,
        "between": 1.0,
        "relevant_attention": 1.0,
        "cluster_gap": 100.0,
        "swap_effect": np.zeros((3, 3)),
        "redraw_effect": np.zeros(6),
        "positions": (0, 2, 4),
    }
    return judge(**{**plain, **measures})


def one_matters(effect: float) -> dict[str, Any]:
    return {"redraw_effect": np.array([0, effect, 0, 0, 0, 0])}


TABLE: list[tuple[dict[str, Any], str, float, str]] = [
    ({}, "ideal", 1.0, "accuracy"),
    ({"accuracy": 0.5}, "unsolved", 4 / 9, "accuracy"),
    ({"accuracy": SOLVED_ACCURACY}, "unsolved", 0.0, "accuracy"),
    ({"accuracy": 0.91}, "ideal", 0.1, "accuracy"),
    ({"relevant_attention": 0.81}, "value-corrected", 0.1, "relevant_attention"),
    ({"relevant_attention": RELEVANT_ATTENTION}, "ideal", 0.0, "relevant_attention"),
    ({"between": INVARIANT_SHARE}, "ideal", 0.0, "between_share"),
    ({"between": 0.96}, "ideal", 0.2, "between_share"),
    ({"between": 0.855}, "partial", 0.1, "between_share"),
    ({"between": 0.3, "cluster_gap": CLEAR_GAP}, "partial", 0.0, "cluster_gap"),
    ({"between": 0.3, "cluster_gap": 2.9}, "fuzzy", 0.1 / 3, "cluster_gap"),
    ({"between": 0.3, "cluster_gap": 1.0}, "fuzzy", 2 / 3, "cluster_gap"),
    ({"between": None}, "partial", 0.97, "cluster_gap"),
    ({"between": 0.98, **one_matters(0.02)}, "partial", 0.5, "largest_effect"),
    ({"between": 0.98, **one_matters(0.0101)}, "partial", 0.01 / 1.01, "largest_effect"),
    ({"between": 0.98, **one_matters(0.0099)}, "ideal", 0.01, "largest_effect"),
]


@pytest.mark.parametrize(("measures", "name", "margin", "decided_by"), TABLE, ids=str)
def test_verdicts(measures: dict[str, Any], name: str, margin: float, decided_by: str) -> None:
    found = verdict(**measures)
    assert (found.name, found.decided_by) == (name, decided_by)
    assert found.margin == pytest.approx(margin)


def test_irrelevant_culprits_come_in_the_order_of_their_effect() -> None:
    effect = np.array([1.0, 0.02, 1.0, CULPRIT_SHARE, 1.0, 0.0])
    assert verdict(redraw_effect=effect).breaks_suffix == (1, 3)


def of_contributions(*each: float) -> Any:
    """What swapping makes if positions add these numbers times their token."""
    column = np.array(each)
    return (column[:, None] - column[None]) ** 2 / 8


@pytest.mark.parametrize(
    ("contributions", "unlike"),
    [
        ((1, 1, 1, 1), []),
        ((1, 3, 1, 1), [1]),
        ((3, 1, 1, 1, -1), [0, 4]),
        ((1, 1, 4, 2, 1), [2, 3]),
        ((1, 2), [0, 1]),
        ((1,), []),
    ],
)
def test_positions_unlike_the_others(contributions: tuple[float, ...], unlike: list[int]) -> None:
    assert unlike_the_others(of_contributions(*contributions)) == unlike
