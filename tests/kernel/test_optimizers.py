"""200 steps of every update rule against torch.optim in double precision, on the same batches."""

from typing import Any

import numpy as np
import pytest
import reference
import torch
from torch_rules import Lion, MuonAndAdamW, sam

import dynascope as ds
from dynascope import _kernel
from dynascope.frozen_weights import frozen_mask

STEPS = 200
SMALL = {
    "precision": "float64",
    "task.train_size": 100,
    "task.test_size": 16,
    "model.hidden": 9,
    # A gentle norm: rms divides by lengths near 0, so that rounding errors of 1e-16 grow to 1e-3
    # within 200 steps in both programs alike (training is chaotic; the update rules are not).
    "model.norm_eps": 0.3,
    "model.dim": 3,
    "training.batch": 32,  # 100 = 3 * 32 + 4: the last batch is a short one
    "training.epochs": STEPS // 4,
}
MATRICES = ("value", "receptors", "assemblers")
MLP = ("receptors", "receptor_bias", "assemblers", "assembler_bias")

CASES: dict[str, dict[str, Any]] = {
    "sgd": {"training.optimizer": "sgd", "training.lr": 0.1},
    "sgd, momentum": {"training.optimizer": "sgd", "training.lr": 0.03, "training.momentum": 0.9},
    "sgd, weight decay": {
        "training.optimizer": "sgd",
        "training.lr": 0.03,
        "training.weight_decay": 0.1,
        "training.momentum": 0.5,
    },
    "adam": {},
    "adam, betas and eps": {"training.beta1": 0.7, "training.beta2": 0.95, "training.eps": 1e-3},
    "adam, weight decay": {"training.weight_decay": 0.01},
    "adamw": {"training.optimizer": "adamw", "training.weight_decay": 0.1, "training.lr": 0.01},
    "adamw, clipped": {
        "training.optimizer": "adamw",
        "training.weight_decay": 0.1,
        "training.clip": 0.05,
    },
    "sgd, nesterov": {
        **{"training.optimizer": "sgd", "training.lr": 0.03, "training.momentum": 0.9},
        **{"training.nesterov": True, "training.weight_decay": 0.01},
    },
    "lion": {"training.optimizer": "lion", "training.lr": 1e-3},
    "lion, betas and decay": {
        "training.optimizer": "lion",
        "training.beta1": 0.95,
        "training.beta2": 0.98,
        "training.weight_decay": 0.3,
        "training.schedule": "cosine",
    },
    "lion, frozen and discounted": {
        "training.optimizer": "lion",
        "training.frozen": ["query", "receptors[2:]"],
        "training.mlp_lr_discount": 4.0,
    },
    "muon": {"training.optimizer": "muon"},
    "muon, decay and cosine": {
        "training.optimizer": "muon",
        "training.lr": 0.01,
        "training.weight_decay": 0.3,
        "training.schedule": "cosine",
    },
    "muon, momentum and betas": {
        "training.optimizer": "muon",
        "training.muon_momentum": 0.5,
        "training.beta1": 0.7,
        "training.beta2": 0.95,
        "training.eps": 1e-3,
    },
    "muon, no momentum, no bias": {
        "training.optimizer": "muon",
        "training.muon_momentum": 0.0,
        "model.bias": False,
    },
    "muon, frozen, discounted and clipped": {
        "training.optimizer": "muon",
        "training.frozen": ["query", "value[0,1]", "receptors[2:]", "assemblers[1,:4]"],
        "training.mlp_lr_discount": 4.0,
        "training.clip": 0.05,
        "training.weight_decay": 0.1,
    },
    "muon, more dimensions than units": {
        **{"training.optimizer": "muon", "model.dim": 18, "model.hidden": 5},
    },
    "muon, one dimension": {"training.optimizer": "muon", "model.dim": 1},
    "muon, one unit": {"training.optimizer": "muon", "model.hidden": 1},
    "sam": {"training.sam": 0.05},
    "sam of sgd": {
        **{"training.optimizer": "sgd", "training.lr": 0.03, "training.momentum": 0.9},
        # At 0.5 this training is chaotic: weights that differ by 1e-15 end 1e-8 apart.
        **{"training.sam": 0.1, "training.nesterov": True, "training.weight_decay": 0.01},
    },
    "sam of lion": {"training.optimizer": "lion", "training.lr": 1e-3, "training.sam": 0.1},
    "sam of muon": {"training.optimizer": "muon", "training.sam": 0.1},
    "sam, frozen, discounted and clipped": {
        "training.sam": 0.3,
        "training.frozen": ["query", "value[0,1]", "receptors[2:]"],
        "training.mlp_lr_discount": 4.0,
        "training.clip": 0.05,
    },
    "sam, constrained": {
        **{"training.sam": 0.1, "training.optimizer": "adamw", "training.weight_decay": 0.1},
        **{"training.query_limit": 0.3, "training.unit_rows": ["token_embedding"]},
    },
    "sam, batch 1": {"training.sam": 0.02, "training.batch": 1, "training.epochs": 2},
    "clipped": {"training.optimizer": "sgd", "training.lr": 0.3, "training.clip": 0.05},
    "warm-up": {"training.schedule": "warmup", "training.warmup": 37},
    "cosine": {"training.schedule": "cosine", "training.lr_final": 1e-4},
    "cosine with warm-up": {"training.schedule": "cosine", "training.warmup": 20},
    "mlp discount": {"training.mlp_lr_discount": 10.0},
    "mlp premium": {"training.mlp_lr_discount": 0.25, "training.optimizer": "sgd"},
    "frozen": {"training.frozen": ["query", "receptors"]},
    "frozen by mask, clipped": {
        "training.frozen": ["position_embedding[5:]", "value[0,1]"],
        "training.clip": 0.05,
        "training.weight_decay": 0.1,
    },
    "batch 1": {"training.batch": 1, "training.epochs": 2},
    "full batch": {"training.batch": 100, "training.epochs": STEPS},
    "large d": {"model.dim": 6, "training.optimizer": "adamw", "training.weight_decay": 0.1},
    "query limit": {"training.query_limit": 0.3, "training.lr": 0.03},
    "unit rows": {"training.unit_rows": ["token_embedding", "position_embedding"]},
}


