"""The plane for d > 2: against NumPy's singular values; the cases that its formula leaves open."""

from typing import Any

import numpy as np
import pytest

from dynascope.errors import DynascopeError
from dynascope.projection import plane

RNG = np.random.default_rng(11)


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e150])
@pytest.mark.parametrize(
    ("n", "d"), [(2, 3), (5, 3), (40, 3), (10, 8), (200, 8), (5, 33), (90, 64)]
)
def test_against_singular_values(n: int, d: int, scale: float) -> None:
    points = RNG.normal(size=(n, d)) * np.linspace(3, 1, d) + RNG.normal(size=d)
    found = plane(points * scale)
    off = points - points.mean(axis=0)
    _, sizes, rows = np.linalg.svd(off, full_matrices=False)
    largest = np.abs(points).max()
    assert np.allclose(found.mean / scale, points.mean(axis=0), rtol=0, atol=1e-15 * largest)
    shares = np.append(sizes**2 / (sizes**2).sum(), 0)[:2]
    assert np.allclose(found.shares, shares, rtol=1e-12, atol=1e-15)
    assert np.allclose(found.axes @ found.axes.T, np.eye(2), atol=1e-14)
    for axis, row in list(zip(found.axes, rows, strict=False))[: min(n - 1, 2)]:
        assert np.allclose(axis * np.sign(axis @ row), row, atol=1e-9)
        assert axis[np.abs(axis).argmax()] > 0
    assert np.allclose(
        found.project(points * scale), off @ found.axes.T * scale, atol=1e-12 * scale
    )


def test_two_dimensions_stay_as_they_are() -> None:
    points = RNG.normal(size=(30, 2)) * [1, 5]
    found = plane(points)
    assert (found.axes == np.eye(2)).all()
    assert np.allclose(found.shares, points.var(axis=0) / points.var(axis=0).sum())


def test_one_dimension_is_a_line() -> None:
    found = plane([[1.0], [2.0]])
    assert found.axes.tolist() == [[1], [0]]
    assert found.shares.tolist() == [1, 0]


@pytest.mark.parametrize("points", [[[1, 2, 3]], [[0.1, 0.2, 0.3]] * 7, np.zeros((4, 5))])
def test_no_variance(points: Any) -> None:
    found = plane(points)
    assert found.shares.tolist() == [0, 0]
    assert (found.axes == np.eye(2, np.shape(points)[1])).all()
    assert (found.mean == np.asarray(points)[0]).all()


def test_on_a_line_the_second_axis_is_still_one() -> None:
    found = plane(np.outer(np.arange(9.0), [2, -3, 6, 1]))
    assert np.allclose(found.axes @ found.axes.T, np.eye(2), atol=1e-14)
    assert np.allclose(found.shares, [1, 0], atol=1e-15)


def test_equal_variances_keep_their_order() -> None:
    both = np.concatenate([np.eye(4), -np.eye(4)])
    assert (plane(both).axes == np.eye(2, 4)).all()


def test_the_greatest_entry_is_positive_and_the_first_of_equals() -> None:
    axis = plane([[0, 0, 0], [-2, 2, 0]]).axes[0]
    assert axis[0] == -axis[1] > 0
    assert not np.signbit(plane([[0, 0, 0], [-5, 0, 0]]).axes).any()  # no negative zero either


@pytest.mark.parametrize(
    "points",
    ["x", 3, [1, 2], [], [[]], [[1, np.nan, 2]], [[np.inf] * 3], [[-1e308] * 3, [1e308] * 3]],
)
def test_bad_points(points: Any) -> None:
    with pytest.raises(DynascopeError, match=r"^points: expected .*\.$"):
        plane(points)
