"""Runs of a store: they look like any other `Run` and `Runs`, and read what they are asked for."""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dynascope.cached import cached_property
from dynascope.catalog import OPTIONS
from dynascope.config import Config
from dynascope.curves import no_curve
from dynascope.data import Data
from dynascope.errors import DynascopeError
from dynascope.near_misses import guided
from dynascope.parameters import Parameters
from dynascope.run import (
    SOLVED_ACCURACY,
    Origin,
    Run,
    Runs,
    Steps,
    checked_index,
    recorded_curves,
    run_id,
    spelt_options,
)
from dynascope.run_size import weight_count
from dynascope.services import services
from dynascope.store.damage import Damage, DamagedError, DamageWarning, reading
from dynascope.store.files import path_of
from dynascope.store.index import Index, open_index
from dynascope.store.marks import mark
from dynascope.store.recipe import is_recipe, staged
from dynascope.store.run_rules import check_curves, check_kept, check_shapes, check_steps
from dynascope.store.schema import CURVES, SPANS, config_of, origin_of, unknown_values
from dynascope.store.shard_read import Shard
from dynascope.store.sidecar_columns import SHOWN, read_sources
from dynascope.store.sidecar_columns import columns as analyses_of
from dynascope.store.tables import MARKS, check_columns, marked, schema_of

Array = npt.NDArray[Any]
Value = TypeVar("Value")


@guided
def load(
    folder: "str | os.PathLike[str]", strict: bool = False, deleted: bool = False
) -> "StoredRuns":
    """Open the runs of a folder; nothing but their ids is read until it is asked for. A run that
    the sandbox saved as a file is trained again, and so opened.

    Damaged files are named in a warning and left out; with `strict` they are an error. `deleted`
    opens the runs that were deleted instead of those that were not.
    """
    path = path_of(folder)
    index = open_index(staged(path) if is_recipe(path) else path, strict)
    return StoredRuns(index, np.flatnonzero(index.hidden == deleted), strict)


