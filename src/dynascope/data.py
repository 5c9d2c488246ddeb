"""Sequences and targets: a task's, drawn from a seed, or a user's.

Train and test sets are uniform with replacement, from streams of their own: sequence i of a seed is
the same whatever the sizes are.
"""

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dynascope import _kernel
from dynascope.config import LATER, Config, TaskConfig, named_task
from dynascope.config_input import TaskLike, check_task
from dynascope.errors import Description, DynascopeError, expected, none_given
from dynascope.near_misses import guided, guided_class

Tokens = npt.NDArray[np.int32]  # [count, length]
Targets = npt.NDArray[np.int32]  # [count]
Examples = tuple[Tokens, Targets]
Split = Literal["train", "test", "unseen", "all"]
SPLITS = ("train", "test", "unseen", "all")

MAX_SEED = 2**53 - 1  # a browser must hold it exactly
MAX_ENUMERATED = 2**24  # sequences of the split "all"
# "unseen" means every sequence outside the train set while there are no more than this many; beyond
# that, the test sequences outside the train set: evaluating all would cost more than training.
MAX_UNSEEN = 2**16


def check_seed(seed: object) -> int:
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not whole or not 0 <= int(seed) <= MAX_SEED:  # type: ignore[call-overload]
        raise expected("seed", f"a whole number from 0 to {MAX_SEED}", seed)
    return int(seed)  # type: ignore[call-overload,no-any-return]


@guided
def dataset(task: TaskLike = None, seed: int = 0, split: Split = "train") -> Examples:
    """Tokens and targets of one split of a task (None: the default); a config or a dict of options
    tells its task.

    `train` and `test` are what a run of this seed uses; `all` is every sequence that exists, in
    the order of its digits; `unseen` those that the train set does not contain (where more than
    65536 exist: those of the test set that it does not contain).

    >>> tokens, targets = dataset(TaskConfig(), seed=0)
    >>> tokens.shape, bool((targets == tokens[:, :5].sum(axis=1) % 2).all())
    ((2048, 12), True)
    """
    task, seed = named_task(check_task(task)), check_seed(seed)
    if split not in SPLITS:
        raise expected("split", f"one of {', '.join(SPLITS)}", split)
    if split == "unseen":
        return _unseen(task, seed)
    if split == "all":
        if task.sequences > MAX_ENUMERATED:
            what = f"at most {MAX_ENUMERATED} sequences for the split 'all'"
            raise expected("task", what, Description(f"{task.vocab}**{task.length}"))
        tokens = _kernel.enumerate(task.sequences, task.length, task.vocab)
    else:
        size = task.train_size if split == "train" else task.test_size
        tokens = _kernel.draw(size, task.length, task.vocab, seed, SPLITS.index(split))
    return tokens, task.kernel.targets(tokens)


def _unseen(task: TaskConfig, seed: int) -> Examples:
    candidates = dataset(task, seed, "all" if task.sequences <= MAX_UNSEEN else "test")
    return without(candidates, dataset(task, seed, "train")[0])


def without(examples: Examples, seen: Tokens) -> Examples:
    """The examples whose sequence is not among `seen`."""
    tokens, targets = examples
    known = {row.tobytes() for row in np.ascontiguousarray(seen)}
    new = np.array([row.tobytes() not in known for row in tokens], dtype=bool)
    return np.ascontiguousarray(tokens[new]), np.ascontiguousarray(targets[new])