def torch_run(config: ds.Config, seed: int) -> tuple[dict[str, np.ndarray], list[float]]:
    """The same training with torch.optim; also the global gradient norm of each step."""
    t = config.training
    p = reference.tensors(ds.initial_parameters(config, seed), grad=True)
    tokens, targets = ds.dataset(config.task, seed, "train")
    fixed = frozen_mask(t.frozen, config.shapes)
    groups = [
        {"params": [p[n] for n in p if n not in MLP], "lr": t.lr},
        {"params": [p[n] for n in p if n in MLP], "lr": t.lr / t.mlp_lr_discount},
    ]
    betas = {"betas": (t.beta1, t.beta2), "eps": t.eps}
    make: Any = {
        "sgd": lambda: torch.optim.SGD(
            groups, momentum=t.momentum, weight_decay=t.weight_decay, nesterov=t.nesterov
        ),
        "adam": lambda: torch.optim.Adam(groups, weight_decay=t.weight_decay, **betas),
        "lion": lambda: Lion(groups, (t.beta1, t.beta2), t.weight_decay),
        "adamw": lambda: torch.optim.AdamW(groups, weight_decay=t.weight_decay, **betas),
        "muon": lambda: MuonAndAdamW(
            groups,
            [p[n] for n in MATRICES if min(p[n].shape) > 1],
            t.muon_momentum,
            weight_decay=t.weight_decay,
            **betas,
        ),
    }
    optimizer = make[t.optimizer]()
    base = [group["lr"] for group in optimizer.param_groups]
    per_epoch = -(-config.task.train_size // t.batch)
    total = t.epochs * per_epoch
    norms = []
    for step in range(STEPS):
        epoch, i = divmod(step, per_epoch)
        order = _kernel.shuffled(config.task.train_size, seed, epoch)
        batch = order[i * t.batch : (i + 1) * t.batch].astype(np.int64)
        for group, lr in zip(optimizer.param_groups, base, strict=True):
            group["lr"] = lr * rate(t, step, total)

        def gradient(batch: np.ndarray = batch) -> float:
            """Of the batch, where the weights are, and 0 for frozen ones; returns its norm with
            them."""
            optimizer.zero_grad()
            reference.loss(p, tokens[batch], targets[batch], config.model).backward()
            square = sum((q.grad**2).sum() for q in p.values() if q.grad is not None)
            for name, q in p.items():
                assert q.grad is not None
                q.grad[torch.as_tensor(fixed[name])] = 0
            return float(square**0.5)

        norms.append(gradient())
        kept = {name: q.detach().clone() for name, q in p.items()}
        if t.sam:
            sam(p.values(), t.sam, gradient)
        if t.clip:
            torch.nn.utils.clip_grad_norm_(list(p.values()), t.clip)
        optimizer.step()
        with torch.no_grad():
            constrain(p, t)
            for name, q in p.items():  # torch has no masks: put frozen entries back
                q[torch.as_tensor(fixed[name])] = kept[name][torch.as_tensor(fixed[name])]
    return {name: q.detach().numpy() for name, q in p.items()}, norms


def rate(t: ds.TrainingConfig, step: int, total: int) -> float:
    """The schedule as torch's closed forms have it: LinearLR's ramp, CosineAnnealingLR's cosine."""
    if t.schedule != "constant" and step < t.warmup:
        return (step + 1) / t.warmup
    if t.schedule != "cosine":
        return 1.0
    floor = t.lr_final / t.lr
    return (
        floor
        + (1 - floor) * (1 + float(np.cos(np.pi * (step - t.warmup) / (total - t.warmup)))) / 2
    )


def constrain(p: dict[str, torch.Tensor], t: ds.TrainingConfig) -> None:
    if t.query_limit and p["query"].norm() > t.query_limit:
        p["query"] *= t.query_limit / p["query"].norm()
    for name in t.unit_rows:
        p[name] /= p[name].norm(dim=1, keepdim=True)


@pytest.mark.parametrize("name", CASES)
def test_two_hundred_steps(name: str) -> None:
    config = ds.Config().replace({**SMALL, **CASES[name]})
    trainer = ds.Trainer(config, seed=3)
    trainer.advance_steps(STEPS)
    assert trainer.step == STEPS
    wanted, _ = torch_run(config, seed=3)
    start = ds.initial_parameters(config, 3)
    for parameter, array in trainer.parameters.items():
        np.testing.assert_allclose(array, wanted[parameter], rtol=0, atol=1e-9, err_msg=parameter)
        moved = not np.array_equal(array, start[parameter])
        assert moved != (parameter in config.training.frozen), parameter


@pytest.mark.parametrize(
    "more", [{}, {"training.optimizer": "muon"}, {"training.sam": 0.1}], ids=str
)
def test_frozen_entries_keep_their_bits(more: dict[str, Any]) -> None:
    config = ds.Config().replace(
        {**SMALL, **CASES["frozen by mask, clipped"], "precision": "float32", **more}
    )
    trainer, start = ds.Trainer(config, seed=3), ds.initial_parameters(config, 3)
    trainer.advance(3)
    now = trainer.parameters
    np.testing.assert_array_equal(now.position_embedding[5:], start.position_embedding[5:])
    assert now.value[0, 1] == start.value[0, 1]
    assert (now.position_embedding[:5] != start.position_embedding[:5]).all()


def test_constraints_hold() -> None:
    config = ds.Config().replace(
        {
            "training.query_limit": 0.2,
            "training.unit_rows": ["token_embedding"],
            "training.epochs": 2,
        }
    )
    p = ds.train(config, 1, progress=False)[0].parameters()
    assert np.linalg.norm(p.query) <= 0.2 * (1 + 1e-6)
    np.testing.assert_allclose(np.linalg.norm(p.token_embedding, axis=1), 1, atol=1e-6)
    assert abs(np.linalg.norm(p.position_embedding, axis=1) - 1).min() > 1e-3


@pytest.mark.parametrize("rho", [None, 0.2])
def test_recorded_gradient_norms(rho: float | None) -> None:
    """grad_norm is the mean over an epoch's steps of each parameter's norm, before clipping; with
    SAM of the gradient at the weights, not of that uphill."""
    config = ds.Config().replace(
        {
            **SMALL,
            **{"training.clip": 0.05, "training.epochs": 50, "record.steps": (0, 50)},
            "training.sam": rho,
        }
    )
    run = ds.train(config, [3], progress=False)[0]
    _, norms = torch_run(config, 3)
    total = np.sqrt(sum(run.curves[f"grad_norm/{n}"] ** 2 for n in config.shapes))
    assert np.isnan(total[0])
    assert run.steps is not None
    each = np.sqrt(sum(run.steps.curves[f"grad_norm/{n}"] ** 2 for n in config.shapes))
    np.testing.assert_allclose(each[:STEPS], norms, rtol=1e-8)
    query = run.steps.curves["grad_norm/query"].reshape(50, 4)
    np.testing.assert_allclose(run.curves["grad_norm/query"][1:], query.mean(1), rtol=1e-12)
    np.testing.assert_allclose(run.curves["grad_norm_max/query"][1:], query.max(1), rtol=1e-12)
