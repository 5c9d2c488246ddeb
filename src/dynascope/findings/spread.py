"""A few of many epochs."""

from collections.abc import Sequence

import numpy as np


def spread(epochs: Sequence[int], most: int) -> list[int]:
    """At most so many of the epochs, evenly, the first and the last among them.

    >>> spread(range(101), 5)
    [0, 25, 50, 75, 100]
    """
    at = np.unique(np.linspace(0, len(epochs) - 1, min(most, len(epochs))).round().astype(int))
    return [int(epochs[i]) for i in at]
