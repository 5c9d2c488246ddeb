"""What a table of JSON must hold, as a table: each field with a check and its words.

A file from somebody else may have right checksums and still make no sense. Whoever reads one checks
it here, once; from then on everybody may rely on it. Fields that are not named are ignored, since
later versions add some.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from dynascope.store.damage import DamagedError


class ValueRule(NamedTuple):
    """What a value must be: a check, and how a sentence says it."""

    holds: Callable[[Any], bool]
    what: str
    all_at_once: Callable[[Sequence[Any]], bool] | None = None  # the same of many, faster

    def hold_all(self, values: Sequence[Any]) -> bool:
        """Whether it holds for each of them."""
        return self.all_at_once(values) if self.all_at_once else all(map(self.holds, values))


class Field(NamedTuple):
    """A field of a table: what its value must be, and since which format it is there."""

    rule: ValueRule
    since: int = 1


def check_fields(
    table: Any, fields: Mapping[str, Field], format_: int = 1, where: str = ""
) -> None:
    """Raise `DamagedError` unless a table has all fields of its format, each as it must be.

    >>> check_fields({"batch": -1}, {"batch": Field(whole(0, 9))}, where="its footer: ")
    Traceback (most recent call last):
    dynascope.store.damage.DamagedError: its footer: batch is not a whole number from 0 to 9
    """
    if not isinstance(table, dict):
        raise DamagedError(f"{where}it is not a table")
    for name, (rule, since) in fields.items():
        if name not in table and since > format_:
            continue
        if name not in table:
            raise DamagedError(f"{where}{name} is missing")
        if not rule.holds(table[name]):
            raise DamagedError(f"{where}{name} is not {rule.what}")


def whole(low: int, high: int) -> ValueRule:
    """A whole number; true and false are none."""

    def holds(value: Any) -> bool:
        return type(value) is int and low <= value <= high

    return ValueRule(holds, f"a whole number from {low} to {high}")


def digits(count: int) -> ValueRule:
    """Hexadecimal digits, as names and checksums have them."""
    pattern = re.compile("[0-9a-f]*")

    def hold_all(values: Sequence[Any]) -> bool:
        if not (_all_text(values) and {*map(len, values)} <= {count}):
            return False
        return pattern.fullmatch("".join(values)) is not None

    return ValueRule(lambda value: hold_all([value]), f"{count} hexadecimal digits", hold_all)


def text(longest: int) -> ValueRule:
    """Something to print."""

    def hold_all(values: Sequence[Any]) -> bool:
        if not (_all_text(values) and max(map(len, values), default=0) <= longest):
            return False
        return "".join(values).isprintable()

    what = f"a text of at most {longest} characters"
    return ValueRule(lambda value: hold_all([value]), what, hold_all)


def _all_text(values: Sequence[Any]) -> bool:
    return {*map(type, values)} <= {str}


def maybe(rule: ValueRule) -> ValueRule:
    return ValueRule(lambda value: value is None or rule.holds(value), f"null or {rule.what}")


def list_of(rule: ValueRule, most: int) -> ValueRule:
    def holds(value: Any) -> bool:
        return isinstance(value, list) and len(value) <= most and rule.hold_all(value)

    return ValueRule(holds, f"a list of at most {most}, each {rule.what}")


def table_of(names: ValueRule, values: ValueRule, most: int) -> ValueRule:
    """A table whose names are not known beforehand."""

    def holds(value: Any) -> bool:
        if not isinstance(value, dict) or len(value) > most:
            return False
        return names.hold_all([*value]) and values.hold_all([*value.values()])

    return ValueRule(holds, f"a table of at most {most}, each {values.what}")


def table_with(fields: Mapping[str, ValueRule]) -> ValueRule:
    """A table with these fields, and perhaps others."""

    def holds(value: Any) -> bool:
        return isinstance(value, dict) and all(
            name in value and rule.holds(value[name]) for name, rule in fields.items()
        )

    told = ", ".join(f"{name}: {rule.what}" for name, rule in fields.items())
    return ValueRule(holds, f"a table with {told}")


def either(*rules: ValueRule) -> ValueRule:
    def holds(value: Any) -> bool:
        return any(rule.holds(value) for rule in rules)

    return ValueRule(holds, " or ".join(rule.what for rule in rules))


FLAG = ValueRule(lambda value: isinstance(value, bool), "true or false")
REAL = ValueRule(lambda value: type(value) is float and math.isfinite(value), "a number")
