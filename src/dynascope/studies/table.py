"""Runs as columns of NumPy, in which claims count."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow

Array = npt.NDArray[Any]


class Table:
    """Columns by name, a value for each run. What a run lacks is NaN among numbers, None else.

    >>> runs = Table({"lr": np.array([0.1, 0.1, 1]), "accuracy": np.array([1, 0.5, 0.5])})
    >>> len(runs), float(runs["accuracy"].mean()), len(runs.where(runs["lr"] < 1))
    (3, 0.6666666666666666, 2)
    >>> {lr: part["accuracy"].tolist() for lr, part in runs.by("lr")}
    {0.1: [1.0, 0.5], 1.0: [0.5]}
    """

    def __init__(self, columns: Mapping[str, Array]) -> None:
        self.columns = dict(columns)

    @classmethod
    def of(cls, arrow: "pyarrow.Table") -> "Table":
        """Of a table as `runs.table()` gives it."""
        return cls({name: _numbers(arrow[name].to_pylist()) for name in arrow.column_names})

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def where(self, mask: Array) -> "Table":
        return Table({name: values[mask] for name, values in self.columns.items()})

    def by(self, name: str) -> "Iterator[tuple[Any, Table]]":
        """The runs of each value of a column, in the order of the values."""
        for value in sorted({*self[name].tolist()}):
            yield value, self.where(self[name] == value)

    def in_order_of(self, *names: str) -> "Table":
        """Sorted by columns: two tables of the same seeds are then paired row by row."""
        order = np.lexsort([self[name] for name in reversed(names)])
        return Table({name: values[order] for name, values in self.columns.items()})


def _numbers(values: Sequence[Any]) -> Array:
    """As floats if all are numbers, or None; else as they are."""
    if all(value is None or isinstance(value, int | float) for value in values):
        return np.array([np.nan if value is None else float(value) for value in values])
    found = np.empty(len(values), object)
    found[:] = values
    return found
