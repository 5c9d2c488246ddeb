"""Second derivatives of the loss: the exact Hessian, whole or times some directions.

The kernel runs its own gradient on dual numbers: there is no step size, and no error but rounding.
Always in float64.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope import _kernel
from dynascope.config_input import ModelLike
from dynascope.errors import Description, expected
from dynascope.model import Call
from dynascope.near_misses import guided
from dynascope.parameters import Parameters

Array = npt.NDArray[Any]

MAX_DENSE = 8192  # weights: the matrix takes half a gigabyte there
_AT_ONCE = 256  # rows of it in one call of the kernel; between two, Ctrl-C is heard


@guided
def hessian(
    parameters: Parameters,
    tokens: npt.ArrayLike,
    targets: npt.ArrayLike,
    model: ModelLike = None,
) -> Array:
    """[n, n]: the Hessian of the mean cross-entropy, in the order of `parameters.flat`.

    >>> import dynascope as ds
    >>> config = ds.Config()
    >>> h = ds.hessian(ds.initial_parameters(config), *ds.dataset(config.task), config.model)
    >>> h.shape, bool((h == h.T).all())
    ((196, 196), True)
    >>> int((np.linalg.eigvalsh(h) < -1e-9).sum()) > 0  # directions in which the loss bends down
    True
    """
    call, checked, wanted = _checked(parameters, tokens, targets, model)
    size = len(call.flat)
    if size > MAX_DENSE:
        raise expected(
            "parameters",
            f"at most {MAX_DENSE} weights for a whole Hessian",
            size,
            "use ds.hessian_products, or ds.theory.curvature, which is built on them",
        )
    flat, made = call.flat.astype(np.float64), np.empty((size, size))
    for start in range(0, size, _AT_ONCE):
        rows = np.eye(min(_AT_ONCE, size - start), size, start)
        found = _kernel.hessian_products(flat, call.shape, checked, wanted, rows)[0]
        made[start : start + len(rows)] = found
    _check_finite(made)
    _kernel.symmetrize(made)  # the two halves differ by rounding
    return made


@guided
def hessian_products(
    parameters: Parameters,
    directions: Parameters | npt.ArrayLike,
    tokens: npt.ArrayLike,
    targets: npt.ArrayLike,
    model: ModelLike = None,
) -> Array:
    """The Hessian times a direction [n] (or `Parameters`), or times each row of several [m, n].

    >>> import dynascope as ds
    >>> config = ds.Config()
    >>> p = ds.initial_parameters(config)
    >>> shift = p * 0  # moving E by c and P by -c changes nothing
    >>> shift.token_embedding[:], shift.position_embedding[:] = 1, -1
    >>> along = ds.hessian_products(p, shift.flat, *ds.dataset(config.task), config.model)
    >>> float(abs(along).max()) < 1e-12
    True
    """
    call, checked, wanted = _checked(parameters, tokens, targets, model)
    rows = _rows(directions, len(call.flat))
    flat = call.flat.astype(np.float64)
    lines = np.ascontiguousarray(np.atleast_2d(rows))
    made = _kernel.hessian_products(flat, call.shape, checked, wanted, lines)[0]
    _check_finite(made)
    return np.asarray(made.reshape(rows.shape))


def _check_finite(made: Array) -> None:
    if not np.isfinite(made).all():
        what = "weights with a finite Hessian"
        raise expected(
            "parameters", what, Description("numbers that overflow"), "take smaller ones"
        )


def _rows(directions: object, size: int) -> Array:
    """Directions as numbers, [n] or [m, n]."""
    what = f"{size} finite numbers, or rows of {size}"
    given = directions.flat if isinstance(directions, Parameters) else directions
    try:
        rows = np.asarray(given)
    except ValueError:
        raise expected("directions", what, Description("rows of different lengths")) from None
    if rows.dtype.kind not in "fiu":
        raise expected("directions", what, directions)
    if rows.ndim not in (1, 2) or rows.shape[-1] != size:
        raise expected("directions", what, Description(f"shape {rows.shape}"))
    if not np.isfinite(rows).all():
        raise expected("directions", what, Description("NaN or infinity"))
    return rows.astype(np.float64)


def _checked(
    parameters: Parameters,
    tokens: npt.ArrayLike,
    targets: npt.ArrayLike,
    model: ModelLike,
) -> tuple[Call, Array, Array]:
    call = Call(parameters, model)
    return call, *call.examples(tokens, targets)
