"""A circuit's measures from a sample of a task's sequences."""

import math

import numpy as np
import pytest
from circuit_cases import CASES, Array, Case

import dynascope as ds
from dynascope import _kernel
from dynascope.analysis import circuit
from dynascope.model import config_shape
from dynascope.tasks import Design, task_of


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