class StoredRun(Run):
    """A run on disk. Curves are read when looked at, weights and states mapped into memory."""

    def __init__(self, shard: Shard, row: int, index: Index) -> None:
        vars(self).update(_shard=shard, _row=row, _index=index)

    _shard: Shard
    _row: int
    _index: Index
    _mapped: dict[str, Array]

    @property
    def folder(self) -> Path:
        """The store that it is in."""
        return self._index.folder

    @property
    def file(self) -> Path:
        """Where its trajectory is."""
        return self._shard.tensors.path

    @cached_property
    def _scalars(self) -> "_Row":
        return _Row(_whole(self._shard.path, lambda: self._shard.scalars), self._row)

    @property
    def _tensors(self) -> dict[str, Array]:
        """This run's rows of every tensor, in the file's own memory map.

        Checked once, and again when the file is no longer the same: to touch the map of one that
        was cut off meanwhile ends the process.
        """
        file, row = self._shard.tensors, self._scalars
        stamp = _whole(file.path, file.stamp)
        if vars(self).get("_stamp") != stamp:
            spans = {what: (row[f"{what}_begin"], row[f"{what}_end"]) for what in SPANS}
            read = _whole(file.path, lambda: file.run(spans, row["data"], row["checksum"]))
            _whole(file.path, lambda: check_kept(read, self.epochs))
            vars(self).update(_mapped=read, _stamp=stamp)
        return self._mapped

    @cached_property
    def id(self) -> str:
        return str(self._scalars["id"])

    @cached_property
    def config(self) -> Config:
        config, unknown = self._told
        if config is not None and not unknown:
            _whole(self._shard.path, lambda: self._check_identity(config))
        if config is not None and all(name.startswith("training.") for name in unknown):
            return config if self._scalars["data"] is None else config.for_own_data()
        # With another model or task than it was made with, whatever is computed would be wrong.
        raise DynascopeError(
            f"run {self.id}: expected options that this version of dynascope knows, but it has "
            f"{spelt_options(unknown)}; its table and curves can be read; use a newer version for "
            "the rest."
        )

    def _check_identity(self, config: Config) -> None:
        """The id says what the run is: one that does not is another run's."""
        row = self._scalars
        name = run_id(config, self.seed, self.origin, row["data"])
        if (config.digest(), name) != (row["config"], row["id"]):
            raise DamagedError(f"the id of run {self.id} does not follow from its options")

    @property
    def unknown_options(self) -> Mapping[str, Any]:
        return self._told[1]

    @cached_property
    def _told(self) -> tuple[Config | None, Mapping[str, Any]]:
        """The config as far as this version knows its options, and those that it does not."""
        shard, row = self._shard, self._scalars
        unknown = _whole(shard.path, lambda: shard.unknown_options(self._row))
        try:
            return config_of(row), unknown
        except DynascopeError as error:
            unknown |= unknown_values(row)
            if not unknown:  # each is one that there is, but not together
                raise DynascopeError(f"{shard.path}: damaged: {error}") from None
            return None, unknown

    @cached_property
    def seed(self) -> int:
        return int(self._scalars["seed"])

    @cached_property
    def diverged(self) -> int | None:
        return self._scalars["diverged"]  # type: ignore[no-any-return]

    @cached_property
    def origin(self) -> Origin | None:
        return _whole(self._shard.path, lambda: _sound(origin_of, self._scalars))

    @cached_property
    def seconds(self) -> float:
        return float(self._scalars["seconds"])

    @property
    def epochs(self) -> int:
        return int(self._scalars["last_epoch"])

    @property
    def tags(self) -> list[str]:
        """What people call the run; see `Runs.tag`."""
        return list(self._index.marks.tags.get(self.id, []))

    @property
    def note(self) -> str | None:
        """What somebody wrote about the run."""
        return self._index.marks.notes.get(self.id)

    def __repr__(self) -> str:
        """Also of a run whose files are damaged, of which it says so."""
        try:
            return super().__repr__()
        except DynascopeError as error:
            return f"Run({error})"

    def summary(self) -> dict[str, float | int | str | None]:
        names = ("accuracy", "learning_epoch", "lowest_loss", "diverged", "seconds")
        return {name: self._scalars[name] for name in ("id", "seed", *names)}

    @cached_property
    def curves(self) -> Mapping[str, Array]:
        has = self._shard.curves
        if has is None:
            has = recorded_curves(self.config, None) & frozenset(self._shard.about["columns"])
        if self._scalars["data"] and not _curve(self._shard, "test_loss")[self._row].is_valid:
            has -= {name for name in has if name.startswith("test_")}  # the data have no test set
        config, unknown = self._told
        if config is not None and not unknown:
            _whole(self._shard.path, lambda: check_curves(has, config))
        return _Curves(self._shard, self._row, has, self._scalars["precision"])

    @cached_property
    def unrecorded(self) -> frozenset[str]:
        return recorded_curves(self.config, self.data) - self.curves.keys()

    @cached_property
    def table(self) -> Array:
        curves = dict(self.curves)  # read first: they are as long as the run says that it is
        table = np.full((self.epochs + 1, len(CURVES)), np.nan, self.config.precision)
        for name, curve in curves.items():
            table[:, CURVES.index(name)] = curve
        table.flags.writeable = False
        return table

    @cached_property
    def weights(self) -> Array:
        return self.rows("weights")

    @cached_property
    def weight_epochs(self) -> npt.NDArray[np.int64]:
        return self._epochs("weights")

    @cached_property
    def states(self) -> Array:
        return self.rows("states")

    @cached_property
    def state_epochs(self) -> npt.NDArray[np.int64]:
        return self._epochs("states")

    @cached_property
    def steps(self) -> Steps | None:
        span, names = self.config.record.steps, self._shard.about["steps"]
        if span is None or names is None:
            return None
        tensors = self._tensors
        table, weights = tensors.get("steps/curves"), tensors.get("steps/weights")
        size = weight_count(self.config)
        _whole(self.file, lambda: check_steps(table, weights, len(names), size))
        curves = {name: tensors["steps/curves"][:, column] for column, name in enumerate(names)}
        return Steps(span[0], span[1], curves, tensors["steps/weights"])

    @cached_property
    def data(self) -> Data | None:
        digest = self._scalars["data"]
        if digest is None:
            return None
        tensors = self._tensors
        return _whole(self.file, lambda: _data(tensors, digest, self.config))

    def parameters(self, epoch: int = -1) -> Parameters:
        at = self.checked_epoch(epoch)
        kept = np.flatnonzero(self.weight_epochs == at)
        if not len(kept):
            return super().parameters(epoch)
        row = int(kept[-1])
        flat = self.rows("weights", row, row + 1)[0].copy()
        return Parameters.from_flat(flat, self.config.shapes)

    def rows(
        self, what: Literal["weights", "states"], begin: int = 0, end: int | None = None
    ) -> Array:
        """Rows of `weights` or `states`, laid out as there; no others are copied into memory.

        Within the package, for those to whom all of a trajectory is too much. The file is looked
        at each time: one that was cut off meanwhile is an error like any other.
        """
        tensors, slots = self._tensors, None if self.unknown_options else _SLOTS
        _whole(self.file, lambda: check_shapes(tensors, what, self.config, slots))
        parts = [tensors[f"{what}/{name}"][begin:end] for name in self.config.shapes]
        lead = 1 if what == "weights" else 2
        packed = np.concatenate([_flat(part, lead) for part in parts], axis=-1)
        packed.flags.writeable = False
        return packed

    def loaded(self) -> Run:
        """All of it read: nothing that happens to its files matters any more."""
        run = Run(**{field.name: getattr(self, field.name) for field in fields(Run)})
        vars(run)["id"] = self.id  # follows also from options that this version may not know
        return run

    def _epochs(self, what: str) -> npt.NDArray[np.int64]:
        epochs: npt.NDArray[np.int64] = self._tensors[f"{what}/epoch"].copy()
        epochs.flags.writeable = False
        return epochs


