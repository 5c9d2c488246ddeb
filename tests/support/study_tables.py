"""Tables of runs that nobody trained: a study's own sweeps, with columns for tests to fill in."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis_columns import columns_of
from dynascope.config import OPTIONS, Config, column_name
from dynascope.studies.catalogue import study_of
from dynascope.studies.seed_blocks import seeds_of
from dynascope.studies.sources import PAPER, MadeRuns, MadeTable, StudySweep
from dynascope.studies.table import Table
from dynascope.sweeps.plan import expand

Array = npt.NDArray[Any]
Tables = dict[str, Table]

OF_THEORY = (  # columns of the kinds "saddles" and "bounds" that claims read
    "plateau_verdicts",
    "plateau_escape_five",
    "plateau_escape_chance",
    "paper_bound_fails",
    "bound_fails",
    "closed_form_difference",
)
MADE = {  # the columns of tables without runs, as they are when all is well
    "ideal-built": {"right": [1.0] * 4096, "clusters": [6.0] * 4096},
    "ideal-approached": {
        "confidence": [1 - 10.0**-i for i in range(1, 11)],
        "doubt": [10.0**-i for i in range(1, 11)],
        "gradient_norm": [None] * 10,
    },
}


def blank_tables(study: str, seeds: int | None = None) -> Tables:
    """All tables of a study at the paper's scale, or with fewer seeds: every run solved, no run
    analysed. They may be filled in."""
    return {name: Table(table.columns, name) for name, table in _blank(study, seeds).items()}


@cache
def _blank(study: str, seeds: int | None) -> Tables:
    return {source.name: _of_source(source, seeds) for source in study_of(study).sources}


def _of_source(source: StudySweep | MadeRuns | MadeTable, seeds: int | None) -> Table:
    if isinstance(source, MadeTable):
        return Table.of_values(MADE[source.name], source.name)
    if isinstance(source, MadeRuns):
        own = seeds_of(source.block, source.seeds[PAPER])
        rows = [_row(Config(), f"run-{seed}", seed, None) for seed in own[:seeds]]
    else:
        rows = _of_sweep(source, seeds)
    rows = sorted(rows, key=lambda row: (row["seed"], row["id"]))
    names = dict.fromkeys((*_row(Config(), "", 0, None), *columns_of(), *OF_THEORY))
    return Table.of_values({name: [row.get(name) for row in rows] for name in names}, source.name)


def _of_sweep(sweep: StudySweep, seeds: int | None) -> list[dict[str, Any]]:
    grid = {name: value for name, value in sweep.grid.items() if name != "analyse"}  # no other run
    plan = expand(replace(sweep, grid=grid).at(PAPER))
    return [
        _row(
            config,
            f"{stage.name}-{place}-{seed}",
            seed,
            f"{stage.parent}-{stage.parents[place]}-{seed}" if stage.parent else None,
        )
        for stage in plan.stages
        for place, config in enumerate(stage.configs)
        for seed in plan.seeds[:seeds]
    ]


def _row(config: Config, run: str, seed: int, parent: str | None) -> dict[str, Any]:
    return {
        **_options(config),
        **{"id": run, "seed": seed, "parent": parent},
        **{"accuracy": 1.0, "diverged": None, "last_epoch": config.training.epochs},
    }


@cache
def _options(config: Config) -> dict[str, Any]:
    tables = config.to_dict()
    found = {}
    for name in OPTIONS:
        section, _, option = name.rpartition(".")
        value = tables[section][option] if section else tables[option]
        found[column_name(name)] = list(value) if isinstance(value, tuple) else value
    return found


def fill(table: Table, column: str, values: Any, where: Mapping[str, Any] | Array = {}) -> None:  # noqa: B006
    """Set a column of some runs: those with these options, or of a mask."""
    mask = chosen(table, where) if isinstance(where, Mapping) else where
    old = table.columns[column]
    wanted = values if isinstance(values, list | np.ndarray) else [values] * int(mask.sum())
    new = old.astype(object)
    for place, value in zip(np.flatnonzero(mask), wanted, strict=True):
        new[place] = value.item() if isinstance(value, np.generic) else value
    told = [None if isinstance(each, float) and np.isnan(each) else each for each in new]
    table.columns.update(Table.of_values({column: told}, "").columns)


def chosen(table: Table, where: Mapping[str, Any]) -> Array:
    mask = np.ones(len(table), bool)
    for name, value in where.items():
        mask &= table[name] == value
    return mask


def emptied(table: Table) -> Table:
    """The same columns without a row."""
    return Table({name: values[:0] for name, values in table.columns.items()}, table.name)


def unanalysed(table: Table, mask: Array, diverged: bool) -> None:
    """Take from some runs all that analyses found, and if they diverged their end too."""
    for name in (*columns_of(), *OF_THEORY):
        if name in table:
            fill(table, name, None, mask)
    if diverged and "accuracy" in table:
        fill(table, "accuracy", None, mask)
        fill(table, "diverged", 3, mask)
