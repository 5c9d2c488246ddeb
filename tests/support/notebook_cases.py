"""Everything that shows itself in a notebook, in all its states."""

import dataclasses
from functools import cache
from typing import Any

import numpy as np

import dynascope as ds
from dynascope.analysis import circuit, phases, spikes, story

SMALL: dict[str, Any] = {
    "training.epochs": 12,
    "task.train_size": 64,
    "task.test_size": 32,
}
DIVERGING = {"training.optimizer": "sgd", "training.lr": 1e6, "training.epochs": 20}


def train(changes: dict[str, Any] | None = None, seeds: Any = 3) -> ds.Runs:
    return ds.train(ds.Config().replace(SMALL | (changes or {})), seeds, progress=False)


@cache
def solved() -> ds.Run:
    """A run of the default task that solves it."""
    return ds.train({"training.epochs": 150}, [15], progress=False)[0]


@cache
def spiking() -> ds.Run:
    return ds.train({"training.lr": 0.05, "training.epochs": 240}, [0], progress=False)[0]


def own_data() -> ds.Run:
    data = ds.Data(train=ds.dataset(ds.Config().replace(SMALL).task, 5))
    return ds.train(ds.Config().replace(SMALL), [0], data=data, progress=False)[0]


def broken_weights() -> ds.Parameters:
    weights = ds.initial_parameters(ds.Config(), 0)
    weights.query[:] = np.nan
    return weights


CASES = {
    "run": solved,
    "run of one epoch": lambda: train({"training.epochs": 1}, 1)[0],
    "run of no epochs": lambda: train({"training.epochs": 0}, 1)[0],
    "diverged run": lambda: train(DIVERGING, 1)[0],
    "run with own data": own_data,
    "branched run": lambda: dataclasses.replace(
        solved(), origin=ds.Origin("branch", "0" * 16, solved().id, 7, 448)
    ),
    "no runs": lambda: ds.Runs([]),
    "one run": lambda: ds.Runs([solved()]),
    "some runs": train,
    "diverged runs": lambda: train(DIVERGING),
    "runs of several configs": lambda: ds.Runs(
        [*train(), *train({"training.lr": 0.1, "training.frozen": ("query",)}), own_data()]
    ),
    "parameters": lambda: solved().parameters(),
    "parameters, d = 1": lambda: ds.initial_parameters({"model.dim": 1}, 0),
    "parameters, d = 8": lambda: ds.initial_parameters({"model.dim": 8, "task.vocab": 5}, 0),
    "parameters, many": lambda: ds.initial_parameters({"task.length": 400}, 0),
    "parameters, not finite": broken_weights,
    "parameters, all zero": lambda: ds.initial_parameters(ds.Config(), 0) * 0,
    "circuit": lambda: circuit(solved().parameters(), solved().config),
    "circuit, unsolved": lambda: circuit(ds.initial_parameters(ds.Config(), 0), ds.Config()),
    "circuit, nothing varies": lambda: circuit(
        ds.initial_parameters(ds.Config(), 0) * 0, ds.Config()
    ),
    "circuit, another task": lambda: circuit(
        ds.initial_parameters({"task.name": "most-frequent"}, 0), {"task.name": "most-frequent"}
    ),
    "phases": lambda: phases(solved()),
    "phases of few epochs": lambda: phases(train(seeds=1)[0]),
    "phases, diverged": lambda: phases(train(DIVERGING, 1)[0]),
    "spikes": lambda: spikes(spiking(), why=False),
    "spikes, explained": lambda: spikes(spiking(), most=1),
    "story": lambda: story(spiking()),
    "story, diverged": lambda: story(train(DIVERGING, 1)[0]),
    "story of own data": lambda: story(own_data()),
    "no spikes": lambda: spikes(train(seeds=1)[0]),
    "spikes, diverged": lambda: spikes(train(DIVERGING, 1)[0]),
}