_PARTS = ("tokens", "targets")
_SLOTS = 3  # rows of a state


def _data(tensors: Mapping[str, Array], digest: str, config: Config) -> Data:
    """A run's own data, which must be what its config says."""
    with reading():
        train, test = (
            tuple(tensors[f"data/{digest}/{name}_{part}"] for part in _PARTS)
            for name in ("train", "test")
        )
        data = Data(train=train, test=test)  # type: ignore[arg-type]
        if data.fit(config) != config or data.digest() != digest:
            raise DamagedError("the run's own data are not those that it was trained on")
        return data


def _flat(array: Array, lead: int) -> Array:
    """All axes after the first `lead` as one; there may be no rows, as imported runs have no
    states."""
    return array.reshape(*array.shape[:lead], int(np.prod(array.shape[lead:])))


class _Row(Mapping[str, Any]):
    """One row of a table; a value becomes a Python object when it is looked at."""

    def __init__(self, columns: dict[str, pa.ChunkedArray], row: int) -> None:
        self._columns, self._row = columns, row

    def __getitem__(self, name: str) -> Any:
        return self._columns[name][self._row].as_py()

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


class _Curves(Mapping[str, Array]):
    """The curves of a run; each is read when it is asked for."""

    def __init__(self, shard: Shard, row: int, has: frozenset[str], precision: str) -> None:
        self._shard, self._row, self._type = shard, row, _float_type(precision)
        self._names = tuple(name for name in CURVES if name in has)

    def __getitem__(self, name: str) -> Array:
        if name not in self._names:
            raise no_curve(name, self)
        listed = _curve(self._shard, name)[self._row]
        if not listed.is_valid:
            raise DynascopeError(f"{self._shard.path}: damaged: a run has no curve {name}.")
        curve = _as_type(listed.values.to_numpy(zero_copy_only=False), self._type)
        curve.flags.writeable = False
        return curve

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _float_type(precision: str) -> "np.dtype[Any]":
    """Of curves; those of a precision that this version does not know are as they are stored."""
    return np.dtype(precision if precision in OPTIONS["precision"].words else np.float64)


