"""Options from the kernel's table: the rule of each, and a dataclass for each section.

`config.py` builds on these; nothing here knows a particular option.
"""

import json
from dataclasses import field, make_dataclass
from typing import Any

from dynascope import catalog
from dynascope.clamped_values import Clamps
from dynascope.frozen_weights import Frozen
from dynascope.option_rules import Choice, Flag, Maybe, Positions, Real, Rule, Span, Subset, Whole


def _rule(option: catalog.Option) -> Rule[object]:
    rule = _RULES[option.kind](option)
    return Maybe(rule) if option.optional else rule


def _whole(value: float | None) -> int:
    assert value is not None  # whole numbers have both limits
    return int(value)


_RULES: dict[str, Any] = {
    "whole": lambda o: Whole(_whole(o.low), _whole(o.high)),
    "real": lambda o: Real(
        o.low, above=o.above, **({} if o.high is None else {"below": float(o.high)})
    ),
    "flag": lambda o: Flag(),
    "word": lambda o: Choice(o.words),
    "words": lambda o: Subset(o.words),
    "positions": lambda o: Positions(_whole(o.high)),
    "span": lambda o: Span(_whole(o.high)),
    "parts": lambda o: Frozen(),
    "clamps": lambda o: Clamps(),
}

OPTIONS: dict[str, Rule[object]] = {name: _rule(o) for name, o in catalog.OPTIONS.items()}
"""The rule of every option under its dotted name."""

LATER = {name: OPTIONS[name].read(o.as_before) for name, o in catalog.OPTIONS.items() if o.later}
"""Options added after the first format, and what runs did before there were any. The values never
change: an option that has this value is left out of a run's id, so ids of old runs stay."""


def options_class(section: str) -> Any:
    """A frozen dataclass with the options of a section and their defaults.

    >>> options_class("training")().lr
    0.003
    """
    fields = [
        (o.short, Any, field(default=OPTIONS[name].read(o.default)))
        for name, o in catalog.OPTIONS.items()
        if o.section == section
    ]
    name = f"{section.title()}Options"
    return make_dataclass(name, fields, frozen=True, slots=True, kw_only=True)


def listing(section: str) -> str:
    """What each option of a section is for, a line each, to end a docstring with.

    >>> print(listing("record").splitlines()[1])
    - `weights_every`: epochs between kept weights; 0: first and last (1)
    """
    rows = [o for o in catalog.OPTIONS.values() if o.section == section]
    lines = (f"- `{o.short}`: {o.meaning} ({json.dumps(o.default)})" for o in rows)
    return "\n".join(["Options, with their defaults:", *lines])


def settle(options: object, section: str) -> None:
    """Check every option of a section and store its plain value."""
    for name, option in catalog.OPTIONS.items():
        if option.section == section:
            value = OPTIONS[name].check(name, getattr(options, option.short))
            object.__setattr__(options, option.short, value)
