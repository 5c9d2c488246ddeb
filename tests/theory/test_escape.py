"""Shares of a way along negative directions, and how likely chance alone would give them."""

import numpy as np
import pytest
from scipy import stats
from small_runs import matrix_with

from dynascope.theory import spectrum
from dynascope.theory.escape import alignment, chance_of

NONE = np.zeros((0, 12))


BENT = spectrum(matrix_with([-7.0, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4])[0], directions=12)


def test_a_way_along_an_eigenvector() -> None:
    for place, wanted in ((0, (1, 1, 1)), (4, (0, 1, 1)), (6, (0, 0, 1)), (8, (0, 0, 0))):
        found = alignment(BENT, -3.0 * BENT.bottom[place], None, NONE)
        assert found.escape == pytest.approx(wanted, abs=1e-12)
        assert found.chance == pytest.approx((1 / 12, 5 / 12, 7 / 12))
        assert (found.negative, found.size, found.update) == (7, 12, None)
        assert found.aligned == (place < 5)


def test_a_mixed_way() -> None:
    way = BENT.bottom[0] + 2 * BENT.bottom[5] + 2 * BENT.bottom[11]
    found = alignment(BENT, way, BENT.bottom[5], NONE)
    assert found.escape == pytest.approx((1 / 9, 1 / 9, 5 / 9))
    assert found.update == pytest.approx((0, 0, 1), abs=1e-12)
    assert not found.aligned


def test_flat_directions_do_not_count() -> None:
    flat = BENT.bottom[7:9]  # one of eigenvalue 0, one that is said to be
    way = BENT.bottom[0] + 50 * BENT.bottom[7] - 9 * BENT.bottom[8]
    found = alignment(BENT, way, None, flat)
    assert found.escape.first == pytest.approx(1)
    assert (found.size, found.chance.first) == (10, 0.1)


def test_nothing_negative_and_no_way() -> None:
    up = spectrum(np.diag([0.0, 1.0, 2.0]), directions=3)
    found = alignment(up, np.ones(3), np.ones(3), np.zeros((0, 3)))
    assert found.escape == found.chance == found.update == (0, 0, 0)
    assert found.p_value == (1, 1, 1)
    assert alignment(BENT, np.zeros(12), None, NONE).escape == (0, 0, 0)


@pytest.mark.parametrize(("count", "size"), [(1, 12), (5, 12), (7, 12), (5, 160)])
def test_random_directions_follow_the_beta_distribution(count: int, size: int) -> None:
    drawn = np.random.default_rng(count).standard_normal((2000, size))
    shares = (drawn[:, :count] ** 2).sum(axis=1) / (drawn**2).sum(axis=1)
    tails = [chance_of(share, count, size) for share in shares]
    assert stats.kstest(tails, "uniform").pvalue > 1e-3
    assert np.mean(shares) == pytest.approx(count / size, rel=0.05)


def test_the_null_of_an_alignment_is_uniform_too() -> None:
    chance = np.random.default_rng(0)
    ways = chance.standard_normal((500, 12))
    tails = np.array([alignment(BENT, way, None, NONE).p_value for way in ways])
    for column in tails.T:
        assert stats.kstest(column, "uniform").pvalue > 1e-3


def test_chances_in_closed_form() -> None:
    for share in (0.0, 0.1, 0.5, 0.9, 1.0):
        assert chance_of(share, 2, 4) == pytest.approx(1 - share)  # Beta(1, 1)
        assert chance_of(share, 2, 6) == pytest.approx((1 - share) ** 2)  # Beta(1, 2)
    assert chance_of(1.0, 3, 3) == chance_of(0.0, 0, 3) == 1.0
