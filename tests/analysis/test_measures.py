"""Sparsity, attention maps, distances of embeddings: against closed forms and brute force."""

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from scipy.stats import spearmanr

import dynascope as ds
from dynascope.analysis.attention import (
    AttentionSimilarity,
    attention_map,
    attention_similarity,
    rank_correlation,
)
from dynascope.analysis.checks import check_fit
from dynascope.analysis.geometry import embedding_distance, procrustes, travelled
from dynascope.analysis.sparsity import DEFAULT_EPS, sparsity
from dynascope.theory import ideal_head

SMALL = ds.Config().replace({"task.length": 5, "task.vocab": 3, "task.relevant": 2})
WIDE = SMALL.replace({"model.dim": 4, "precision": "float64", "model.embeddings": 5})
LARGE = ds.Config().replace({"task.vocab": 10, "task.test_size": 300})  # 10**12 sequences
CONFIGS = {"small": SMALL, "wide": WIDE, "all relevant": SMALL.replace({"task.length": 2})}
TWO = ds.Config().replace({"training.epochs": 2})


@pytest.fixture(scope="module")
def runs() -> ds.Runs:
    return ds.train(TWO, seeds=range(4), progress=False)


@pytest.fixture(scope="module")
def diverged() -> ds.Run:
    config = ds.Config().replace({"training.epochs": 5, "training.lr": 100.0})
    run = ds.train(config, 1, progress=False)[0]
    assert run.diverged == 1
    return run


# ---- sparsity -----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", CONFIGS)
def test_sparsity_counts(name: str) -> None:
    config = CONFIGS[name]
    parameters = ds.initial_parameters(config, seed=3)
    hidden = ds.forward(parameters, ds.dataset(config.task, split="all")[0], config).hidden
    got = sparsity(parameters, config)
    assert got.sequences == config.task.sequences
    for eps, share, units in zip(got.eps, got.share, got.by_unit, strict=True):
        assert share == pytest.approx((np.abs(hidden) < eps).mean(), abs=1e-12)
        np.testing.assert_allclose(units, (np.abs(hidden) < eps).mean(axis=0))


def test_sparsity_at_a_limit_is_strict() -> None:
    """A unit of exactly 0.5 is below 0.5000001 but not below 0.5."""
    config = SMALL.replace({"model.activation": "relu", "model.hidden": 2})
    parameters = 0 * ds.initial_parameters(config)
    parameters.receptor_bias = [0.5, -1.0]
    got = sparsity(parameters, config, eps=[0.25, 0.5, 0.5000001])
    assert got.by_unit.tolist() == [[0, 1], [0, 1], [1, 1]]
    assert got.share.tolist() == [0.5, 0.5, 1.0]


def test_sparsity_of_given_sequences_and_of_the_test_set() -> None:
    parameters = ds.initial_parameters(LARGE)
    tokens = ds.dataset(LARGE.task, split="test")[0]
    whole, given_ = sparsity(parameters, LARGE), sparsity(parameters, LARGE, tokens=tokens)
    assert whole.sequences == 300
    assert whole.share.tolist() == given_.share.tolist()
    one = sparsity(parameters, LARGE, 0.1, tokens[:1])
    hidden = ds.forward(parameters, tokens[:1], LARGE).hidden
    assert one.share.tolist() == [(np.abs(hidden) < 0.1).mean()]


def test_sparsity_in_pieces_is_sparsity_in_one() -> None:
    config = ds.Config().replace({"task.length": 14, "model.hidden": 200})
    parameters = ds.initial_parameters(config)
    parts = [
        sparsity(parameters, config, tokens=tokens).share
        for tokens in np.split(ds.dataset(config.task, split="all")[0], 16)
    ]
    np.testing.assert_allclose(sparsity(parameters, config).share, np.mean(parts, axis=0))


def test_default_limits() -> None:
    assert (DEFAULT_EPS[0], DEFAULT_EPS[-1]) == (1e-5, 1e2)
    np.testing.assert_allclose(np.diff(np.log10(DEFAULT_EPS)), 1 / 8)


@pytest.mark.parametrize("eps", [[], [0.0], [-1], [2, 1], [float("nan")], "small", [[1.0]], None])
def test_bad_limits(eps: Any) -> None:
    with pytest.raises(ds.DynascopeError, match=r"^eps: expected one or more rising numbers"):
        sparsity(ds.initial_parameters(SMALL), SMALL, eps)


