"""Hashes of all that runs of many kinds come to: the same on every machine, thread and compiler."""

import hashlib
import json
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import dynascope as ds
from dynascope import _kernel
from dynascope.model import config_shape
from dynascope.run import Run
from dynascope.tasks import task_of

SHORT = ds.Config().replace({"training.epochs": 12, "record.state_every": 5})

# Configs that reach every part of the kernel; each gives one fingerprint.
VARIED: list[dict[str, Any]] = [
    {},
    {"precision": "float64"},
    {"model.dim": 3, "model.norm": "smooth", "training.optimizer": "sgd", "training.momentum": 0.9},
    {"model.dim": 5, "model.activation": "silu", "training.batch": 33},
    {"model.dim": 17, "model.hidden": 19, "model.norm": "unit", "precision": "float64"},
    {"task.vocab": 3, "model.embeddings": 4, "training.batch": 1, "task.train_size": 64},
    {"task.vocab": 40, "model.activation": "relu", "training.clip": 0.5},
    {"training.schedule": "cosine", "training.warmup": 10, "record.unseen": True},
    {"training.lr": 100.0},  # diverges
    {"model.bias": False, "training.batch": 2048, "record.full_gradients": True},
    {"training.optimizer": "muon", "training.weight_decay": 0.1},
    {"training.optimizer": "muon", "model.dim": 19, "model.hidden": 5, "precision": "float64"},
    {"training.sam": 0.1, "training.clip": 0.5, "training.frozen": ["query", "receptors[3:]"]},
    {"training.sam": 0.05, "training.optimizer": "muon", "model.dim": 5, "model.hidden": 17},
]


FIRST_CURVES = 40  # of the first format: a curve added later does not change what is pinned


def fingerprint(run: Run) -> str:
    """A hash of every bit of the weights, the states and the curves of the first format."""
    parts = (run.table[:, :FIRST_CURVES], run.weights, run.states)
    return hashlib.sha256(b"".join(np.ascontiguousarray(p).tobytes() for p in parts)).hexdigest()


@lru_cache
def fingerprints() -> list[str]:
    """Of runs, and of the circuits of initial weights."""
    configs = [SHORT.replace(changes) for changes in VARIED]
    runs = [ds.train(config, [7], progress=False)[0] for config in configs]
    return [fingerprint(run) for run in runs] + [measures(config) for config in configs]


def measures(config: ds.Config) -> str:
    """All measures of a circuit, of a task short enough for all its sequences to be few."""
    length = 2 if config.task.vocab > 3 else 6
    config = config.replace({"task.length": length, "task.relevant": length // 2})
    weights, sequences = ds.initial_parameters(config, 7).flat[None], task_of(config).design()
    found = _kernel.circuits(weights, config_shape(config), *sequences.arguments, [])
    return hashlib.sha256(b"".join(found[name].tobytes() for name in sorted(found))).hexdigest()


def in_new_process(expression: str, **environment: str) -> Any:
    code = f"import json, fingerprints as t; print(json.dumps({expression}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)
