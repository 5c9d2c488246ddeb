"""Runs of every kind for the tests of stores, and their values as they compare bit for bit."""

import importlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

import dynascope as ds

# The package's own names `query` and `save` are functions; these are the modules.
query_module = importlib.import_module("dynascope.store.query")
save_module = importlib.import_module("dynascope.store.save")

SMALL = ds.Config().replace(
    {
        "training.epochs": 4,
        "task.train_size": 64,
        "task.test_size": 32,
        "record.state_every": 2,
    }
)


def train(changes: dict[str, Any] | None = None, seeds: Any = 2, **more: Any) -> ds.Runs:
    return ds.train(SMALL.replace(changes or {}), seeds, progress=False, **more)


def own_data(test: bool) -> ds.Runs:
    train_set, test_set = (ds.dataset(SMALL.task, 5, split) for split in ("train", "test"))
    return train(data=ds.Data(train=train_set, test=test_set if test else None))


def branched() -> ds.Runs:
    """Weights edited at an epoch's end, and in the middle of one."""
    trainer = ds.Trainer(SMALL, seed=3)
    trainer.advance(1)
    trainer.parameters = trainer.parameters * 1.5
    trainer.advance_steps(1)
    trainer.parameters = trainer.parameters * 1.5
    trainer.advance(3)
    return ds.Runs([trainer.run])


def unfinished() -> ds.Runs:
    trainer = ds.Trainer(SMALL.replace({"record.steps": (1, 4)}), seed=3)
    trainer.advance(2)
    return ds.Runs([trainer.run])


CASES: dict[str, Callable[[], ds.Runs]] = {
    "default, short": lambda: train({"task.train_size": 2048}),
    "float64": lambda: train({"precision": "float64"}),
    "no bias": lambda: train({"model.bias": False, "record.full_gradients": True}),
    "more embeddings": lambda: train({"model.embeddings": 5, "task.vocab": 3}),
    "relevant list": lambda: train({"task.relevant": [2, 7, 11]}),
    "options": lambda: train(
        {
            "training.frozen": ["query", "position_embedding[5:]"],
            "training.unit_rows": ["token_embedding"],
            "training.clip": 0.1 + 0.2,
            "training.schedule": "cosine",
            "training.warmup": 2**53 - 1,
            "training.query_limit": 1e-300,
        }
    ),
    "large seeds": lambda: train(seeds=[2**53 - 1, 0]),
    "steps": lambda: train({"record.steps": (1, 3)}),
    "steps, float64, no bias": lambda: train(
        {"record.steps": (0, 4), "model.bias": False, "precision": "float64"}
    ),
    "unseen": lambda: train({"record.unseen": True}),
    "full gradients": lambda: train({"record.full_gradients": True}),
    "gradients off": lambda: train({"record.gradients": False}),
    "few weights": lambda: train({"record.weights_every": 0}),
    "every third": lambda: train({"record.weights_every": 3}),
    "last state": lambda: train({"record.state_every": 0}),
    "diverges": lambda: train({"training.lr": 100.0, "training.epochs": 30}, 4),
    "no epochs": lambda: train({"training.epochs": 0}),
    "own data": lambda: own_data(test=True),
    "own data, no test": lambda: own_data(test=False),
    "fine-tuned": lambda: train({"training.lr": 0.1}, start=train()),
    "branched": branched,
    "unfinished": unfinished,
}


@lru_cache
def runs_of(case: str) -> ds.Runs:
    return CASES[case]()


@lru_cache
def mixed() -> ds.Runs:
    """Every case, in an order that lets shapes and precisions alternate; each run once."""
    seconds = [run for case in CASES for run in runs_of(case)[1:]]
    every = [*(runs_of(case)[0] for case in CASES), *seconds]
    return ds.Runs({run.id: run for run in every}.values())


def bits(array: Any) -> tuple[str, tuple[int, ...], bytes]:
    return array.dtype.str, array.shape, np.ascontiguousarray(array).tobytes()


def steps_of(run: ds.Run) -> Any:
    steps = run.steps
    if steps is None:
        return None
    curves = {name: bits(curve) for name, curve in steps.curves.items()}
    return steps.first_epoch, steps.last_epoch, curves, bits(steps.weights)


# All that can be asked of a run, as values that compare bit for bit.
ACCESSORS: dict[str, Callable[[ds.Run], Any]] = {
    "id": lambda run: run.id,
    "seed": lambda run: run.seed,
    "config": lambda run: run.config,
    "epochs": lambda run: run.epochs,
    "diverged": lambda run: run.diverged,
    "origin": lambda run: run.origin,
    "seconds": lambda run: run.seconds,
    "summary": lambda run: repr(run.summary()),
    "weights": lambda run: bits(run.weights),
    "weight_epochs": lambda run: bits(run.weight_epochs),
    "states": lambda run: bits(run.states),
    "state_epochs": lambda run: bits(run.state_epochs),
    "parameters": lambda run: [bits(run.parameters(int(at)).flat) for at in run.weight_epochs],
    "steps": steps_of,
    "data": lambda run: run.data and [bits(part) for pair in run.data.sets for part in pair],
    "curves": lambda run: {name: bits(curve) for name, curve in run.curves.items()},
    "table": lambda run: bits(run.table),
}


def assert_same(stored: ds.Run, run: ds.Run) -> None:
    for name, value in ACCESSORS.items():
        assert value(stored) == value(run), name


def plain(table: pa.Table) -> str:
    """A table as text: NaN equals NaN there, and -0.0 differs from 0.0."""
    return repr(table.to_pydict())


@lru_cache
def few() -> ds.Runs:
    return ds.Runs(run for case in ("float64", "fine-tuned", "diverges") for run in runs_of(case))