def test_no_sequences() -> None:
    none = np.zeros((0, 5), np.int32)
    with pytest.raises(ds.DynascopeError, match="tokens: give at least one sequence"):
        sparsity(ds.initial_parameters(SMALL), SMALL, tokens=none)


# ---- attention ----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", CONFIGS)
def test_map_is_the_mean_over_all_sequences(name: str) -> None:
    config = CONFIGS[name]
    parameters = ds.initial_parameters(config, seed=2)
    parameters.query *= 5
    tokens = ds.dataset(config.task, split="all")[0]
    attention = ds.forward(parameters, tokens, config).attention
    got = attention_map(parameters, config)
    assert got.shape == (config.task.vocab, config.task.length)
    for t in range(config.task.length):
        for a in range(config.task.vocab):
            mean = attention[tokens[:, t] == a, t].mean(dtype=float)
            assert got[a, t] == pytest.approx(mean, rel=1e-5, abs=1e-7)


def test_map_of_many_sequences_is_near_the_mean_over_others() -> None:
    parameters = ds.initial_parameters(LARGE, seed=1)
    parameters.query *= 3
    task = LARGE.replace({"task.test_size": 40000}).task
    tokens = ds.dataset(task, seed=7, split="test")[0]
    attention = ds.forward(parameters, tokens, LARGE).attention
    got = attention_map(parameters, LARGE)
    for t in range(12):
        for a in range(10):
            mine = attention[tokens[:, t] == a, t].astype(float)
            assert abs(got[a, t] - mine.mean()) < 6 * mine.std() / math.sqrt(len(mine))


def test_one_position_has_all_attention() -> None:
    config = ds.Config().replace({"task.length": 1, "task.relevant": 1})
    assert attention_map(ds.initial_parameters(config), config).tolist() == [[1.0], [1.0]]


def test_huge_scores_are_no_trouble() -> None:
    parameters = ds.initial_parameters(SMALL) * 1.0
    parameters.query *= 1e6
    got = attention_map(parameters, SMALL)
    assert np.isfinite(got).all()
    assert got.min() >= 0
    assert got.max() <= 1


def test_an_ideal_head_looks_at_relevant_positions_alone() -> None:
    head = ideal_head(ds.Config())
    got = attention_map(head.parameters, head.config)
    np.testing.assert_allclose(got[:, :5], 0.2, atol=1e-6)
    assert got[:, 5:].max() < 1e-9


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=20))
def test_rank_correlation_is_spearmans(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs).T
    got = rank_correlation(a, b)
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert math.isnan(got)
    else:
        assert got == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)


def test_similarity_of_two_epochs(runs: ds.Runs) -> None:
    run = runs[1]
    got = attention_similarity(run, others=runs)
    start, end = (attention_map(run.parameters(e), TWO) for e in (0, 2))
    cosine = start.ravel() @ end.ravel() / math.sqrt((start**2).sum() * (end**2).sum())
    assert (got.first, got.last) == (0, 2)
    assert got.cosine == pytest.approx(cosine)
    assert got.rank_correlation == pytest.approx(spearmanr(start.ravel(), end.ravel()).statistic)
    chance = [
        spearmanr(attention_map(runs[i].parameters(0), TWO).ravel(), end.ravel()).statistic
        for i in (0, 2, 3)
    ]
    np.testing.assert_allclose(got.other_rank_correlations, chance)
    assert got.chance_rank_correlation == pytest.approx(np.mean(chance))
    higher = sum(value >= got.rank_correlation for value in chance)
    assert got.p_value == (1 + higher) / 4


def test_similarity_with_itself_is_one(runs: ds.Runs) -> None:
    got = attention_similarity(runs[0], first=1, last=1)
    assert got.cosine == pytest.approx(1)
    assert got.rank_correlation == pytest.approx(1)
    assert (got.chance_cosine, got.chance_rank_correlation, got.p_value) == (None, None, None)


@pytest.mark.parametrize(
    ("others", "p_value", "chance"),
    [
        ([0.1, 0.6, 0.2], 2 / 4, 0.3),
        ([0.1, math.nan, 0.6, 0.2], 2 / 4, 0.3),
        ([math.nan, math.nan], None, None),
        ([], None, None),
    ],
)
def test_others_without_a_rank_correlation_are_left_out(
    others: list[float], p_value: float | None, chance: float | None
) -> None:
    got = AttentionSimilarity(0, 1, 0.9, 0.5, np.ones(len(others)), np.array(others))
    assert got.p_value == p_value
    assert got.chance_rank_correlation == (None if chance is None else pytest.approx(chance))