def _as_type(curve: Array, type_: "np.dtype[Any]") -> Array:
    """A curve as the run computed it; what is too large for that is infinite."""
    with np.errstate(over="ignore"):
        return curve.astype(type_)


def _curve(shard: Shard, name: str) -> pa.Array:
    """One curve of a whole shard: the next run that is asked for is likely its neighbour."""
    small = _whole(shard.path, lambda: shard.epochs) <= _KEPT_EPOCHS
    return _kept_curve(shard, name) if small else _read_curve(shard, name)


_KEPT_EPOCHS = 2**20  # of all runs of a shard together; larger ones are read again for each curve


@lru_cache(maxsize=64)  # all of a shard: whoever reads run after run wants several of each
def _kept_curve(shard: Shard, name: str) -> pa.Array:
    return _read_curve(shard, name)


def _read_curve(shard: Shard, name: str) -> pa.Array:
    return _whole(shard.path, lambda: shard.table([name])).column(0).combine_chunks()


def _whole(path: object, read: Callable[[], Value]) -> Value:
    try:
        return read()
    except DamagedError as error:
        raise DynascopeError(f"{path}: damaged: {error}.") from None


def _sound(read: Callable[[Mapping[str, Any]], Value], row: Mapping[str, Any]) -> Value:
    """What a row says, where whatever is odd about it is damage."""
    with reading():
        return read(row)


