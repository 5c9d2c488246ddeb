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
        columns = {each: _array(found[each].to_pylist()) for each in found.column_names}
        return cls(columns, name, runs)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def where(self, mask: Array) -> "Table":
        return self._with({name: values[mask] for name, values in self.columns.items()})

    def by(self, name: str) -> "Iterator[tuple[Any, Table]]":
        """The runs of each value of a column, in the order of the values."""
        for value in sorted({*self[name].tolist()}):
            yield value, self.where(self[name] == value)

    def nth(self, name: str, place: int) -> Array:
        """Of a column of lists, the entry at this place of each run; NaN where there is none.

        >>> drops = Table({"drops": np.array([[10, 50], [20], None], object)})
        >>> drops.nth("drops", 1).tolist()
        [50.0, nan, nan]
        """
        return np.array([_entry(values, place) for values in self[name]])

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
        return [
            f"{self.name}#{run}@{int(at)}" for run, at in zip(self["id"], epochs, strict=True)
        ]

    def _with(self, columns: Mapping[str, Array]) -> "Table":
        return Table(columns, self.name, self.runs)


def _entry(values: Any, place: int) -> float:
    if not isinstance(values, list) or len(values) <= place or values[place] is None:
        return float("nan")
    return float(values[place])


def _array(values: Sequence[Any]) -> Array:
    """As floats if all are numbers, or None; else as they are."""
    if all(value is None or isinstance(value, int | float) for value in values):
        return np.array([np.nan if value is None else float(value) for value in values])
    found = np.empty(len(values), object)
    found[:] = values
    return found
