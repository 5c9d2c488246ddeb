"""The options of a run; every default is the paper's.

Four sections (task, model, training, record) and a precision make a `Config`. All are frozen and
hashable, and check themselves when made. Names, defaults and limits come from the kernel's table
(`option_sections`); here are the words about them, and what spans several options.
"""

import hashlib
import inspect
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from dynascope import _kernel, catalog
from dynascope.catalog import LIMITS, parameter_shapes
from dynascope.clamped_values import clamps_of
from dynascope.errors import DynascopeError, expected, unknown
from dynascope.frozen_weights import check_frozen
from dynascope.near_misses import guided_class, refuse_assignment
from dynascope.option_rules import Maybe, Rule
from dynascope.option_sections import LATER as LATER
from dynascope.option_sections import OPTIONS as OPTIONS
from dynascope.option_sections import listing, options_class, settle
from dynascope.option_tables import (
    from_table,
    from_tables,
    from_toml,
    nested,
    to_tables,
    toml_value,
)
from dynascope.option_words import option_meant, option_places

if TYPE_CHECKING:
    from dynascope._kernel import (
        ModelOptions,
        Precision,
        RecordOptions,
        TaskOptions,
        TrainingOptions,
    )
else:
    TaskOptions, ModelOptions = options_class("task"), options_class("model")
    TrainingOptions, RecordOptions = options_class("training"), options_class("record")
    Precision = str

Class = TypeVar("Class")


def _options_of(section: str) -> Callable[[type[Class]], type[Class]]:
    """A decorator for a dataclass of options: what goes wrong with one is said in a sentence."""

    def path(name: str) -> str:
        return f"{section}.{name}" if section else (option_meant(name) or name)

    def decorate(cls: type[Class]) -> type[Class]:
        return guided_class(lambda: option_places("config"))(refuse_assignment(path)(cls))

    return decorate


@_options_of("task")
@dataclass(frozen=True, slots=True, kw_only=True)
class TaskConfig(TaskOptions):
    """What sequences of `length` tokens should give; only `relevant` positions count.

    - `modular-addition`: the sum of the tokens there, modulo `vocab`.
    - `most-frequent`: the token that is there most often; of several, the smallest.
    - `products`: these positions in pairs, in rising order (the first with the second, and so on);
      the sum of the pairs' products, modulo `vocab`.

    `relevant` is k, for the first k positions, or a list of distinct 0-based positions. A list
    that spells the first k is stored as k: equal tasks are equal.

    >>> TaskConfig(relevant=[2, 0, 1]) == TaskConfig(relevant=3)
    True
    >>> TaskConfig(relevant=[7, 1]).positions
    (1, 7)
    """

    def __post_init__(self) -> None:
        settle(self, "task")
        if self.length * self.vocab > LIMITS["pairs"]:
            what = f"at most {LIMITS['pairs']} token-position pairs (task.length * task.vocab)"
            raise expected("task.vocab", what, self.length * self.vocab)
        if self.positions[-1] >= self.length:
            what = "at most" if isinstance(self.relevant, int) else "positions below"
            raise expected("task.relevant", f"{what} task.length = {self.length}", self.relevant)
        try:
            self.kernel  # noqa: B018  what only this task asks for
        except ValueError as error:
            field, _, what = str(error).removesuffix(".").partition(": expected ")
            raise expected(f"task.{field}", what, getattr(self, field)) from None

    @property
    def kernel(self) -> _kernel.TaskSpec:
        """The task as the kernel takes it."""
        return _kernel.TaskSpec(
            name=self.name, length=self.length, vocab=self.vocab, positions=list(self.positions)
        )

    @property
    def positions(self) -> tuple[int, ...]:
        """The relevant positions, 0-based and rising."""
        relevant = self.relevant
        return tuple(range(relevant) if isinstance(relevant, int) else relevant)

    @property
    def sequences(self) -> int:
        """How many different sequences exist."""
        return int(self.vocab**self.length)


class OwnDataTask(TaskConfig):
    """The task section of a run with data of its own, of which only the sizes mean anything.

    `Data.fit` makes it, and a stored run with data has it again. It equals a `TaskConfig` with the
    same options and is written as one, so that ids stay; but what asks for a task's sequences or
    targets refuses it (`named_task`), since they would be those of a task that the run never saw.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TaskConfig) and to_tables(self) == to_tables(other)

    __hash__ = TaskConfig.__hash__


def named_task(task: TaskConfig) -> TaskConfig:
    """The task, unless it stands for data of one's own, of which nothing else is known."""
    if isinstance(task, OwnDataTask):
        raise DynascopeError(
            "task: this config belongs to a run with data of its own and names no task; "
            "run.examples('train') and run.examples('test') are that run's sequences and targets; "
            "to train on them, give data=run.data."
        )
    return task


