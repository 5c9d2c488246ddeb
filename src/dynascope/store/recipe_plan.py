"""What a recipe says, checked to its end before the first step: options, places, weights, cost.

A recipe may come from anybody. After `check_recipe` nothing can be wrong with it but that the run
diverges before one of its changes, which only training tells.
"""

import base64
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynascope.config import Config
from dynascope.data import check_seed
from dynascope.edits import Edit, changed_options, config_at, steps_done
from dynascope.engine import check_memory
from dynascope.errors import DynascopeError, expected, unknown
from dynascope.option_rules import Whole
from dynascope.parameters import Parameters
from dynascope.progress import Report, Status, clock
from dynascope.run import Run
from dynascope.run_cost import epoch_seconds
from dynascope.run_size import recorded_bytes, weight_count, working_bytes
from dynascope.store.fields import Field, ValueRule, check_fields, list_of, text, whole
from dynascope.store.strict_json import check_depth, strict_json
from dynascope.trainer import Trainer

FORMAT = 1
LARGEST = 2**24  # bytes of a recipe
MOST_SECONDS = 3600.0  # that training one again may take
_MOST_CHANGES = 1000
_MOST_EPOCHS = 10**7
_MOST_STATES = 2**30  # bytes: a change keeps the state of the optimizer
_DEEPEST = 8  # lists in tables in lists; a recipe has five
_COPIED = 2e9  # bytes a second: a change copies the record
_DRAWN = 2e8  # and may draw the data sets again
_SLICE = 0.1  # seconds of training between two reports
_TABLE = ValueRule(lambda value: isinstance(value, dict), "a table")
_FIELDS = {
    "dynascope": Field(text(40)),
    "recipe": Field(whole(1, 2**31)),
    "config": Field(_TABLE),
    "seed": Field(whole(0, 2**53)),
    "epochs": Field(whole(0, _MOST_EPOCHS)),
    "changes": Field(list_of(_TABLE, _MOST_CHANGES)),
}
_START = "start"  # which most recipes go without
_PARTS = ("epoch", "step", "options", "weights")  # of a change


@dataclass(frozen=True)
class RecipeChange:
    """What is changed once `epoch` epochs and `step` steps are done."""

    epoch: int
    step: int
    options: Mapping[str, Any]  # of training
    weights: Parameters | None


@dataclass(frozen=True)
class Recipe:
    """A run that can be trained: `steps` in all, in about so many `seconds`."""

    config: Config
    seed: int
    start: Parameters | None  # the first weights, if they are not those of the seed
    epochs: int
    steps: int
    changes: tuple[RecipeChange, ...]
    seconds: float

    def train(self, report: Report | None = None) -> Run:
        """The run. `report` is called ten times a second; what it raises ends the training."""
        status = Status(1, self.epochs)
        trainer = Trainer(self.config, self.seed, start=self.start)
        try:
            for change in self.changes:
                _go_to(trainer, change.step, status, report)
                if change.options:
                    trainer.change(change.options)
                if change.weights is not None:
                    trainer.parameters = change.weights
            _go_to(trainer, self.steps, status, report)
            # A run that diverged has as many rows all the same.
            trainer.advance(max(0, self.epochs - trainer.epoch))
            return trainer.finish()
        finally:
            if report is not None and hasattr(report, "close"):
                report.close()


def _go_to(trainer: Trainer, step: int, status: Status, report: Report | None) -> None:
    """By steps: of a large data set a single epoch may take minutes."""
    slice_ = 64
    while trainer.step < step and trainer.diverged is None:
        began, before = time.perf_counter(), trainer.step
        trainer.advance_steps(min(slice_, step - trainer.step))
        took = max(time.perf_counter() - began, 1e-9)
        slice_ = max(1, min(4 * slice_, int((trainer.step - before) * _SLICE / took)))
        status.finished_epochs = trainer.epoch
        if report is not None:
            report(status)


# ---- checking ------------------------------------------------------------------------------------


def parse_recipe(contents: bytes, most_seconds: float = MOST_SECONDS) -> Recipe:
    """The recipe in a file's bytes. A `DamagedError` says that it is none, a `DynascopeError` that
    it cannot be trained."""
    told = strict_json(contents)
    check_depth(told, _DEEPEST)
    check_fields(told, _FIELDS)
    if told["recipe"] > FORMAT:
        raise DynascopeError("was saved by a later version of dynascope; use a newer one.")
    for name in told:
        if name not in (*_FIELDS, _START):
            raise unknown("", name, (*_FIELDS, _START), kind="field")
    return check_recipe(told, most_seconds)


