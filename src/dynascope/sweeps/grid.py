"""The description of a sweep: a TOML file, or the same tables as a dict.

    seeds = 100                        # how many, or [3, 5, 8], or "10-19"
    [base]                             # options of every run, as in `dynascope train --config`
    task.vocab = 2
    [grid]                             # every combination of these
    training.lr = { logspace = [1e-4, 1, 9] }    # ends included; values, not exponents
    training.batch = [1, 8, 32, 256]
    model.hidden = { linspace = [8, 64, 8] }
    [[zip]]                            # options that move together; several [[zip]] multiply
    model.dim = [2, 3, 64]
    model.norm_eps = [1e-5, 1e-6, 1e-7]
    [chain.three]                      # fine-tunes every run of the stage that it comes from
    from = "base"                      # the runs of the grid (default), or another chain's name
    set.task.vocab = 3                 # what changes; the rest is the parent's
    grid.training.lr = [1e-3, 3e-3]    # each parent is continued once for each; also zip

`none` means None where an option can be None. The factors of a stage are those of its grid in the
order of the file (TOML keeps the options of a section together), then its zips. Whatever is wrong
is a `DynascopeError` of one sentence; a `Grid` that was read can be planned and trained.
"""

import math
import numbers
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal, localcontext
from typing import Any

import numpy as np

from dynascope._tables import read_toml
from dynascope._validate import Maybe, Real, RefusedError, Rule, Whole
from dynascope.config import OPTIONS, Config
from dynascope.data import MAX_SEED
from dynascope.engine import MAX_RUNS
from dynascope.errors import DynascopeError, did_you_mean, expected, unknown
from dynascope.sweeps.plan import MAX_CONFIGS, cut, expand, settings

_SECTIONS = frozenset(name.partition(".")[0] for name in OPTIONS if "." in name)
_GENERATORS = ("linspace", "logspace")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
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