class StoredRuns(Runs):
    """The runs of a store, or some of them; a `Runs` that reads as little as it can."""

    def __init__(self, index: Index, chosen: npt.NDArray[np.intp], strict: bool = False) -> None:
        self._index, self._chosen, self._strict = index, chosen, strict

    @property
    def folder(self) -> "os.PathLike[str]":
        """Where the runs are."""
        return self._index.folder

    @property
    def damage(self) -> list[Damage]:
        """The files that were left out, and why."""
        return list(self._index.damage)

    @property
    def ids(self) -> list[str]:
        """The runs' ids, in order."""
        return [bytes(each).decode() for each in self._index.ids[self._chosen]]

    @property
    def seeds(self) -> list[int]:
        return [int(seed) for seed in self.table(["seed"])["seed"].to_pylist()]

    @overload
    def __getitem__(self, index: int) -> StoredRun: ...
    @overload
    def __getitem__(self, index: slice) -> "StoredRuns": ...
    def __getitem__(self, index: int | slice) -> "StoredRun | StoredRuns":
        if isinstance(index, slice):
            return self._some(self._chosen[index])
        at = self._chosen[checked_index(index, len(self))]
        return self._index_run(int(at))

    def _index_run(self, at: int) -> StoredRun:
        index = self._index
        return StoredRun(index.shards[index.shard[at]], int(index.row[at]), index)

    def __len__(self) -> int:
        return len(self._chosen)

    def __iter__(self) -> Iterator[StoredRun]:
        return (self[i] for i in range(len(self)))

    def by_seed(self, seed: int) -> Run:
        seeds = self.table(["seed"])["seed"].to_numpy()
        if len(seeds) == len(self) and seed in seeds:
            return self[int(np.flatnonzero(seeds == seed)[0])]
        return super().by_seed(seed)

    def solved(self, accuracy: float = SOLVED_ACCURACY) -> int:
        found = self.table(["accuracy"])["accuracy"].to_numpy()
        return int((found > accuracy).sum())

    def curve(self, name: str) -> Array:
        if not len(self) or name not in CURVES:
            return super().curve(name)
        table = self.table([name, "precision"])
        lists = table[name].combine_chunks()
        lengths = np.unique(lists.value_lengths().to_numpy(zero_copy_only=False))
        if len(lists) != len(self) or lists.null_count or len(lengths) != 1:
            return super().curve(name)  # says what is damaged or missing, or that lengths differ
        precision = np.result_type(*map(_float_type, set(table["precision"].to_pylist())))
        flat: Array = lists.flatten().to_numpy(zero_copy_only=False)
        return _as_type(flat, precision).reshape(len(lists), -1)

    def table(self, columns: Sequence[str] | None = None, curves: bool = False) -> pa.Table:
        names = check_columns(columns, curves)
        found = [name for name in names if name in SHOWN]
        stored = [name for name in names if name not in MARKS and name not in SHOWN]
        beside = ["id", "checksum"] if found else ["id"]
        table = self._read([*stored, *(name for name in beside if name not in stored)])
        table = marked(table, self._index.marks)
        return self._with_analyses(table, found).select(names)

    def _with_analyses(self, table: pa.Table, names: Sequence[str]) -> pa.Table:
        """The table with columns of analyses; sidecars are opened only if there are any to add."""
        if not names:
            return table
        sources = read_sources(self._index.folder, names, self._left_out)
        ids, checksums = table["id"].to_pylist(), table["checksum"].to_pylist()
        for name, column in analyses_of(ids, checksums, names, sources).items():
            table = table.append_column(name, column)
        return table

    def _read(self, names: Sequence[str]) -> pa.Table:
        """Columns of the chosen runs, in order; without those of shards that prove damaged."""
        shard, row = self._index.shard[self._chosen], self._index.row[self._chosen]
        tables, starts, at = [], {}, 0
        for number in np.unique(shard):
            each = self._index.shards[number]
            try:
                table = each.table(names)
            except DamagedError as error:
                self._left_out(Damage.of(each.path, error))
                continue
            tables.append(table)
            starts[number] = at
            at += len(table)
        if not tables:
            return schema_of(names).empty_table()
        whole = np.isin(shard, list(starts))
        begin = np.zeros(len(self._index.shards), np.int64)
        begin[list(starts)] = list(starts.values())
        order = begin[shard[whole]] + row[whole]
        table = pa.concat_tables(tables)
        if len(order) == len(table) and (order == np.arange(len(order))).all():
            return table  # the usual case, and curves need not be copied
        return table.take(pa.array(order))

    def _left_out(self, damage: Damage) -> None:
        if self._strict:
            raise DynascopeError(f"{damage.path}: damaged: {damage.why}.")
        if damage not in self._index.damage:
            self._index.damage.append(damage)
        warnings.warn(DamageWarning(str(damage)), stacklevel=4)

    def where(self, condition: str) -> "StoredRuns":
        """The runs for which an SQL condition holds, such as "lr > 0.01 AND accuracy > 0.9"."""
        return self.with_ids(services().matching(self, condition))

    def with_ids(self, ids: Iterable[str]) -> "StoredRuns":
        """The runs that have one of these ids."""
        found = list(ids)
        chosen = np.isin(self._index.ids[self._chosen], np.array(found, dtype="S20"))
        return self._some(self._chosen[chosen])

    def tag(self, name: str) -> None:
        """Give these runs a tag; `where("list_contains(tags, 'name')")` finds them again."""
        self._mark("tag", name)

    def untag(self, name: str) -> None:
        """Take a tag away again."""
        self._mark("untag", name)

    def note(self, text: str) -> None:
        """Write something about these runs; it replaces what was written before."""
        self._mark("note", text)

    def delete(self) -> None:
        """Hide these runs from every later `load`; `restore` brings them back."""
        self._mark("delete")

    def restore(self) -> None:
        """Bring deleted runs back."""
        self._mark("restore")

    def _mark(self, action: str, value: str = "") -> None:
        if len(self):
            mark(self._index.folder, action, self.ids, value)
            for run in self.ids:
                self._index.marks.apply(action, run, value)

    def _some(self, chosen: npt.NDArray[np.intp]) -> "StoredRuns":
        return StoredRuns(self._index, chosen, self._strict)
