"""The description of a sweep: a TOML file, or the same tables as a dict.

    seeds = 100                        # how many, or [3, 5, 8], or "10-19"
    analyse = ["circuit", "spikes"]    # what is to be found out about every run, if anything
    keep = "ends"                      # after that, only the first and the last weights (or "all")
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
is a `DynascopeError` of one sentence; a `Grid` that was read can be planned and trained. Limits:
those of `values` and `plan`; a chain's name has at most 64 characters.
"""

import numbers
import os
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from dynascope.analysis_columns import check_kinds
from dynascope.config import LATER, Config, leave_out_later
from dynascope.data import MAX_SEED
from dynascope.errors import DynascopeError, did_you_mean, expected
from dynascope.option_rules import Whole
from dynascope.option_tables import read_toml
from dynascope.seeds import MAX_RUNS, parse_seeds
from dynascope.sweeps.grid_values import (
    Factor,
    StageGrid,
    read_factors,
    read_list,
    read_settings,
    read_table,
    refusal,
    settings,
)
from dynascope.sweeps.plan import cut, expand

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


@dataclass(frozen=True)
class Grid:
    """A sweep as it was described, checked; made by `read_grid`, `parse_grid` or `from_dict`.

    An option of the grid has in `base` its default, or where that alone would be invalid (a batch
    that only the grid's train sizes hold) the first of its values.
    """

    seeds: tuple[int, ...]
    base: Config
    stages: tuple[StageGrid, ...]  # parents before children; the first is "base"
    analyse: tuple[str, ...] = ()  # kinds of analyses; they make no other run
    keep: str = "all"  # that was recorded; or "ends", once a run is analysed

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON, with numbers in place of linspace and logspace.

        >>> Grid.from_dict(parse_grid({"seeds": 2}).to_dict()).seeds
        (0, 1)
        """
        base = self.base.to_dict()
        leave_out_later(base)
        for name in (name for factor in self.stages[0].factors for name in factor.options):
            section, _, option = name.rpartition(".")
            (base[section] if section else base).pop(option, None)
        more: dict[str, Any] = {"analyse": list(self.analyse)} if self.analyse else {}
        more |= {"keep": self.keep} if self.keep != "all" else {}
        return {
            "seeds": list(self.seeds),
            "base": {name: value for name, value in base.items() if value != {}},
            "stages": [_stage_to_dict(stage) for stage in self.stages],
            **more,
        }

    @classmethod
    def from_dict(cls, tables: Mapping[str, object]) -> "Grid":
        """The way back from `to_dict`; everything is checked again."""
        if isinstance(tables, Mapping) and tables:
            tables = {"analyse": [], "keep": "all", **tables}  # written only if they differ
        known = ("seeds", "base", "stages", "analyse", "keep")
        top = read_table("sweep", tables, known, whole=True)
        stages = [_stage_from_dict(each) for each in read_list("stages", top["stages"])]
        (root, body), *chains = stages
        if root != "base" or body.keys() - {"zip"}:
            raise expected("stages", "the stage base, without a parent or changes, first", root)
        base = _with_later_options(top["base"], body)
        said = {name: top[name] for name in ("seeds", "analyse", "keep")}
        described = {**said, "base": base, **body}
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
    top = read_table("sweep", tables, ("seeds", "analyse", "keep", "base", "grid", "zip", "chain"))
    base = read_settings("base", top["base"]) if "base" in top else {}
    factors = read_factors("", top, dict.fromkeys(base, "base"))
    chains = read_table("chain", top["chain"]) if "chain" in top else {}
    grid = Grid(
        _seeds(top.get("seeds", 1)),
        _base(base, factors),
        (StageGrid("base", None, {}, factors), *_parents_first(_chains(chains))),
        check_kinds(top.get("analyse", ()), "analyse"),
        _kept(top.get("keep", KEEP[0])),
    )
    expand(grid)  # a combination that cannot be trained is refused now, not after an hour
    return grid


# Seeds, base and chains.

KEEP = ("all", "ends")


def _kept(value: object) -> str:
    if value not in KEEP:
        raise expected("keep", " or ".join(KEEP), value)
    return str(value)


def _seeds(value: object) -> tuple[int, ...]:
    if isinstance(value, str):
        try:
            value = parse_seeds(value)
        except DynascopeError as error:
            raise DynascopeError(str(error).removeprefix("--")) from None
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return tuple(range(Whole(1, MAX_RUNS).check("seeds", value)))
    what = "how many, a list of seeds, or text such as '10-19'"
    listed = read_list("seeds", value, what, MAX_RUNS)
    seeds = tuple(Whole(0, MAX_SEED).check("seeds", seed) for seed in listed)
    if len(set(seeds)) < len(seeds):
        twice = Counter(seeds).most_common(1)[0][0]
        raise refusal("seeds", "each seed once", f"{twice} appears twice")
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
    table = read_table(where, body, ("from", "set", "grid", "zip"))
    parent = table.get("from", "base")
    if parent == name:
        raise refusal(f"{where}.from", "another stage", "it names itself")
    if not isinstance(parent, str) or (parent != "base" and parent not in chains):
        names = ["base", *(each for each in chains if each != name)]
        what = "base or another chain"
        raise expected(f"{where}.from", what, parent, did_you_mean(parent, names))
    changes = read_settings(f"{where}.set", table["set"]) if "set" in table else {}
    factors = read_factors(f"{where}.", table, dict.fromkeys(changes, f"{where}.set"))
    return StageGrid(name, parent, changes, factors)


def _parents_first(chains: Mapping[str, StageGrid]) -> list[StageGrid]:
    """The chains in the order of the file, but each after the one that it comes from."""
    ordered: dict[str, StageGrid] = {}
    for name in chains:
        way: dict[str, StageGrid] = {}
        at = name
        while at != "base" and at not in ordered:
            if at in way:
                but = f"{', '.join([*way][:5])} form a circle"
                raise refusal(f"chain.{at}.from", "a chain that starts from base", but)
            way[at] = chains[at]
            at = chains[at].parent or "base"
        ordered.update(reversed(way.items()))
    return list(ordered.values())


# The form in sweep.json.


def _with_later_options(base: object, body: Mapping[str, Any]) -> object:
    """The base of a sweep.json, which has all options that its writer knew, with those that came
    later as they were before: their defaults may make other runs."""
    if not isinstance(base, Mapping):
        return base
    tables = {
        name: dict(value) if isinstance(value, Mapping) else value for name, value in base.items()
    }
    varied = {name for factor in body.get("zip", ()) for name in factor}
    for name in LATER.keys() - varied:
        section, _, option = name.rpartition(".")
        table = tables.setdefault(section, {}) if section else tables
        if isinstance(table, dict):  # else it is refused where the options are read
            table.setdefault(option, LATER[name])
    return tables


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
    table = read_table("stages", value, ("name", "parent", "changes", "factors"), whole=True)
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
    table = read_table(where, value, ("options", "rows"), whole=True)
    options, rows = read_list(where, table["options"]), read_list(where, table["rows"])
    names = dict.fromkeys(each for each in options if isinstance(each, str))
    for row in rows:
        if not isinstance(row, list) or len(row) != len(names) or len(names) != len(options):
            raise expected(where, f"rows of values for {options}", row)
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}
