"""The circuit's measures, each against an exhaustive count or a formula written another way."""

import itertools
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import scipy.cluster.hierarchy
from hypothesis import given, settings
from hypothesis import strategies as st

import dynascope as ds
from dynascope import _kernel
from dynascope.analysis import circuit, circuits
from dynascope.analysis.circuit import measured
from dynascope.analysis.follow import shares
from dynascope.errors import DynascopeError
from dynascope.model import config_shape
from dynascope.tasks import Design, task_of

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """Random weights of some model, multiplied by these factors."""

    changes: dict[str, Any] = field(default_factory=dict)
    scale: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        told = [f"{key.split('.')[1]}={value}" for key, value in self.changes.items()]
        return (
            " ".join(told + [f"{key}*{value:g}" for key, value in self.scale.items()]) or "default"
        )

    def config(self) -> ds.Config:
        return ds.Config().replace({"precision": "float64", **self.changes})

    def parameters(self, seed: int = 3) -> ds.Parameters:
        made = ds.initial_parameters(self.config(), seed)
        for name, factor in self.scale.items():
            made[name][...] *= factor
        return made


CASES = [
    Case(),
    Case({"task.length": 7, "task.relevant": [1, 3, 6]}),
    Case({"task.length": 5, "task.relevant": 5}),  # no irrelevant position
    Case({"task.length": 4, "task.relevant": 1}),  # no order
    Case({"task.length": 1, "task.relevant": 1}),
    Case({"task.vocab": 3, "task.length": 6, "task.relevant": 3, "model.dim": 3}),
    Case(
        {"task.vocab": 5, "task.length": 4, "task.relevant": 2, "model.dim": 8, "model.hidden": 5}
    ),
    Case({"task.length": 8, "model.embeddings": 4, "model.norm": "unit", "model.bias": False}),
    Case({"task.length": 8, "model.activation": "relu", "model.norm": "none"}),
    Case({"task.length": 8}, {"query": 30.0}),
    Case({"task.length": 8}, {"query": 1e4}),  # weights far below the smallest number
    Case({"task.length": 8, "model.norm": "none"}, {"query": -1e10}),  # all scores far below 0
    Case({"task.length": 8}, {"value": 1e-6, "assemblers": 100.0}),
]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


class Everything:
    """All sequences of a task through the model, in the order of their digits."""

    def __init__(self, case: Case) -> None:
        self.config = case.config()
        self.task, self.parameters = self.config.task, case.parameters()
        self.tokens, self.targets = ds.dataset(self.task, split="all")
        self.activations = ds.forward(self.parameters, self.tokens, self.config.model)
        self.xi = self.activations.sequence
        self.predictions = self.activations.logits.argmax(axis=1)
        self.relevant = self.tokens[:, list(self.task.positions)]
        rest = [t for t in range(self.task.length) if t not in self.task.positions]
        self.irrelevant = self.tokens[:, rest]

    def accuracy(self, **changes: Any) -> float:
        logits = ds.forward(self.parameters, self.tokens, self.config.model, **changes).logits
        return float((logits.argmax(axis=1) == self.targets).mean())

    def index(self, tokens: Array) -> Array:
        return tokens @ (self.task.vocab ** np.arange(self.task.length)[::-1])


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


# ---- a crossed sample ---------------------------------------------------------------------------
def drawn(task: ds.TaskConfig, random: np.random.Generator) -> Design:
    k, multisets, suffixes = len(task.positions), 6, 4
    prefixes = random.integers(0, task.vocab, (multisets, k))
    orderings = np.stack([random.permuted(prefixes, axis=1) for _ in range(3)], axis=1)
    return Design(
        task,
        np.ascontiguousarray(orderings.reshape(-1, k), np.int32),
        np.arange(0, 3 * multisets + 1, 3, dtype=np.int32),
        random.integers(0, task.vocab, (suffixes, task.length - k)).astype(np.int32),
        sampled=True,
    )


