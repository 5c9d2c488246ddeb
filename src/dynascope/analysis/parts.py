"""A measure of each part of the model, and of all parts together."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis.shapley import GROUPS

Array = npt.NDArray[Any]
ALL = "all"
PARTS = (ALL, *GROUPS)


def lengths_of_parts(names: Mapping[str, Any], length_of: Callable[[str], Array]) -> Array:
    """[parts, epochs]: the lengths of all parameters and of those of each group, from the length of
    each parameter in `names`.

    >>> both = {"query": 3.0, "value": 4.0}
    >>> lengths_of_parts(both, lambda name: np.array([both[name]]))[[0, 3, 4], 0].tolist()
    [5.0, 3.0, 4.0]
    """
    squares = {name: np.asarray(length_of(name), float) ** 2 for name in names}
    nothing = np.zeros_like(next(iter(squares.values())))
    groups = [
        sum((squares[name] for name in group if name in squares), nothing)
        for group in GROUPS.values()
    ]
    return np.sqrt([sum(groups, nothing), *groups])
