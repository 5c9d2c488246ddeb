"""The numbers that a figure shows, as CSV: every one as it was computed."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np
import numpy.typing as npt

NumberColumn = Sequence[Any] | npt.NDArray[Any]

_FIRST = ("run", "epoch", "panel")


@dataclass(frozen=True, eq=False)
class PanelNumbers:
    """What a panel shows, a row for each thing that is drawn."""

    panel: str
    columns: Mapping[str, NumberColumn]  # of one length
    run: str = ""  # its id; of weights without a run none
    epoch: int | None = None  # None: all of them, which then is a column

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values()), ()))


def as_csv(all_numbers: Sequence[PanelNumbers]) -> str:
    """One table of all panels (RFC 4180): a cell is empty where a panel has no such column.

    >>> print(as_csv([PanelNumbers("tokens", {"token": [0, 1], "x": [0.1, 2.0]}, "ab", 3)]))
    run,epoch,panel,token,x
    ab,3,tokens,0,0.1
    ab,3,tokens,1,2.0
    """
    names = list(dict.fromkeys(name for each in all_numbers for name in each.columns))
    header = [*_FIRST, *(name for name in names if name not in _FIRST)]
    out = StringIO()
    table = csv.writer(out)
    table.writerow(header)
    for each in all_numbers:
        own = {"run": each.run, "panel": each.panel, "epoch": each.epoch}
        told = {name: _plain(column) for name, column in each.columns.items()}
        for i in range(each.rows):
            cells = {**own, **{name: column[i] for name, column in told.items()}}
            table.writerow([_cell(cells.get(name)) for name in header])
    return out.getvalue()


def _plain(column: NumberColumn) -> list[Any]:
    """As Python has them: a float32 is written in the digits that give it back as a double."""
    is_float = isinstance(column, np.ndarray) and column.dtype.kind == "f"
    return np.asarray(column, float).tolist() if is_float else list(column)


def _cell(value: Any) -> Any:
    """Text that begins like a formula gets an apostrophe: a spreadsheet would run it."""
    if value is None:
        return ""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return value
