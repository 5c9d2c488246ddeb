"""What the values of columns must be: checks of whole columns at once, in tables by name.

Checksums say that a column is as it was written, not that it makes sense. What is checked here,
when a column is first read, everybody may rely on.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dynascope.analysis_columns import columns_of
from dynascope.store.damage import DamagedError

LONGEST_TEXT = 1000  # bytes of a text in a cell; columns that hold more have a rule of their own
_LONGEST_LIST = 2**16  # of an option; curves are as long as their runs
# Lists in which an element may be null.
_WITH_HOLES = frozenset({"notes", *(name for name, each in columns_of().items() if each.holes)})
_HEXADECIMAL = b"0123456789abcdef"

Values: TypeAlias = pa.ChunkedArray


class ColumnRule(NamedTuple):
    """What all values of a column must be, apart from nulls, and whether there may be any."""

    holds: Callable[[Values], bool]
    what: str
    nulls: bool = True


class Agreement(NamedTuple):
    """What several columns must agree in, where all of them are read."""

    columns: tuple[str, ...]
    holds: Callable[..., bool]
    what: str


def whole(low: int, high: int, nulls: bool = True) -> ColumnRule:
    """Numbers, or lists of them, within limits."""

    def holds(column: Values) -> bool:
        numbers = flat(column)
        if not pa.types.is_integer(numbers.type):
            return True  # in a version in which the column is something else
        there = numbers.drop_null() if numbers.null_count else numbers
        parts = (chunk.to_numpy() for chunk in there.chunks if len(chunk))
        return all(low <= part.min() and part.max() <= high for part in parts)

    return ColumnRule(holds, f"from {low} to {high}", nulls)


def digits(count: int, nulls: bool = True) -> ColumnRule:
    """Hexadecimal digits, as ids and checksums have them."""

    def holds(column: Values) -> bool:
        there = column.drop_null() if column.null_count else column
        return all(_are_digits(chunk, count) for chunk in there.chunks)

    return ColumnRule(holds, f"{count} hexadecimal digits", nulls)


def text(longest: int, nulls: bool = True) -> ColumnRule:
    """Texts, or lists of them, that are not too long."""

    def holds(column: Values) -> bool:
        most = pc.max(pc.binary_length(flat(column))).as_py()
        return most is None or most <= longest

    return ColumnRule(holds, f"at most {longest} bytes long", nulls)


REAL = ColumnRule(lambda column: True, "numbers", nulls=False)


def flat(column: Values) -> Values:
    """The elements of lists; other columns as they are."""
    return pc.list_flatten(column) if pa.types.is_list(column.type) else column


def lengths(column: Values) -> npt.NDArray[Any]:
    """How long each list is; -1 where there is none."""
    counts = pc.fill_null(pc.list_value_length(column), -1)
    return np.asarray(counts.to_numpy())


def check_column(name: str, column: Values, rule: ColumnRule | None) -> None:
    """Raise `DamagedError` unless a column's values are as they must be."""
    kind = column.type
    if pa.types.is_list(kind):
        holes = name not in _WITH_HOLES and any(
            chunk.flatten().null_count for chunk in column.chunks
        )
        _require(not holes, name, "lists without holes")
        if not pa.types.is_floating(kind.value_type):
            most = pc.max(pc.list_value_length(column)).as_py() or 0
            _require(most <= _LONGEST_LIST, name, f"lists of at most {_LONGEST_LIST}")
        kind = kind.value_type
    if rule is None and (pa.types.is_string(kind) or pa.types.is_binary(kind)):
        rule = _SHORT
    if rule is not None:
        _require(rule.nulls or not column.null_count, name, "never null")
        _require(rule.holds(column), name, rule.what)


def check_agreements(columns: Mapping[str, Values], agreements: Sequence[Agreement]) -> None:
    """Raise `DamagedError` unless columns agree with each other."""
    for names, holds, what in agreements:
        if all(name in columns for name in names):
            given = [columns[name] for name in names]
            if not holds(*given):
                raise DamagedError(f"its columns {' and '.join(names)} disagree: {what}")


def _require(holds: bool, name: str, what: str) -> None:
    if not holds:
        raise DamagedError(f"its column {name} has values that are not {what}")


def _are_digits(texts: pa.StringArray, count: int) -> bool:
    """Whether all texts, of which none is null, are so many hexadecimal digits."""
    _, offsets, characters = texts.buffers()
    if not len(texts):
        return True
    ends = np.frombuffer(offsets, np.int32)[texts.offset :][: len(texts) + 1]
    if characters is None or not (ends[1:] - ends[:-1] == count).all():
        return False
    return not bytes(memoryview(characters)[ends[0] : ends[-1]]).translate(None, _HEXADECIMAL)


_SHORT = text(LONGEST_TEXT)
