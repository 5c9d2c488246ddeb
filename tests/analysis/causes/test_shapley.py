"""Shapley values: whose fault a rise is, and that all of it is somebody's."""

import itertools

import numpy as np
import pytest

import dynascope as ds
from dynascope.analysis.causes import mechanisms
from dynascope.analysis.shapley import GROUPS, members, mixtures, shapley


@pytest.mark.parametrize("players", [1, 2, 3, 5])
def test_shapley_values_are_the_mean_over_all_orders(players):
    game = np.random.default_rng(players).normal(size=2**players)
    total = np.zeros(players)
    orders = list(itertools.permutations(range(players)))
    for order in orders:
        joined = 0
        for player in order:
            total[player] += game[joined | 1 << player] - game[joined]
            joined |= 1 << player
    values = shapley(game)
    assert values == pytest.approx(total / len(orders), rel=1e-12, abs=1e-12)
    assert values.sum() == pytest.approx(game[-1] - game[0], rel=1e-12)


def test_players_that_do_the_same_get_the_same_and_one_that_does_nothing_gets_nothing():
    def worth(coalition: int) -> float:  # players 0 and 1 are alike, 2 does nothing
        alike, other = (coalition & 1) + (coalition >> 1 & 1), coalition >> 3 & 1
        return alike**2 + 5 * alike * other

    values = shapley([worth(c) for c in range(16)])
    assert values[0] == pytest.approx(values[1], rel=1e-12)
    assert values[2] == pytest.approx(0, abs=1e-12)
    assert values[3] != pytest.approx(0, abs=1)


@pytest.mark.parametrize("bias", [True, False])
def test_every_weight_belongs_to_one_group(bias):
    config = ds.Config().replace({"model.bias": bias, "model.dim": 3})
    groups = members(config.shapes)
    assert (groups.sum(axis=0) == 1).all()
    p = ds.Parameters.from_flat(np.arange(groups.shape[1], dtype=float), config.shapes)
    for row, names in zip(groups, GROUPS.values(), strict=True):
        inside = np.concatenate([p[name].ravel() for name in names if name in p])
        assert sorted(inside) == np.flatnonzero(row).tolist()


def test_mixtures_take_whole_groups():
    config = ds.Config()
    groups = members(config.shapes)
    before, after = np.zeros(groups.shape[1]), np.ones(groups.shape[1])
    mixed = mixtures(before, after, groups)
    for coalition, row in enumerate(mixed):
        for i, group in enumerate(groups):
            assert (row[group] == (coalition >> i & 1)).all()


def test_the_attribution_adds_up_to_the_rise(train, history):
    found = mechanisms(train, [history], history[10].astype(float), history[-1].astype(float), 3)
    low, high = train.losses(history[[10, -1]].astype(float))
    assert sum(found.attribution.values()) == pytest.approx(high - low, rel=1e-10)
