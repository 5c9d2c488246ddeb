"""Runs that are trained in the page against Python's trainer, bit for bit: every curve, all weights
and states, also after branches, changed weights and changed options."""

import json
from typing import Any

import numpy as np
import pytest
from wasm_node import Node, same_bits

import dynascope as ds

SMALL = ds.Config().replace(
    {
        "task.length": 6,
        "task.relevant": 3,
        "task.train_size": 64,
        "task.test_size": 32,
        "training.batch": 20,
        "record.state_every": 4,
    }
)
Pieces = list[tuple[str, Any]]

CASES: dict[str, tuple[dict[str, Any], Pieces]] = {
    "in one go": ({}, [("advance", 9)]),
    "in pieces": ({}, [("advance", 2), ("advanceSteps", 3), ("advanceSteps", 6), ("advance", 4)]),
    "an edit": ({}, [("advance", 3), ("scale", 0.5), ("advance", 6)]),
    "an edit of a kept state": ({}, [("advance", 4), ("scale", -2.0), ("advance", 3)]),
    "an edit within an epoch": (
        {},
        [("advance", 2), ("advanceSteps", 1), ("scale", 2.0), ("advance", 5)],
    ),
    "a branch": ({}, [("advance", 9), ("branch", 5), ("scale", 1.5), ("advance", 5)]),
    "a branch of a branch": (
        {},
        [
            ("advance", 3),
            ("scale", 2.0),
            ("advance", 6),
            ("branch", 7),
            ("scale", 0.9),
            ("advance", 2),
        ],
    ),
    "a branch at an edit": (
        {},
        [("advance", 3), ("scale", 2.0), ("advance", 6), ("branch", 3), ("advance", 3)],
    ),
    "a branch before an edit": (
        {},
        [("advance", 5), ("scale", 2.0), ("advance", 3), ("branch", 4), ("advance", 3)],
    ),
    "another rate and batch": (
        {},
        [("advance", 3), ("change", {"training.lr": 0.01, "training.batch": 7}), ("advance", 4)],
    ),
    "another optimizer": (
        {"training.optimizer": "sgd", "training.momentum": 0.9},
        [
            *[("advance", 3), ("change", {"training.optimizer": "adam"}), ("advance", 3)],
            *[("change", {"training.optimizer": "muon", "training.batch": 9}), ("advance", 2)],
            *[("branch", 7), ("change", {"training.optimizer": "sgd"}), ("advance", 3)],
        ],
    ),
    "frozen parts": (
        {"training.frozen": ["query", "position_embedding[2:]", "value[0,1]", "receptors[::2]"]},
        [("advance", 4)],
    ),
    "three tokens, wide": (
        {"task.vocab": 3, "model.dim": 5, "precision": "float64"},
        [("advance", 5)],
    ),
    "no biases, all gradients": (
        {"model.bias": False, "record.full_gradients": True},
        [("advance", 3), ("branch", 2), ("advance", 2)],
    ),
    "clamped attention": (
        {"training.clamps": ["attention[0:3]=1@1:3", "attention[1,5]=0.25,1@4:6"]},
        [("advance", 5), ("branch", 2), ("advance", 6)],
    ),
    "clamped on the way": (
        {},
        [
            *[("advance", 2), ("change", {"training.clamps": ["attention[2]=1.0@2:5"]})],
            *[("advance", 5), ("branch", 4), ("scale", 0.5), ("advance", 2)],
        ],
    ),
    "it blows up": (
        {"training.optimizer": "sgd", "training.lr": 1e30, "model.norm": "none"},
        [("advance", 6)],
    ),
}


def trained(config: ds.Config, pieces: Pieces) -> ds.Trainer:
    trainer = ds.Trainer(config, seed=5)
    for method, value in pieces:
        if method == "branch":
            trainer = at(trainer.run, value)
        elif method == "scale":
            weights = trainer.parameters
            trainer.parameters = ds.Parameters.from_flat(
                (weights.flat.astype(float) * value).astype(weights.flat.dtype), config.shapes
            )
        else:
            getattr(trainer, {"advanceSteps": "advance_steps"}.get(method, method))(value)
    return trainer


def at(run: ds.Run, epoch: int) -> ds.Trainer:
    """The trainer at an epoch; before a branch begins, that of the run that it branches from."""
    try:
        return run.trainer(epoch)
    except ds.DynascopeError:
        parent = ds.Trainer(run.config, run.seed)
        parent.advance(epoch)
        return parent


@pytest.fixture(scope="module")
def results(node: Node) -> dict[str, dict[str, Any]]:
    cases = [
        {"kind": "live", "config": SMALL.replace(options).to_dict(), "seed": 5, "pieces": pieces}
        for options, pieces in CASES.values()
    ]
    return dict(zip(CASES, node.run(cases), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_as_python_trains(name: str, results: dict[str, dict[str, Any]]) -> None:
    options, pieces = CASES[name]
    got, trainer = results[name], trained(SMALL.replace(options), pieces)
    assert "error" not in got
    run = trainer.run
    rows = (run.diverged if run.diverged is not None else run.epochs) + 1
    assert same_bits(got["curves"], run.table[:rows].ravel())
    assert same_bits(got["weights"], run.weights[:rows].ravel())
    assert same_bits(got["end"], trainer.parameters.flat)
    kept = run.state_epochs[: len(got["epochs"])]
    assert list(got["epochs"]) == list(kept)
    states = run.states[: len(kept)].astype(np.float64)
    assert same_bits(got["states"], states.ravel())


@pytest.mark.parametrize("name", CASES)
def test_what_changed_is_told_as_python_tells_it(
    name: str, results: dict[str, dict[str, Any]]
) -> None:
    options, pieces = CASES[name]
    run = trained(SMALL.replace(options), pieces).run
    told = json.loads(results[name]["edits"])
    if run.edits:
        assert told == [edit.to_dict() for edit in run.edits]
    elif run.origin is not None:
        assert (told[-1]["epoch"], told[-1]["step"]) == (run.origin.epoch, run.origin.step)
        assert told[-1]["parameters"] == run.origin.start
    else:
        assert told == []


def test_losses_are_those_of_python(results: dict[str, dict[str, Any]]) -> None:
    run = trained(SMALL, CASES["an edit"][1]).run
    names = ("train_loss", "train_accuracy", "test_loss", "test_accuracy")
    wanted = [float(run.curves[name][-1]) for name in names]
    np.testing.assert_allclose(results["an edit"]["losses"], wanted, rtol=1e-6)


def test_a_run_that_begins_with_another_ones_weights(node: Node) -> None:
    """As fine-tuning does: also with a token more, whose row is that of the seed."""
    first = ds.train(SMALL, [5], progress=False)[0].parameters(-1)
    for options in ({}, {"task.vocab": 3}, {"task.vocab": 4, "model.embeddings": 6}):
        config = SMALL.replace(options)
        trainer = ds.Trainer(config, seed=5, start=first)
        trainer.advance(4)
        case = {"kind": "live", "config": config.to_dict(), "seed": 5, "start": first.flat}
        (got,) = node.run([{**case, "pieces": [("advance", 4), ("branch", 2), ("advance", 2)]}])
        assert same_bits(got["weights"], trainer.run.weights.ravel()), options
        assert same_bits(got["curves"], trainer.run.table.ravel()), options
    short = {"kind": "live", "config": SMALL.to_dict(), "seed": 5, "start": first.flat[:-3]}
    assert "expected" in node.run([{**short, "pieces": []}])[0]["error"]
