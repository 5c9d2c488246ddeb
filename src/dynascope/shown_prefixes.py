"""Groups of relevant tokens, their orderings, and choices of irrelevant tokens, for pictures.

The paper's idea of which sequences to look at, for any p, N and k. A group is a multiset of items:
of single tokens, or of unordered pairs; it is given by the prefix that stands for it.
web/src/model/prefixes.ts is the same for the page, bit by bit: what is drawn at random comes from a
small generator of its own.
"""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from dynascope.catalog import TASKS
from dynascope.config import TaskConfig

TokenRow = tuple[int, ...]

_TRIES = 32  # draws in a row that may bring nothing new
_WORD = 2**32
_MANY = 2**40  # orderings: more are not counted


def item_width(task: TaskConfig) -> int:
    """Tokens in an item of the task's groups."""
    return 2 if TASKS[task.name] == "pairs" else 1


def groups_of(task: TaskConfig, most: int) -> list[TokenRow]:
    """Groups by sum and then in order: all of them, or `most` drawn ones."""
    found = _every_group(task) if task.kernel.groups <= most else _drawn_groups(task, most)
    return sorted(found, key=lambda group: (sum(group), group))


def orderings(group: TokenRow, most: int, width: int = 1) -> list[TokenRow]:
    """Up to `most` different orderings: rising first, then falling, then drawn ones.

    >>> orderings((0, 0, 1), 4)
    [(0, 0, 1), (1, 0, 0), (0, 1, 0)]
    """
    draw = generator(_hash(group))
    found: dict[TokenRow, None] = {group: None}
    if len(found) < most:
        found.setdefault(group[::-1])
    wanted = min(most, ordering_count(group, width))
    for _ in range(_TRIES * most):
        if len(found) >= wanted:
            break
        items = _shuffled(_items(group, width), draw)
        turned = [item[::-1] if width > 1 and draw() < 0.5 else item for item in items]
        found.setdefault(tuple(itertools.chain.from_iterable(turned)))
    return list(found)


def ordering_count(group: TokenRow, width: int = 1) -> float:
    """How many orderings a group of items of this width has, or infinity beyond 2**40."""
    count, equal, items = 1, 0, _items(group, width)
    for i, item in enumerate(items):
        equal = equal + 1 if i and item == items[i - 1] else 1
        count = count * (i + 1) // equal
        if width > 1 and item[0] != item[1]:
            count *= 2  # either way round
        if count > _MANY:
            return math.inf
    return count


def fillings(vocab: int, size: int, most: int) -> list[TokenRow]:
    """Up to `most` different fillings of `size` places: all when they are so few, or drawn ones."""
    if vocab**size <= most:
        return list(itertools.product(range(vocab), repeat=size))
    draw = generator(vocab * 65537 + size)
    found: dict[TokenRow, None] = {}
    for _ in range(_TRIES * most):
        if len(found) >= most:
            break
        found.setdefault(tuple(math.floor(draw() * vocab) for _ in range(size)))
    return list(found)


def generator(seed: int) -> Callable[[], float]:
    """Numbers in [0, 1) that follow from the seed. (Weyl sequence through a 32-bit mixer.)"""
    state = seed % _WORD

    def draw() -> float:
        nonlocal state
        state = (state + 0x9E3779B9) % _WORD
        mixed = (state ^ (state >> 16)) * 0x21F0AAAD % _WORD
        mixed = (mixed ^ (mixed >> 15)) * 0x735A2D97 % _WORD
        return (mixed ^ (mixed >> 15)) / _WORD

    return draw


def _every_group(task: TaskConfig) -> list[TokenRow]:
    width = item_width(task)
    kinds = list(itertools.combinations_with_replacement(range(task.vocab), width))
    lists = itertools.combinations_with_replacement(kinds, len(task.positions) // width)
    return [tuple(itertools.chain.from_iterable(each)) for each in lists]


def _drawn_groups(task: TaskConfig, most: int) -> list[TokenRow]:
    vocab, size = task.vocab, len(task.positions)
    draw = generator(vocab * 65537 + size + 1)
    found: dict[TokenRow, None] = {}
    for _ in range(_TRIES * most):
        if len(found) >= most:
            break
        one = np.array([[math.floor(draw() * vocab) for _ in range(size)]], np.int32)
        found.setdefault(tuple(task.kernel.canonical(one)[0].tolist()))
    return list(found)


def _shuffled(items: list[TokenRow], draw: Callable[[], float]) -> list[TokenRow]:
    out = list(items)
    for i in range(len(out) - 1, 0, -1):
        j = math.floor(draw() * (i + 1))
        out[i], out[j] = out[j], out[i]
    return out


def _items(group: TokenRow, width: int) -> list[TokenRow]:
    return [group[i : i + width] for i in range(0, len(group), width)]


def _hash(numbers: Sequence[int]) -> int:
    mixed = 17
    for each in numbers:
        mixed = (mixed * 31 + each + 1) % _WORD
    return mixed