def check_recipe(told: Mapping[str, Any], most_seconds: float) -> Recipe:
    """The recipe of tables whose types are right."""
    config, seed = Config.from_dict(told["config"]), check_seed(told["seed"])
    start = _weights(told[_START], config, _START) if _START in told else None
    walk = _Walk(config)
    changes = tuple(walk.change(change) for change in told["changes"])
    last = walk.end(told["epochs"])
    seconds = _seconds(config, walk, last)
    if seconds > most_seconds:
        raise DynascopeError(
            f"expected a run that can be trained again within {clock(most_seconds)}, but this one, "
            f"of {last} epochs, would take about {clock(seconds)}."
        )
    _check_memory(walk, last)
    steps = steps_done(config, walk.edits, last)
    return Recipe(config, seed, start, last, steps, changes, seconds)


class _Walk:
    """Goes through the changes of a run as a trainer would, without training."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.edits: tuple[Edit, ...] = ()
        self.legs: list[tuple[int, Config]] = [(0, config)]  # from which epoch on which options
        self._epoch = self._step = 0
        self._within = False  # weights changed in the middle of an epoch

    def change(self, told: Mapping[str, Any]) -> RecipeChange:
        for name in told:
            if name not in _PARTS:
                raise unknown("changes", name, _PARTS, kind="field")
        epoch = Whole(self._epoch, _MOST_EPOCHS).check("changes: epoch", told.get("epoch"))
        first, end = (steps_done(self.config, self.edits, at) for at in (epoch, epoch + 1))
        step = Whole(max(first, self._step), end - 1).check("changes: step", told.get("step"))
        options, packed = told.get("options", {}), told.get("weights")
        if not isinstance(options, dict):
            raise expected("changes: options", 'a table such as {"training.lr": 0.01}', options)
        if not options and packed is None:
            raise DynascopeError("changes: expected options or weights in each of them.")
        if options and step != first:
            raise DynascopeError(
                f"changes: options can only change at the end of an epoch, not at step {step}."
            )
        weights = None if packed is None else _weights(packed, self.config, "changes")
        self._epoch, self._step, self._within = epoch, step, step != first
        self._add(options)
        return RecipeChange(epoch, step, options, weights)

    def _add(self, options: Mapping[str, Any]) -> None:
        changed = changed_options(self.config, self.edits, self._epoch, options) if options else {}
        if changed:
            self.edits = (*self.edits, Edit(self._epoch, self._step, options=changed))
        self.legs.append((self._epoch, config_at(self.config, self.edits, self._epoch)))

    def end(self, epochs: int) -> int:
        """The last epoch, which cannot come before the last change."""
        if self._within and epochs == self._epoch:
            raise DynascopeError(
                f"weights were changed in the middle of epoch {epochs + 1}, which has not ended; "
                "train it to its end first."
            )
        return Whole(self._epoch + self._within, _MOST_EPOCHS).check("epochs", epochs)


def _weights(packed: object, config: Config, where: str) -> Parameters:
    shapes, dtype, size = config.shapes, np.dtype(config.precision), weight_count(config)
    try:
        held = base64.b64decode(packed if isinstance(packed, str) else "", validate=True)
    except ValueError:  # also of characters that are not ASCII
        held = b""
    if len(held) != size * dtype.itemsize:
        raise DynascopeError(f"{where}: expected weights of {size} numbers of {dtype}.")
    flat = np.frombuffer(held, dtype.newbyteorder("<")).astype(dtype)
    return Parameters.from_flat(flat, shapes).check(f"{where}: weights")


def _seconds(config: Config, walk: _Walk, last: int) -> float:
    """What training will take, with all that happens at changes."""
    ends = [*walk.legs[1:], (last, config)]
    spans = [(end - begin, leg) for (begin, leg), (end, _) in zip(walk.legs, ends, strict=True)]
    trained = sum((epochs + 1) * epoch_seconds(leg) for epochs, leg in spans)
    each = _longest(walk, last)
    changed = recorded_bytes(each) / _COPIED + working_bytes(each) / _DRAWN
    return trained + (len(walk.legs) - 1) * changed


def _longest(walk: _Walk, last: int) -> Config:
    """A config whose record has room for all of the run's."""
    planned = max(last, walk.config.training.epochs)
    return max((leg for _, leg in walk.legs), key=recorded_bytes).replace(
        {"training.epochs": planned}
    )


def _check_memory(walk: _Walk, last: int) -> None:
    """Of the record, and of the states that are kept at changes."""
    check_memory(_longest(walk, last), 1, saved=True)
    size, count = 3 * 8 * weight_count(walk.config), len(walk.legs) - 1
    if count * size > _MOST_STATES:
        most = _MOST_STATES // size
        raise DynascopeError(
            f"changes: expected at most {most} of them in a model of this size, but got {count}."
        )
