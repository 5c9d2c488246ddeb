"""The WebAssembly module itself, and what goes wrong: a sentence, and the kernel goes on."""

import json
from typing import Any

import numpy as np
from wasm_node import Node, same_bits
from wasm_weights import Weights, sent

import dynascope as ds
from dynascope import _kernel
from dynascope.tasks import task_of


def test_module(node: Node) -> None:
    found = node.run([{"kind": "module"}])[0]
    assert (found["imports"], found["bounded"]) == (0, 1)
    columns = json.loads(found["columns"])
    assert columns == [list(_kernel.CURVE_NAMES), list(_kernel.STEP_CURVE_NAMES)]


def test_no_memory_is_lost(node: Node) -> None:
    found = node.run([{**Weights(1).case(), "kind": "leaks"}])[0]
    assert found["after"] == found["before"]


def test_weights_that_blew_up(node: Node) -> None:
    """NaN and infinity go through; a circuit is refused with a sentence."""
    cases, wanted = [], []
    for index, value in enumerate([np.nan, np.inf, -np.inf]):
        each = Weights(index)
        each.weights = np.full_like(each.weights, value)
        cases.append(each.case())
        wanted.append("weights: expected finite numbers, but number 0 is not.")
    assert [got["error"] for got in node.run(cases)] == wanted


DEFAULT = {
    **{"precision": "float32", "vocab": 2, "embeddings": 2, "length": 3, "dim": 2, "hidden": 4},
    **{"bias": True, "activation": "gelu", "norm": "rms", "norm_eps": 1e-5, "norm_tau": 1},
}
W = np.ones(38, np.float32)
X = np.zeros(6, np.int32)
Y = np.zeros(2, np.int32)
PLAIN = {"origin": [0, 0], "a": [1, 0], "b": [0, 1], "x": [0], "y": [0], "stage": "output"}
TRAINER = {
    **{"training": ds.Config().to_dict()["training"], "train": {"tokens": X, "targets": Y}},
    **{"seed": 0, "start": W},
}
CROSSED = sent(task_of(ds.TaskConfig(length=3, relevant=2)).design())
ODD = sent(task_of(ds.TaskConfig(length=3, relevant=3)).design())
MANY = 2**16  # prefixes x suffixes: their number, times four bytes, is 2^34


def trainer(**training: Any) -> dict[str, Any]:
    return {**TRAINER, "training": {**TRAINER["training"], "batch": 2, **training}}


