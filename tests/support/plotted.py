"""What is on an axes, read from the artists themselves; and small runs to draw."""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.markers import MarkerStyle

import dynascope as ds

Array = npt.NDArray[Any]

SHORT: dict[str, Any] = {"training.epochs": 12, "task.train_size": 128, "task.test_size": 64}
CHANGES: dict[str, dict[str, Any]] = {
    "default": {},
    "line": {"model.dim": 1},
    "wide": {"model.dim": 8, "model.hidden": 16},
    "wider": {"model.dim": 64, "model.hidden": 8},
    "three": {"task.vocab": 3},
    "five": {"task.vocab": 5, "task.length": 8, "task.relevant": 3},
    "scattered": {"task.relevant": (1, 5, 8), "model.norm": "unit"},
    "no norm": {"model.norm": "none", "model.bias": False},
    "double": {"precision": "float64"},
    "sparse": {"record.weights_every": 5},
    "extra row": {"model.embeddings": 3},
    "diverged": {"training.lr": 100.0},
}
CASES = (*CHANGES, "own data")


@cache
def drawn_run(case: str) -> ds.Run:
    """A small run of each kind."""
    if case == "own data":
        chance = np.random.default_rng(5)
        rows = chance.integers(0, 3, (200, 7))
        data = ds.Data(train=(rows[:150], rows[:150, 2]), test=(rows[150:], rows[150:, 2]))
        config = ds.Config().replace({**SHORT, "task.vocab": 3, "task.length": 7})
        return ds.train(config, [1], data=data, progress=False)[0]
    config = ds.Config().replace(SHORT | CHANGES[case])
    return ds.train(config, [3], progress=False)[0]


class Dot(NamedTuple):
    """A point that is drawn."""

    x: float
    y: float
    fill: str
    marker: str


# By the outline that matplotlib gives them.
_NAMES = {
    "o": "circle",
    "s": "square",
    "^": "triangle",
    "v": "triangle-down",
    "D": "diamond",
    "X": "cross",
    "P": "plus",
    "*": "star",
    "p": "pentagon",
    "h": "hexagon",
}


def dots(ax: Axes) -> list[Dot]:
    """All points on an axes, in no order."""
    return sorted(_dots(ax))


def _dots(ax: Axes) -> Iterator[Dot]:
    for each in ax.collections:
        if isinstance(each, PathCollection):
            places, fills = np.asarray(each.get_offsets()), each.get_facecolor()
            fills = fills if len(fills) == len(places) else np.repeat(fills, len(places), axis=0)
            name = _marker(each)
            for (x, y), fill in zip(places, fills, strict=True):
                yield Dot(float(x), float(y), to_hex(fill), name)


def _marker(collection: PathCollection) -> str:
    vertices = collection.get_paths()[0].vertices
    for code, name in _NAMES.items():
        style = MarkerStyle(code)
        known = style.get_path().transformed(style.get_transform()).vertices
        if known.shape == vertices.shape and np.allclose(known, vertices):
            return name
    raise AssertionError("a marker that the theme does not have")
