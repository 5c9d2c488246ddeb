"""The values of a sweep's options: how its tables give them, and the factors that they make.

Values are listed, or made by `linspace` and `logspace`; each is read by its option's rule, and
written in sentences as `--set` takes it. Limits: only numbers can be made; a list has at most
`MAX_CONFIGS` elements unless its caller says otherwise; whether the values of several options go
together is found in `plan`.
"""

import json
import math
import numbers
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal, localcontext
from typing import Any

import numpy as np

from dynascope.config import OPTIONS
from dynascope.errors import DynascopeError, expected, unknown
from dynascope.option_rules import Maybe, Real, RefusedError, Rule, Whole

MAX_CONFIGS = 10**5  # of one stage
_SECTIONS = frozenset(name.partition(".")[0] for name in OPTIONS if "." in name)
_GENERATORS = ("linspace", "logspace")
_EXACT = Context(prec=50)  # digits: the last of twelve is right after 10^5 multiplications
_ROUND = Context(prec=12)  # digits of a generated number
_VALUES = "a list of values, { linspace = [from, to, count] } or { logspace = [from, to, count] }"


@dataclass(frozen=True)
class Factor:
    """One axis: the values of an option, or the rows of several that move together."""

    options: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class StageGrid:
    """A stage: what it changes in each of its parents' configs, then every combination."""

    name: str
    parent: str | None
    changes: Mapping[str, Any] = field(hash=False)
    factors: tuple[Factor, ...]


def linspace(first: float, last: float, count: int) -> list[float]:
    """Evenly spaced numbers, ends included, those between rounded to 12 significant digits.

    Computed in decimals: run ids are hashes of these numbers, which therefore must be the same on
    every machine.

    >>> linspace(0.1, 0.5, 5)
    [0.1, 0.2, 0.3, 0.4, 0.5]
    """
    with localcontext(_EXACT):
        low, high = Decimal(repr(first)), Decimal(repr(last))
        inner = [low + (high - low) * i / (count - 1) for i in range(1, count - 1)]
    return [first, *map(_rounded, inner), last][:count]


def logspace(first: float, last: float, count: int) -> list[float]:
    """Positive numbers with evenly spaced logarithms; otherwise as `linspace`.

    >>> logspace(1.0, 1e-4, 5)
    [1.0, 0.1, 0.01, 0.001, 0.0001]
    """
    inner: list[Decimal] = []
    if count > 2:
        with localcontext(_EXACT):
            number = Decimal(repr(first))
            ratio = (Decimal(repr(last)) / number) ** (1 / Decimal(count - 1))
            for _ in range(count - 2):
                number *= ratio
                inner.append(number)
    return [first, *map(_rounded, inner), last][:count]


def _rounded(number: Decimal) -> float:
    return float(_ROUND.plus(number))


def spelt(value: object) -> str:
    """A value as `--set` takes it.

    >>> spelt(None), spelt("rms"), spelt((0, 3)), spelt(True), spelt(1e-5)
    ('none', 'rms', '[0, 3]', 'true', '1e-05')
    """
    if value is None or isinstance(value, str):
        return value or "none"
    return json.dumps(value)


def settings(options: Iterable[str], values: Iterable[object]) -> list[str]:
    """Options with their values as `--set` takes them.

    >>> settings(["model.dim", "model.norm"], [3, "rms"])
    ['model.dim=3', 'model.norm=rms']
    """
    return [f"{name}={spelt(value)}" for name, value in zip(options, values, strict=True)]


# Tables.


def read_table(
    where: str, value: object, keys: Sequence[str] = (), *, whole: bool = False
) -> Mapping[Any, Any]:
    """A table that has something in it, and no keys but these; all of them, if `whole`."""
    if not isinstance(value, Mapping):
        raise expected(where, "a table", value)
    if not value:
        raise refusal(where, "a table with entries", "it is empty")
    for key in value if keys else ():
        if key not in keys:
            raise unknown("" if where == "sweep" else where, key, keys, "key")
    if whole and len(value) < len(keys):
        raise expected(where, f"a table with {', '.join(keys)}", list(value))
    return value


def _leaves(where: str, value: object, prefix: str = "") -> Iterator[tuple[str, object]]:
    """The options of a table and what they are given, under dotted names."""
    for key, inner in read_table(f"{where}.{prefix}".rstrip("."), value).items():
        name = prefix + key if isinstance(key, str) else key
        if name in OPTIONS:
            yield name, inner
        elif name in _SECTIONS:
            yield from _leaves(where, inner, f"{name}.")
        else:
            raise unknown(where, name, OPTIONS)


def _options(where: str, value: object, taken: Mapping[str, str]) -> dict[str, object]:
    """`_leaves`, each once; `taken` are options that were given elsewhere, and where."""
    found: dict[str, object] = {}
    for name, inner in _leaves(where, value):
        if name in found or name in taken:
            but = f"it is also in {taken[name]}" if name in taken else "it appears twice"
            raise refusal(f"{where}.{name}", "an option in one place", but)
        if where != "base" and name.startswith("record."):
            but = "recording does not change a run; put it in [base]"
            raise refusal(f"{where}.{name}", "an option that changes the runs", but)
        found[name] = inner
    return found


