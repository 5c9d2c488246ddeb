"""Runs whose curves are as one plants them; all else is that of a small run."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy.typing as npt

import dynascope as ds
from dynascope._kernel import CURVE_NAMES

Array = npt.NDArray[Any]


@lru_cache
def small_run(epochs: int, every: int = 1) -> ds.Run:
    """A run that learns nothing: its learning rate is too small."""
    changes = {
        "training.epochs": epochs,
        "training.lr": 1e-9,
        "training.batch": 64,
        "task.train_size": 64,
        "task.test_size": 8,
        "record.weights_every": every,
        "precision": "float64",
    }
    return ds.train(ds.Config().replace(changes), progress=False)[0]


def planted(epochs: int, curves: dict[str, Array], **changes: Any) -> ds.Run:
    """A run with these curves, each by its name or, if it has one for each parameter, by the name
    before the slash."""
    run = small_run(epochs)
    table = run.table.copy()
    for i, name in enumerate(CURVE_NAMES):
        for wanted in (name, name.partition("/")[0]):
            if wanted in curves:
                table[:, i] = curves[wanted]
                break
    return replace(run, table=table, **changes)
