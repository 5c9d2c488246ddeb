"""The kernel in WebAssembly against the Python extension, bit for bit, through its wrapper."""

import json
from typing import Any

import numpy as np
import pytest
from wasm_node import Node, same_bits
from wasm_weights import Weights, sent, sent_task

import dynascope as ds
from dynascope import _kernel, catalog
from dynascope.frozen_weights import frozen_mask
from dynascope.run import Run
from dynascope.tasks import task_of

SETS = 100  # of random weights
PARTS = ("inspect", "changed", "grid", "loss", "gradient", "circuit", "initial")


# ---- one set of weights, in every way -----------------------------------------------------------
@pytest.fixture(scope="module")
def everything(node: Node) -> list[tuple[Weights, dict[str, Any]]]:
    sets = [Weights(i) for i in range(SETS)]
    return list(zip(sets, node.run([each.case() for each in sets]), strict=True))


@pytest.fixture(scope="module")
def wanted(everything: list[tuple[Weights, Any]]) -> list[dict[str, dict[str, Any]]]:
    return [each.wanted() for each, _ in everything]


@pytest.mark.parametrize("part", PARTS)
def test_same_bits(
    part: str,
    everything: list[tuple[Weights, dict[str, Any]]],
    wanted: list[dict[str, dict[str, Any]]],
) -> None:
    wrong = [
        (i, name, got.get("error"))
        for i, ((_, got), parts) in enumerate(zip(everything, wanted, strict=True))
        for name, array in parts[part].items()
        if not same(got.get(name), array)
    ]
    assert not wrong
    finite = [np.isfinite(array).mean() for parts in wanted for array in parts[part].values()]
    assert np.mean(finite) > 0.9  # it would be easy to agree on nothing but NaN


def same(got: Any, array: Any) -> bool:
    if isinstance(got, int | float):  # a loss, which JSON writes exactly
        return got == array or (got != got and array != array)
    return got is not None and same_bits(got, array)


def test_shapes_are_told(everything: list[tuple[Weights, dict[str, Any]]]) -> None:
    for each, got in everything:
        plain = _kernel.inspect(each.weights, each.shape(each.rows), each.tokens, {})
        assert json.loads(got["shapes"]) == {name: list(a.shape) for name, a in plain.items()}
        sizes = {"embeddings": each.rows, "length": each.length}
        sizes |= {"dim": each.model.dim, "hidden": each.model.hidden}
        shapes = catalog.parameter_shapes(sizes, each.model.bias)
        slices = json.loads(got["parameters"])
        assert [(s["name"], tuple(s["shape"])) for s in slices] == list(shapes.items())
        counts = [int(np.prod(shape)) for shape in shapes.values()]
        assert [s["size"] for s in slices] == counts
        assert [s["offset"] for s in slices] == [0, *np.cumsum(counts)[:-1]]


# ---- planes, sequences --------------------------------------------------------------------------
def point_sets() -> list[Any]:
    rng = np.random.default_rng(5)
    sizes = [(n, d) for n in (1, 2, 5, 40) for d in (1, 2, 3, 4, 8, 17)]
    drawn = [rng.normal(size=size) * rng.choice([1, 1e-200, 1e150]) for size in sizes]
    lines = [np.outer(np.arange(6.0), rng.normal(size=d)) for d in (2, 3, 9)]
    return [*drawn, *lines, np.full((7, 3), 0.1), np.zeros((3, 5)), np.eye(6), -np.eye(4)]


def test_plane(node: Node) -> None:
    sets = point_sets()
    cases = [{"kind": "plane", "points": p, "dim": p.shape[1]} for p in sets]
    for points, got in zip(sets, node.run(cases), strict=True):
        for name, array in zip(("axes", "mean", "shares"), _kernel.plane(points), strict=True):
            assert same_bits(got[name], array), (points.shape, name)