@pytest.mark.parametrize("case", [CASES[1], CASES[5]], ids=lambda case: case.name)
def test_estimates_from_samples_are_right_on_average(case: Case) -> None:
    config, random = case.config(), np.random.default_rng(1)
    weights, shape = np.ascontiguousarray(case.parameters().flat)[None], config_shape(config)
    names = ["embedding", "logits", "accuracy", "permutation_survival", "suffix_survival"]
    names += ["attention", "redraw", "swap"]

    def measures(sequences: Design) -> Array:
        found = _kernel.circuits(weights, shape, *sequences.arguments, names)
        numbers = [found["embedding"][0, :3], found["logits"][0, :3]]
        return np.concatenate([*numbers, *(found[name][0].ravel() for name in names[2:])])

    truth = measures(task_of(config).design())
    samples = np.array([measures(drawn(config.task, random)) for _ in range(3000)])
    error = samples.std(axis=0) / math.sqrt(len(samples)) + 1e-15
    assert np.abs((samples.mean(axis=0) - truth) / error).max() < 4.5


def test_a_task_too_large_to_enumerate_is_sampled() -> None:
    config = ds.Config().replace({"task.vocab": 4, "task.length": 12})
    found = circuit(ds.initial_parameters(config, 0), config)
    assert not found.exhaustive
    assert found.sequences == 65536
    assert found.embedding is not None
    total = found.embedding.between + found.embedding.permutation + found.embedding.suffix
    assert total == pytest.approx(1, abs=1e-12)
    tokens, targets = ds.dataset(config.task, split="test")
    act = ds.forward(ds.initial_parameters(config, 0), tokens, config.model)
    np.testing.assert_allclose(found.attention, act.attention.mean(axis=0), atol=0.01)
    assert found.accuracy == pytest.approx((act.logits.argmax(1) == targets).mean(), abs=0.05)


def test_more_multisets_than_the_tree_can_hold_are_thinned() -> None:
    config = ds.Config().replace({"task.vocab": 17, "task.length": 4, "task.relevant": 4})
    assert task_of(config).design().group_count == 4845
    found = circuit(ds.initial_parameters(config), config)
    assert found.exhaustive
    assert 1500 < found.expected_clusters < 4096
    assert found.cluster_gap > 1


def test_effects_from_a_sample_of_many_tokens() -> None:
    """Where all tokens of all sequences would be too much work, some sequences are enough."""
    config = ds.Config().replace({"task.vocab": 300, "task.length": 12, "precision": "float64"})
    weights = ds.initial_parameters(config, 1)
    found = circuit(weights, config)
    assert found.embedding is not None
    random, t = np.random.default_rng(0), 8
    tokens = np.repeat(random.integers(0, 300, (400, 12)), 300, axis=0).astype(np.int32)
    tokens[:, t] = np.tile(np.arange(300), 400)
    xi = ds.forward(weights, tokens, config.model).sequence.reshape(400, 300, -1)
    effect = xi.var(axis=1).sum(axis=1).mean() / found.embedding.variance
    assert found.redraw_effect[t] == pytest.approx(effect, rel=0.15)


def test_a_sample_without_irrelevant_positions() -> None:
    config = ds.Config().replace({"task.vocab": 4, "task.length": 12, "task.relevant": 12})
    found = circuit(ds.initial_parameters(config, 0), config)
    assert found.embedding is not None
    assert found.embedding.suffix == 0
    assert found.suffix_survival == 1


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
    with pytest.raises(DynascopeError, match="symmetries are known, but it has data of its own"):
        circuits(run)


def test_weights_are_measured_row_by_row() -> None:
    config = CASES[1].config()
    rows = np.stack([ds.initial_parameters(config, seed).flat for seed in range(3)])
    for seed, found in enumerate(measured(rows, config)):
        alone = circuit(ds.initial_parameters(config, seed), config)
        assert found.embedding == alone.embedding
        assert found.attention.tolist() == alone.attention.tolist()
