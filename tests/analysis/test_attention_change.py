"""How attention changed in a run: against plain loops over all sequences, and built models."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import forward, tensors
from scipy.stats import spearmanr

import dynascope as ds
from dynascope.analysis import attention, attention_map, attention_similarity
from dynascope.analysis.attention_change import other_seeds
from dynascope.data import MAX_SEED
from dynascope.theory import ideal_head

SMALL = {"task.length": 5, "task.relevant": 2, "task.train_size": 64, "training.epochs": 20}
CASES: dict[str, dict[str, Any]] = {
    "two tokens": {},
    "three tokens": {"task.vocab": 3},
    "five rows": {"task.vocab": 3, "model.embeddings": 5, "model.dim": 4},
    "one dimension": {"model.dim": 1},
    "elsewhere": {"task.relevant": [1, 4], "precision": "float64"},
}


def train(changes: dict[str, Any] | None = None, seed: int = 2, **more: Any) -> ds.Run:
    config = ds.Config().replace(SMALL | {"training.lr": 0.05} | (changes or {}))
    return ds.train(config, [seed], progress=False, **more)[0]


def by_hand(parameters: ds.Parameters, config: ds.Config) -> tuple[np.ndarray, np.ndarray]:
    """The map, and the mean attention on each position: PyTorch's model of all sequences."""
    tokens, _ = ds.dataset(config.task, split="all")
    weights = forward(tensors(parameters), torch.as_tensor(tokens).long(), config.model)
    given = weights["attention"].numpy()
    shape = config.task.vocab, config.task.length
    table = [[given[tokens[:, t] == a, t].mean() for t in range(shape[1])] for a in range(shape[0])]
    return np.array(table), given.mean(axis=0)


@pytest.mark.parametrize("case", CASES)
def test_all_of_it_by_hand(case: str) -> None:
    run = train(CASES[case])
    found, relevant = attention(run), list(run.config.task.positions)
    ends = []
    for at, epoch in ((found.start, 0), (found.end, 20)):
        table, means = by_hand(run.parameters(epoch), run.config)
        np.testing.assert_allclose(at.map, table, rtol=1e-5, atol=1e-7)
        by_token = table[:, relevant].mean(axis=1)
        assert at.epoch == epoch
        assert at.relevant == pytest.approx(means[relevant].sum(), rel=1e-5)
        np.testing.assert_allclose(at.by_token, by_token, rtol=1e-5)
        assert at.preferred == by_token.argmax()
        assert at.preference == pytest.approx(by_token.max() / by_token.sum(), rel=1e-5)
        ends.append(at.map.ravel())
    assert found.similarity.rank_correlation == pytest.approx(spearmanr(*ends).statistic)
    others = [
        spearmanr(attention_map(ds.initial_parameters(run.config, s), run.config).ravel(), ends[1])
        for s in other_seeds(run.seed)
    ]
    chance = [each.statistic for each in others]
    np.testing.assert_allclose(found.similarity.other_rank_correlations, chance)
    as_high = sum(each >= found.similarity.rank_correlation for each in chance)
    assert found.similarity.p_value == (1 + as_high) / 20


def test_it_depends_on_the_run_alone() -> None:
    one, again = attention(train()).similarity, attention(train()).similarity
    assert one.other_cosines.tolist() == again.other_cosines.tolist()
    runs = [train(seed=seed) for seed in (2, 3)]
    alone = attention_similarity(runs[0], others=runs)
    assert attention(runs[0]).similarity.rank_correlation == alone.rank_correlation


@settings(max_examples=30, deadline=None)
@given(st.integers(0, MAX_SEED), st.integers(0, MAX_SEED))
def test_other_seeds_are_others(seed: int, another: int) -> None:
    seeds = other_seeds(seed)
    assert seeds == other_seeds(seed)
    assert len({seed, *seeds}) == 20
    assert all(0 <= each <= MAX_SEED for each in seeds)
    assert seed == another or not {*seeds} & {*other_seeds(another)}


def test_an_ideal_head_looks_at_relevant_tokens_equally() -> None:
    head = ideal_head(ds.Config())
    config = head.config.replace({"training.epochs": 0})
    found = attention(ds.train(config, [0], start=head.parameters, progress=False)[0])
    assert found.end.relevant == pytest.approx(1, abs=1e-8)
    np.testing.assert_allclose(found.end.by_token, 0.2, atol=1e-6)
    assert found.end.preference == pytest.approx(0.5, abs=1e-5)
    assert found.similarity.rank_correlation == pytest.approx(1)


@pytest.mark.parametrize("vocab", [2, 3])
def test_no_query_prefers_nothing(vocab: int) -> None:
    """All entries are equal but for rounding: there is no rank and no preferred token."""
    config = ds.Config().replace(SMALL | {"training.epochs": 0, "task.vocab": vocab})
    start = ds.initial_parameters(config)
    start.query = [0, 0]
    found = attention(ds.train(config, [0], start=start, progress=False)[0])
    assert (found.end.preferred, found.similarity.p_value) == (None, None)
    assert math.isnan(found.similarity.rank_correlation)
    assert found.end.preference == pytest.approx(1 / vocab)
    assert found.end.relevant == pytest.approx(2 / 5)


def test_a_token_that_the_query_points_at_is_preferred() -> None:
    config = ds.Config().replace(SMALL | {"training.epochs": 0, "task.vocab": 3})
    start = 0 * ds.initial_parameters(config)
    start.token_embedding = [[-1, 0], [1, 0], [0, 1]]
    start.query = [2, 0]
    found = attention(ds.train(config, [0], start=start, progress=False)[0])
    assert found.end.preferred == 1
    order = np.argsort(found.end.by_token).tolist()
    assert order == [0, 2, 1]


def test_own_data_have_no_relevant_positions() -> None:
    task = ds.Config().replace(SMALL).task
    run = train(data=ds.Data(train=ds.dataset(task, 5)))
    found = attention(run)
    assert found.end.relevant is None
    table = attention_map(run.parameters(), run.config, run.data.train[0])
    np.testing.assert_allclose(found.end.by_token, table.mean(axis=1))
    assert found.similarity.p_value is not None


def test_up_to_an_epoch() -> None:
    run = train()
    early = attention(run, epoch=3)
    assert early.end.epoch == 3
    table = attention_map(run.parameters(3), run.config)
    assert early.end.map.tolist() == table.tolist()


# ---- maps: three ways to the same ----------------------------------------------------------------
@pytest.mark.parametrize("scale", [1, 30, 1e3, 1e6])
def test_maps_of_near_and_far_scores(scale: float) -> None:
    """Whether exponentials of scores underflow or not, and over all sequences or over given ones;
    in float64, by logarithms of a plain loop."""
    config = ds.Config().replace(SMALL | {"task.vocab": 3, "precision": "float64"})
    parameters = ds.initial_parameters(config, seed=1)
    parameters.query *= scale
    tokens, _ = ds.dataset(config.task, split="all")
    given = ds.forward(parameters, tokens, config).attention
    wanted = [[given[tokens[:, t] == a, t].mean() for t in range(5)] for a in range(3)]
    np.testing.assert_allclose(attention_map(parameters, config), wanted, rtol=1e-9, atol=1e-300)
    over = attention_map(parameters, config, tokens)
    np.testing.assert_allclose(over, wanted, rtol=1e-9, atol=1e-300)
