"""The circuit's measures, each against an exhaustive count or a formula written another way."""

import itertools
import math

import numpy as np
import pytest
import scipy.cluster.hierarchy
from circuit_cases import CASES, Array, Case, Everything, each_case
from hypothesis import given, settings
from hypothesis import strategies as st

import dynascope as ds
from dynascope import _kernel
from dynascope.analysis import circuit, circuits
from dynascope.analysis.circuit import measured
from dynascope.analysis.run_epochs import shares
from dynascope.errors import DynascopeError
from dynascope.model import config_shape
from dynascope.tasks import task_of


def labels(rows: Array) -> Array:
    return np.unique(rows, axis=0, return_inverse=True)[1].ravel()


def means(values: Array, groups: Array) -> Array:
    """Each value replaced by the mean of its group."""
    sums = np.zeros((groups.max() + 1, values.shape[1]))
    np.add.at(sums, groups, values)
    return (sums / np.bincount(groups)[:, None])[groups]


def mean_square(values: Array) -> float:
    return float((values**2).sum(axis=1).mean())


def parts(values: Array, multisets: Array, prefixes: Array) -> Array:
    """Between, permutation and suffix, from the definition."""
    by_multiset, by_prefix = means(values, multisets), means(values, prefixes)
    return np.array(
        [
            mean_square(by_multiset - values.mean(axis=0)),
            mean_square(by_prefix - by_multiset),
            mean_square(values - by_prefix),
        ]
    )


@each_case
def test_shares_follow_the_law_of_total_variance(case: Case) -> None:
    every, found = Everything(case), circuit(case.parameters(), case.config())
    multisets, prefixes = labels(np.sort(every.relevant, axis=1)), labels(every.relevant)
    logits = every.activations.logits
    centred = logits - logits.mean(axis=1, keepdims=True)
    for values, got in ((every.xi, found.embedding), (centred, found.logits)):
        assert got is not None
        three = np.array([got.between, got.permutation, got.suffix])
        assert abs(three.sum() - 1) < 1e-12
        assert got.variance == pytest.approx(mean_square(values - values.mean(axis=0)), rel=1e-12)
        np.testing.assert_allclose(
            three, parts(values, multisets, prefixes) / got.variance, atol=1e-12
        )


@each_case
def test_attention_and_values(case: Case) -> None:
    every, found = Everything(case), circuit(case.parameters(), case.config())
    np.testing.assert_allclose(found.attention, every.activations.attention.mean(0), atol=1e-12)
    assert found.relevant_attention == pytest.approx(
        found.attention[list(every.task.positions)].sum(), abs=1e-12
    )
    values = every.activations.values
    of = [
        np.array([values[every.tokens[:, t] == a, t][0] for a in range(every.task.vocab)])
        for t in range(every.task.length)
    ]
    size = math.sqrt(np.mean([(each**2).sum(axis=1).mean() for each in of]))
    spread = [math.sqrt(((each - each.mean(0)) ** 2).sum(axis=1).mean()) / size for each in of]
    np.testing.assert_allclose(found.value_spread, spread, rtol=1e-9, atol=1e-12)


@each_case
def test_predictions_survive_as_often_as_counted(case: Case) -> None:
    every, found = Everything(case), circuit(case.parameters(), case.config())
    assert found.accuracy == pytest.approx((every.predictions == every.targets).mean(), abs=1e-12)
    for got, fixed in (
        (found.permutation_survival, np.c_[np.sort(every.relevant, axis=1), every.irrelevant]),
        (found.suffix_survival, every.relevant),
    ):
        groups = labels(fixed)
        agree = every.predictions[:, None] == every.predictions[None]
        together = groups[:, None] == groups[None]
        chance = ((agree & together).sum(axis=1) / together.sum(axis=1)).mean()
        assert got == pytest.approx(chance, abs=1e-12)


@each_case
def test_effects_of_single_tokens_and_of_orders(case: Case) -> None:
    every, found = Everything(case), circuit(case.parameters(), case.config())
    assert found.embedding is not None
    for t in range(every.task.length):
        others = labels(np.delete(every.tokens, t, axis=1))
        effect = mean_square(every.xi - means(every.xi, others)) / found.embedding.variance
        assert found.redraw_effect[t] == pytest.approx(effect, rel=1e-9, abs=1e-15)
    for (i, t), (j, u) in itertools.combinations(enumerate(every.task.positions), 2):
        swapped = every.tokens.copy()
        swapped[:, [t, u]] = swapped[:, [u, t]]
        effect = mean_square(every.xi - every.xi[every.index(swapped)]) / 4
        assert found.swap_effect[i, j] == pytest.approx(
            effect / found.embedding.variance, rel=1e-9, abs=1e-15
        )
        assert found.swap_effect[i, j] == found.swap_effect[j, i]