@_options_of("model")
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig(ModelOptions):
    """One block with one query.

    `norm_eps` is added to the length in the norms `rms` and `unit`; `norm_tau` is the length from
    which on the norm `smooth` equals `rms`. `embeddings` is the number of rows of the token
    embedding, which are also the output classes; None makes one for each token of the task.
    """

    def __post_init__(self) -> None:
        settle(self, "model")


@_options_of("training")
@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingConfig(TrainingOptions):
    """How the model is trained.

    - `frozen` lists parameters or parts of them that stay as they are: `"query"`,
      `"position_embedding[5:]"`.
    - `momentum` and `nesterov` belong to sgd; `beta1` and `beta2` to adam, adamw and lion; `eps` to
      adam and adamw. muon moves the hidden matrices with `muon_momentum`, and all the rest as adamw
      does.
    - `weight_decay` is decoupled in adamw, lion and muon, and added to the gradient in sgd and
      adam, as in torch.optim.
    - `sam` goes with every optimizer: each step takes its gradient at that distance uphill.
    - `schedule`: `constant`; `warmup` rises linearly over the first `warmup` steps; `cosine` does
      so too, then falls to `lr_final` at the end.
    """

    def __post_init__(self) -> None:
        settle(self, "training")
        if self.lr_final > self.lr:
            raise expected("training.lr_final", f"at most training.lr = {self.lr!r}", self.lr_final)

    @property
    def rule(self) -> catalog.UpdateRule:
        """What the kernel's table says of the optimizer."""
        return catalog.UPDATE_RULES[self.optimizer]

    @property
    def metric(self) -> str:
        """The metric in which steps follow the gradient at the weights: the rule's; with `sam` none
        that is linear, since the way uphill has one length whatever the gradient's."""
        return self.rule.metric if self.sam is None else "nonlinear"

    @property
    def ends(self) -> bool:
        """Whether the schedule ends with the run: then a longer run is another run."""
        return catalog.SCHEDULES[self.schedule].ends


@_options_of("record")
@dataclass(frozen=True, slots=True, kw_only=True)
class RecordConfig(RecordOptions):
    """What is recorded; it does not change the run.

    - `weights_every`: keep the weights every so many epochs; 0 keeps only the first and the last,
      which are always kept.
    - `state_every`: the full state (weights, moments, step), from which training is replayed;
      0 keeps the last.
    - `gradients`: gradient norms over the steps of each epoch; `full_gradients`: also on the
      whole train set.
    - `unseen`: curves on sequences that the train set does not contain.
    - `steps=(a, b)`: also the weights at every step between two epochs.
    """

    def __post_init__(self) -> None:
        settle(self, "record")


