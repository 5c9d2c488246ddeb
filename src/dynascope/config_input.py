"""A config as people give it to a function: itself, a dict of some options, or nothing.

A dict has options in tables, `{"training": {"epochs": 5}}`, or under dotted names,
`{"training.epochs": 5}`; the rest is as by default. Where a function needs one section only, its
options may also stand alone: `{"activation": "relu"}` for a model.
"""

import os
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from dynascope.config import SECTIONS, Config, ModelConfig, TaskConfig
from dynascope.errors import Description, expected, shown
from dynascope.option_tables import from_table, nested

ConfigLike = Config | Mapping[str, object] | None
TaskLike = TaskConfig | ConfigLike
ModelLike = ModelConfig | ConfigLike
Section = TypeVar("Section", TaskConfig, ModelConfig)


def check_config(config: object) -> Config:
    """The config; None is the default. What is no config is refused.

    >>> check_config(None) == check_config({}) == Config()
    True
    >>> check_config({"training.epochs": 5}) == check_config({"training": {"epochs": 5}})
    True
    """
    if isinstance(config, Config):
        return config
    if config is None or isinstance(config, Mapping):
        return Config.from_dict(config or {})
    raise expected("config", "a ds.Config or a dict of options", config, _hint(config))


def check_task(task: object) -> TaskConfig:
    """The task that a function is asked about."""
    return _section(TaskConfig, "task", task, {})


def check_model(model: object, sizes: Mapping[str, Any]) -> ModelConfig:
    """The model that a function is asked about; `sizes` are what a dict need not say."""
    return ModelConfig(**sizes) if model is None else _section(ModelConfig, "model", model, sizes)


def _section(kind: type[Section], name: str, given: object, defaults: Mapping[str, Any]) -> Section:
    if given is None or isinstance(given, Config):
        given = getattr(check_config(given), name)
    if isinstance(given, kind):
        return given
    if not isinstance(given, Mapping):
        what = f"a ds.{kind.__name__}, a ds.Config or a dict of options"
        got = given if isinstance(given, str | int | float) else Description(type(given).__name__)
        raise expected(name, what, got, "pass its .config" if hasattr(given, "config") else "")
    short = {field.name for field in fields(kind)}
    whole = nested({f"{name}.{n}" if n in short else n: v for n, v in given.items()}, SECTIONS)
    own = whole.pop(name, {})
    Config.from_dict(whole)  # whatever else it says must be options, too
    return from_table(kind, {**defaults, **own}, name)


def _hint(given: object) -> str:
    for section, kind in SECTIONS.items():
        if isinstance(given, kind):
            return f"write ds.Config({section}=...)"
    if isinstance(given, int | list | tuple | range):
        return f"for seeds, write seeds={shown(given)}"
    if isinstance(given, str | os.PathLike):
        return "ds.Config.from_toml(path) reads a file"
    if hasattr(given, "config"):
        return "pass its .config"
    return ""
