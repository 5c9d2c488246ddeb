"""What people give to pictures of many runs, as arrays; what cannot be drawn is refused."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.errors import Description, expected
from dynascope.option_rules import Choice
from dynascope.plots.panels import SCALES

Array = npt.NDArray[Any]


def listed(field: str, values: Any) -> list[Any]:
    """Numbers or names, one after another, as Python has them."""
    if isinstance(values, str) or np.ndim(values) != 1:
        raise expected(field, "numbers or names, one for each", values)
    return list(values.tolist() if isinstance(values, np.ndarray) else values)


def numbers_of(field: str, values: Any, count: int | None = None, dimensions: int = 1) -> Array:
    """Numbers as floats, `count` of them; what is missing (None) is NaN."""
    try:
        numbers = np.asarray(values, float)
    except (TypeError, ValueError):
        raise expected(field, "numbers", values) from None
    if numbers.ndim != dimensions:
        got = Description(f"an array of shape {numbers.shape}")
        raise expected(field, f"an array of {dimensions} dimension{'s'[: dimensions - 1]}", got)
    if count is not None and len(numbers) != count:
        raise expected(field, f"{count} numbers, one for each", Description(f"{len(numbers)}"))
    return numbers


def counts_of(field: str, values: Any, count: int) -> Array:
    """Whole numbers from 0 on, `count` of them; one alone is that of all."""
    given = np.broadcast_to(values, count) if np.ndim(values) == 0 else values
    numbers = numbers_of(field, given, count)
    wrong = numbers[~((numbers >= 0) & (numbers == np.floor(numbers)) & np.isfinite(numbers))]
    if len(wrong):
        raise expected(field, "whole numbers from 0 on", float(wrong[0]))
    return numbers.astype(int)


def check_parts(counts: Array, totals: Array, field: str) -> None:
    """No count is larger than what it is a part of."""
    over = np.flatnonzero(counts > totals)
    if len(over):
        first = over[0]
        raise expected("counts", f"at most {totals[first]}, as {field} says", int(counts[first]))


def texts_of(field: str, values: Any, count: int | None = None) -> list[str]:
    """Text for each of so many things."""
    texts = [str(each) for each in ([values] if isinstance(values, str) else values)]
    if count is not None and len(texts) != count:
        raise expected(field, f"{count}, one for each", Description(f"{len(texts)}"))
    return texts


def groups_of(groups: Any, count: int, alone: str = "") -> list[str]:
    """The group of each run; without groups all are in one."""
    return [alone] * count if groups is None else texts_of("groups", groups, count)


def runs_of(runs: Any, count: int) -> list[str]:
    """The address of each run; empty where nobody gave them."""
    return [] if runs is None else texts_of("runs", runs, count)


def check_scale(field: str, scale: str, axis: str, *values: Array) -> str:
    """The scale of an axis that is to show these; a logarithm has no place for 0."""
    Choice(SCALES).check(field, scale)
    if scale == "log":
        numbers = np.concatenate([each.ravel() for each in values])
        wrong = numbers[np.isfinite(numbers) & (numbers <= 0)]
        if len(wrong):
            hint = f'leave it out, or pass {field}="linear"'
            raise expected(axis, "numbers above 0 for a logarithmic axis", float(wrong[0]), hint)
    return scale
