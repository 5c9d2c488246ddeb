"""Curves whose drops and rises are known."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis import thresholds as t

Array = npt.NDArray[Any]


def curve(*drops: tuple[float, float, float], epochs: int = 1000) -> Array:
    """A loss with drops (centre, size of the log, width from 12% to 88% in quarters)."""
    time = np.arange(epochs + 1)
    log = np.zeros(epochs + 1)
    for centre, size, width in drops:
        log -= size / (1 + np.exp(np.clip(-(time - centre) / width, -500, 500)))
    result: Array = np.exp(log) * np.log(2)
    return result


def sigmoid(centre: float, width: float, epochs: int = 1000) -> Array:
    result: Array = 1 / (1 + np.exp(-(np.arange(epochs + 1) - centre) / width))
    return result


def passage_by_definition(values: Array, part: float) -> int | None:
    """The definition, read literally, with every value known."""
    n = len(values)
    tail = max(int(n * t.RISE_TAIL), min(5, n))
    places = np.linspace(n - tail, n - 1, min(tail, t.RISE_TAIL_VALUES)).round().astype(int)
    final = float(np.median(values[places]))
    if final - values[0] < t.RISE_SIZE:
        return None
    level = values[0] + part * (final - values[0])
    reach = min(t.RISE_REACH, n // 20)
    for place in range(n - tail, 0, -1):
        r = min(reach, place - 1, n - place)
        if np.median(values[place - 1 - r : place + r]) <= level:
            return place
    return 0
