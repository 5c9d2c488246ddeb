"""Whether methods see the same drops: each drop of one with the names of the others that see it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dynascope.analysis import thresholds as t
from dynascope.analysis.drops import Drop, Method


@dataclass(frozen=True)
class SeenDrop(Drop):
    """A drop by the method "shelves", and which of the other methods see it too."""

    seen_by: tuple[Method, ...]

    @property
    def votes(self) -> int:
        """How many methods see it: 1 (only this one) to 3 (all)."""
        return 1 + len(self.seen_by)


def with_votes(
    drops: Sequence[Drop], others: Mapping[Method, Sequence[Drop]]
) -> tuple[SeenDrop, ...]:
    """The drops, each with the names of those others that have it too."""
    seen = {name: {i for i, _ in drop_pairs(drops, found)} for name, found in others.items()}
    return tuple(
        SeenDrop(**vars(drop), seen_by=tuple(name for name in others if i in seen[name]))
        for i, drop in enumerate(drops)
    )


def drop_pairs(first: Sequence[Drop], second: Sequence[Drop]) -> list[tuple[int, int]]:
    """Indices of drops that are the same one; both are in the order of their epochs."""
    i = j = 0
    pairs = []
    while i < len(first) and j < len(second):
        a, b = first[i], second[j]
        within = a.start <= b.epoch <= a.end and b.start <= a.epoch <= b.end
        if within or abs(a.epoch - b.epoch) <= t.DROP_APART:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif a.epoch < b.epoch:
            i += 1
        else:
            j += 1
    return pairs
