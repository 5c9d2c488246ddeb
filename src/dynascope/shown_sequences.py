"""Which sequences pictures show, and what they have in common: the choice that the sandbox makes.

A prefix is what stands at the relevant positions, a suffix the rest. Sequences of one prefix share
a colour, prefixes of one group have similar ones: so they come in the order of their groups (by
sum), and every prefix meets the same suffixes. All groups are there while they are at most
`MOST_SEQUENCES`; then orderings and suffixes as there is room. Targets, groups and their names are
the kernel's. Of data of one's own, classes take the place of groups.

web/src/model/sequences.ts makes the same choice for the page, and a test runs a table of tasks
through both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.config import TaskConfig, named_task
from dynascope.data import check_tokens
from dynascope.errors import expected, none_given
from dynascope.run import Run
from dynascope.shown_prefixes import (
    TokenRow,
    fillings,
    groups_of,
    item_width,
    ordering_count,
    orderings,
)

Array = npt.NDArray[Any]

MOST_SEQUENCES = 256
NO_TARGET = -1  # of a sequence that is not in one's own data
_ORDERINGS = 4  # of one group: more crowd the picture and show nothing new
_SUFFIXES = 8
_LOOKED_AT = 2**16  # sequences of a set: to find which of them differ, they are sorted


@dataclass(frozen=True, eq=False)
class ShownSequences:
    """Sequences in the order of their groups."""

    tokens: Array  # [count, length]
    vocab: int
    positions: tuple[int, ...] | None  # relevant, rising; None: not known
    targets: Array  # [count]: a class, or NO_TARGET
    prefix: Array  # [count]: index of its prefix
    group: Array  # [count]: index of its group
    group_names: tuple[str, ...]  # "2×1" for p = 2, "0 1 1 2" else; of pairs "01 12"; "class 1"

    def __len__(self) -> int:
        return len(self.tokens)

    def names(self) -> list[str]:
        """Each as text; a dot parts relevant from irrelevant neighbours, where these are known."""
        return [self._name(row) for row in self.tokens]

    def _name(self, row: Array) -> str:
        relevant, between = set(self.positions or ()), " " if self.vocab > 10 else ""
        name = ""
        for t, token in enumerate(row):
            turn = t > 0 and (t in relevant) != (t - 1 in relevant)
            name += ("" if t == 0 else "·" if turn else between) + str(int(token))
        return name


def sequences_of_run(run: Run, tokens: npt.ArrayLike | None = None) -> ShownSequences:
    """Those that are shown of a run, or the sequences given."""
    if run.data is None:
        return sequences_of_task(run.config.task, tokens)
    vocab = run.config.task.vocab
    if tokens is None:
        _, rows, targets = own_sequences(run, MOST_SEQUENCES)
        return _of_classes(rows, targets, vocab)
    rows = _checked(tokens, run.config.task)
    return _of_classes(rows, _targets_in(run, rows), vocab)


def sequences_of_task(config: TaskConfig, tokens: npt.ArrayLike | None = None) -> ShownSequences:
    """Those that are shown of a task, always the same, or the sequences given.

    >>> shown = sequences_of_task(TaskConfig())
    >>> len(shown), shown.group_names, shown.names()[0]
    (144, ('0×1', '1×1', '2×1', '3×1', '4×1', '5×1'), '00000·0110011')
    """
    task = named_task(config)
    return _of_groups(task, _chosen(task) if tokens is None else _checked(tokens, task).tolist())


def own_sequences(run: Run, most: int) -> tuple[str, Array, Array]:
    """Different sequences of the test set, or of the train set where there is no other: the name of
    the set, tokens, targets."""
    split = "test" if len(run.examples("test")[1]) else "train"
    tokens, targets = (each[:_LOOKED_AT] for each in run.examples(split))  # type: ignore[arg-type]
    chosen = classes_in_turn(tokens, targets, most)
    return split, tokens[chosen], targets[chosen]


def classes_in_turn(tokens: Array, targets: Array, most: int) -> Array:
    """At most so many different sequences, rising: the first of each class, then the second.

    >>> classes_in_turn(np.array([[0], [0], [1], [2], [3]]), np.array([0, 0, 0, 0, 1]), 3).tolist()
    [0, 2, 4]
    """
    first = np.sort(np.unique(tokens, axis=0, return_index=True)[1])
    by_class = first[np.argsort(targets[first], kind="stable")]
    _, starts, sizes = np.unique(targets[by_class], return_index=True, return_counts=True)
    turn = np.arange(len(by_class)) - np.repeat(starts, sizes)
    return np.sort(by_class[np.argsort(turn, kind="stable")[:most]])


def _checked(tokens: npt.ArrayLike, task: TaskConfig) -> Array:
    rows = check_tokens("sequences", tokens, task.vocab)
    if not len(rows):
        raise none_given("sequences", "sequence")
    if rows.shape[1] != task.length:
        raise expected("sequences", f"sequences of length {task.length}", rows.shape[1])
    return rows


def _chosen(task: TaskConfig) -> list[TokenRow]:
    width = item_width(task)
    few = task.kernel.groups <= MOST_SEQUENCES
    groups = groups_of(task, MOST_SEQUENCES if few else MOST_SEQUENCES // 4)
    free = task.length - len(task.positions)
    counts = [ordering_count(group, width) for group in groups]
    most_orderings, most_suffixes = _room(counts, min(_SUFFIXES, task.vocab**free))
    suffixes = fillings(task.vocab, free, most_suffixes)
    return [
        _woven(task, prefix, suffix)
        for group in groups
        for prefix in orderings(group, most_orderings, width)
        for suffix in suffixes
    ]


def _room(counts: Sequence[float], suffixes: int) -> tuple[int, int]:
    """How many orderings and suffixes fit: both grow in turn, as even as possible."""
    most = min(_ORDERINGS, max(counts))

    def fits(o: int, s: int) -> bool:
        rows = s * sum(min(count, o) for count in counts)
        return o <= most and s <= suffixes and rows <= MOST_SEQUENCES

    o, s = 1, 1
    while True:
        if o <= s and fits(o + 1, s):
            o += 1
        elif fits(o, s + 1):
            s += 1
        elif fits(o + 1, s):
            o += 1
        else:
            return o, s


def _woven(task: TaskConfig, prefix: TokenRow, suffix: TokenRow) -> TokenRow:
    """A prefix at the relevant positions, a suffix at the others."""
    relevant, first, rest = set(task.positions), iter(prefix), iter(suffix)
    return tuple(next(first if t in relevant else rest) for t in range(task.length))


def _of_groups(task: TaskConfig, rows: Sequence[Sequence[int]]) -> ShownSequences:
    tokens = np.asarray(rows, np.int32)
    prefixes = np.ascontiguousarray(tokens[:, list(task.positions)])
    canonical = task.kernel.canonical(prefixes)
    keys = [(int(row.sum()), tuple(row.tolist())) for row in canonical]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    groups, known = _numbered(keys[i][1] for i in order), _numbered(map(tuple, prefixes[order]))
    tokens = np.ascontiguousarray(tokens[order])
    first = np.array([list(group) for group in groups], np.int32)
    return ShownSequences(
        tokens,
        task.vocab,
        task.positions,
        task.kernel.targets(tokens),
        np.array([known[tuple(prefixes[i])] for i in order]),
        np.array([groups[keys[i][1]] for i in order]),
        tuple(task.kernel.group_names(first)),
    )


def _numbered(keys: Any) -> dict[Any, int]:
    """Each with the number of its coming."""
    known: dict[Any, int] = {}
    for key in keys:
        known.setdefault(key, len(known))
    return known


def _of_classes(tokens: Array, targets: Array, vocab: int) -> ShownSequences:
    """Sequences in the order of their classes; those without a target at the end."""
    last = targets == NO_TARGET
    order = np.lexsort((np.arange(len(targets)), targets, last))
    ordered = np.asarray(targets)[order]
    classes = _numbered(ordered.tolist())
    group = np.array([classes[target] for target in ordered.tolist()])
    names = tuple("no target" if c == NO_TARGET else f"class {c}" for c in classes)
    return ShownSequences(
        np.ascontiguousarray(tokens[order]), vocab, None, ordered, group, group, names
    )


def _targets_in(run: Run, rows: Array) -> Array:
    """What each of these sequences should give: as the first of the examples that has it says."""
    found = {row.tobytes(): NO_TARGET for row in rows}
    for split in ("test", "train"):
        tokens, targets = run.examples(split)
        for row, target in zip(np.asarray(tokens, rows.dtype), targets, strict=True):
            if found.get(key := row.tobytes()) == NO_TARGET:
                found[key] = int(target)
    return np.array([found[row.tobytes()] for row in rows])