def read_settings(where: str, value: object) -> dict[str, Any]:
    """Options with one value each."""
    return {
        name: _value(f"{where}.{name}", OPTIONS[name], inner, "put several values in [grid]")
        for name, inner in _options(where, value, {}).items()
    }


def _value(where: str, rule: Rule[object], value: object, several: str = "") -> Any:
    """The value as its rule stores it; `several` is the hint for a list where one belongs."""
    if isinstance(rule, Maybe) and isinstance(value, str) and value.casefold() == "none":
        return None
    try:
        return rule.read(value)
    except RefusedError as refused:
        hint = several if isinstance(value, list | tuple | Mapping) else ""
        raise expected(where, rule.what, refused.got, refused.hint or hint) from None


def read_list(
    where: str, value: object, what: str = "a list", most: int = MAX_CONFIGS
) -> list[Any]:
    """The elements of a list that has some, and not too many: a range can be longer than memory."""
    if not isinstance(value, list | tuple | range | np.ndarray):
        raise expected(where, what, value)
    try:
        length = len(value)
    except (TypeError, OverflowError):  # an array of no dimensions; a range of absurd length
        raise expected(where, what, value) from None
    if not 1 <= length <= most:
        raise refusal(where, f"{what}, with 1 to {most} elements", f"it has {length}")
    return list(value)


def refusal(where: str, what: str, but: str) -> DynascopeError:
    """An error to raise, where `expected` would have no value to show."""
    return DynascopeError(f"{where}: expected {what}, but {but}.")


# Factors.


def read_factors(
    prefix: str, tables: Mapping[str, Any], given: Mapping[str, str]
) -> tuple[Factor, ...]:
    """The factors of a stage: its grid's, then a zip each; `given` are options that it sets."""
    taken, made = dict(given), []
    if "grid" in tables:
        where = f"{prefix}grid"
        options = _options(where, tables["grid"], taken)
        taken.update(dict.fromkeys(options, where))
        made += [_factor(where, {name: each}) for name, each in options.items()]
    if "zip" in tables:
        where, zips = f"{prefix}zip", tables["zip"]
        one = isinstance(zips, Mapping)  # `zip.model.dim = ...` in a chain makes one table
        for each in [zips] if one else read_list(where, zips, "tables of lists, as [[zip]]"):
            options = _options(where, each, taken)
            taken.update(dict.fromkeys(options, where))
            made.append(_factor(where, options))
    return tuple(made)


def _factor(where: str, lists: Mapping[str, object]) -> Factor:
    """Options that move together, or one alone; rows that rounding made equal are one row."""
    columns = {name: _column(f"{where}.{name}", name, each) for name, each in lists.items()}
    first, *others = columns
    for name in others:
        if len(columns[name]) != len(columns[first]):
            what = f"as many values as {first} has, {len(columns[first])}"
            raise refusal(f"{where}.{name}", what, f"it has {len(columns[name])}")
    rows = list(zip(*columns.values(), strict=True))
    distinct = dict.fromkeys(rows)
    if len(distinct) < len(rows) and not any(isinstance(each, Mapping) for each in lists.values()):
        twice = Counter(rows).most_common(1)[0][0]
        what = "each value once" if not others else "each combination once"
        but = f"{', '.join(settings(columns, twice))} appears twice"
        raise refusal(f"{where}.{first}", what, but)
    return Factor(tuple(columns), tuple(distinct))


def _column(where: str, name: str, value: object) -> list[Any]:
    rule = OPTIONS[name]
    many = isinstance(value, Mapping)
    values = _generated(where, rule, value) if many else read_list(where, value, _VALUES)
    return [_value(where, rule, each) for each in values]


def _generated(where: str, rule: Rule[object], value: object) -> Sequence[float]:
    table = read_table(where, value, _GENERATORS)
    number = rule.rule if isinstance(rule, Maybe) else rule
    if not isinstance(number, Whole | Real):
        raise expected(where, "a list of values, since this option is not a plain number", value)
    if len(table) > 1:
        raise expected(where, "linspace or logspace", list(table))
    ((kind, ends),) = table.items()
    first, last, count = _ends(f"{where}.{kind}", ends, kind == "logspace")
    values = (logspace if kind == "logspace" else linspace)(first, last, count)
    return [round(each) for each in values] if isinstance(number, Whole) else values


def _ends(where: str, value: object, positive: bool) -> tuple[float, float, int]:
    ends = read_list(where, value, "[from, to, count]")
    if len(ends) != 3:
        raise expected(where, "[from, to, count]", value)
    what = "finite numbers above 0 as its ends" if positive else "finite numbers as its ends"
    for end in ends[:2]:
        if not _is_finite(end) or (positive and end <= 0):
            raise expected(where, what, end)
    first, last, count = float(ends[0]), float(ends[1]), ends[2]
    try:
        count = Whole(1, MAX_CONFIGS).read(count)
    except RefusedError:
        raise expected(where, f"a count from 1 to {MAX_CONFIGS}", count) from None
    if (count == 1) != (first == last):
        raise expected(where, "two different ends and a count of at least 2", list(ends))
    return first, last, count


def _is_finite(value: object) -> bool:
    try:
        number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        return number and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:  # a whole number of hundreds of digits
        return False
