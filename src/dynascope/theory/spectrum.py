"""Eigenvalues of a symmetric matrix, given as it is or by its products with vectors.

A Hessian has many eigenvalues that are zero but for rounding, some known for sure (see `symmetry`).
What they come out as measures how far rounding reaches: `tolerance` is at least `FLOOR` times that,
and at least n eps max|eigenvalue|, and an eigenvalue within it counts as zero.

Limits: products give both ends of the spectrum, not the middle (Lanczos); of those only eigenpairs
that converged, and of several equal eigenvalues perhaps not all.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dynascope.errors import Description, expected
from dynascope.extras import needing
from dynascope.near_misses import guided
from dynascope.theory import curvature_thresholds as t

Array = npt.NDArray[Any]
Product = Callable[[Array], Array]  # of the matrix with each row of [m, n]


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues, and the eigenvectors at both ends.

    `negative`, `zero` and `positive` count the `eigenvalues`; these are all only if `complete`.
    """

    eigenvalues: Array  # rising
    top: Array  # [k, n]: unit eigenvectors, of the largest first
    bottom: Array  # [k, n]: of the lowest first
    tolerance: float  # anything no farther from 0 counts as zero
    negative: int
    zero: int
    positive: int
    complete: bool
    method: Literal["dense", "lanczos"]

    @property
    def lowest(self) -> float:
        return float(self.eigenvalues[0])

    @property
    def highest(self) -> float:
        return float(self.eigenvalues[-1])

    def describe(self) -> str:
        """Counts and range in one sentence, without an end."""
        counts = f"{self.negative} negative, {self.zero} zero (within {self.tolerance:.1g})"
        ends = f"from {self.lowest:.3g} to {self.highest:.3g}"
        found = "" if self.complete else " of those found (both ends, by Lanczos)"
        return f"{counts} and {self.positive} positive eigenvalues{found}, {ends}"


@guided
def spectrum(
    matrix: npt.ArrayLike,
    *,
    directions: int = 5,
    null: npt.ArrayLike | None = None,
    floor: float = 0.0,
) -> Spectrum:
    """All eigenvalues of a symmetric matrix, and `directions` eigenvectors at each end.

    `null`: rows [m, n], directions that the exact matrix takes to 0. `floor`: how long the images
    of such directions were, where that was measured before.

    >>> spectrum([[0.0, 2.0], [2.0, 0.0]]).eigenvalues.tolist()
    [-2.0, 2.0]
    """
    given = _symmetric(matrix)
    values, vectors = np.linalg.eigh(given)
    floor = max(floor, image_length(lambda rows: rows @ given, null, len(given)))
    tolerance = max(_rounding(values, len(given)), t.FLOOR * floor)
    count = _count(directions, len(given))
    bottom, top = vectors.T[:count], vectors.T[::-1][:count]
    return Spectrum(values, top, bottom, tolerance, *_signs(values, tolerance), True, "dense")


def spectrum_by_products(
    product: Product,
    size: int,
    *,
    directions: int = 5,
    null: npt.ArrayLike | None = None,
    floor: float = 0.0,
) -> Spectrum:
    """Both ends of the spectrum of a symmetric matrix [size, size], `directions` at each.

    `product` takes rows [m, size] to their products with the matrix.

    >>> wide = np.arange(-3.0, 47.0)
    >>> found = spectrum_by_products(lambda rows: rows * wide, 50, directions=2)
    >>> found.eigenvalues.round(6).tolist(), found.complete
    ([-3.0, -2.0, 45.0, 46.0], False)
    """
    count = _count(directions, size)
    if 2 * count >= size - 1 and size <= t.DENSE_WEIGHTS:  # Lanczos needs room
        return spectrum(product(np.eye(size)), directions=count, null=null, floor=floor)
    if count > t.LANCZOS_MOST:
        raise expected("directions", f"at most {t.LANCZOS_MOST} by Lanczos", directions)
    low, below = _lanczos(product, size, count, "SA")
    high, above = _lanczos(product, size, count, "LA")
    values, vectors = np.concatenate([low, high]), np.concatenate([below, above])
    residuals = np.linalg.norm(product(vectors) - values[:, None] * vectors, axis=1)
    doubtful = float(residuals[np.abs(values) <= residuals].max(initial=0.0))
    floor = max(floor, image_length(product, null, size))
    tolerance = max(_rounding(values, size), t.FLOOR * floor, doubtful)
    signs = _signs(values, tolerance)
    return Spectrum(values, above[::-1], below, tolerance, *signs, False, "lanczos")


