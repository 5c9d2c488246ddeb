"""Heavy and correlated assemblers: against all pairs, and built ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dynascope as ds
from dynascope.analysis import assemblers
from dynascope.analysis.assemblers import Assemblers


def of(columns: np.ndarray) -> Assemblers:
    """Of these assemblers, [dim, hidden]."""
    dim, hidden = columns.shape
    sizes = {"model.dim": dim, "model.hidden": hidden, "precision": "float64"}
    config = ds.Config().replace(sizes)
    return assemblers(ds.initial_parameters(config).replace(assemblers=columns), config)


matrices = st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(2, 40)).map(
    lambda sizes: np.random.default_rng(sizes[0]).normal(size=sizes[1:])
)


@settings(max_examples=80, deadline=None)
@given(matrices)
def test_against_all_pairs(columns: np.ndarray) -> None:
    found, vectors = of(columns), list(columns.T)
    lengths = [float(np.sqrt(sum(x * x for x in vector))) for vector in vectors]
    pairs = [(i, j) for j in range(len(vectors)) for i in range(j)]
    products = {(i, j): float(vectors[i] @ vectors[j]) for i, j in pairs}
    np.testing.assert_allclose(found.lengths, lengths)
    assert found.heaviest == int(np.argmax(lengths))
    assert found.heaviness == pytest.approx(max(lengths) / float(np.median(lengths)))
    weights = {(i, j): lengths[i] * lengths[j] for i, j in pairs}
    cosines = {pair: products[pair] / weights[pair] for pair in pairs}
    mean = sum(cosines[p] * weights[p] for p in pairs) / sum(weights.values())
    assert found.correlation == pytest.approx(mean)
    assert found.largest == pytest.approx(max(products.values()) / max(lengths) ** 2)
    assert found.pair is not None
    assert products[found.pair] == pytest.approx(max(products.values()))


@settings(max_examples=20, deadline=None)
@given(matrices, st.floats(1e-3, 1e3))
def test_scale_and_order_do_not_matter(columns: np.ndarray, scale: float) -> None:
    one, other = of(columns), of(scale * columns[:, ::-1])
    for name in ("heaviness", "correlation", "largest"):
        assert getattr(one, name) == pytest.approx(getattr(other, name))
    assert other.heaviest == columns.shape[1] - 1 - one.heaviest


def test_the_same_one_many_times_is_correlated() -> None:
    found = of(np.tile([[0.01], [0.02]], 32))
    assert (found.heaviness, found.correlation, found.largest) == pytest.approx((1, 1, 1))


def test_one_heavy_among_small_ones_is_not_correlated() -> None:
    columns = np.full((2, 9), 0.001)
    columns[:, 4] = [0, 5]
    found = of(columns)
    assert (found.heaviest, round(found.heaviness)) == (4, round(5 / np.hypot(0.001, 0.001)))
    assert found.largest < 0.001


def test_opposite_ones_cancel() -> None:
    found = of(np.array([[1.0, -1.0], [0.0, 0.0]]))
    assert (found.correlation, found.largest, found.pair) == (-1, -1, (0, 1))


@pytest.mark.parametrize("columns", [[[3.0]], [[0.0, 0.0, 2.0]], [[0.0, 0.0]]], ids=str)
def test_fewer_than_two_have_no_correlation(columns: list[list[float]]) -> None:
    found = of(np.array(columns))
    assert (found.correlation, found.largest, found.pair) == (None, None, None)
    assert found.heaviness == (1 if columns == [[3.0]] else None)