def test_others_that_do_not_compare(runs: ds.Runs, diverged: ds.Run) -> None:
    assert len(attention_similarity(runs[0], others=[diverged]).other_cosines) == 1
    assert len(attention_similarity(runs[0], 1, others=[diverged]).other_cosines) == 0
    foreign = ds.train(TWO.replace({"task.vocab": 3}), 1, progress=False)[0]
    with pytest.raises(ds.DynascopeError, match=r"^others\[1\]: expected a run of the same task"):
        attention_similarity(runs[0], others=[runs[1], foreign])


# ---- geometry -----------------------------------------------------------------------------------
def turned(parameters: ds.Parameters, q: Any) -> ds.Parameters:
    return parameters.replace(
        token_embedding=parameters.token_embedding @ q,
        position_embedding=parameters.position_embedding @ q,
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_rotated_copy_is_at_distance_0(seed: int) -> None:
    config = WIDE.replace({"model.dim": 3})
    parameters = ds.initial_parameters(config, seed)
    q = Rotation.random(random_state=seed).as_matrix()
    got = embedding_distance(parameters, turned(parameters, q), config)
    assert got.after < 1e-12 < 0.1 < got.before
    np.testing.assert_allclose(got.rotation, q, atol=1e-9)
    assert not got.reflected


def test_a_reflected_copy_needs_reflections() -> None:
    parameters = ds.initial_parameters(WIDE)
    mirror = np.diag([1.0, 1.0, -1.0, 1.0])
    copy = turned(parameters, mirror)
    assert embedding_distance(parameters, copy, WIDE).after > 0.1
    allowed = embedding_distance(parameters, copy, WIDE, reflections=True)
    assert allowed.after < 1e-12
    assert allowed.reflected


def test_the_best_angle_in_the_plane() -> None:
    """At d=2 the best rotation is by the angle of the sum of products of complex numbers."""
    config = SMALL.replace({"precision": "float64"})
    a, b = (ds.initial_parameters(config, seed).position_embedding for seed in (0, 1))
    x, y = (m[:, 0] + 1j * m[:, 1] for m in (a, b))
    turn = (x.conj() @ y) / abs(x.conj() @ y)
    got = procrustes(a, b)
    assert got.after == pytest.approx(np.linalg.norm(x * turn - y))
    assert got.before == pytest.approx(np.linalg.norm(x - y))
    assert got.relative == pytest.approx(got.after / np.linalg.norm(x))


matrices = st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed))


@settings(max_examples=40, deadline=None)
@given(matrices, st.integers(1, 5), st.integers(2, 8))
def test_no_rotation_is_better(rng: Any, dim: int, rows: int) -> None:
    a, b = rng.normal(size=(2, rows, dim))
    proper, free = procrustes(a, b), procrustes(a, b, reflections=True)
    assert free.after <= proper.after + 1e-12 <= proper.before + 2e-12
    assert proper.after == pytest.approx(procrustes(b, a).after)
    np.testing.assert_allclose(proper.rotation.T @ proper.rotation, np.eye(dim), atol=1e-12)
    assert np.linalg.det(proper.rotation) > 0
    for _ in range(20):
        q = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
        distance = np.linalg.norm(a @ q - b)
        assert distance >= free.after - 1e-12
        assert np.linalg.det(q) < 0 or distance >= proper.after - 1e-12


def test_each_kind_of_embedding() -> None:
    a, b = (ds.initial_parameters(WIDE, seed) for seed in (0, 1))
    tokens = ds.dataset(WIDE.task, split="all")[0]
    rows = [ds.forward(p, tokens, WIDE).sequence for p in (a, b)]
    wanted = {
        "token": np.linalg.norm(a.token_embedding - b.token_embedding),
        "position": np.linalg.norm(a.position_embedding - b.position_embedding),
        "sequence": np.linalg.norm(rows[0] - rows[1]),
    }
    wanted["embeddings"] = math.hypot(wanted["token"], wanted["position"])
    for of, before in wanted.items():
        assert embedding_distance(a, b, WIDE, of).before == pytest.approx(before)  # type: ignore[arg-type]
    assert embedding_distance(a, a, WIDE, "sequence").after < 1e-12


