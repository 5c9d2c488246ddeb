"""The sum that weights keep: the page finds, counts and tells the same as Python, bit for bit."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from wasm_node import Node, same_bits
from wasm_weights import sent_task

import dynascope as ds
from dynascope.analysis.kept_sum import KeptSum, kept_sum
from dynascope.analysis.sum_words import told
from dynascope.analysis.thresholds import ROUNDING, SUM_SHARE

ADDITION = ds.Config()
# What differs from the default, seeds, epochs that are looked at.
TRAINED: dict[str, tuple[dict[str, Any], range, tuple[int, ...]]] = {
    "two tokens": ({}, range(20), (0, 30, 1000)),
    "two tokens, d=1": ({"model.dim": 1, "training.epochs": 100}, range(3), (0, 100)),
    "two tokens, d=8, float64": (
        {"model.dim": 8, "precision": "float64", "training.epochs": 100},
        range(3),
        (20, 100),
    ),
    "two tokens, scattered": (
        {"task.length": 9, "task.relevant": [1, 4, 8], "training.epochs": 100},
        range(4),
        (100,),
    ),
    "three tokens": (
        {"task.vocab": 3, "task.length": 6, "task.relevant": 3, "training.epochs": 100},
        range(6),
        (0, 100),
    ),
    "three tokens, d=8": (
        {
            **{"task.vocab": 3, "task.length": 6, "task.relevant": [0, 5]},
            **{"model.dim": 8, "training.epochs": 200},
        },
        range(6),
        (3, 200),
    ),
    "five tokens": (
        {
            **{"task.vocab": 5, "task.length": 4, "task.relevant": 2},
            **{"model.dim": 4, "training.epochs": 200},
        },
        range(4),
        (0, 20, 200),
    ),
}


def weights() -> Iterator[tuple[ds.Config, ds.Parameters]]:
    for changes, seeds, epochs in TRAINED.values():
        runs = ds.train(ADDITION.replace(changes), seeds, progress=False)
        yield from ((run.config, run.parameters(epoch)) for run in runs for epoch in epochs)
    for changes in ({}, {"task.vocab": 3, "task.length": 5}, {"task.vocab": 5, "task.length": 4}):
        head = ds.theory.ideal_head(ADDITION.replace({"task.relevant": 2, **changes}))
        yield head.config, head.parameters
    still = ds.initial_parameters(ADDITION, seed=0)
    still.value[:] = 0  # so that nothing varies
    yield ADDITION, still


def case(config: ds.Config, parameters: ds.Parameters) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    size = (60, config.task.length)
    tokens = rng.integers(config.task.vocab, size=size, dtype=np.int32)
    return {
        **{"kind": "sum", "config": config.to_dict(), "task": sent_task(config.task)},
        **{"weights": np.ascontiguousarray(parameters.flat), "tokens": tokens, "count": 60},
        **{"threshold": SUM_SHARE, "rounding": ROUNDING},
    }


Found = list[tuple[KeptSum | None, dict[str, Any], dict[str, Any]]]


@pytest.fixture(scope="module")
def sums(node: Node) -> Found:
    """What Python finds, what was given, and what the page finds."""
    given = list(weights())
    cases = [case(*each) for each in given]
    found = [kept_sum(parameters, config) for config, parameters in given]
    return list(zip(found, cases, node.run(cases), strict=True))


def test_the_page_finds_the_same_sums(sums: Found) -> None:
    for wanted, _, got in sums:
        if wanted is None:
            assert got == {"kind": "none"}
            continue
        assert got["kind"] == wanted.kind
        numbers = np.array([wanted.share, wanted.corrected, wanted.values])
        assert same_bits(got["numbers"], numbers)
        assert same_bits(got["terms"], wanted.terms.astype(np.int32))
        assert tuple(got["apart"]) == wanted.apart
        assert json.loads(got["best"]) == dict(wanted.best)


def test_all_kinds_were_among_them(sums: Found) -> None:
    kinds = {got["kind"] for *_, got in sums}
    assert kinds == {"plain", "signed", "folded", "split", "two", "unexplained", "none"}


def test_the_page_writes_the_same_formulas(sums: Found) -> None:
    for wanted, _, got in sums:
        if wanted is not None:
            assert got["formula"] == wanted.formula()


def test_the_page_tells_the_same_values_apart(sums: Found) -> None:
    for wanted, given, got in sums:
        if wanted is None:
            continue
        labels = wanted.labels(given["tokens"])
        if wanted.terms.shape[-1] == 2:
            assert (got["labels"] == labels).all()
        pairs = {*zip(got["labels"].tolist(), labels.tolist(), strict=True)}
        assert len(pairs) == labels.max() + 1  # one to one; the page's order is that of multisets
        names = json.loads(got["names"])
        assert len(set(names)) == len(names) == labels.max() + 1


def test_a_value_is_what_the_formula_gives(sums: Found) -> None:
    """Of two tokens and one sum, the name is the number that people get from the formula."""
    seen = 0
    for wanted, given, got in sums:
        if wanted is None or wanted.weights is None or wanted.apart or len(wanted.terms) > 1:
            continue
        seen += 1
        values = given["tokens"] @ np.array(wanted.weights)
        names = json.loads(got["names"])
        told_values = [int(names[i].replace("−", "-")) for i in got["labels"]]
        assert told_values == values.tolist()
    assert seen > 10


# ---- sums that nobody measured -------------------------------------------------------------------
def any_sums() -> list[dict[str, Any]]:
    """Random terms as the kernel may find them, and some that it would not."""
    rng = np.random.default_rng(2)
    found = []
    for _ in range(400):
        p, length, count = (int(rng.choice(of)) for of in ((2, 3, 5, 11), (1, 4, 7), (1, 2)))
        relevant = sorted(rng.choice(length, rng.integers(1, length + 1), replace=False).tolist())
        terms = np.zeros((count, length, p, p), np.int32)
        for one in terms:
            for t in range(length):
                if t in relevant:
                    one[t] = np.roll(np.eye(p), rng.integers(p), axis=1) * (rng.random() < 0.8)
                elif rng.random() < 0.6:
                    one[t, rng.integers(p)] = rng.permutation(fold(rng, p))
        apart = sorted(rng.choice(length, min(length, rng.integers(3)), replace=False).tolist())
        found.append({"terms": terms, "positions": relevant, "apart": apart})
    return found


def fold(rng: np.random.Generator, p: int) -> list[int]:
    n = int(rng.integers(1, 5))
    return (
        [n, -n, *[0] * (p - 2)] if p == 2 or rng.random() < 0.5 else [n, n, -2 * n, *[0] * (p - 3)]
    )


def test_the_page_says_what_python_says_of_any_sum(node: Node) -> None:
    given = any_sums()
    sent = [
        {
            **{"positions": each["positions"], "apart": each["apart"]},
            **{"length": each["terms"].shape[1], "vocab": each["terms"].shape[2]},
            "terms": [one.ravel() for one in each["terms"]],
        }
        for each in given
    ]
    [got] = node.run([{"kind": "told", "sums": sent}])
    wanted = [told(each["terms"], each["positions"], each["apart"]) for each in given]
    assert json.loads(got["formulas"]) == wanted