@_options_of("")
@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything that decides a run except its seed, starting weights and data.

    >>> config = Config(model=ModelConfig(dim=3))
    >>> config.replace({"training.lr": 1e-2, "task.vocab": 3}).embeddings
    3
    """

    task: TaskConfig = TaskConfig()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    record: RecordConfig = RecordConfig()
    precision: Precision = catalog.OPTIONS["precision"].default

    def __post_init__(self) -> None:
        for section, kind in SECTIONS.items():
            given = getattr(self, section)
            if isinstance(given, Mapping):
                object.__setattr__(self, section, from_table(kind, given, section))
            elif not isinstance(given, kind):
                raise expected(section, f"a ds.{kind.__name__} or a dict of its options", given)
        settle(self, "")
        task, training, steps = self.task, self.training, self.record.steps
        if training.batch > task.train_size:
            what = f"at most task.train_size = {task.train_size}"
            raise expected("training.batch", what, training.batch)
        if self.embeddings < task.vocab:
            what = f"none or at least task.vocab = {task.vocab}"
            raise expected("model.embeddings", what, self.embeddings)
        if steps is not None and steps[1] > training.epochs:
            what = f"epochs up to training.epochs = {training.epochs}"
            raise expected("record.steps", what, steps)
        if training.frozen:
            check_frozen(training.frozen, self.shapes)
        if training.clamps:
            clamps_of(training.clamps, task.length)

    @property
    def embeddings(self) -> int:
        """Rows of the token embedding, and so output classes."""
        return self.task.vocab if self.model.embeddings is None else self.model.embeddings

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each parameter, in the kernel's order; without biases there are six."""
        sizes = {"embeddings": self.embeddings, "length": self.task.length}
        sizes |= {"dim": self.model.dim, "hidden": self.model.hidden}
        return parameter_shapes(sizes, self.model.bias)

    def to_dict(self) -> dict[str, Any]:
        """Tables of plain values, ready for JSON; `from_dict` is the way back."""
        return to_tables(self)

    @classmethod
    def from_dict(cls, tables: Mapping[str, object]) -> "Config":
        """A config from tables as `to_dict` makes them, or from dotted names; missing options have
        their defaults.

        >>> Config.from_dict({"model": {"dim": 3}}) == Config(model=ModelConfig(dim=3))
        True
        >>> Config.from_dict({"model.dim": 3}) == Config(model=ModelConfig(dim=3))
        True
        """
        return from_tables(cls, SECTIONS, tables)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> "Config":
        """A config from a TOML file with the tables of `from_dict`; an error names the file."""
        return from_toml(cls, SECTIONS, path)

    def replace(self, changes: Mapping[str, object]) -> "Config":
        """This config with some options changed, all at once, under their dotted names or in
        tables.

        >>> Config().replace({"model.dim": 3, "training": {"lr": 0.01}}).model.dim
        3
        """
        if not isinstance(changes, Mapping):
            raise expected("changes", 'a dict such as {"training.lr": 0.01}', changes)
        tables, new = self.to_dict(), nested(changes, SECTIONS)
        for name, value in new.items():
            if name not in SECTIONS:
                _known(name)
                tables[name] = value
                continue
            for option in value:
                _known(f"{name}.{option}")
            tables[name] |= value
        made = Config.from_dict(tables)
        named = "name" in new.get("task", ())  # then it is that task's
        return made.for_own_data() if isinstance(self.task, OwnDataTask) and not named else made

    def for_own_data(self) -> "Config":
        """This config as a run with data of its own has it: equal, but its task is no task."""
        if isinstance(self.task, OwnDataTask):
            return self
        return replace(self, task=OwnDataTask(**to_tables(self.task)))

    def canonical_json(self) -> str:
        """The text that identifies the run: equal texts and equal seeds give equal weights.

        Keys are sorted, floats have their shortest exact spelling, and `model.embeddings` is the
        number it stands for. An option added after the first format is left out where it has its
        value from before (`LATER`). `record` is left out, since recording does not change a
        run: one that keeps every step and one that keeps only its end are the same run.
        """
        tables = self.to_dict()
        del tables["record"]
        tables["model"]["embeddings"] = self.embeddings
        leave_out_later(tables)
        return json.dumps(tables, sort_keys=True, separators=(",", ":"), allow_nan=False)

    def digest(self) -> str:
        """SHA-256 of `canonical_json`, in hexadecimal.

        >>> Config().digest() == Config(record=RecordConfig(weights_every=0)).digest()
        True
        """
        return hashlib.sha256(self.canonical_json().encode()).hexdigest()


SECTIONS: dict[str, type] = {
    "task": TaskConfig,
    "model": ModelConfig,
    "training": TrainingConfig,
    "record": RecordConfig,
}
for _name, _section in SECTIONS.items():
    _section.__doc__ = f"{inspect.cleandoc(_section.__doc__ or '')}\n\n{listing(_name)}\n"


def column_name(option: str) -> str:
    """What an option is called in tables: its name without the section, `lr`, not `training.lr`,
    which SQL would want in quotes; an option called `name` has its section's.

    >>> column_name("training.lr"), column_name("task.name")
    ('lr', 'task')
    """
    section, _, own = option.rpartition(".")
    return section if own == "name" else own


def parse_setting(text: str) -> tuple[str, Any]:
    """The name and the value of `NAME=VALUE`, as given to `--set` and taken by `Config.replace`.

    The value is TOML, or a bare word; `none` is None where an option can be None (and the word
    where it cannot: a norm can be `none`). The value is checked when it is used.

    >>> parse_setting("model.dim=3"), parse_setting("model.norm=smooth")
    (('model.dim', 3), ('model.norm', 'smooth'))
    >>> parse_setting("model.embeddings=none"), parse_setting("model.norm=none")
    (('model.embeddings', None), ('model.norm', 'none'))
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise expected("--set", "NAME=VALUE, such as model.dim=3", text)
    optional = isinstance(_known(name), Maybe)
    return name, None if optional and value.casefold() == "none" else toml_value(value)


def same_value(one: object, other: object) -> bool:
    """Whether two values of an option are the same: spelt alike in JSON.

    >>> same_value((1, 2), [1, 2]), same_value(0, False), same_value(1, 1.0)
    (True, False, False)
    """
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def leave_out_later(tables: dict[str, Any]) -> None:
    """Remove options that came after the first format from the tables of a config, where they have
    their value from before: what is left means the same to every version."""
    for name, before in LATER.items():
        _leave_out(tables, name, before)


def _leave_out(tables: dict[str, Any], name: str, value: object) -> None:
    """Remove an option that has this value, and its section if nothing else is in it."""
    section, _, option = name.rpartition(".")
    table = tables.get(section, {}) if section else tables
    if option in table and same_value(table[option], value):
        del table[option]
        if not table:
            del tables[section]


def _known(name: str) -> Rule[object]:
    if name not in OPTIONS:
        raise unknown("", name, OPTIONS)
    return OPTIONS[name]
