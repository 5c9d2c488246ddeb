"""Models whose circuits are measured, and all sequences of their tasks."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import dynascope as ds

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """Random weights of some model, multiplied by these factors."""

    changes: dict[str, Any] = field(default_factory=dict)
    scale: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        told = [f"{key.split('.')[1]}={value}" for key, value in self.changes.items()]
        return (
            " ".join(told + [f"{key}*{value:g}" for key, value in self.scale.items()]) or "default"
        )

    def config(self) -> ds.Config:
        return ds.Config().replace({"precision": "float64", **self.changes})

    def parameters(self, seed: int = 3) -> ds.Parameters:
        made = ds.initial_parameters(self.config(), seed)
        for name, factor in self.scale.items():
            made[name][...] *= factor
        return made


CASES = [
    Case(),
    Case({"task.length": 7, "task.relevant": [1, 3, 6]}),
    Case({"task.length": 5, "task.relevant": 5}),  # no irrelevant position
    Case({"task.length": 4, "task.relevant": 1}),  # no order
    Case({"task.length": 1, "task.relevant": 1}),
    Case({"task.vocab": 3, "task.length": 6, "task.relevant": 3, "model.dim": 3}),
    Case(
        {"task.vocab": 5, "task.length": 4, "task.relevant": 2, "model.dim": 8, "model.hidden": 5}
    ),
    Case({"task.length": 8, "model.embeddings": 4, "model.norm": "unit", "model.bias": False}),
    Case({"task.length": 8, "model.activation": "relu", "model.norm": "none"}),
    Case({"task.length": 8}, {"query": 30.0}),
    Case({"task.length": 8}, {"query": 1e4}),  # weights far below the smallest number
    Case({"task.length": 8, "model.norm": "none"}, {"query": -1e10}),  # all scores far below 0
    Case({"task.length": 8}, {"value": 1e-6, "assemblers": 100.0}),
]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


class Everything:
    """All sequences of a task through the model, in the order of their digits."""

    def __init__(self, case: Case) -> None:
        self.config = case.config()
        self.task, self.parameters = self.config.task, case.parameters()
        self.tokens, self.targets = ds.dataset(self.task, split="all")
        self.activations = ds.forward(self.parameters, self.tokens, self.config.model)
        self.xi = self.activations.sequence
        self.predictions = self.activations.logits.argmax(axis=1)
        self.relevant = self.tokens[:, list(self.task.positions)]
        rest = [t for t in range(self.task.length) if t not in self.task.positions]
        self.irrelevant = self.tokens[:, rest]

    def accuracy(self, **changes: Any) -> float:
        logits = ds.forward(self.parameters, self.tokens, self.config.model, **changes).logits
        return float((logits.argmax(axis=1) == self.targets).mean())

    def index(self, tokens: Array) -> Array:
        return tokens @ (self.task.vocab ** np.arange(self.task.length)[::-1])
