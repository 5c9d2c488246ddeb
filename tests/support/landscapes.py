"""Small slices of the loss, around given weights and around a run."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import dynascope as ds
from dynascope.theory import Landscape, landscape, landscape_around

SMALL = ds.Config().replace(
    {
        "model.hidden": 4,
        "task.length": 4,
        "task.relevant": 2,
        "task.train_size": 64,
        "task.test_size": 16,
        "training.epochs": 30,
        "training.lr": 0.01,
    }
)
TOKENS, TARGETS = ds.dataset(SMALL.task, 1)
P = ds.initial_parameters(SMALL, 1)
SIZE = len(P.flat)


@cache
def trained(**changes: Any) -> ds.Run:
    """A small run; its options are written with two underscores for a dot."""
    config = SMALL.replace({name.replace("__", "."): value for name, value in changes.items()})
    return ds.train(config, seeds=[1], progress=False)[0]


def around(directions: Any = "random", **options: Any) -> Landscape:
    return landscape_around(P, TOKENS, TARGETS, SMALL, directions, progress=False, **options)


def sliced(run: ds.Run, epoch: int = -1, **options: Any) -> Landscape:
    return landscape(run, epoch, progress=False, **{"points": 5, **options})


def axis(*entries: int, size: int = SIZE) -> Any:
    return np.isin(np.arange(size), entries).astype(float)


def flats(found: Landscape) -> Any:
    return np.stack([direction.flat for direction in found.directions])


def one_sentence(call: Callable[[], object], wanted: str) -> None:
    with pytest.raises(ds.DynascopeError) as raised:
        call()
    text = str(raised.value)
    assert wanted in text
    assert text[-1] in ".?)"
    assert "\n" not in text
