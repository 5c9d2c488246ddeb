"""Exact Shapley values: how much of a change each group of weights makes.

Of a game with n players, the value of every coalition is known (2^n numbers; coalition c holds
player i when bit i of c is set). A player's Shapley value is what it adds on joining, averaged over
all orders of joining. The values add up to the whole change, players that do the same get the same,
and one that never changes anything gets 0.
"""

from collections.abc import Mapping, Sequence
from math import factorial
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

GROUPS: Mapping[str, tuple[str, ...]] = {
    "token_embedding": ("token_embedding",),
    "position_embedding": ("position_embedding",),
    "query": ("query",),
    "value": ("value",),
    "feed_forward": ("receptors", "receptor_bias", "assemblers", "assembler_bias"),
}
"""The parts of the model between which a change of the loss is divided."""


def shapley(values: npt.ArrayLike) -> Array:
    """Shapley values [n] of a game with the coalitions' values [2^n].

    >>> shapley([0, 1, 2, 3]).tolist()  # both add what they add alone
    [1.0, 2.0]
    >>> shapley([0, 0, 0, 1]).tolist()  # only together
    [0.5, 0.5]
    """
    game = np.asarray(values, dtype=float)
    players = len(game).bit_length() - 1
    coalitions = np.arange(len(game))
    size = sum((coalitions >> i) & 1 for i in range(players)) + 0 * coalitions
    orders = np.array([factorial(s) * factorial(players - s - 1) for s in range(players)])
    weights = orders / factorial(players)
    without = [coalitions[(coalitions >> i) & 1 == 0] for i in range(players)]
    return np.array(
        [(weights[size[c]] * (game[c | 1 << i] - game[c])).sum() for i, c in enumerate(without)]
    )


def members(shapes: Mapping[str, tuple[int, ...]]) -> Array:
    """[groups, packed] of bool: which packed weights belong to which group."""
    owner = {name: i for i, names in enumerate(GROUPS.values()) for name in names}
    sizes = [int(np.prod(shape)) for shape in shapes.values()]
    owners = np.repeat([owner[name] for name in shapes], sizes)
    return np.asarray(owners == np.arange(len(GROUPS))[:, None])


def mixtures(before: Array, after: Array, groups: Array) -> Array:
    """[2^groups, packed]: weights with every choice of groups taken from `after`."""
    taken = (np.arange(2 ** len(groups))[:, None] >> np.arange(len(groups))) & 1
    return np.where(taken @ groups.astype(int) > 0, after, before)


def by_group(values: Sequence[float] | Array) -> dict[str, float]:
    return {name: float(value) for name, value in zip(GROUPS, values, strict=True)}
