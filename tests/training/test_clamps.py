"""Attention that is held while a run is trained: against PyTorch, against steps taken by hand, as
part of a config, and through branches and stores."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import dynascope as ds
from dynascope.clamped_values import Clamp, Clamps, held_attention

SMALL = ds.Config().replace(
    {
        "task.length": 5,
        "task.relevant": 2,
        "task.train_size": 32,
        "task.test_size": 16,
        "training.batch": 8,
        "training.epochs": 6,
        "precision": "float64",
    }
)
HELD = np.array([0.1, 0.0, 0.4, 0.2, 0.3])


def by_torch(p: ds.Parameters, tokens: Any, targets: Any, held: Any) -> tuple[float, Any]:
    """Loss and gradient of the same model with fixed attention, by autograd."""
    w = {name: torch.tensor(p[name], requires_grad=True) for name in p}

    def norm(x: torch.Tensor) -> torch.Tensor:
        return x / (x.square().mean(-1, keepdim=True).sqrt() + 1e-5)

    x = torch.tensor(np.asarray(tokens), dtype=torch.long)
    z = norm(w["token_embedding"][x] + w["position_embedding"])
    xi = torch.einsum("t,ntd->nd", torch.tensor(held), z @ w["value"].T)
    hidden = torch.nn.functional.gelu(norm(xi) @ w["receptors"].T + w["receptor_bias"])
    psi = xi + hidden @ w["assemblers"].T + w["assembler_bias"]
    wanted = torch.tensor(np.asarray(targets), dtype=torch.long)
    loss = torch.nn.functional.cross_entropy(psi @ w["token_embedding"].T, wanted)
    loss.backward()
    zero = {name: torch.zeros_like(each) for name, each in w.items()}
    return float(loss.detach()), {
        name: (zero[name] if each.grad is None else each.grad).numpy() for name, each in w.items()
    }


def test_loss_and_gradient_are_pytorchs() -> None:
    p = ds.initial_parameters(SMALL, 1)
    tokens = np.random.default_rng(0).integers(0, 2, (40, 5))
    targets = tokens[:, :2].sum(axis=1) % 2
    loss, gradient = ds.loss_and_gradient(p, tokens, targets, SMALL, ablate={"attention": 3 * HELD})
    wanted, wanted_gradient = by_torch(p, tokens, targets, HELD)
    assert loss == pytest.approx(wanted, rel=1e-12)
    for name in p:
        np.testing.assert_allclose(gradient[name], wanted_gradient[name], atol=1e-12)
    assert not gradient.query.any()
    seen = ds.forward(p, tokens, SMALL, ablate={"attention": HELD})
    np.testing.assert_allclose(seen.attention, np.tile(HELD, (40, 1)))
    mixed = np.einsum("t,ntd->nd", HELD, seen.values)
    np.testing.assert_allclose(seen.sequence, mixed, atol=1e-12)


def test_steps_by_hand_are_the_trainers() -> None:
    """Gradient descent on whole batches: between the clamp's epochs with it, else without."""
    config = SMALL.replace(
        {
            "training.optimizer": "sgd",
            "training.lr": 0.1,
            "training.batch": 32,
            "training.clamps": [("attention", range(5), HELD, (2, 4))],
        }
    )
    run = ds.train(config, seeds=[3], progress=False)[0]
    weights = ds.initial_parameters(config, 3)
    tokens, targets = run.examples()
    for epoch in range(6):
        held = {"attention": HELD} if 2 <= epoch < 4 else None
        _, gradient = ds.loss_and_gradient(weights, tokens, targets, config, ablate=held)
        weights = ds.Parameters.from_flat(weights.flat - 0.1 * gradient.flat, config.shapes)
        np.testing.assert_allclose(run.parameters(epoch + 1).flat, weights.flat, atol=1e-12)
        loss, _ = ds.loss_and_gradient(weights, tokens, targets, config, ablate=held)
        assert run.curves["train_loss"][epoch + 1] == pytest.approx(loss, rel=1e-9)
    queries = [run.parameters(epoch).query for epoch in range(7)]
    assert np.array_equal(queries[2], queries[4])
    assert not np.array_equal(queries[1], queries[2])
    assert not np.array_equal(queries[4], queries[5])


def test_a_clamp_is_part_of_the_run(tmp_path: Path) -> None:
    config = SMALL.replace({"training.clamps": ["attention[0:2]=0.5@1:3"]})
    run = ds.train(config, seeds=[3], progress=False)[0]
    free = ds.train(SMALL, seeds=[3], progress=False)[0]
    assert run.id != free.id
    assert np.array_equal(run.weights[:2], free.weights[:2])
    ds.Runs([run]).save(tmp_path / "s")
    (stored,) = ds.load(tmp_path / "s")
    assert stored.config == config
    assert stored.id == run.id
    again = stored.trainer(2)
    again.advance(4)
    assert np.array_equal(again.run.table, run.table, equal_nan=True)


def test_a_branch_can_clamp() -> None:
    trainer = ds.Trainer(SMALL.replace({"training.optimizer": "sgd"}), seed=3)  # without a memory
    trainer.advance(2)
    trainer.change({"training.clamps": ["attention[1]=1@2:4"]})
    trainer.advance(4)
    run = trainer.run
    assert np.array_equal(run.parameters(2).query, run.parameters(4).query)
    assert not np.array_equal(run.parameters(4).query, run.parameters(5).query)


READ: list[tuple[object, tuple[str, ...]]] = [
    ([], ()),
    (["attention[ 0 : 3 ] = .5 @ 1 : 2"], ("attention[0:3]=0.5@1:2",)),
    ([("attention", [3, 1], [1, 2], (0, 9))], ("attention[1,3]=2.0,1.0@0:9",)),
    ([{"site": "attention", "mask": [2], "value": 7, "epochs": [0, 1]}], ("attention[2]=7.0@0:1",)),
    ([Clamp("attention", (0, 1), (1.0, 1.0), (5, 6))], ("attention[0:2]=1.0@5:6",)),
    (
        ["attention[0]=1@5:9", "attention[1]=1@0:5"],
        ("attention[1]=1.0@0:5", "attention[0]=1.0@5:9"),
    ),
]


@pytest.mark.parametrize(("given", "stored"), READ)
def test_one_spelling(given: object, stored: tuple[str, ...]) -> None:
    assert Clamps().read(given) == stored
    assert Clamps().read(stored) == stored


REFUSED = [
    "attention[0]=1@0:1",  # no list
    ["attention"],
    ["values[0]=1@0:1"],
    ["attention[0]=1@5:5"],
    ["attention[]=1@0:1"],
    ["attention[0,0]=1@0:1"],
    ["attention[0]=-1@0:1"],
    ["attention[0]=nan@0:1"],
    ["attention[0:2]=0@0:1"],
    ["attention[0:2]=1,2,3@0:1"],
    ["attention[0]=1@0:5", "attention[1]=1@4:9"],
    [("attention", [0], 1)],
    [{"site": "attention"}],
    [3],
    ["attention[5]=1@0:1"],  # five positions
]


@pytest.mark.parametrize("given", REFUSED)
def test_what_is_none_is_refused(given: object) -> None:
    with pytest.raises(ds.DynascopeError, match=r"^training\.clamps: expected"):
        SMALL.replace({"training.clamps": given})


def test_what_is_held_when() -> None:
    clamps = ["attention[0:2]=1@2:4"]
    held = [held_attention(clamps, 3, epoch) for epoch in range(6)]
    assert [each is not None for each in held] == [False, False, False, True, True, False]
    assert held[3].tolist() == [0.5, 0.5, 0.0]
