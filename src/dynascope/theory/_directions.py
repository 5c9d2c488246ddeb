"""Two directions in weight space that span a plane, and where weights lie in it.

Weights that training leaves alone (`free` is false there) have no part in any direction.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope.errors import Description, expected
from dynascope.parameters import Parameters
from dynascope.theory.spectrum import Spectrum

Array = npt.NDArray[Any]

# Sine of the angle between two directions. Below it the rounding of float32 weights, whose steps
# are a few percent of their length, decides what the plane is.
ONE_LINE = 1e-6


class SlicePlane(NamedTuple):
    """Where a slice is taken."""

    kind: str  # as asked for; "given": by the caller
    axes: Array  # [2, weights]
    eigenvalues: tuple[float, float] | None = None  # along the axes, where these are eigenvectors

    @property
    def spanned(self) -> bool:
        """Whether the axes are more than one line."""
        with np.errstate(all="ignore"):  # a length of 0, or too large for a number, makes NaN
            first, second = (axis / np.linalg.norm(axis) for axis in self.axes)
            apart = np.linalg.norm(second - (first @ second) * first)
        return bool(apart > ONE_LINE)


def eigenvectors(kind: str, spectrum: Spectrum, free: Array) -> SlicePlane:
    """Two eigenvectors of unit length: those of the lowest eigenvalues ("negative") or of the
    largest in size ("sharp"). The sign of each makes its largest entry positive."""
    values, last = spectrum.eigenvalues, len(spectrum.eigenvalues) - 1
    known = dict(enumerate(spectrum.bottom))
    if kind == "sharp":  # at either end
        known |= {last - i: vector for i, vector in enumerate(spectrum.top)}
    order = sorted(known, key=lambda i: -abs(values[i]) if kind == "sharp" else values[i])[:2]
    if len(order) < 2:
        raise expected("parameters", "a Hessian whose eigenvectors converge", len(order))
    axes = np.zeros((2, len(free)))
    axes[:, free] = [known[i] for i in order]
    largest = np.abs(axes).argmax(axis=1)[:, None]
    axes *= np.sign(np.take_along_axis(axes, largest, axis=1))
    return SlicePlane(kind, axes, (float(values[order[0]]), float(values[order[1]])))


def random_directions(parameters: Parameters, free: Array, seed: int) -> SlicePlane:
    """Gaussian directions with filter normalisation (Li et al. 2018, arXiv 1712.09913).

    Each row of a matrix, each embedding, each bias and the query is as long as the model's own
    (their free parts), so one unit along an axis is as much to a large weight as to a small one.
    """
    draws = np.random.Generator(np.random.PCG64(seed)).standard_normal((2, len(free))) * free
    own = Parameters.from_flat(parameters.flat * free, parameters.shapes)
    for row in draws:
        for name, array in Parameters.from_flat(row, parameters.shapes).items():
            size = np.linalg.norm(array, axis=-1, keepdims=True)
            wanted = np.linalg.norm(own[name], axis=-1, keepdims=True)
            array *= np.divide(wanted, size, out=np.zeros_like(size), where=size > 0)
    return SlicePlane("random", draws)


def given_directions(pair: object, parameters: Parameters, free: Array) -> SlicePlane:
    """Directions of the caller's, as they are: neither scaled nor made orthogonal."""
    if not isinstance(pair, tuple | list | np.ndarray) or len(pair) != 2:
        raise expected("directions", "a name or a pair of directions", pair)
    axes = np.stack([_given(i, each, parameters) for i, each in enumerate(pair)])
    for i, axis in enumerate(axes):
        if (axis[~free] != 0).any():
            what = "no move of frozen weights"
            raise expected(f"directions[{i}]", what, Description("one"), "make it 0 there")
    plane = SlicePlane("given", axes)
    if not plane.spanned:
        raise expected("directions", "two that span a plane", Description("two on one line"))
    return plane


def _given(i: int, direction: object, parameters: Parameters) -> Array:
    field, size = f"directions[{i}]", len(parameters.flat)
    if isinstance(direction, Parameters):
        if direction.shapes != parameters.shapes:
            raise expected(field, f"shapes {parameters.shapes}", direction.shapes)
        return direction.check(field).astype(np.float64).flat
    try:
        flat = np.asarray(direction)
    except ValueError:
        raise expected(field, f"{size} numbers", Description("rows of different lengths")) from None
    if flat.dtype.kind not in "fiu" or flat.shape != (size,):
        got = Description(f"an array of {flat.dtype} of shape {flat.shape}")
        raise expected(field, f"ds.Parameters or their {size} numbers", got)
    if not np.isfinite(flat).all():
        at = int(np.flatnonzero(~np.isfinite(flat))[0])
        raise expected(field, "finite numbers", Description(f"{flat[at]} at [{at}]"))
    return flat.astype(np.float64)


def through(centre: Array, first: Array, second: Array) -> SlicePlane:
    """The plane through three points, with axes of unit length at right angles; the first leads
    from the centre to the first point. Where they lie on one line it is not `spanned`."""
    plane = SlicePlane("epochs", np.stack([first - centre, second - centre]))
    if not plane.spanned:
        return plane
    made, sides = np.linalg.qr(plane.axes.T)
    return SlicePlane("epochs", made.T * np.sign(np.diag(sides))[:, None])


class Projection(NamedTuple):
    """Weights seen in a plane."""

    points: Array  # [rows, 2]: coordinates of the nearest point of the plane
    distance: Array  # [rows]: how far that is
    share: Array  # [rows - 1]: how much of the way from row to row, in length, lies in the plane


def project(rows: Array, centre: Array, axes: Array) -> Projection:
    """Where rows of weights [rows, weights] lie, seen from a plane through `centre`."""
    flat, sides = np.linalg.qr(axes.T)  # orthonormal: the axes themselves need not be
    apart = rows - centre
    inside = apart @ flat
    points = np.linalg.solve(sides, inside.T).T
    distance = np.linalg.norm(apart - inside @ flat.T, axis=1)
    whole = np.linalg.norm(np.diff(rows, axis=0), axis=1)
    part = np.linalg.norm(np.diff(inside, axis=0), axis=1)
    share = np.divide(part, whole, out=np.ones_like(whole), where=whole > 0)
    return Projection(points, distance, np.minimum(share, 1.0))  # rounding may exceed the whole
