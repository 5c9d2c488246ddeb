"""What was changed in a run on its way, and what follows from that: which options held when, and
how many steps an epoch had.

A run begins with its config. Each edit says at which epoch and step what changed: weights, training
options, or interventions in the model's computation. Limits: this version makes and replays edits
of weights and options; interventions, and whatever later versions add, it only reads and keeps.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dynascope.catalog import LIMITS, UPDATE_RULES
from dynascope.config import OPTIONS, Config, same_value
from dynascope.errors import DynascopeError, expected, shown

SLOTS: Mapping[str, tuple[str, ...]] = {
    name: ("weights", *filter(None, rule.slots)) for name, rule in UPDATE_RULES.items()
}
"""The rows of an optimizer's state, by rule. A state has three; those that a rule has no slot for
are zero."""


@dataclass(frozen=True)
class Edit:
    """One change. `epoch` epochs and `step` steps were done by then.

    `parameters` is the hash of new weights; `options` has the training options that changed, by
    dotted name; `interventions` are tables with `site`, `mask`, `value` or `rule`, `from` and `to`.
    `unknown` has what a later version wrote beside these.
    """

    epoch: int
    step: int
    parameters: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    interventions: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    unknown: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; without what is empty, so that ids do not know of it.

        >>> Edit(3, 192, options={"training.lr": 0.01}).to_dict()
        {'epoch': 3, 'step': 192, 'options': {'training.lr': 0.01}}
        """
        parts = {
            "parameters": self.parameters,
            "options": dict(self.options),
            "interventions": list(self.interventions),
        }
        given = {name: value for name, value in parts.items() if value not in (None, {}, [])}
        return {"epoch": self.epoch, "step": self.step, **given, **self.unknown}

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any]) -> "Edit":
        """The way back from `to_dict`; a ValueError where these are not its tables."""
        rest = dict(tables)
        edit = cls(
            epoch=rest.pop("epoch"),
            step=rest.pop("step"),
            parameters=rest.pop("parameters", None),
            options=rest.pop("options", {}),
            interventions=tuple(rest.pop("interventions", ())),
            unknown=rest,
        )
        counts = (edit.epoch, edit.step)
        if not all(type(count) is int and 0 <= count <= LIMITS["whole"] for count in counts):
            raise ValueError(f"an edit has its epoch and step, but got {shown(counts)}")
        if not all(isinstance(each, Mapping) for each in (edit.options, *edit.interventions)):
            raise ValueError("options and interventions of an edit are tables")
        if not (edit.parameters is None or isinstance(edit.parameters, str)):
            raise ValueError("the parameters of an edit are a hash")
        return edit


def edits_to_json(edits: Iterable[Edit]) -> str | None:
    """The column `edits` of a store."""
    tables = [edit.to_dict() for edit in edits]
    return json.dumps(tables, sort_keys=True, separators=(",", ":")) if tables else None


def edits_from_json(text: str | None) -> tuple[Edit, ...]:
    """The way back; a ValueError where it is not such a text."""
    if text is None:
        return ()
    tables = json.loads(text)
    if not isinstance(tables, list):
        raise ValueError(f"edits are a list, but got {shown(text)}")
    return tuple(Edit.from_dict(table) for table in tables)


def steps_per_epoch(config: Config) -> int:
    """Batches in an epoch; the last one may be smaller."""
    return -(-config.task.train_size // config.training.batch)


def steps_done(config: Config, edits: Iterable[Edit], epoch: int) -> int:
    """Steps at the end of an epoch, over all epochs. The batch changes only between epochs.

    >>> config = Config().replace({"task.train_size": 64, "training.batch": 32})
    >>> edits = [Edit(3, 6, options={"training.batch": 8})]
    >>> [steps_done(config, edits, epoch) for epoch in (0, 3, 4, 5)]
    [0, 6, 14, 22]
    """
    done = since = 0
    batch, size = config.training.batch, config.task.train_size
    for edit in edits:
        if edit.epoch < epoch and "training.batch" in edit.options:
            done += (edit.epoch - since) * -(-size // batch)
            batch, since = _known_batch(edit), edit.epoch
    return done + (epoch - since) * -(-size // batch)


def _known_batch(edit: Edit) -> int:
    batch = edit.options["training.batch"]
    if OPTIONS["training.batch"].takes(batch):
        return int(batch)
    raise DynascopeError(
        f"run: its steps after epoch {edit.epoch} cannot be counted, since this version of "
        f"dynascope does not know a training.batch of {shown(batch)}; use a newer one."
    )


def config_at(config: Config, edits: Sequence[Edit], epoch: int) -> Config:
    """The config with the options that hold from the end of an epoch on."""
    done = steps_done(config, edits, epoch)
    changes = {
        name: value for edit in edits if edit.step <= done for name, value in edit.options.items()
    }
    return config.replace(changes) if changes else config


def slots_since(config: Config, edits: Sequence[Edit], epoch: int) -> tuple[int, ...]:
    """Steps that were done when each slot of the state at the end of an epoch began, at zero: none,
    or as many as when the rule changed from one that had no such slot.

    >>> config = Config().replace({"training.optimizer": "sgd"})
    >>> edits = [Edit(3, 192, options={"training.optimizer": "adam"})]
    >>> slots_since(config, edits, 2), slots_since(config, edits, 3)
    ((0, 0), (192, 192))
    """
    done, rule = steps_done(config, edits, epoch), config.training.optimizer
    since = dict.fromkeys(SLOTS[rule], 0)
    for edit in edits:
        if edit.step <= done and "training.optimizer" in edit.options:
            rule = edit.options["training.optimizer"]
            since = {slot: since.get(slot, edit.step) for slot in SLOTS[rule]}
    return tuple(since.get(slot, 0) for slot in UPDATE_RULES[rule].slots)


def why_not_replayable(edits: Iterable[Edit]) -> str | None:
    """What this version cannot repeat of some edits, as part of a sentence; None: nothing."""
    for edit in edits:
        place = f"at epoch {edit.epoch}, step {edit.step}"
        if edit.interventions:
            return f"interventions {place}"
        for name in edit.unknown:
            return f"{name} {place}"
        for name, value in edit.options.items():
            if name not in OPTIONS or not OPTIONS[name].takes(value):
                return f"a change of {name} {place}"
    return None


def changed_options(
    config: Config, edits: Sequence[Edit], epoch: int, options: Mapping[str, object]
) -> dict[str, Any]:
    """The options that change if a run with this config and these edits goes on with others after
    an epoch; refused where training could not go on."""
    before = config_at(config, edits, epoch)
    for name in options:
        if name in OPTIONS and (not name.startswith("training.") or name == "training.epochs"):
            raise expected("options", "training options other than training.epochs", name)
    after = before.replace(options)
    old, new = (_training(each) for each in (before, after))
    changes = {name: new[name] for name in new if not same_value(old[name], new[name])}
    edited = {name for edit in edits for name in edit.options} | changes.keys()
    if after.training.schedule == "cosine" and "training.batch" in edited:
        raise DynascopeError(
            "training.batch: cannot change under the schedule 'cosine', whose length is counted in "
            "steps; use constant or warmup."
        )
    return changes


def _training(config: Config) -> dict[str, Any]:
    return {f"training.{name}": value for name, value in config.to_dict()["training"].items()}
