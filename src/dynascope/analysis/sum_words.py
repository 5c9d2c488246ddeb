"""A sum that a circuit keeps, as people write it."""

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]


def told(terms: Array, positions: Sequence[int], apart: Sequence[int]) -> str:
    """`terms` [sums, length, p, p]: what token x at t adds to the count of j.

    >>> import numpy as np
    >>> adds = np.zeros((1, 4, 2, 2), int)
    >>> adds[0, 0] = [[1, 0], [0, 1]]  # x0
    >>> adds[0, 1] = [[0, 1], [1, 0]]  # 1 - x1
    >>> adds[0, 3, 1] = [-2, 2]
    >>> told(adds, (0, 1), (2,))
    'x0 - x1 + 2 x3, and x2 apart'
    """
    sums = [_weighted(one) if terms.shape[-1] == 2 else _shifted(one, positions) for one in terms]
    beside = " and ".join(f"x{t}" for t in apart)
    whole = " and ".join(text or "nothing" for text in sums)
    return f"{whole}, and {beside} apart" if beside else whole


def _weighted(adds: Array) -> str:
    """Of two tokens: what a one adds at each position."""
    weights = adds[:, 1, 1] - adds[:, 0, 1]
    text = " ".join(
        f"{'-' if w < 0 else '+'} {f'{abs(w)} ' if abs(w) > 1 else ''}x{t}"
        for t, w in enumerate(weights)
        if w
    )
    return text.removeprefix("+ ")


def _shifted(adds: Array, positions: Sequence[int]) -> str:
    """Of more: the multiset of the relevant tokens, shifted, and the folds of the others.

    >>> import numpy as np
    >>> adds = np.zeros((3, 3, 3), int)
    >>> adds[0], adds[1] = np.eye(3), np.roll(np.eye(3), 1, axis=1)
    >>> adds[2, 1] = [1, -2, 1]
    >>> _shifted(adds, (0, 1))
    '{x0, x1 + 1} mod 3, with x2 = 1 as 0 and 2 for two 1'
    """
    vocab = adds.shape[-1]
    names, folds = [], []
    for t, one in enumerate(adds):
        if t in positions:
            shift = int(one[0].argmax())
            if one.any():
                names.append(f"x{t} + {shift}" if shift else f"x{t}")
            continue
        folds += [
            f"x{t} = {x} as {_exchange(change)}" for x, change in enumerate(one) if any(change)
        ]
    whole = "{" + ", ".join(names) + "}" + (f" mod {vocab}" if any("+" in n for n in names) else "")
    return f"{whole}, with {'; '.join(folds)}" if folds else whole


def _exchange(change: Array) -> str:
    """A change of the counts: what comes for what goes."""
    more = [_times(j, n) for j, n in enumerate(change) if n > 0]
    less = [_times(j, -n) for j, n in enumerate(change) if n < 0]
    return f"{' and '.join(more)} for {' and '.join(less)}"


def _times(token: int, count: int) -> str:
    return f"{('', '', 'two ')[count] if count < 3 else f'{count} times '}{token}"
