"""The sum that a model of two tokens computes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dynascope as ds
from dynascope.analysis import alias
from dynascope.analysis.alias import _Search
from dynascope.errors import DynascopeError
from dynascope.theory import ideal_head

TOKENS, _ = ds.dataset(ds.TaskConfig(length=8, relevant=4), split="all")
RELEVANT = np.arange(8) < 4


def curve(sums: np.ndarray, bend: float) -> np.ndarray:
    """Points along a bent line, in the order of the sums; variance 1 in all."""
    points = np.c_[sums, bend * sums**2]
    away = points - points.mean(axis=0)
    return away / np.sqrt((away**2).sum(axis=1).mean())


@settings(max_examples=40, deadline=None)
@given(
    odd=st.lists(st.sampled_from([-1, 1]), min_size=3, max_size=3),
    even=st.lists(st.sampled_from([-2, 0, 0, 2]), min_size=4, max_size=4),
    bend=st.floats(-0.05, 0.05),
)
def test_a_planted_sum_is_found(odd: list[int], even: list[int], bend: float) -> None:
    planted = np.array([1, *odd, *even])
    weights, share = _Search(TOKENS, curve(TOKENS @ planted, bend), RELEVANT).best()
    assert weights.tolist() == planted.tolist()
    assert share == pytest.approx(1)


def test_the_share_is_that_of_a_variance_between_groups() -> None:
    random = np.random.default_rng(0)
    away = curve(TOKENS.sum(axis=1), 0.0) + 0.3 * random.normal(size=(256, 2))
    away = away - away.mean(axis=0)
    away /= np.sqrt((away**2).sum(axis=1).mean())
    weights, share = _Search(TOKENS, away, RELEVANT).best()
    sums = TOKENS @ weights
    means = np.array([away[sums == s].mean(axis=0) for s in sums])
    assert share == pytest.approx((means**2).sum(axis=1).mean())
    assert share < 0.95


def test_an_ideal_head_computes_the_plain_sum() -> None:
    head = ideal_head(ds.Config().replace({"task.length": 9, "task.relevant": [1, 4, 6]}))
    found = alias(head.parameters, head.config)
    assert found is not None
    assert found.weights == (0, 1, 0, 0, 1, 0, 1, 0, 0)
    assert found.holds
    assert found.plain
    assert found.sums == 4


def test_a_position_whose_tokens_are_exchanged_counts_backwards() -> None:
    head = ideal_head(ds.Config())
    weights = head.parameters
    act = ds.forward(weights, TOKENS_12, head.config.model)
    values = act.values.copy()
    values[:, 2] = act.values[TOKENS_12_FLIPPED, 2]
    mirrored = ds.forward(weights, TOKENS_12, head.config.model, patch={"values": values}).sequence
    away = (mirrored - mirrored.mean(axis=0)).astype(float)
    away /= np.sqrt((away**2).sum(axis=1).mean())
    found, share = _Search(TOKENS_12, away, np.arange(12) < 5).best()
    assert found.tolist() == [1, 1, -1, 1, 1, *[0] * 7]
    assert share > 0.98


TOKENS_12, _ = ds.dataset(ds.TaskConfig(), split="all")
TOKENS_12_FLIPPED = np.arange(4096) ^ (1 << 9)  # the sequence with the other token at position 2


def test_other_tasks_have_none() -> None:
    config = ds.Config().replace({"task.vocab": 3, "task.length": 5, "task.relevant": 2})
    assert alias(ds.initial_parameters(config), config) is None
    still = ds.initial_parameters(ds.Config())
    still.value[...] = 0
    assert alias(still, ds.Config()) is None
    with pytest.raises(DynascopeError, match=r"expected ds\.Parameters"):
        alias(None, config)  # type: ignore[arg-type]


def test_a_small_test_set_explains_nothing_by_chance() -> None:
    shares = []
    for size in (8, 2048):
        config = ds.Config().replace({"task.length": 16, "task.test_size": size})
        found = alias(ds.initial_parameters(config), config)
        assert found is not None
        shares.append(found.share)
    assert shares[0] == shares[1] < 0.95


def test_a_long_task_is_sampled() -> None:
    config = ds.Config().replace({"task.length": 30})
    head = ideal_head(config)
    found = alias(head.parameters, head.config)
    assert found is not None
    assert found.weights == (1,) * 5 + (0,) * 25