def test_a_shift_from_tokens_to_positions_counts_only_uncentred() -> None:
    a = ds.initial_parameters(WIDE)
    shift = np.array([1.0, 2.0, 0.0, -1.0])
    b = a.replace(
        token_embedding=a.token_embedding + shift, position_embedding=a.position_embedding - shift
    )
    assert embedding_distance(a, b, WIDE).after > 1
    assert embedding_distance(a, b, WIDE, centred=True).after < 1e-12


def test_nothing_has_no_relative_distance() -> None:
    nothing = 0 * ds.initial_parameters(SMALL)
    got = embedding_distance(nothing, nothing, SMALL)
    assert got.after == 0
    assert math.isnan(got.relative)


def test_travelled(runs: ds.Runs) -> None:
    direct = embedding_distance(runs[0].parameters(0), runs[0].parameters(2), TWO)
    assert travelled(runs[0]).after == direct.after > 0
    assert travelled(runs[0], 1, 1).after < 1e-5


# ---- what all refuse ----------------------------------------------------------------------------
def test_diverged_runs_are_measured_up_to_the_divergence(diverged: ds.Run) -> None:
    assert attention_similarity(diverged).last == 0
    assert travelled(diverged).before == 0
    for epoch in (1, 2):
        sentence = f"a whole number from 0 to 0 .the run diverged at epoch 1., but got {epoch}"
        with pytest.raises(ds.DynascopeError, match=sentence):
            attention_similarity(diverged, last=epoch)
        with pytest.raises(ds.DynascopeError, match=sentence):
            travelled(diverged, first=epoch)


def test_a_run_that_never_was_sound() -> None:
    start = ds.initial_parameters(TWO) * 1e20
    run = ds.train(TWO, 1, start=start, progress=False)[0]
    with pytest.raises(ds.DynascopeError, match="it diverged at epoch 0"):
        attention_similarity(run)


@pytest.mark.parametrize("epoch", [3, -2, 1.5, "last", True])
def test_epochs_that_are_not_there(runs: ds.Runs, epoch: Any) -> None:
    with pytest.raises(ds.DynascopeError, match="epoch: expected a whole number from 0 to 2"):
        travelled(runs[0], epoch)


BROKEN = {
    "type": ({}, "parameters: expected ds.Parameters, but got dict."),
    "shape": (
        ds.initial_parameters(SMALL.replace({"model.dim": 3})),
        "parameters.token_embedding: expected shape (3, 2), but got (3, 3).",
    ),
    "rows": (
        ds.initial_parameters(SMALL.replace({"model.embeddings": 4})),
        "parameters.token_embedding: expected shape (3, 2), but got (4, 2).",
    ),
    "no bias": (
        ds.initial_parameters(SMALL.replace({"model.bias": False})),
        "parameters.receptor_bias: expected shape (32,), but got none.",
    ),
    "not finite": (
        ds.initial_parameters(SMALL) * float("nan"),
        "parameters.token_embedding: expected finite numbers, but got nan at [0, 0].",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_parameters_that_do_not_fit(case: str) -> None:
    broken, sentence = BROKEN[case]
    for measure in (sparsity, attention_map, check_fit):
        with pytest.raises(ds.DynascopeError) as caught:
            measure(broken, SMALL)  # type: ignore[operator]
        assert str(caught.value) == sentence
    with pytest.raises(ds.DynascopeError) as caught:
        embedding_distance(ds.initial_parameters(SMALL), broken, SMALL)  # type: ignore[arg-type]
    assert str(caught.value) == sentence.replace("parameters", "b", 1)


def test_a_bias_too_many() -> None:
    off = SMALL.replace({"model.bias": False})
    with pytest.raises(ds.DynascopeError, match="receptor_bias: expected none, as model"):
        check_fit(ds.initial_parameters(SMALL), off)


def test_slips_have_a_sentence() -> None:
    p = ds.initial_parameters(SMALL)
    slips = {
        "config: expected a ds.Config": lambda: sparsity(p, 3),  # type: ignore[arg-type]
        "run: expected a ds.Run": lambda: travelled(p),  # type: ignore[arg-type]
        "of.tokens: unknown": lambda: embedding_distance(p, p, SMALL, "tokens"),  # type: ignore[arg-type]
        "tokens: expected sequences of length 5": lambda: sparsity(p, SMALL, tokens=[[0, 1]]),
    }
    for sentence, slip in slips.items():
        with pytest.raises(ds.DynascopeError) as caught:
            slip()
        assert str(caught.value).startswith(sentence)


def test_importing_is_light() -> None:
    modules = "attention, geometry, sparsity"
    code = f"import sys; from dynascope.analysis import {modules}; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
