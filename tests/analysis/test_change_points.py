"""Our change points are those of `ruptures`, whatever the curve: stored analyses depend on them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from ruptures import KernelCPD

import dynascope as ds
from dynascope.analysis import thresholds as t
from dynascope.analysis.change_points import change_points
from dynascope.analysis.drops import LossCurve
from dynascope.analysis.smoothing import noise_deviation

LOGS = st.floats(-30, 5, allow_subnormal=False)
TIES = st.sampled_from([0.0, -0.0, 0.1, 0.3, -1.0, -1.0 / 3])  # many staircases as good as another


def by_ruptures(curve: np.ndarray, penalty: float, least: int) -> list[int]:
    search = KernelCPD(kernel="linear", min_size=least)
    return [0, *search.fit(curve[:, None]).predict(pen=penalty)]


def squared_error(curve: np.ndarray, edges: list[int], penalty: float) -> float:
    steps = np.split(curve, edges[1:-1])
    return sum(float(((step - step.mean()) ** 2).sum()) + penalty for step in steps)


@settings(max_examples=300, deadline=None)
@given(
    curve=st.integers(20, 120).flatmap(
        lambda n: st.one_of(
            arrays(np.float64, n, elements=LOGS), arrays(np.float64, n, elements=TIES)
        )
    ),
    penalty=st.floats(1e-4, 100),
    least=st.integers(1, 10),
)
def test_as_ruptures(curve: np.ndarray, penalty: float, least: int) -> None:
    assert change_points(curve, penalty, least).tolist() == by_ruptures(curve, penalty, least)


@settings(max_examples=60, deadline=None)
@given(
    levels=st.lists(st.floats(-10, 2), min_size=1, max_size=8),
    lengths=st.lists(st.integers(1, 300), min_size=8, max_size=8),
    noise=st.sampled_from([0.0, 1e-3, 0.1, 1.0]),
    seed=st.integers(0, 99),
)
def test_as_ruptures_on_stairs(
    levels: list[float], lengths: list[int], noise: float, seed: int
) -> None:
    curve = np.repeat(levels, [length + 10 for length in lengths[: len(levels)]])
    curve = curve + noise * np.random.default_rng(seed).standard_normal(len(curve))
    for penalty in (t.STEP_PENALTY, t.STEP_NOISE * max(noise, 0.03) ** 2):
        found = change_points(curve, penalty, t.STEP_LEAST).tolist()
        assert found == by_ruptures(curve, penalty, t.STEP_LEAST)


def test_as_ruptures_on_losses_of_runs() -> None:
    compared = 0
    for run in ds.train({"training.epochs": 400}, seeds=24, progress=False):
        for name in ("train_loss", "test_loss"):
            loss = LossCurve(run.curves[name])
            noise = noise_deviation(loss._log)
            penalty = max(t.STEP_PENALTY, t.STEP_NOISE * noise**2)
            found = change_points(loss._despiked, penalty, t.STEP_LEAST).tolist()
            assert found == by_ruptures(loss._despiked, penalty, t.STEP_LEAST)
            compared += len(found) > 2
    assert compared > 10


def test_no_staircase_is_better() -> None:
    """All of them, of a curve that is short enough."""
    curve, penalty, least = np.array([3.0, 3.1, 2.9, 1.0, 1.2, 0.1, 0.0, 0.2, 0.1]), 0.3, 2

    def staircases(begin: int) -> list[list[int]]:
        ends = range(begin + least, len(curve) - least + 1)
        return [[begin, len(curve)]] + [[begin, *rest] for end in ends for rest in staircases(end)]

    best = min(staircases(0), key=lambda edges: squared_error(curve, edges, penalty))
    assert change_points(curve, penalty, least).tolist() == best == [0, 3, 5, 9]


def test_a_curve_too_short_for_two_steps_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 10 points or more, got 9"):
        change_points(np.zeros(9), 0.01, 5)
