"""The ideal head: perfect on every sequence that exists, for every option of the model."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

import dynascope as ds
from dynascope.theory import Head, ideal_head

FEW, MANY = 2**14, 2**20  # sequences: tried always, and only in the slow part
AT_ONCE = 2**13


def lengths(p: int, k: int) -> list[int]:
    """k, the next, the largest, and one in between."""
    largest = int(math.log(MANY) / math.log(p) + 1e-9)
    return sorted({k, k + 1, (k + 1 + largest) // 2, largest} & set(range(k, largest + 1)))


def table(least: int, most: int) -> list[tuple[int, int, int, int]]:
    return [
        (p, k, n, d)
        for p in range(2, 6)
        for k in range(2, 7)
        for n in lengths(p, k)
        if least < p**n <= most
        for d in (2, 3, 8)
    ]


def head_of(changes: dict[str, Any], confidence: float = 0.999) -> Head:
    return ideal_head(ds.Config().replace(changes), confidence)


class Tried(NamedTuple):
    accuracy: float
    least: float  # the smallest probability of a right class
    aside: float  # the largest total attention on irrelevant positions
    clusters: int  # multisets
    within: float  # the furthest that a sequence embedding is from its multiset's first
    between: float  # the smallest distance between two multisets


def tried(head: Head) -> Tried:
    """On every sequence; multisets are counted here by sorting the relevant tokens."""
    task = head.config.task
    tokens, targets = ds.dataset(task, split="all")
    irrelevant = [t for t in range(task.length) if t not in task.positions]
    right, least, aside, within = 0, 1.0, 0.0, 0.0
    first: dict[tuple[int, ...], Any] = {}
    for start in range(0, len(tokens), AT_ONCE):
        some, wanted = tokens[start : start + AT_ONCE], targets[start : start + AT_ONCE]
        got = ds.forward(head.parameters, some, head.config)
        right += int((got.logits.argmax(axis=1) == wanted).sum())
        least = min(least, float(got.probabilities[np.arange(len(some)), wanted].min()))
        aside = max(aside, float(got.attention[:, irrelevant].sum(axis=1).max(initial=0)))
        sets, where = np.unique(
            np.sort(some[:, list(task.positions)], axis=1), axis=0, return_inverse=True
        )
        for i, row in enumerate(sets):
            members = got.sequence[where.ravel() == i].astype(float)
            centre = first.setdefault(tuple(row), members[0])
            within = max(within, float(np.abs(members - centre).max()))
    return Tried(right / len(tokens), least, aside, len(first), within, nearest(first))


def nearest(points: dict[tuple[int, ...], Any]) -> float:
    rows = np.stack(list(points.values()))
    apart = np.linalg.norm(rows[:, None] - rows, axis=-1)
    return float(apart[np.triu_indices(len(rows), 1)].min())


def assert_ideal(head: Head, confidence: float = 0.999) -> None:
    task = head.config.task
    k, p = len(task.positions), task.vocab
    got = tried(head)
    assert got.accuracy == 1.0
    assert got.least >= confidence
    assert got.aside < 1e-9
    assert got.clusters == math.comb(k + p - 1, k)
    assert got.between > 1000 * got.within
    assert got.between > 0.8 / got.clusters**1.2  # all on a line about four long


@pytest.mark.parametrize(("p", "k", "n", "d"), table(0, FEW))
def test_every_sequence(p: int, k: int, n: int, d: int) -> None:
    changes = {"task.vocab": p, "task.relevant": k, "task.length": n, "model.dim": d}
    assert_ideal(head_of(changes))


@pytest.mark.slow
@pytest.mark.parametrize(("p", "k", "n", "d"), table(FEW, MANY))
def test_every_sequence_of_many(p: int, k: int, n: int, d: int) -> None:
    changes = {"task.vocab": p, "task.relevant": k, "task.length": n, "model.dim": d}
    assert_ideal(head_of(changes))


def test_the_table_covers_all_that_is_asked_for() -> None:
    always = set(table(0, FEW))
    assert {(p, k, d) for p, k, _, d in always} == {
        (p, k, d) for p in range(2, 6) for k in range(2, 7) for d in (2, 3, 8)
    }
    assert {(5, 2, 8, 2), (2, 6, 20, 8)} <= set(table(FEW, MANY))


@pytest.mark.parametrize("norm", ["rms", "unit", "smooth", "none"])
@pytest.mark.parametrize("activation", ["gelu", "relu", "silu"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_every_option(norm: str, activation: str, bias: bool, precision: str) -> None:
    model = {"model.norm": norm, "model.activation": activation, "model.bias": bias}
    task = {"task.vocab": 3, "task.length": 6, "task.relevant": [0, 2, 3, 5]}
    head = head_of({**model, **task, "model.embeddings": 5, "precision": precision})
    assert head.parameters.flat.dtype == precision
    assert head.parameters.shapes == head.config.shapes
    assert_ideal(head)


@pytest.mark.parametrize(
    "changes",
    [
        {"task.length": 1, "task.relevant": 1},
        {"task.relevant": [11]},
        {"task.vocab": 16, "task.relevant": 1, "task.length": 3},
        {"task.vocab": 10, "task.relevant": 2, "task.length": 4, "precision": "float64"},
        {"model.norm_eps": 0.0},
        {"model.norm_eps": 0.5, "model.dim": 16},
        {"model.norm": "unit", "model.norm_eps": 20.0},
        {"model.norm": "smooth", "model.norm_tau": 50.0, "model.bias": False},
        {"model.norm": "smooth", "model.norm_tau": 1e-3},
        {"model.embeddings": 100},
    ],
    ids=str,
)
def test_odd_configs(changes: dict[str, Any]) -> None:
    assert_ideal(head_of(changes))


@pytest.mark.parametrize("bias", [True, False])
def test_hundreds_of_multisets_are_told_apart_in_float64(bias: bool) -> None:
    changes = {"task.vocab": 8, "task.relevant": 5, "precision": "float64", "model.bias": bias}
    head = head_of(changes)
    assert head.config.model.hidden == 2 * (math.comb(12, 5) - 1) + (not bias)
    tokens, targets = ds.dataset(head.config.task, split="test")
    got = ds.forward(head.parameters, tokens, head.config)
    assert (got.logits.argmax(axis=1) == targets).all()


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("p", [2, 4])
def test_confidence_holds_and_rises(p: int, precision: str) -> None:
    asked = [1 / p + 0.01, 0.6, 0.9, 0.99, 0.9999]
    changes = {"task.vocab": p, "task.relevant": 3, "task.length": 4, "precision": precision}
    got = [tried(head_of(changes, confidence)).least for confidence in asked]
    assert all(least >= confidence for least, confidence in zip(got, asked, strict=True))
    assert sorted(set(got)) == got
    assert 1 - got[-1] > 1e-6  # as sure as asked for, not as sure as can be


def test_classes_share_one_output_in_their_own_direction() -> None:
    head = head_of({"task.vocab": 3, "precision": "float64"})
    tokens, targets = ds.dataset(head.config.task, split="test")
    output = ds.forward(head.parameters, tokens, head.config).output
    for label in range(3):
        mine = output[targets == label]
        row = head.parameters.token_embedding[label]
        np.testing.assert_allclose(mine, np.broadcast_to(mine[0], mine.shape), atol=1e-9)
        np.testing.assert_allclose(mine[0] / np.linalg.norm(mine[0]), row, atol=1e-9)


def test_hidden_is_kept_or_raised() -> None:
    assert head_of({}).config == ds.Config()
    assert not head_of({}).parameters.receptors[10:].any()
    assert head_of({"model.hidden": 3}).config.model.hidden == 10
    assert head_of({"model.hidden": 3, "model.bias": False}).config.model.hidden == 11
    assert head_of({"model.hidden": 1, "task.vocab": 5}).config.model.hidden == 250


def test_the_same_bits_every_time() -> None:
    from dynascope.theory import _plane

    before = head_of({"task.vocab": 4})
    _plane._searched.cache_clear()
    assert head_of({"task.vocab": 4}).parameters == before.parameters


def test_it_is_easy_to_damage() -> None:
    """An irrelevant position with a relevant one's embedding takes its share of attention."""
    head = head_of({})
    damaged = head.parameters.copy()
    damaged.position_embedding[7] = damaged.position_embedding[0]
    tokens, targets = ds.dataset(head.config.task, split="all")
    got = ds.forward(damaged, tokens, head.config)
    np.testing.assert_allclose(got.attention[:, 7], 1 / 6, atol=1e-6)
    assert (got.logits.argmax(axis=1) == targets).mean() < 0.9