WRONG: list[tuple[str, list[Any], dict[str, Any], str]] = [
    ("forward", [W, X + 2], {}, "tokens: expected a whole number from 0 to 1, but got 2."),
    ("forward", [W, X - 1], {}, "tokens: expected a whole number from 0 to 1, but got -1."),
    ("forward", [W, X[:4]], {}, "tokens: expected rows of 3 numbers, but got 4 in all."),
    ("forward", [W[1:], X], {}, "weights: expected 38 numbers, but got 37."),
    (
        "forward",
        [W, X, {"ablate": {"positions": [0, 1, 2]}}],
        {},
        "ablate.positions: expected one to be left, but all are cut.",
    ),
    (
        "forward",
        [W, X, {"ablate": {"hidden": [4]}}],
        {},
        "ablate.hidden: expected numbers from 0 to 3, but got '4'.",
    ),
    (
        "forward",
        [W, X, {"patch": {"scores": [1]}}],
        {},
        "patch.scores: expected 6 numbers, but got 1.",
    ),
    ("forward", [W, X], {"disposed": True}, "model: it was disposed; make a new one."),
    ("grid", [W, {**PLAIN, "a": [1]}], {}, "a: expected 2 numbers, but got 1."),
    (
        "grid",
        [W, {**PLAIN, "x": [0] * 4097}],
        {},
        "width: expected a whole number from 0 to 4096, but got 4097.",
    ),
    ("evaluate", [W[1:], X, Y], {}, "weights: expected rows of 38 numbers, but got 37 in all."),
    ("evaluate", [W, X, Y + 2], {}, "examples: expected a whole number from 0 to 1, but got 2."),
    ("evaluate", [W, X, Y[:1]], {}, "tokens: expected 3 numbers, but got 6."),
    (
        "gradient",
        [W, X[:0], Y[:0]],
        {},
        "examples: expected a whole number from 1 to 16777216, but got 0.",
    ),
    ("initialize", [-1], {}, "seed: expected a whole number from 0 to 9007199254740991, but"),
    ("initialize", [0.5], {}, "seed: expected a whole number from 0 to 9007199254740991."),
    ("initialize", [2.0**53], {}, "seed: expected a whole number from 0 to 9007199254740991."),
    ("circuit", [W * np.nan, CROSSED], {}, "weights: expected finite numbers, but number 0"),
    ("circuit", [W, {**CROSSED, "prefixCount": 3}], {}, "prefixes: expected 6 numbers, but got 8."),
    ("circuit", [W, {**CROSSED, "groups": [0, 2, 1, 4]}], {}, "groups: expected numbers that rise"),
    ("circuit", [W, {**CROSSED, "sampled": True}], {}, "groups: expected several multisets"),
    ("circuit", [W, {**CROSSED, "positions": [1, 0]}], {}, "positions: expected rising numbers."),
    ("circuit", [W, {**CROSSED, "length": 4}], {}, "task: expected the model's length and vocab."),
    ("circuit", [W, {**CROSSED, "name": "x"}], {}, "name: expected one of the kernel's tasks."),
    ("circuit", [W, {**ODD, "name": "products"}], {}, "relevant: expected an even number"),
    ("circuit", [W, CROSSED, ["logits"]], {}, "measures: expected those that are found together"),
    (
        "circuit",
        [
            W,
            {
                **{"name": "modular-addition", "length": 3, "vocab": 2},
                **{"positions": [0], "prefixes": np.zeros(MANY, np.int32), "prefixCount": MANY},
                **{"groups": [0, MANY], "suffixes": np.zeros(2 * MANY, np.int32)},
                **{"suffixCount": MANY, "sampled": False},
            },
        ],
        {},
        "memory: expected less to be needed",
    ),
    ("trainer", [trainer(batch=3)], {}, "training.batch: expected a whole number from 1 to 2, but"),
    ("trainer", [trainer(lr=0)], {}, "training.lr: expected a finite number above 0."),
    (
        "trainer",
        [trainer(beta1=1)],
        {},
        "training.beta1: expected a finite number of at least 0 an",
    ),
    (
        "trainer",
        [trainer(optimizer="x")],
        {},
        "training.optimizer: expected one of sgd, adam, adam",
    ),
    ("trainer", [{**trainer(), "start": W[1:]}], {}, "start: expected 38 numbers, but got 37."),
    ("trainer", [{**trainer(), "seed": -1}], {}, "seed: expected a whole number from 0"),
    (
        "trainer",
        [{**trainer(), "train": {"tokens": X[:0], "targets": Y[:0]}}],
        {},
        "train: expected a whole number from 1 to 16777216, but got 0.",
    ),
    ("initialize", [0], {"model": {"dim": 0}}, "model.dim: expected a whole number from 1 to 1024"),
    ("initialize", [0], {"model": {"vocab": 3}}, "model.embeddings: expected a whole number from"),
    ("initialize", [0], {"model": {"norm": "l2"}}, "model.norm: expected one of rms, unit, smooth"),
    (
        "initialize",
        [0],
        {"model": {"norm_tau": 0}},
        "model.norm_tau: expected a finite number of at",
    ),
    ("plane", [[1, 2, 3], 2], {"on": "kernel"}, "points: expected rows of 2 numbers, but got 3 in"),
    ("plane", [[], 2], {"on": "kernel"}, "points: expected a whole number from 1 to"),
    ("plane", [np.array([np.inf, 0]), 2], {"on": "kernel"}, "points: expected finite numbers."),
    ("draw", [2**24, 1024, 2, 0, 0], {"on": "kernel"}, "memory: expected less to be needed, but"),
    ("draw", [1, 3, 0, 0, 0], {"on": "kernel"}, "vocab: expected a whole number from 1 to 8192, b"),
    ("enumerate", [1, 3, 2, -1], {"on": "kernel"}, "first: expected a whole number from 0 to"),
]


def test_what_goes_wrong_is_said(node: Node) -> None:
    cases = []
    for call, args, more, _ in WRONG:
        options = {**DEFAULT, **more.get("model", {})}
        cases.append({"kind": "wrong", "call": call, "args": args, **more, "model": options})
    check = Weights(0)
    *got, after = node.run([*cases, check.case()])
    for (call, _, _, sentence), result in zip(WRONG, got, strict=True):
        assert result.get("error", "nothing").startswith(sentence), (call, result)
        assert result["error"].endswith(".")
    whole = _kernel.inspect(check.weights, check.shape(check.rows), check.tokens, {})
    assert same_bits(after["logits"], whole["logits"])  # it goes on as before


def test_a_browser_that_cannot(node: Node) -> None:
    missing, damaged = node.run([{"kind": "unsupported"}, {"kind": "damaged", "length": 5000}])
    assert missing["error"].startswith("This browser has no WebAssembly SIMD")
    assert damaged["error"] == "kernel.wasm: the file is damaged; run scripts/build-web."


def test_the_comparison_can_fail(node: Node) -> None:
    """One weight that differs in its last bit is noticed."""
    each, other = Weights(2), Weights(2)
    other.weights[:1] = np.nextafter(other.weights[:1], np.inf, dtype=other.dtype)
    one, two = node.run([each.case(), other.case()])
    assert not same_bits(one["embedding"], two["embedding"])
