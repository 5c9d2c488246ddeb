"""What a model is to learn: one of the kernel's tasks, or data of one's own.

Training, analysis and sandbox ask the task; none of them knows how a target comes about. Of data of
one's own no symmetry is known: what needs one is refused there, with a sentence.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope import _kernel
from dynascope.cached import cached_property
from dynascope.catalog import TASKS
from dynascope.config import Config, TaskConfig, named_task
from dynascope.data import Data, Examples, Split, Targets, Tokens, check_tokens, dataset, without
from dynascope.errors import DynascopeError, expected

LEARNING_ACCURACY = 0.6  # from here on a model is said to learn
_LEARNING_SHARE = 0.2  # ... or from this share of the way from chance to 1 on, where that is more


@dataclass(frozen=True, eq=False)
class Design:
    """The sequences that a model is measured on: every prefix (relevant tokens) with every suffix
    (irrelevant ones). All sequences while there are at most 2**20, else a sample."""

    task: TaskConfig
    prefixes: Tokens  # [count, k]: those of one group side by side
    groups: Tokens  # [groups + 1]: where each one's prefixes begin
    suffixes: Tokens  # [count, length - k]
    sampled: bool

    @property
    def sequences(self) -> int:
        return len(self.prefixes) * len(self.suffixes)

    @cached_property
    def group_count(self) -> int:
        """How many different groups are there; a sample may hold one twice."""
        first = np.ascontiguousarray(self.prefixes[self.groups[:-1]])
        return len(np.unique(self.task.kernel.canonical(first), axis=0))

    @property
    def arguments(self) -> tuple["_kernel.TaskSpec", Tokens, Tokens, Tokens, bool]:
        """As the kernel takes them."""
        return self.task.kernel, self.prefixes, self.groups, self.suffixes, self.sampled


@dataclass(frozen=True)
class Groups:
    """Prefixes that a task's symmetries take to one another; all of a group have one target."""

    kind: str  # "multisets" of tokens, or multisets of unordered "pairs" of them
    count: int | None  # None: more than 2**40
    task: TaskConfig

    def canonical(self, prefixes: object) -> Tokens:
        """The prefix that stands for the group of each of these [count, k]."""
        return self.task.kernel.canonical(check_tokens("prefixes", prefixes, self.task.vocab))

    def names(self, prefixes: object) -> list[str]:
        """What the group of each of these is called: "2×1" (ones), "0 1 2", in pairs "01 12".

        >>> task_of(TaskConfig(name="products", relevant=4)).groups.names([[1, 1, 1, 0]])
        ['01 11']
        """
        return self.task.kernel.group_names(check_tokens("prefixes", prefixes, self.task.vocab))


class Task(ABC):
    """What decides which sequences there are and what they should give."""

    name: str
    classes: int  # targets are below
    positions: tuple[int, ...] | None  # the relevant ones, rising; None: not known
    symmetries: tuple[str, ...]  # what leaves a target alone
    groups: Groups | None  # None: no symmetry is known

    @abstractmethod
    def examples(self, seed: int, split: Split) -> Examples:
        """Tokens and targets of a run of this seed."""

    @abstractmethod
    def targets(self, tokens: object) -> Targets:
        """What sequences [count, length] should give."""

    @property
    @abstractmethod
    def class_shares(self) -> npt.NDArray[Any] | None:
        """How often each class is the right one; None: it would take too long to find out."""

    @abstractmethod
    def design(self) -> Design:
        """The sequences that a model of this task is measured on."""

    @abstractmethod
    def describe(self) -> str:
        """What it is, in a few words."""

    @property
    def chance(self) -> float | None:
        """The accuracy of the best answer that does not look at the sequence."""
        return None if self.class_shares is None else float(self.class_shares.max())

    @cached_property
    def chance_loss(self) -> float | None:
        """The loss of the best guess that does not look at the sequence: the targets' entropy."""
        if self.class_shares is None:
            return None
        shares = self.class_shares[self.class_shares > 0]
        if (shares == shares[0]).all():
            return math.log(len(shares))
        return float(-(shares * np.log(shares)).sum())

    @property
    def learning_accuracy(self) -> float:
        """An accuracy above it is more than guessing."""
        chance = self.chance or 0.0
        return max(LEARNING_ACCURACY, chance + _LEARNING_SHARE * (1 - chance))


class KernelTask(Task):
    """A task that the kernel knows.

    >>> task = task_of(Config())
    >>> task.name, task.classes, task.chance, task.groups.count
    ('modular-addition', 2, 0.5, 6)
    >>> task.targets([[1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1]]).tolist()
    [1]
    """

    def __init__(self, config: TaskConfig) -> None:
        self.config = config
        self.name, self.classes, self.positions = config.name, config.vocab, config.positions
        kind, count = TASKS[config.name], config.kernel.groups
        self.groups = Groups(kind, int(count) if math.isfinite(count) else None, config)
        self.symmetries = ("permutation" if kind == "multisets" else kind, "suffix")

    def describe(self) -> str:
        """
        >>> print(task_of(TaskConfig(name="products", relevant=4)).describe())
        products, 4 of 12 tokens, p = 2
        """
        task = self.config
        tokens = f"{len(task.positions)} of {task.length} tokens"
        if self.name == "modular-addition":
            return f"{tokens} modulo {task.vocab}"
        return f"{self.name}, {tokens}, p = {task.vocab}"

    def examples(self, seed: int, split: Split) -> Examples:
        return dataset(self.config, seed, split)

    def targets(self, tokens: object) -> Targets:
        return self.config.kernel.targets(check_tokens("tokens", tokens, self.config.vocab))

    @cached_property
    def class_shares(self) -> npt.NDArray[Any] | None:
        shares = self.config.kernel.class_shares()
        return None if np.isnan(shares).any() else shares

    def design(self) -> Design:
        return self._design

    @cached_property
    def _design(self) -> Design:
        return Design(self.config, *self.config.kernel.design())


class OwnTask(Task):
    """Data of one's own: what it says is all that is known.

    >>> own = task_of(Config(), Data(train=(np.eye(12, dtype=int), [0, 1] * 6)))
    >>> own.chance, own.positions, own.symmetries
    (0.5, None, ())
    """

    name, positions, symmetries, groups = "own data", None, (), None

    def __init__(self, data: Data) -> None:
        self.data = data
        self.classes = 1 + max(int(targets.max()) for _, targets in data.sets if len(targets))

    def describe(self) -> str:
        return "data of its own"

    def examples(self, seed: int, split: Split) -> Examples:
        if split == "all":
            raise expected("split", "train, test or unseen for a run with its own data", split)
        train, test = self.data.sets
        return {"train": train, "test": test}.get(split) or without(test, train[0])

    def targets(self, tokens: object) -> Targets:
        raise DynascopeError(
            "task: only the targets of its own sequences are known, since this run has data of its "
            "own; examples('train') and examples('test') give them."
        )

    @cached_property
    def class_shares(self) -> npt.NDArray[Any] | None:
        """Of the train set."""
        targets = self.data.train[1]
        return np.bincount(targets, minlength=self.classes) / len(targets)

    def design(self) -> Design:
        raise DynascopeError(
            "task: its symmetries are not known, since this run has data of its own."
        )


def task_of(config: Config | TaskConfig, data: Data | None = None) -> Task:
    """The task of a run with this config and, if it has any, these data of its own."""
    if data is not None:
        return OwnTask(data)
    return _kernel_task(named_task(config.task if isinstance(config, Config) else config))


@lru_cache(maxsize=64)
def _kernel_task(config: TaskConfig) -> KernelTask:
    return KernelTask(config)
