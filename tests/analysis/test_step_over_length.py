"""The learning rate against the shortest vector: by PyTorch's model, step by step, and planted."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from planted_runs import planted
from reference import forward, tensors

import dynascope as ds
from dynascope.analysis import step_over_length
from dynascope.analysis.step_over_length import learning_rates

SMALL = {"task.length": 6, "task.relevant": 3, "task.train_size": 64, "training.epochs": 12}
CASES: dict[str, dict[str, Any]] = {
    "default": {},
    "three tokens, five rows": {"task.vocab": 3, "model.embeddings": 5},
    "one dimension": {"model.dim": 1},
    "unit norm, float64": {"model.norm": "unit", "precision": "float64", "model.dim": 3},
}


def train(changes: dict[str, Any] | None = None, **more: Any) -> ds.Run:
    config = ds.Config().replace(SMALL | (changes or {}))
    return ds.train(config, [4], progress=False, **more)[0]


@pytest.mark.parametrize("case", CASES)
def test_the_shortest_at_the_end(case: str) -> None:
    run = train(CASES[case])
    tokens = torch.as_tensor(ds.dataset(run.config.task, split="all")[0]).long()
    stages = forward(tensors(run.parameters()), tokens, run.config.model)
    wanted = [stages[name].norm(dim=-1).min().item() for name in ("embedding", "sequence")]
    found = step_over_length(run)
    assert found.shortest_embedding == pytest.approx(wanted[0], rel=1e-5)
    assert found.shortest_sequence == pytest.approx(wanted[1], rel=1e-4)
    assert found.ratio == pytest.approx(0.003 / min(wanted), rel=1e-4)


def test_the_shortest_of_every_epoch() -> None:
    run = train()
    found = step_over_length(run)
    curves = run.curves["min_norm_embedding"], run.curves["min_norm_sequence"]
    wanted = [0.003 / min(curve[epoch] for curve in curves) for epoch in range(1, 13)]
    np.testing.assert_allclose(found.by_epoch, wanted)
    assert found.most == max(found.by_epoch)
    assert found.most_epoch == 1 + int(np.argmax(wanted))
    assert found.unsafe_epochs == sum(ratio >= 1 for ratio in wanted)


def test_planted_short_vectors() -> None:
    """The learning rate of these runs is 1e-9."""
    embedding, sequence = np.ones(31), np.ones(31)
    embedding[7], sequence[20], sequence[21] = 2e-10, 1e-9, 5e-9
    curves = {"min_norm_embedding": embedding, "min_norm_sequence": sequence}
    found = step_over_length(planted(30, curves))
    assert (found.most_epoch, found.unsafe_epochs) == (7, 2)
    assert found.most == pytest.approx(5)
    early = step_over_length(replace(planted(30, curves), diverged=7))
    assert (early.unsafe_epochs, len(early.by_epoch)) == (0, 6)


def test_a_vector_of_length_0() -> None:
    config = ds.Config().replace(SMALL | {"training.epochs": 0})
    start = ds.initial_parameters(config)
    start.token_embedding[1] = -start.position_embedding[2]
    found = step_over_length(ds.train(config, [0], start=start, progress=False)[0])
    assert (found.shortest_embedding, found.ratio) == (0, np.inf)
    assert (found.most, found.most_epoch, found.unsafe_epochs) == (None, None, None)


RATES: dict[str, dict[str, Any]] = {
    "constant": {},
    "warmup": {"training.schedule": "warmup", "training.warmup": 19},
    "cosine": {"training.schedule": "cosine", "training.warmup": 5, "training.lr_final": 1e-4},
}


@pytest.mark.parametrize("case", RATES)
def test_the_largest_rate_of_each_epoch(case: str) -> None:
    """Told by plain SGD: the length of a step over that of its gradient."""
    changes = {"training.optimizer": "sgd", "training.batch": 8, "precision": "float64"}
    run = train({**changes, **RATES[case], "record.steps": (0, 12)})
    assert run.steps is not None
    weights = np.concatenate([run.weights[:1], run.steps.weights])
    names = [name for name in run.steps.curves if name.startswith("grad_norm/")]
    gradients = np.sqrt(sum(run.steps.curves[name] ** 2 for name in names))
    rates = np.linalg.norm(np.diff(weights, axis=0), axis=1) / gradients
    wanted = rates.reshape(12, -1).max(axis=1)
    np.testing.assert_allclose(learning_rates(run, 12), wanted, rtol=1e-6)


def test_a_rate_that_was_changed() -> None:
    trainer = ds.Trainer(ds.Config().replace(SMALL), seed=3)
    trainer.advance(2)
    trainer.change({"training.lr": 0.01})
    trainer.advance(3)
    np.testing.assert_allclose(learning_rates(trainer.run, 5), [0.003] * 2 + [0.01] * 3)
    assert step_over_length(trainer.run).ratio == pytest.approx(
        0.01 / min(vars(step_over_length(trainer.run))[f"shortest_{x}"] for x in _BOTH)
    )


_BOTH = ("embedding", "sequence")


def test_nothing_is_normalised() -> None:
    with pytest.raises(ds.DynascopeError, match=r"model\.norm is none, so that nothing is normal"):
        step_over_length(train({"model.norm": "none", "training.lr": 1e-5}))


def test_own_data_are_the_sequences() -> None:
    tokens, targets = ds.dataset(ds.Config().replace(SMALL).task, 5)
    run = train({"training.batch": 7}, data=ds.Data(train=(tokens[:7], targets[:7])))
    sequences = ds.forward(run.parameters(), tokens[:7], run.config).sequence
    shortest = np.linalg.norm(sequences.astype(float), axis=1).min()
    assert step_over_length(run).shortest_sequence == pytest.approx(shortest)