@each_case
def test_accuracy_without_a_part(case: Case) -> None:
    every, found = Everything(case), circuit(case.parameters(), case.config())
    values = every.activations.values
    for t in range(every.task.length):
        averaged = values.copy()
        averaged[:, t] = np.mean(
            [values[every.tokens[:, t] == a, t][0] for a in range(every.task.vocab)], axis=0
        )
        without = every.accuracy(patch={"values": averaged})
        assert found.accuracy_without_value[t] == pytest.approx(without, abs=1e-12)
        if every.task.length > 1:
            cut = every.accuracy(ablate={"positions": [t]})
            assert found.accuracy_without_attention[t] == pytest.approx(cut, abs=1e-12)
        else:
            assert np.isnan(found.accuracy_without_attention[t])
    for j in range(every.config.model.hidden):
        cut = every.accuracy(ablate={"hidden": [j]})
        assert found.accuracy_without_unit[j] == pytest.approx(cut, abs=1e-12)


def test_single_precision_measures_the_same_model() -> None:
    config = ds.Config()
    weights = ds.initial_parameters(config, 5)
    single = circuit(weights, config)
    double = circuit(weights.astype("float64"), config.replace({"precision": "float64"}))
    assert single.embedding == double.embedding
    assert single.accuracy == double.accuracy
    np.testing.assert_allclose(
        single.accuracy_without_value, double.accuracy_without_value, atol=2 / 4096
    )


# ---- clusters -----------------------------------------------------------------------------------
def by_linkage(points: Array, most: int) -> tuple[int, float]:
    """The rule of clusters.hpp on SciPy's tree."""
    heights = scipy.cluster.hierarchy.linkage(points, "single")[:, 2]
    diameter = max(float(np.linalg.norm(a - points, axis=1).max()) for a in points)
    heights = np.maximum(np.sort(heights), 1e-4 * diameter)
    below = np.concatenate([[1e-4 * diameter], heights[:-1]])
    ratios = heights / below
    counts = len(heights) - np.arange(len(heights)) + 1
    ratios[counts > most] = 0
    best = int(ratios.argmax())
    return int(counts[best]), float(ratios[best])


@each_case
def test_clusters_are_those_of_the_single_linkage_tree(case: Case) -> None:
    every = Everything(case)
    sequences = task_of(every.task).design()
    flat = np.ascontiguousarray(every.parameters.flat)[None]
    shape = config_shape(every.config)
    found = _kernel.circuits(flat, shape, *sequences.arguments, ["clusters"])["clusters"]
    count, gap, _, multisets = found[0]
    assert multisets == sequences.group_count
    most = max(len(every.xi) // 2, sequences.group_count)
    wanted, ratio = by_linkage(every.xi, most) if len(every.xi) > 1 else (1, 1.0)
    assert gap == pytest.approx(ratio, rel=1e-6)
    assert count == wanted


# ---- invariants, the edges, bad input -----------------------------------------------------------
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), angle=st.floats(0, 6.3), size=st.floats(0.01, 100))
def test_turning_and_scaling_the_values_changes_no_share(
    seed: int, angle: float, size: float
) -> None:
    config = CASES[1].config()
    weights = ds.initial_parameters(config, seed)
    cos, sin = size * math.cos(angle), size * math.sin(angle)
    turned = weights.replace(value=np.array([[cos, -sin], [sin, cos]]) @ weights.value)
    one, other = circuit(weights, config), circuit(turned, config)
    assert one.embedding is not None
    assert other.embedding is not None
    for part in ("between", "permutation", "suffix"):
        share = getattr(one.embedding, part)
        assert 0 <= share <= 1
        assert getattr(other.embedding, part) == pytest.approx(share, abs=1e-9)
    assert other.embedding.variance == pytest.approx(size**2 * one.embedding.variance, rel=1e-9)