def test_it_can_be_trained_on() -> None:
    head = head_of({"training.epochs": 1})
    run = ds.train(head.config, seeds=[0], start=head.parameters, progress=False)[0]
    assert run.curves["test_accuracy"][0] == 1.0


@pytest.mark.parametrize(
    ("changes", "confidence", "message"),
    [
        ({"model.dim": 1}, 0.9, "model.dim: expected at least 2 for an ideal head, but got 1."),
        ({}, 1.0, "confidence: expected a number above 1/2 and below 1, but got 1.0."),
        ({}, 0.5, "confidence: expected a number above 1/2 and below 1, but got 0.5."),
        ({"model.embeddings": 4}, 0.2, "confidence: expected a number above 1/4 and below 1"),
        ({}, float("nan"), "confidence: expected a number above 1/2 and below 1, but got nan."),
        ({}, "high", "confidence: expected a number above 1/2 and below 1, but got 'high'."),
        ({}, True, "confidence: expected a number above 1/2 and below 1, but got True."),
        (
            {"task.vocab": 10, "task.relevant": 6},
            0.9,
            "task: expected at most 4096 multisets of relevant tokens for an ideal head, but got "
            "5005; take a smaller task.vocab or fewer relevant positions.",
        ),
        (
            {"task.vocab": 10},
            0.999,
            "config: expected one within reach of an ideal head, but 2002 multisets of relevant "
            "tokens, embeddings of length 1 and more (as model.norm asks for) and a confidence of "
            "0.999 are too much for float32; take precision float64.",
        ),
        ({"model.norm_eps": 1e300, "precision": "float64"}, 0.9, "config: expected one within"),
        ({"model.norm_eps": 1e30}, 0.9, "config: expected one within reach of an ideal head"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(changes: Any, confidence: Any, message: str) -> None:
    with pytest.raises(ds.DynascopeError) as caught:
        head_of(changes, confidence)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("config", [3, ds.ModelConfig()])
def test_a_config_is_needed(config: Any) -> None:
    with pytest.raises(ds.DynascopeError, match=r"^config: expected a ds.Config or a dict of"):
        ideal_head(config)
