"""Runs as columns of NumPy, in which claims count."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis_columns import columns_of

if TYPE_CHECKING:
    from dynascope.run import Runs
    from dynascope.store.stored import StoredRuns

Array = npt.NDArray[Any]

NOT_THE_RUNS_OWN = ("seconds", "tags", "note", "analysed")  # that differ from machine to machine


class Table:
    """Columns by name, a value for each run. What a run lacks is NaN among numbers, None else.

    >>> runs = Table({"lr": np.array([0.1, 0.1, 1]), "accuracy": np.array([1, 0.5, 0.5])})
    >>> len(runs), float(runs["accuracy"].mean()), len(runs.where(runs["lr"] < 1))
    (3, 0.6666666666666666, 2)
    >>> {lr: part["accuracy"].tolist() for lr, part in runs.by("lr")}
    {0.1: [1.0, 0.5], 1.0: [0.5]}
    """

    def __init__(
        self, columns: Mapping[str, Array], name: str = "", runs: "Runs | None" = None
    ) -> None:
        self.columns = dict(columns)
        self.name = name  # of the source
        self.runs = runs  # all of the source, to open single ones

    @classmethod
    def of_runs(cls, runs: "StoredRuns | Runs", kinds: Sequence[str], name: str) -> "Table":
        """What stored runs are, how they ended, and what these analyses found; by seed."""
        from dynascope.store.schema import PLACES, SCALARS

        own = [each for each in SCALARS.names if each not in (*PLACES, *NOT_THE_RUNS_OWN)]
        found = runs.table([*own, *columns_of(kinds)])
        found = found.sort_by([("seed", "ascending"), ("id", "ascending")])
        return cls.of_values(
            {each: found[each].to_pylist() for each in found.column_names}, name, runs
        )

    @classmethod
    def of_values(
        cls, columns: Mapping[str, Sequence[Any]], name: str, runs: "Runs | None" = None
    ) -> "Table":
        """Columns of plain values, None where a run has none."""
        return cls({each: _array(values) for each, values in columns.items()}, name, runs)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def where(self, mask: Array) -> "Table":
        return self._with({name: values[mask] for name, values in self.columns.items()})

    def with_options(self, options: Mapping[str, Any]) -> "Table":
        """The runs with these options, named as in a grid: "training.lr", "none" for None."""
        mask = np.ones(len(self), bool)
        for name, wanted in options.items():
            column = self[name.rpartition(".")[2]]
            if wanted == "none" or isinstance(wanted, list):
                mask &= np.array([_same(value, wanted) for value in column.tolist()], bool)
            else:
                mask &= column == wanted
        return self.where(mask)

    def by(self, name: str) -> "Iterator[tuple[Any, Table]]":
        """The runs of each value of a column, in the order of the values."""
        for value in sorted({*self[name].tolist()}):
            yield value, self.where(self[name] == value)

    def in_order_of(self, name: str) -> "Table":
        """Sorted by a column; equals stay in order."""
        return self.where(np.argsort(self[name], kind="stable"))

    def nth(self, name: str, place: int) -> Array:
        """Of a column of lists, the entry at this place of each run; NaN where there is none.

        >>> drops = Table({"drops": np.array([[10, 50], [20], None], object)})
        >>> drops.nth("drops", 1).tolist()
        [50.0, nan, nan]
        """
        return np.array([_entry(values, place) for values in self[name]])

    def lists(self, name: str) -> list[list[Any]]:
        """A column of lists; what a run lacks is an empty one."""
        return [_listed(values) for values in self[name]]

    def median_of(self, name: str) -> Array:
        """Of a column of lists, the median of each run's own; NaN where there are none."""
        own = ([each for each in values if each is not None] for values in self.lists(name))
        return np.array([np.median(each) if each else np.nan for each in own])

    def matched(self, other: "Table", mine: str = "seed", its: str = "seed") -> "Table":
        """The other table's rows in the order of this one's, matched by a column: pairs. A row
        without a partner is an error: pairs are made by design."""
        places = {value: place for place, value in enumerate(other[its].tolist())}
        if len(places) < len(other):
            raise ValueError(f"{its} does not tell the rows of {other.name} apart")
        order = [places[value] for value in self[mine].tolist()]
        return other.where(np.array(order, int))

    def addresses(self, epoch: int | None = None) -> list[str]:
        """Where each run is, as links and `dynascope show` name it: SOURCE#ID@EPOCH."""
        epochs = self["last_epoch"] if epoch is None else [epoch] * len(self)
        return [f"{self.name}#{run}@{int(at)}" for run, at in zip(self["id"], epochs, strict=True)]

    def _with(self, columns: Mapping[str, Array]) -> "Table":
        return Table(columns, self.name, self.runs)


Tables = Mapping[str, Table]
"""Of a study's runs, by the names of its sources."""


def _same(value: Any, wanted: Any) -> bool:
    if wanted == "none":
        return value is None or value != value
    return isinstance(value, list) and value == wanted


def _listed(values: Any) -> list[Any]:
    return values if isinstance(values, list) else []


def _entry(values: Any, place: int) -> float:
    found = _listed(values)
    return float(found[place]) if len(found) > place and found[place] is not None else float("nan")


def _array(values: Sequence[Any]) -> Array:
    """As floats if all are numbers, or None; else as they are."""
    if all(value is None or isinstance(value, int | float) for value in values):
        return np.array([np.nan if value is None else float(value) for value in values])
    found = np.empty(len(values), object)
    found[:] = values
    return found