def test_no_variance_is_said_and_not_divided_by() -> None:
    config = ds.Config()
    weights = ds.initial_parameters(config, 0)
    weights.value[...] = 0
    found = circuit(weights, config)
    assert found.embedding is None
    assert found.logits is None
    assert found.verdict.name == "unsolved"
    assert not found.redraw_effect.any()
    assert not found.value_spread.any()
    run = ds.train(config.replace({"training.epochs": 1}), start=weights, progress=False)[0]
    assert np.isnan(shares(run, [0])).all()


def test_a_run_is_followed_by_its_kept_epochs() -> None:
    config = ds.Config().replace({"training.epochs": 6, "record.weights_every": 2})
    run = ds.train(config, progress=False)[0]
    found = circuits(run, threads=2)
    assert len(found) == 4
    for epoch, each in zip((0, 2, 4, 6), found, strict=True):
        alone = circuit(run.parameters(epoch), config)
        assert each.embedding == alone.embedding
        assert each.embedding is not None
        row = shares(run, [epoch])[0]
        assert row.tolist() == pytest.approx(
            [each.embedding.between, each.embedding.permutation, each.embedding.suffix]
        )
    with pytest.raises(DynascopeError, match="epochs up to 6 whose weights were kept, but got 3"):
        circuits(run, [3])
    for wrong in ([2.5], ["2"], [None], [10**30], [[0]], [-1], [True]):
        with pytest.raises(DynascopeError, match="epochs: expected whole numbers of at least 0"):
            circuits(run, wrong)  # type: ignore[arg-type]
    for wrong in (None, [run], run.config):
        with pytest.raises(DynascopeError, match="run: expected"):
            circuits(wrong)  # type: ignore[arg-type]


def test_a_diverged_run_is_followed_up_to_there() -> None:
    run = ds.train(ds.Config().replace({"training.lr": 100.0}), progress=False)[0]
    assert run.diverged is not None
    found = circuits(run)
    assert len(found) == run.diverged
    assert all(math.isfinite(each.accuracy) for each in found)


BAD = {
    "parameters: expected ds.Parameters": lambda p: (None, ds.Config()),
    "config: expected a ds.Config": lambda p: (p, ds.Config().model),
    r"token_embedding: expected shape \(2, 3\)": lambda p: (
        p,
        ds.Config().replace({"model.dim": 3}),
    ),
    r"token_embedding: expected shape \(3, 2\)": lambda p: (
        p,
        ds.Config().replace({"task.vocab": 3}),
    ),
    "receptor_bias: expected none": lambda p: (p, ds.Config().replace({"model.bias": False})),
    "query: expected finite numbers": lambda p: (p.replace(query=[np.nan, 0]), ds.Config()),
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_input(sentence: str) -> None:
    with pytest.raises(DynascopeError, match=sentence):
        circuit(*BAD[sentence](ds.initial_parameters(ds.Config())))


def test_a_task_of_ones_own_has_no_circuit() -> None:
    tokens, targets = ds.dataset(ds.TaskConfig())
    config = ds.Config().replace({"training.epochs": 1})
    run = ds.train(config, data=ds.Data(train=(tokens, targets)), progress=False)[0]
    with pytest.raises(DynascopeError, match="symmetries are known, but the run has its own data"):
        circuits(run)


def test_weights_are_measured_row_by_row() -> None:
    config = CASES[1].config()
    rows = np.stack([ds.initial_parameters(config, seed).flat for seed in range(3)])
    for seed, found in enumerate(measured(rows, config)):
        alone = circuit(ds.initial_parameters(config, seed), config)
        assert found.embedding == alone.embedding
        assert found.attention.tolist() == alone.attention.tolist()


@each_case
def test_the_meter_ends_where_it_said_it_would(case: Case) -> None:
    config = case.config()
    rows = case.parameters().flat[None]
    meter = np.zeros(2, np.int64)
    arguments = task_of(config).design().arguments
    _kernel.circuits(rows, config_shape(config), *arguments, [], meter)
    assert meter[0] == meter[1] >= circuit(case.parameters(), config).sequences


def test_one_circuit_tells_how_far_it_is() -> None:
    wide = {"task.vocab": 3, "model.dim": 8, "model.hidden": 64}  # over a second
    config, seen = ds.Config().replace(wide), []
    circuit(
        ds.initial_parameters(config), config, progress=lambda status: seen.append(status.share)
    )
    assert seen == sorted(seen)
    assert any(0 < share < 1 for share in seen)