@dataclass(frozen=True)
class Grid:
    """A sweep as it was described, checked; made by `read_grid`, `parse_grid` or `from_dict`.

    An option of the grid has in `base` its default, or where that alone would be invalid (a batch
    that only the grid's train sizes hold) the first of its values.
    """

    seeds: tuple[int, ...]
    base: Config
    stages: tuple[StageGrid, ...]  # parents before children; the first is "base"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON, with numbers in place of linspace and logspace.

        >>> Grid.from_dict(parse_grid({"seeds": 2}).to_dict()).seeds
        (0, 1)
        """
        base = self.base.to_dict()
        for name in (name for factor in self.stages[0].factors for name in factor.options):
            section, _, option = name.rpartition(".")
            del (base[section] if section else base)[option]
        return {
            "seeds": list(self.seeds),
            "base": {name: value for name, value in base.items() if value != {}},
            "stages": [_stage_to_dict(stage) for stage in self.stages],
        }

    @classmethod
    def from_dict(cls, tables: Mapping[str, object]) -> "Grid":
        """The way back from `to_dict`; everything is checked again."""
        top = _table("sweep", tables, ("seeds", "base", "stages"), whole=True)
        stages = [_stage_from_dict(each) for each in _listed("stages", top["stages"])]
        (root, body), *chains = stages
        if root != "base" or body.keys() - {"zip"}:
            raise expected("stages", "the stage base, without a parent or changes, first", root)
        described = {"seeds": top["seeds"], "base": top["base"], **body}
        if chains:
            described["chain"] = dict(chains)
        if len(dict(stages)) < len(stages):
            raise expected("stages", "a name of its own for each", [name for name, _ in stages])
        return parse_grid(described)


def read_grid(path: str | os.PathLike[str]) -> Grid:
    """The grid that a TOML file describes; an error names the file."""
    try:
        return parse_grid(read_toml(path))
    except DynascopeError as error:
        name = os.fspath(path)
        raise DynascopeError(f"{name if name.isprintable() else repr(name)}: {error}") from None


def parse_grid(tables: Mapping[str, object]) -> Grid:
    """The grid that tables describe, nested as in the file or under dotted names.

    >>> grid = parse_grid({"seeds": 2, "grid": {"training.lr": {"logspace": [0.001, 1, 4]}}})
    >>> grid.stages[0].factors[0].rows
    ((0.001,), (0.01,), (0.1,), (1.0,))
    """
    top = _table("sweep", tables, ("seeds", "base", "grid", "zip", "chain"))
    base = _settings("base", top["base"]) if "base" in top else {}
    factors = _factors("", top, dict.fromkeys(base, "base"))
    chains = _table("chain", top["chain"]) if "chain" in top else {}
    grid = Grid(
        _seeds(top.get("seeds", 1)),
        _base(base, factors),
        (StageGrid("base", None, {}, factors), *_parents_first(_chains(chains))),
    )
    expand(grid)  # a combination that cannot be trained is refused now, not after an hour
    return grid


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


# Tables.


def _table(
    where: str, value: object, keys: Sequence[str] = (), *, whole: bool = False
) -> Mapping[Any, Any]:
    """A table that has something in it, and no keys but these; all of them, if `whole`."""
    if not isinstance(value, Mapping):
        raise expected(where, "a table", value)
    if not value:
        raise _refused(where, "a table with something in it", "it is empty")
    for key in value if keys else ():
        if key not in keys:
            raise unknown("" if where == "sweep" else where, key, keys, "key")
    if whole and len(value) < len(keys):
        raise expected(where, f"a table with {', '.join(keys)}", list(value))
    return value


def _leaves(where: str, value: object, prefix: str = "") -> Iterator[tuple[str, object]]:
    """The options of a table and what they are given, under dotted names."""
    for key, inner in _table(f"{where}.{prefix}".rstrip("."), value).items():
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
            but = f"it is also in {taken[name]}" if name in taken else "it is there twice"
            raise _refused(f"{where}.{name}", "an option in one place", but)
        if where != "base" and name.startswith("record."):
            but = "recording makes no other run; it belongs in [base]"
            raise _refused(f"{where}.{name}", "an option that makes other runs", but)
        found[name] = inner
    return found


def _settings(where: str, value: object) -> dict[str, Any]:
    """Options with one value each."""
    return {
        name: _value(f"{where}.{name}", OPTIONS[name], inner, "several values make a [grid]")
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


def _listed(where: str, value: object, what: str = "a list", most: int = MAX_CONFIGS) -> list[Any]:
    """The elements of a list that has some, and not too many: a range can be longer than memory."""
    if not isinstance(value, list | tuple | range | np.ndarray):
        raise expected(where, what, value)
    try:
        length = len(value)
    except (TypeError, OverflowError):  # an array of no dimensions; a range of absurd length
        raise expected(where, what, value) from None
    if not 1 <= length <= most:
        raise _refused(where, f"{what}, with 1 to {most} elements", f"it has {length}")
    return list(value)


def _refused(where: str, what: str, but: str) -> DynascopeError:
    return DynascopeError(f"{where}: expected {what}, but {but}.")


# Factors.


def _factors(
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
        for each in [zips] if one else _listed(where, zips, "tables of lists, as [[zip]]"):
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
            raise _refused(f"{where}.{name}", what, f"it has {len(columns[name])}")
    rows = list(zip(*columns.values(), strict=True))
    distinct = dict.fromkeys(rows)
    if len(distinct) < len(rows) and not any(isinstance(each, Mapping) for each in lists.values()):
        twice = Counter(rows).most_common(1)[0][0]
        what = "each value once" if not others else "each combination once"
        but = f"{', '.join(settings(columns, twice))} is there twice"
        raise _refused(f"{where}.{first}", what, but)
    return Factor(tuple(columns), tuple(distinct))


def _column(where: str, name: str, value: object) -> list[Any]:
    rule = OPTIONS[name]
    many = isinstance(value, Mapping)
    values = _generated(where, rule, value) if many else _listed(where, value, _VALUES)
    return [_value(where, rule, each) for each in values]


def _generated(where: str, rule: Rule[object], value: object) -> Sequence[float]:
    table = _table(where, value, _GENERATORS)
    number = rule.rule if isinstance(rule, Maybe) else rule
    if not isinstance(number, Whole | Real):
        raise expected(where, "a list of values, since it is not simply a number", value)
    if len(table) > 1:
        raise expected(where, "linspace or logspace", list(table))
    ((kind, ends),) = table.items()
    first, last, count = _ends(f"{where}.{kind}", ends, kind == "logspace")
    values = (logspace if kind == "logspace" else linspace)(first, last, count)
    return [round(each) for each in values] if isinstance(number, Whole) else values


def _ends(where: str, value: object, positive: bool) -> tuple[float, float, int]:
    ends = _listed(where, value, "[from, to, count]")
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


# Seeds, base and chains.


def _seeds(value: object) -> tuple[int, ...]:
    if isinstance(value, str):
        # Imported here: the command line imports this module.
        from dynascope.cli.seeds import parse_seeds

        try:
            value = parse_seeds(value)
        except DynascopeError as error:
            raise DynascopeError(str(error).removeprefix("--")) from None
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return tuple(range(Whole(1, MAX_RUNS).check("seeds", value)))
    what = "how many, a list of seeds, or text such as '10-19'"
    listed = _listed("seeds", value, what, MAX_RUNS)
    seeds = tuple(Whole(0, MAX_SEED).check("seeds", seed) for seed in listed)
    if len(set(seeds)) < len(seeds):
        twice = Counter(seeds).most_common(1)[0][0]
        raise _refused("seeds", "each seed once", f"{twice} is there twice")
    return seeds


def _base(options: Mapping[str, Any], factors: tuple[Factor, ...]) -> Config:
    """The base alone or, where that is invalid, with the first value of every factor."""
    try:
        return Config().replace(options)
    except DynascopeError as error:
        alone = str(error)
    first = {
        name: value
        for factor in factors
        for name, value in zip(factor.options, factor.rows[0], strict=True)
    }
    try:
        return Config().replace({**options, **first})
    except DynascopeError as error:
        combination = cut(", ".join(settings(first, first.values())))
        to_blame = "base" if str(error) == alone else combination
        raise DynascopeError(f"{to_blame}: {error}") from None


def _chains(tables: Mapping[Any, Any]) -> dict[str, StageGrid]:
    for name in tables:
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name == "base":
            what = "a name of up to 64 letters, digits, - and _, other than base"
            raise expected("chain", what, name)
    return {name: _chain(name, body, tables) for name, body in tables.items()}


def _chain(name: str, body: object, chains: Collection[str]) -> StageGrid:
    where = f"chain.{name}"
    table = _table(where, body, ("from", "set", "grid", "zip"))
    parent = table.get("from", "base")
    if parent == name:
        raise _refused(f"{where}.from", "another stage", "it names itself")
    if not isinstance(parent, str) or (parent != "base" and parent not in chains):
        names = ["base", *(each for each in chains if each != name)]
        what = "base or another chain"
        raise expected(f"{where}.from", what, parent, did_you_mean(parent, names))
    changes = _settings(f"{where}.set", table["set"]) if "set" in table else {}
    factors = _factors(f"{where}.", table, dict.fromkeys(changes, f"{where}.set"))
    return StageGrid(name, parent, changes, factors)


def _parents_first(chains: Mapping[str, StageGrid]) -> list[StageGrid]:
    """The chains in the order of the file, but each after the one that it comes from."""
    ordered: dict[str, StageGrid] = {}
    for name in chains:
        way: dict[str, StageGrid] = {}
        at = name
        while at != "base" and at not in ordered:
            if at in way:
                but = f"{', '.join([*way][:5])} come from each other in a circle"
                raise _refused(f"chain.{at}.from", "a way back to base", but)
            way[at] = chains[at]
            at = chains[at].parent or "base"
        ordered.update(reversed(way.items()))
    return list(ordered.values())


# The form in sweep.json.


def _stage_to_dict(stage: StageGrid) -> dict[str, Any]:
    return {
        "name": stage.name,
        "parent": stage.parent,
        "changes": {name: _plain(value) for name, value in stage.changes.items()},
        "factors": [
            {
                "options": list(factor.options),
                "rows": [[_plain(value) for value in row] for row in factor.rows],
            }
            for factor in stage.factors
        ],
    }


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _stage_from_dict(value: object) -> tuple[str, dict[str, Any]]:
    """The name of a stage and its table as a file would have it, every factor as a zip."""
    table = _table("stages", value, ("name", "parent", "changes", "factors"), whole=True)
    name, factors = table["name"], table["factors"]
    if not isinstance(name, str) or not isinstance(factors, list):
        raise expected("stages", "a name and a list of factors", [name, factors])
    body: dict[str, Any] = {}
    if name != "base" or table["parent"] is not None:
        body["from"] = table["parent"]
    if table["changes"] != {}:
        body["set"] = table["changes"]
    if factors:
        body["zip"] = [_lists_of(name, each) for each in factors]
    return name, body


def _lists_of(stage: str, value: object) -> dict[str, list[object]]:
    """A factor's columns under the names of its options."""
    where = f"stages.{stage}.factors"
    table = _table(where, value, ("options", "rows"), whole=True)
    options, rows = _listed(where, table["options"]), _listed(where, table["rows"])
    names = dict.fromkeys(each for each in options if isinstance(each, str))
    for row in rows:
        if not isinstance(row, list) or len(row) != len(names) or len(names) != len(options):
            raise expected(where, f"rows of values for {options}", row)
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}