@guided_class()
@dataclass(frozen=True, eq=False)
class Data:
    """Your own task: `train` and, optionally, `test`, each (tokens [n, N], targets [n]).

    >>> tokens = np.array([[0, 1], [1, 1], [1, 0]])
    >>> data = Data(train=(tokens, tokens.prod(axis=1)))
    >>> data.train[1].tolist(), len(data.test[1])
    ([0, 1, 0], 0)
    """

    train: tuple[Any, Any]
    test: tuple[Any, Any] | None = None

    def __post_init__(self) -> None:
        train = _checked("data.train", self.train)
        if not len(train[1]):
            raise none_given("data.train", "sequence")
        length = train[0].shape[1]
        none = (np.zeros((0, length), np.int32), np.zeros(0, np.int32))
        test = none if self.test is None else _checked("data.test", self.test)
        if test[0].shape[1] != length:
            raise expected("data.test", f"sequences of length {length}", test[0].shape[1])
        object.__setattr__(self, "train", train)
        object.__setattr__(self, "test", test)

    @property
    def sets(self) -> tuple[Examples, Examples]:
        assert self.test is not None  # set in __post_init__
        return self.train, self.test

    def digest(self) -> str:
        """A hash of what is in it: part of the id of a run trained on it."""
        total = hashlib.sha256()
        for tokens, targets in self.sets:
            total.update(repr(tokens.shape).encode() + tokens.tobytes() + targets.tobytes())
        return total.hexdigest()

    def fit(self, config: Config) -> Config:
        """The config with this data's sizes, after checking that it fits the data."""
        length = self.train[0].shape[1]
        if config.task.name != LATER["task.name"]:
            raise DynascopeError(
                f"task.name: leave out {config.task.name!r}: with data of your own, the data says "
                "what the targets are."
            )
        if length != config.task.length:
            raise expected("data.train", f"sequences of task.length = {config.task.length}", length)
        for name, (tokens, targets) in zip(("train", "test"), self.sets, strict=True):
            for what, values, limit in (
                ("tokens", tokens, config.task.vocab),
                ("targets", targets, config.embeddings),
            ):
                if values.size and values.max() >= limit:
                    raise expected(f"data.{name}", f"{what} below {limit}", int(values.max()))
        sizes = {"task.train_size": len(self.train[1])}
        if len(self.sets[1][1]):
            sizes["task.test_size"] = len(self.sets[1][1])
        return config.replace(sizes).for_own_data()


def own_digest(data: Data | None) -> str | None:
    """What stands in a run's id for its data; None: they are the task's."""
    return data.digest() if data else None


def fitted(config: Config, data: object) -> Config:
    """The config that a run with these data of its own has, or without any (None)."""
    if data is None:
        named_task(config.task)
        return config
    return check_data(data).fit(config)


def check_data(data: object) -> Data:
    if not isinstance(data, Data):
        raise expected(
            "data", "ds.Data(train=(tokens, targets), test=...)", Description(type(data).__name__)
        )
    return data


def _checked(field: str, pair: object) -> Examples:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise expected(field, "a pair (tokens, targets)", Description(type(pair).__name__))
    return check_tokens(f"{field}[0]", pair[0]), check_targets(f"{field}[1]", pair[1], len(pair[0]))


def check_tokens(field: str, given: object, limit: int = 2**31) -> Tokens:
    """Tokens as the kernel takes them: [count, length], whole, 0..limit-1."""
    tokens = _whole(field, given)
    if tokens.ndim != 2 or tokens.shape[1] == 0:
        raise expected(
            field, "tokens of shape [count, length]", Description(f"shape {tokens.shape}")
        )
    return _bounded(field, tokens, limit)


def check_targets(field: str, given: object, count: int, limit: int = 2**31) -> Targets:
    targets = _whole(field, given)
    if targets.shape != (count,):
        raise expected(field, f"{count} targets", Description(f"shape {targets.shape}"))
    return _bounded(field, targets, limit)


def _whole(field: str, given: object) -> npt.NDArray[Any]:
    try:
        array = np.asarray(given.detach().cpu().numpy() if hasattr(given, "detach") else given)
    except ValueError:
        raise expected(field, "an array", Description("rows of different lengths")) from None
    if array.size and array.dtype.kind not in "iu":
        raise expected(field, "whole numbers", Description(f"an array of {array.dtype}"))
    return array


def _bounded(field: str, array: npt.NDArray[Any], limit: int) -> npt.NDArray[np.int32]:
    if array.size and (array.min() < 0 or array.max() >= limit):
        worst = array.min() if array.min() < 0 else array.max()
        raise expected(field, f"numbers from 0 to {limit - 1}", int(worst))
    own = np.array(array, dtype=np.int32, order="C")  # a copy: later changes are not ours
    own.flags.writeable = False
    return own