TASKS: list[dict[str, Any]] = [
    {},
    {"relevant": [1, 4, 11]},
    {"vocab": 3, "length": 7, "relevant": [6]},
    {"vocab": 4, "length": 5, "relevant": 5},
    {"length": 40, "relevant": 4},
    {"length": 24, "relevant": 24},
    {"vocab": 11, "length": 9, "relevant": [0, 8]},
    {"name": "most-frequent", "vocab": 3, "length": 6, "relevant": [0, 2, 5]},
    {"name": "products", "vocab": 3, "length": 7, "relevant": [1, 2, 4, 6]},
    {"name": "products", "length": 40, "relevant": 8},
]


def test_sequences_of_a_circuit(node: Node) -> None:
    tasks = [ds.TaskConfig(**options) for options in TASKS]
    results = node.run([{"kind": "crossed", "task": sent_task(task)} for task in tasks])
    for task, got in zip(tasks, results, strict=True):
        for name, value in sent(task_of(task).design()).items():
            array = isinstance(value, np.ndarray)
            assert same_bits(got[name], value) if array else got[name] == value, (task, name)


@pytest.mark.parametrize("split", ["train", "test"])
def test_data(node: Node, split: Any) -> None:
    tasks = [ds.TaskConfig(**options, train_size=77, test_size=77) for options in TASKS]
    seeds = [0, 1, 2**32, 2**53 - 1, 5, 6, 7, 8, 9, 10]
    common = {"kind": "data", "split": split, "count": 77}
    pairs = list(zip(tasks, seeds, strict=True))
    results = node.run([{**common, "task": sent_task(task), "seed": seed} for task, seed in pairs])
    for (task, seed), got in zip(pairs, results, strict=True):
        tokens, targets = ds.dataset(task, seed, split)
        assert same_bits(got["tokens"], tokens)
        assert same_bits(got["targets"], targets)
        assert (got["order"] == _kernel.shuffled(77, seed, 3)).all()


# ---- training -----------------------------------------------------------------------------------
EPOCHS = 200
RUNS: dict[str, dict[str, Any]] = {
    "default": {},
    "float64, five dimensions": {
        **{"precision": "float64", "model.dim": 5, "model.norm": "smooth", "task.vocab": 3},
        **{"model.embeddings": 5, "task.length": 7, "task.relevant": [0, 6], "training.batch": 33},
        **{"training.optimizer": "sgd", "training.momentum": 0.9, "training.schedule": "cosine"},
        **{"training.warmup": 10, "task.train_size": 300, "record.unseen": True},
    },
    "limits": {
        **{"model.dim": 3, "model.bias": False, "model.activation": "silu", "model.norm": "unit"},
        **{"training.optimizer": "adamw", "training.weight_decay": 0.1, "training.clip": 0.5},
        **{"training.frozen": ["value[0,1]", "position_embedding[5:]"], "training.batch": 1000},
        **{"training.query_limit": 2.0, "training.unit_rows": ["token_embedding"]},
        **{"record.full_gradients": True, "training.mlp_lr_discount": 3.0},
    },
    "muon": {
        **{"training.optimizer": "muon", "training.weight_decay": 0.1, "model.hidden": 9},
        **{"training.frozen": ["value[0,1]"], "training.batch": 1000},
    },
    "muon in many dimensions": {
        **{
            "training.optimizer": "muon",
            "model.dim": 19,
            "model.hidden": 5,
            "precision": "float64",
        },
        **{"task.train_size": 50, "training.batch": 25},
    },
    "sam": {
        **{"training.sam": 0.1, "training.clip": 0.5, "training.batch": 1000},
        **{"training.frozen": ["query", "receptors[3:]"]},
    },
    "diverges": {"training.lr": 100.0, "model.norm": "none"},
}
SEED = 2**40 + 3


class Trained:
    """A run in Python, and the case that repeats it."""

    def __init__(self, name: str) -> None:
        changes = {"training.epochs": EPOCHS, "record.state_every": 20, "record.steps": [3, 5]}
        self.config = ds.Config().replace({**changes, **RUNS[name]})
        self.run: Run = ds.train(self.config, [SEED], progress=False)[0]

    def case(self, *pieces: Any, **more: Any) -> dict[str, Any]:
        config = self.config
        masks = frozen_mask(config.training.frozen, config.shapes).values()
        frozen = np.concatenate([mask.ravel() for mask in masks]).astype(np.uint8)
        case = {
            "kind": "train",
            "config": config.to_dict(),
            "task": sent_task(config.task),
            "seed": SEED,
        }
        if config.record.unseen:
            tokens, targets = ds.dataset(config.task, SEED, "unseen")
            case["unseen"] = {"tokens": tokens, "targets": targets}
        return {**case, "frozen": frozen, "pieces": pieces, **more}


