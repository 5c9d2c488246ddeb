"""The columns of a shard's Parquet file, and runs as rows of it.

Every shard has all columns that its writer knows, in this order, with these types, whatever its
runs recorded: a folder of shards reads as one table in pandas, DuckDB or Spark. Columns are only
ever added. Curves are lists of float64, which holds float32 and float64 exactly; one that was not
recorded is null.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from dynascope._kernel import CURVE_NAMES
from dynascope.config import LATER, OPTIONS, Config, column_name
from dynascope.edits import edits_from_json, edits_to_json
from dynascope.option_rules import Choice, Flag, Maybe, Positions, Real, Rule, Span, Whole
from dynascope.run import Origin, Run
from dynascope.store.strict_json import check_depth, strict_json

_LIST = pa.list_(pa.float64())


def _type(rule: Rule[object]) -> pa.DataType:
    """The Arrow type of an option."""
    if isinstance(rule, Maybe):
        return _type(rule.rule)
    for kind, arrow in (
        (Whole, pa.int64()),
        (Real, pa.float64()),
        (Flag, pa.bool_()),
        (Choice, pa.string()),
        (Positions | Span, pa.list_(pa.int64())),
    ):
        if isinstance(rule, kind):
            return arrow
    return pa.list_(pa.string())  # names: `frozen`, `unit_rows`


# A test holds that no two names are the same.
CONFIG = {name: pa.field(column_name(name), _type(rule)) for name, rule in OPTIONS.items()}
# What runs have in the columns of options that came after their file was written.
AS_BEFORE = {CONFIG[name].name: value for name, value in LATER.items()}

_IDENTITY = [
    pa.field("id", pa.string(), nullable=False),
    pa.field("seed", pa.int64(), nullable=False),
]
_SUMMARY = [
    pa.field("accuracy", pa.float64()),
    pa.field("learning_epoch", pa.int64()),
    pa.field("lowest_loss", pa.float64()),
    pa.field("diverged", pa.int64()),
    pa.field("seconds", pa.float64()),
    pa.field("last_epoch", pa.int64(), nullable=False),
]
_ORIGIN = [
    pa.field("origin", pa.string()),
    pa.field("origin_start", pa.string()),
    pa.field("parent", pa.string()),
    pa.field("parent_epoch", pa.int64()),
    pa.field("parent_step", pa.int64()),
    pa.field("edits", pa.string()),  # JSON
]
# Where the run's rows are in the tensors of the trajectory file: first and one past the last.
SPANS = ("weights", "states", "steps")
_PLACE = [
    pa.field("config", pa.string(), nullable=False),  # digest of the config without `record`
    pa.field("data", pa.string()),  # digest of a user's own data, which the tensors hold
    pa.field("position", pa.int64(), nullable=False),  # order among the runs saved together
    *(pa.field(f"{what}_{end}", pa.int64()) for what in SPANS for end in ("begin", "end")),
    pa.field("checksum", pa.string(), nullable=False),  # of the run's bytes in the tensors
]
CURVES = tuple(CURVE_NAMES)
PLACES = tuple(field.name for field in _PLACE[2:])

SCALARS = pa.schema([*_IDENTITY, *CONFIG.values(), *_SUMMARY, *_ORIGIN, *_PLACE])
SCHEMA = pa.schema([*SCALARS, *(pa.field(name, _LIST) for name in CURVES)])


def rows(
    runs: Sequence[Run], places: Mapping[str, Sequence[Any]], curves: Sequence[str] = CURVES
) -> pa.Table:
    """Runs as a table of `SCHEMA`, or of it with only these curves, which are most of the work.

    `places` has the columns that follow from where the runs are put.
    """
    scalars = [_scalars(run) for run in runs]
    columns: dict[str, Any] = {
        field.name: places[field.name]
        if field.name in places
        else [row[field.name] for row in scalars]
        for field in SCALARS
    }
    arrays = [pa.array(columns[field.name], field.type) for field in SCALARS]
    arrays += [_lists([run.curves.get(name) for run in runs]) for name in curves]
    schema = pa.schema([*SCALARS, *(SCHEMA.field(name) for name in curves)])
    return pa.Table.from_arrays(arrays, schema=schema)


def _scalars(run: Run) -> dict[str, Any]:
    origin = run.origin
    return {
        **_flat(run.config),
        **run.summary(),
        "last_epoch": run.epochs,
        "origin": origin.kind if origin else None,
        "origin_start": origin.start if origin else None,
        "parent": origin.parent if origin else None,
        "parent_epoch": origin.epoch if origin else None,
        "parent_step": origin.step if origin else None,
        "edits": edits_to_json(run.edits),
        "data": run.data.digest() if run.data else None,
    }


@lru_cache(maxsize=4096)  # a sweep has many seeds of one config
def _flat(config: Config) -> dict[str, Any]:
    tables = config.to_dict()
    values = {}
    for name, field in CONFIG.items():
        section, _, option = name.rpartition(".")
        values[field.name] = (tables[section] if section else tables)[option]
    return values | {"relevant": list(config.task.positions), "config": config.digest()}


def _lists(curves: Sequence[Any]) -> pa.Array:
    """Curves of different lengths, some None, as one Arrow array."""
    present = [curve for curve in curves if curve is not None]
    ends = np.cumsum([0] + [0 if curve is None else len(curve) for curve in curves])
    missing = [curve is None for curve in curves]
    offsets = pa.array(ends.astype(np.int32), mask=np.array([*missing, False]))
    values = np.concatenate(present, dtype=np.float64) if present else np.zeros(0)
    return pa.ListArray.from_arrays(offsets, pa.array(values), type=_LIST)


def unknown_values(row: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a row that this version knows, with values that it does not: a newer activation.

    >>> from dynascope.config import Config
    >>> unknown_values({**_flat(Config()), "activation": "snake"})
    {'model.activation': 'snake'}
    """
    values = {name: row[field.name] for name, field in CONFIG.items()}
    return {name: value for name, value in values.items() if not OPTIONS[name].takes(value)}


def config_of(row: Mapping[str, Any]) -> Config:
    """The config that a row tells."""
    flat = tuple(_hashable(row[field.name]) for field in CONFIG.values())
    return _config(flat)


@lru_cache(maxsize=4096)
def _config(flat: tuple[Any, ...]) -> Config:
    tables: dict[str, Any] = {}
    for name, value in zip(CONFIG, flat, strict=True):
        section, _, option = name.rpartition(".")
        (tables.setdefault(section, {}) if section else tables)[option] = value
    return Config.from_dict(tables)


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def origin_of(row: Mapping[str, Any]) -> Origin | None:
    if row["origin"] is None:
        return None
    if row["edits"] is not None:
        check_depth(strict_json(row["edits"]))
    return Origin(
        kind=row["origin"],
        start=row["origin_start"],
        parent=row["parent"],
        epoch=row["parent_epoch"],
        step=row["parent_step"],
        edits=edits_from_json(row["edits"]),
    )
