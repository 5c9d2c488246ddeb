"""What Muon and SAM promise, beside the comparison with PyTorch in test_optimizers.py."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dynascope as ds

Array = npt.NDArray[np.float64]
SMALL = {
    "precision": "float64",
    "task.train_size": 64,
    "task.test_size": 8,
    "training.batch": 64,  # an epoch is a step
    "training.epochs": 12,
}
MATRICES = ("value", "receptors", "assemblers")


def config(changes: dict[str, Any]) -> ds.Config:
    return ds.Config().replace({**SMALL, **changes})


def polynomial(s: Array) -> Array:
    """What the published iteration makes of singular values of a matrix of length 1."""
    for _ in range(5):
        s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    return s


def gradient(config: ds.Config, seed: int) -> tuple[ds.Parameters, ds.Parameters]:
    """Initial weights, and the gradient there."""
    start = ds.initial_parameters(config, seed)
    return start, ds.loss_and_gradient(start, *ds.dataset(config.task, seed), config.model)[1]


# ---- Muon ----------------------------------------------------------------------------------------
@settings(deadline=None, max_examples=40)
@given(st.integers(2, 40), st.integers(2, 40), st.integers(0, 99))
def test_the_direction_by_singular_values(dim: int, hidden: int, seed: int) -> None:
    """Muon's first step is along the gradient with other singular values: those of the polynomial,
    here by a decomposition instead of an iteration on matrices."""
    shape = {"model.dim": dim, "model.hidden": hidden}
    made = config({"training.optimizer": "muon", "training.lr": 1.0, **shape})
    start, grad = gradient(made, seed)
    trainer = ds.Trainer(made, seed=seed)
    trainer.advance_steps(1)
    for name in MATRICES:
        left, s, right = np.linalg.svd(grad[name], full_matrices=False)
        # Nesterov: 0.05 g + 0.95 m with m = 0.05 g. What is shorter than 1e-7 is divided by that.
        along = 0.05 * (1 + 0.95) * s
        along = along / max(np.linalg.norm(along), 1e-7)
        want = left @ np.diag(polynomial(along)) @ right
        scale = 0.2 * np.sqrt(max(grad[name].shape))
        got = (start[name] - trainer.parameters[name]) / scale
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-10, err_msg=name)
        values = np.diagonal(left.T @ got @ right.T)
        assert ((values > 0.68) & (values < 1.14))[along > 0.01].all(), name
        assert ((values > 0.68) & (values < 1.21))[along > 0.003].all(), name


def test_what_is_no_hidden_matrix_moves_as_by_adamw() -> None:
    changes = {"training.weight_decay": 0.1, "training.epochs": 1}
    runs = [
        ds.train(config({**changes, "training.optimizer": rule}), [5], progress=False)[0]
        for rule in ("muon", "adamw")
    ]
    muon, adamw = (run.parameters() for run in runs)
    for name in muon:
        assert np.array_equal(muon[name], adamw[name]) == (name not in MATRICES), name


@pytest.mark.parametrize("dim", [2, 5])
def test_adam_goes_on_from_a_state_of_muon(dim: int) -> None:
    """Second moments are kept for matrices, too: without them Adam's next steps would be long."""
    muon, adam = (
        config({"training.optimizer": rule, "training.muon_momentum": 0.9, "model.dim": dim})
        for rule in ("muon", "adam")
    )
    first = ds.Trainer(muon, seed=1)
    first.advance(1)
    other = ds.Trainer(adam, seed=1)
    other.advance(1)
    one, two = (trainer.run.states[-1] for trainer in (first, other))
    np.testing.assert_array_equal(one[1:], two[1:])  # one step: both met the same gradient
    assert first.run.slots == other.run.slots
    first.change({"training.optimizer": "adam"})
    before = first.parameters
    first.advance(1)
    assert abs(first.parameters.flat - before.flat).max() < 3 * 3e-3


def test_a_matrix_without_gradient_stays() -> None:
    """A wholly frozen matrix has the direction 0, and nothing divides by its length."""
    made = config({"training.optimizer": "muon", "training.frozen": ["value"]})
    trainer = ds.Trainer(made, seed=2)
    trainer.advance(3)
    assert np.isfinite(trainer.parameters.flat).all()
    np.testing.assert_array_equal(trainer.parameters.value, ds.initial_parameters(made, 2).value)


# ---- SAM -----------------------------------------------------------------------------------------
@settings(deadline=None, max_examples=25)
@given(
    st.sampled_from(["sgd", "adam", "adamw", "muon"]),  # signs, as lion's, do not go anywhere
    st.floats(1e-15, 1e-12),
    st.integers(0, 99),
)
def test_a_radius_of_nothing_changes_nothing(rule: str, rho: float, seed: int) -> None:
    """As rho goes to 0, SAM becomes the rule alone; with a usual radius it is something else."""
    ends = []
    for radius in (None, rho, 0.05):
        made = config(
            {
                **{"training.optimizer": rule, "training.sam": radius, "training.epochs": 2},
                "training.eps": 1e-3,  # Adam's steps, too, have signs only where gradients are tiny
            }
        )
        trainer = ds.Trainer(made, seed=seed)
        trainer.advance(2)
        ends.append(trainer.parameters.flat)
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-8)
    assert abs(ends[2] - ends[0]).max() > 1e-6


@pytest.mark.parametrize("frozen", [[], ["query", "receptors[3:]"]], ids=str)
def test_a_step_is_along_the_gradient_uphill(frozen: list[str]) -> None:
    rho, lr = 0.3, 0.1
    made = config(
        {
            **{"training.optimizer": "sgd", "training.lr": lr, "training.sam": rho},
            "training.frozen": frozen,
        }
    )
    start, grad = gradient(made, 7)
    free = np.array(grad.flat)
    if frozen:
        parts = ds.Parameters.from_flat(free, made.shapes)
        parts.query[:] = 0
        parts.receptors[3:] = 0
        free = np.array(parts.flat)
    uphill = start.flat + rho * free / np.linalg.norm(free)
    there = ds.Parameters.from_flat(uphill, made.shapes)
    _, far = ds.loss_and_gradient(there, *ds.dataset(made.task, 7), made.model)
    trainer = ds.Trainer(made, seed=7)
    trainer.advance_steps(1)
    want = np.where(free == 0, start.flat, start.flat - lr * far.flat)
    np.testing.assert_allclose(trainer.parameters.flat, want, rtol=0, atol=1e-12)


def test_what_is_recorded_is_from_the_weights() -> None:
    """Loss, gradient norms and shortest vectors of a step are those at the weights, not uphill."""
    plain, sam = (
        ds.train(
            config({"training.sam": rho, "training.epochs": 1, "record.steps": (0, 1)}),
            [3],
            progress=False,
        )[0]
        for rho in (None, 0.5)
    )
    assert plain.steps is not None
    assert sam.steps is not None
    for name, curve in plain.steps.curves.items():
        np.testing.assert_array_equal(sam.steps.curves[name], curve, err_msg=name)
    assert (plain.parameters().flat != sam.parameters().flat).any()


@pytest.mark.parametrize("rho", [0, -1.0, float("nan"), float("inf"), "wide", True])
def test_radii_that_are_none(rho: object) -> None:
    with pytest.raises(ds.DynascopeError, match=r"training.sam: expected none or a finite number"):
        config({"training.sam": rho})