def _symmetric(matrix: npt.ArrayLike) -> Array:
    given = _numbers("matrix", matrix)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not given.size:
        raise expected("matrix", "a square matrix", Description(f"shape {given.shape}"))
    if not np.isfinite(given).all():
        raise expected("matrix", "finite numbers", Description("NaN or infinity"))
    apart = float(np.abs(given - given.T).max())
    if apart > t.ASYMMETRY * float(np.abs(given).max()):
        raise expected("matrix", "a symmetric matrix", Description(f"entries {apart:.3g} apart"))
    return given / 2 + given.T / 2


def _numbers(field: str, value: npt.ArrayLike) -> Array:
    try:
        given = np.asarray(value)
    except ValueError:
        raise expected(field, "rows of numbers", Description("rows of different lengths")) from None
    if given.dtype.kind not in "fiu":
        raise expected(field, "real numbers", value)
    return given.astype(np.float64)


def _count(directions: object, size: int) -> int:
    whole = isinstance(directions, int | np.integer) and not isinstance(directions, bool)
    if not whole or int(directions) < 1:  # type: ignore[call-overload]
        raise expected("directions", "a whole number of at least 1", directions)
    return min(int(directions), size)  # type: ignore[call-overload,no-any-return]


def _rounding(values: Array, size: int) -> float:
    return t.ROUNDING * size * float(np.finfo(np.float64).eps) * float(np.abs(values).max())


def image_length(product: Product, null: npt.ArrayLike | None, size: int) -> float:
    """How long the images are of unit directions that should have none."""
    rows = np.zeros((0, size)) if null is None else np.atleast_2d(_numbers("null", null))
    if rows.ndim != 2 or rows.shape[1] != size:
        raise expected("null", f"rows of {size} numbers", Description(f"shape {rows.shape}"))
    lengths = np.linalg.norm(rows, axis=1)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise expected("null", "directions of a finite length above 0", lengths.tolist())
    if not len(rows):
        return 0.0
    return float(np.linalg.norm(product(rows / lengths[:, None]), axis=1).max())


def _signs(values: Array, tolerance: float) -> tuple[int, int, int]:
    below, above = int((values < -tolerance).sum()), int((values > tolerance).sum())
    return below, len(values) - below - above, above


def _lanczos(
    product: Product, size: int, count: int, which: Literal["SA", "LA"]
) -> tuple[Array, Array]:
    """Eigenvalues at one end, rising, and their eigenvectors as rows: those that converged."""
    with needing("theory", "theory", "scipy"):
        from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    def one(vector: Array) -> Array:
        return np.asarray(product(np.ravel(vector)[None])[0])

    operator = LinearOperator((size, size), matvec=one, dtype=np.float64)
    start = np.random.Generator(np.random.PCG64(0)).standard_normal(size)  # the same every time
    room = min(size, max(2 * count + 1, 20))
    try:
        values, vectors = eigsh(
            operator,
            k=count,
            which=which,
            v0=start,
            ncv=room,
            maxiter=t.LANCZOS_STEPS,
            tol=t.LANCZOS_TOLERANCE,
        )
    except ArpackNoConvergence as stopped:
        values, vectors = stopped.eigenvalues, stopped.eigenvectors
        if not len(values):
            what = "products of a matrix whose eigenvalues converge"
            raise expected("product", what, Description("none that did")) from None
    order = np.argsort(values)
    return np.asarray(values)[order], np.asarray(vectors).T[order]
