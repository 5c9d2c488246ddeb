"""Stretches between shelves, by definition; units do not matter."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynascope.analysis.rate_shelves import between_shelves

rates = st.lists(st.integers(1, 40), min_size=1, max_size=60).map(lambda r: np.array(r, float))


@pytest.mark.parametrize(
    ("rate", "spans"),
    [
        ([3], [(0, 0)]),
        ([3, 3, 3], [(0, 2)]),
        ([1, 9, 1, 1, 1, 9, 1], [(0, 2), (4, 6)]),
        ([1, 9, 1, 1, 9, 1], [(0, 5)]),  # too short
        ([1, 9, 6, 6, 6, 9, 1], [(0, 6)]),  # too high
        ([9, 1, 1, 1, 3, 1, 1, 1, 9], [(0, 1), (3, 5), (7, 8)]),  # a medium peak between high ones
        ([9, 1, 1, 1, 1.5, 1, 1, 1, 9], [(0, 1), (7, 8)]),  # a ripple on a shelf
    ],
)
def test_stretches(rate: list[float], spans: list[tuple[int, int]]) -> None:
    assert between_shelves(np.array(rate, float), 0.5, 3) == spans


@given(rates, st.floats(0.1, 0.9), st.integers(1, 8))
def test_stretches_are_in_order_and_have_the_highest_rate(
    rate: np.ndarray[tuple[int], np.dtype[np.float64]], share: float, least: int
) -> None:
    spans = between_shelves(rate, share, least)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert (edges[0], edges[-1]) == (0, len(rate) - 1)
    assert any(rate[first : last + 1].max() == rate.max() for first, last in spans)
    for (_, end), (begin, _) in pairwise(spans):
        assert begin - end + 1 >= least
        lower = min(rate[: end + 1].max(), rate[begin:].max())
        assert (rate[end : begin + 1] < share * lower).all()


@given(rates, st.floats(0.1, 0.9), st.integers(1, 8), st.integers(-20, 20))
def test_units_do_not_matter_to_shelves(
    rate: np.ndarray[tuple[int], np.dtype[np.float64]], share: float, least: int, power: int
) -> None:
    spans = between_shelves(rate, share, least)
    assert between_shelves(rate * 2.0**power, share, least) == spans