@pytest.fixture(scope="module")
def trained() -> dict[str, Trained]:
    return {name: Trained(name) for name in RUNS}


@pytest.mark.parametrize("name", RUNS)
def test_training(name: str, node: Node, trained: dict[str, Trained]) -> None:
    run = trained[name].run
    keep = {"weightsEvery": 1, "stateEvery": 20}
    got = node.run([trained[name].case(["advance", EPOCHS, keep])])[0]
    ended = run.epochs if run.diverged is None else run.diverged
    progress = json.loads(got["progress"])
    assert (progress["epoch"], progress["diverged"]) == (ended, run.diverged)
    assert same_bits(got["first"], run.table[0])
    assert same_bits(got["curves"], run.table[1 : ended + 1])
    assert same_bits(got["weights"], run.weights[1 : ended + 1])
    if run.diverged is None:
        assert same_bits(got["end"], run.weights[-1])
        assert same_bits(got["state"], run.states[-1])
        assert same_bits(got["states"], run.states[run.state_epochs > 0])
        assert ended == EPOCHS
    assert (name == "diverges") == (run.diverged is not None)


@pytest.mark.parametrize("name", ["default", "float64, five dimensions", "limits", "muon", "sam"])
def test_in_pieces(name: str, node: Node, trained: dict[str, Trained]) -> None:
    """By epochs and steps, and from a state that Python wrote."""
    each, run = trained[name], trained[name].run
    batches = -(-each.config.task.train_size // each.config.training.batch)
    mixed = [["advance", 7], ["advanceSteps", 1], ["advanceSteps", 4], ["advance", 60]]
    left = EPOCHS - 67 - 5 // batches
    middle = int(np.flatnonzero(run.state_epochs == 100)[0])
    state = {"state": run.states[middle], "epoch": 100}
    pieces = node.run([each.case(*mixed, ["advance", left]), each.case(["advance", 100], **state)])
    assert same_bits(pieces[0]["curves"], run.table[1:])
    assert same_bits(pieces[1]["curves"], run.table[101:])
    for got in pieces:
        assert same_bits(got["end"], run.weights[-1])
        assert same_bits(got["state"], run.states[-1])


@pytest.mark.parametrize("name", ["default", "limits"])
def test_steps(name: str, node: Node, trained: dict[str, Trained]) -> None:
    each, steps = trained[name], trained[name].run.steps
    assert steps is not None
    got = node.run([each.case(["advance", 3], ["advance", 2, {"steps": True}])])[0]
    assert same_bits(got["stepWeights"], steps.weights)
    table = got["stepCurves"].reshape(len(steps.weights), -1)
    for name, curve in steps.curves.items():
        assert same_bits(table[:, _kernel.STEP_CURVE_NAMES.index(name)], curve), name


def test_an_edit_keeps_moments(node: Node, trained: dict[str, Trained]) -> None:
    each = trained["default"]
    trainer = ds.Trainer(each.config, SEED)
    trainer.advance(5)
    edited = trainer.parameters * 0.5
    trainer.parameters = edited
    trainer.advance(5)
    got = node.run([each.case(["advance", 5], ["setParameters", edited.flat], ["advance", 5])])[0]
    assert same_bits(got["end"], trainer.parameters.flat)


def test_a_start_of_ones_own(node: Node, trained: dict[str, Trained]) -> None:
    each = trained["default"]
    start = each.run.parameters(EPOCHS)
    config = each.config.replace({"training.epochs": 5})
    tuned = ds.train(config, [SEED], start=start, progress=False)
    got = node.run([each.case(["advance", 5], start=start.flat)])[0]
    assert same_bits(got["end"], tuned[0].weights[-1])
