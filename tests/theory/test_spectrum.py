"""Spectra that are known, by the whole matrix and by Lanczos."""

from typing import Any

import numpy as np
import pytest
from small_runs import matrix_with

import dynascope as ds
from dynascope.theory import curvature_thresholds as t
from dynascope.theory import spectrum
from dynascope.theory.spectrum import spectrum_by_products

PRESCRIBED = [
    ([-3.0, -1e-3, 0.0, 0.0, 2.0, 50.0], (2, 2, 2)),
    ([0.0] * 4, (0, 4, 0)),
    ([1.0], (0, 0, 1)),
    ([*np.linspace(-1, -0.1, 40), *[0.0] * 20, *np.geomspace(1e-6, 1e3, 60)], (40, 20, 60)),
]


@pytest.mark.parametrize(("wanted", "signs"), PRESCRIBED)
def test_a_prescribed_spectrum_is_found(wanted: list[float], signs: tuple[int, int, int]) -> None:
    matrix, basis = matrix_with(wanted)
    found = spectrum(matrix, directions=3)
    assert (found.negative, found.zero, found.positive) == signs
    assert found.eigenvalues == pytest.approx(sorted(wanted), abs=1e-12 * max(map(abs, wanted)))
    assert (found.complete, found.method) == (True, "dense")
    for vectors, values in (
        (found.bottom, found.eigenvalues),
        (found.top, found.eigenvalues[::-1]),
    ):
        assert len(vectors) == min(3, len(wanted))
        errors = vectors @ matrix - values[: len(vectors), None] * vectors
        assert np.abs(errors).max() < 1e-12 * max(1.0, *map(abs, wanted))
    if signs[0]:
        assert abs(found.bottom[0] @ basis[:, 0]) == pytest.approx(1)


def test_known_zeros_measure_how_far_rounding_reaches() -> None:
    matrix, basis = matrix_with([-1.0, 0.0, 0.0, 0.0, 1.0, 2.0])
    noise = 1e-7 * np.random.default_rng(1).standard_normal(matrix.shape)
    noisy = matrix + noise + noise.T
    blind, sighted = spectrum(noisy), spectrum(noisy, null=7.0 * basis[:, 1:2].T)
    assert blind.zero < 3
    assert (sighted.negative, sighted.zero, sighted.positive) == (1, 3, 2)
    image = np.linalg.norm(noisy @ basis[:, 1])
    assert sighted.tolerance == pytest.approx(t.FLOOR * image)
    assert blind.tolerance < 1e-14


@pytest.mark.parametrize("count", [1, 4])
def test_lanczos_finds_what_eigh_finds(count: int) -> None:
    matrix, basis = matrix_with([*np.linspace(-2, -1, 5), *[0.0] * 60, *np.geomspace(0.1, 30, 85)])
    found = spectrum_by_products(
        lambda rows: rows @ matrix, len(matrix), directions=count, null=basis[:, 5:8].T
    )
    whole = spectrum(matrix, directions=count)
    ends = np.concatenate([whole.eigenvalues[:count], whole.eigenvalues[-count:]])
    assert found.eigenvalues == pytest.approx(ends, rel=1e-9)
    assert (found.negative, found.zero, found.positive) == (count, 0, count)
    assert (found.complete, found.method) == (False, "lanczos")
    for mine, theirs in ((found.bottom, whole.bottom), (found.top, whole.top)):
        assert np.abs((mine * theirs).sum(axis=1)) == pytest.approx(1, abs=1e-6)


def test_lanczos_keeps_only_what_converged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(t, "LANCZOS_STEPS", 1)
    crowd = np.concatenate([np.linspace(0, 1, 3000), [40.0]])  # the lower end has no gaps
    with pytest.raises(ds.DynascopeError, match="whose eigenvalues converge"):
        spectrum_by_products(lambda rows: rows * crowd, len(crowd))


def test_few_weights_need_no_lanczos() -> None:
    found = spectrum_by_products(lambda rows: rows * np.array([1.0, -2.0, 3.0]), 3)
    assert found.method == "dense"
    assert found.eigenvalues.tolist() == [-2.0, 1.0, 3.0]


BAD_MATRICES: list[tuple[Any, dict[str, Any], str]] = [
    ([[1.0, 2.0]], {}, "matrix: expected a square matrix"),
    (np.zeros((0, 0)), {}, "matrix: expected a square matrix"),
    ("text", {}, "matrix: expected real numbers"),
    ([[1.0, np.nan], [np.nan, 1.0]], {}, "matrix: expected finite numbers"),
    ([[1.0, 2.0], [1.0, 1.0]], {}, "matrix: expected a symmetric matrix, but got entries 1 apart"),
    (np.eye(2), {"directions": 0}, "directions: expected a whole number"),
    (np.eye(2), {"directions": True}, "directions: expected a whole number"),
    (np.eye(2), {"null": [[1.0, 0.0, 0.0]]}, "null: expected rows of 2 numbers"),
    (np.eye(2), {"null": [[0.0, 0.0]]}, "null: expected directions of a finite length"),
]


@pytest.mark.parametrize(("matrix", "options", "says"), BAD_MATRICES)
def test_bad_matrices(matrix: Any, options: dict[str, Any], says: str) -> None:
    with pytest.raises(ds.DynascopeError, match=says):
        spectrum(matrix, **options)
