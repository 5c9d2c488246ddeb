"""Curves by name, and the sentence about a name that is not among them."""

from collections.abc import Iterable
from typing import Any

import numpy.typing as npt

from dynascope.catalog import CURVES
from dynascope.errors import UnknownNameError, unknown

Array = npt.NDArray[Any]


class Curves(dict[str, Array]):
    """A dict that knows what was probably meant."""

    def __missing__(self, name: object) -> Array:
        raise no_curve(name, self)


def no_curve(name: object, recorded: Iterable[str]) -> UnknownNameError:
    """The error for a curve that a run does not have.

    >>> print(no_curve("test_los", ["train_loss", "test_loss"]))
    curves.test_los: unknown curve; did you mean 'test_loss'? (curves: train_loss, test_loss)
    >>> print(no_curve("full_grad_norm/query", ["train_loss"]))
    curves.full_grad_norm/query: not recorded in this run; it needs record.full_gradients = true.
    """
    for curve in CURVES:
        if name in curve.names:
            needs = f"; it needs record.{curve.needs} = true" if curve.needs else ""
            needs = "; its data have no test set" if curve.needs == "test" else needs
            return UnknownNameError(f"curves.{name}: not recorded in this run{needs}.")
    return UnknownNameError(str(unknown("curves", name, recorded, "curve")))
