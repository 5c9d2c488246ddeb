"""The sequences that a model is measured on: all of them, or a crossed sample.

Either way every choice of relevant tokens is combined with every choice of irrelevant ones, which
is what lets a variance be taken apart exactly (`variance.hpp`).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dynascope import _kernel
from dynascope.cached import cached_property
from dynascope.config import TaskConfig
from dynascope.data import Tokens

MAX_SEQUENCES = 2**20  # up to here all sequences are measured
_MULTISETS, _ORDERINGS, _SUFFIXES = 256, 2, 128  # of a sample: 65536 sequences
_STREAM = 3  # SAMPLE in random.hpp: no run uses it
_BLOCK = 2**16  # rows between the parts of the sample, which share the stream


@dataclass(frozen=True, eq=False)
class Design:
    """Orderings of one multiset of relevant tokens stand side by side in `prefixes`."""

    positions: Tokens  # [k]
    prefixes: Tokens  # [count, k]
    groups: Tokens  # [multisets + 1]: where each one's orderings begin
    suffixes: Tokens  # [count, length - k]
    sampled: bool

    @property
    def sequences(self) -> int:
        return len(self.prefixes) * len(self.suffixes)

    @cached_property
    def multisets(self) -> int:
        """How many different ones are there; a sample may hold one twice."""
        return len(np.unique(np.sort(self.prefixes[self.groups[:-1]], axis=1), axis=0))

    @property
    def arguments(self) -> tuple[Tokens, Tokens, Tokens, Tokens, bool]:
        """As the kernel takes them."""
        return self.positions, self.prefixes, self.groups, self.suffixes, self.sampled


@lru_cache(maxsize=64)
def design(task: TaskConfig) -> Design:
    """The sequences of a task.

    >>> whole = design(TaskConfig())
    >>> whole.sequences, whole.multisets, whole.sampled
    (4096, 6, False)
    """
    relevant, length = len(task.positions), task.length
    positions = np.array(task.positions, np.int32)
    if task.sequences <= MAX_SEQUENCES:
        prefixes, groups = _grouped(_kernel.enumerate(task.vocab**relevant, relevant, task.vocab))
        rest = length - relevant
        suffixes = _kernel.enumerate(task.vocab**rest, rest, task.vocab)
        return Design(positions, prefixes, groups, suffixes, sampled=False)
    drawn = _kernel.draw(_MULTISETS, relevant, task.vocab, 0, _STREAM)
    orders = [
        [_kernel.shuffled(relevant, 0, _BLOCK + _ORDERINGS * m + o) for o in range(_ORDERINGS)]
        for m in range(_MULTISETS)
    ]
    prefixes = np.take_along_axis(drawn[:, None], np.array(orders, np.int64), axis=2)
    groups = np.arange(0, _ORDERINGS * _MULTISETS + 1, _ORDERINGS, dtype=np.int32)
    suffixes = _kernel.draw(_BLOCK + _SUFFIXES, length - relevant, task.vocab, 0, _STREAM)[_BLOCK:]
    suffixes = suffixes if length > relevant else suffixes[:1]
    flat = np.ascontiguousarray(prefixes.reshape(-1, relevant), np.int32)
    return Design(positions, flat, groups, np.ascontiguousarray(suffixes), sampled=True)


def _grouped(prefixes: Tokens) -> tuple[Tokens, Tokens]:
    """All orderings, those of one multiset together."""
    multisets = np.sort(prefixes, axis=1)
    order = np.lexsort((np.arange(len(prefixes)), *multisets.T[::-1]))
    changes = np.any(np.diff(multisets[order], axis=0), axis=1)
    groups = np.concatenate([[0], np.flatnonzero(changes) + 1, [len(prefixes)]])
    return np.ascontiguousarray(prefixes[order]), groups.astype(np.int32)
