"""Symmetries: directions in which the loss is exactly flat."""

from typing import Any

import numpy as np
import pytest
from small_runs import TINY, oracle, trained

import dynascope as ds
from dynascope.theory import curvature, flat_directions, spectrum
from dynascope.theory._surface import Surface
from dynascope.theory.symmetry import _turned, shifts

MODELS = [
    {"model.norm": norm, "model.dim": dim, "task.vocab": vocab, "model.bias": bias}
    for norm in ("rms", "unit", "smooth", "none")
    for dim, vocab, bias in ((2, 2, True), (2, 3, True), (3, 2, False), (1, 2, True))
]


def start(changes: dict[str, Any], seed: int = 1) -> tuple[ds.Config, ds.Parameters, Any]:
    config = ds.Config().replace({**TINY, "model.hidden": 5, "precision": "float64", **changes})
    return config, ds.initial_parameters(config, seed), ds.dataset(config.task, seed)


@pytest.mark.parametrize("changes", MODELS, ids=lambda changes: str(list(changes.values())))
def test_the_exact_zeros_of_every_norm(changes: dict[str, Any]) -> None:
    """Away from stationary points: the shifts, and what is written at a right angle to all class
    differences so that the gradient of E does not notice."""
    config, p, data = start(changes)
    hessian, known = ds.hessian(p, *data, config), shifts(p)
    found = spectrum(hessian, null=known)
    dim, classes = config.model.dim, config.embeddings
    writers = config.model.hidden + config.model.bias
    unseen = max(dim - (classes - 1), 0) * max(writers - (classes - 1), 0)
    assert len(known) == dim
    assert np.linalg.norm(known @ hessian, axis=1).max() <= found.tolerance
    if dim > 1 or config.model.norm == "none":  # else there are signs only, and more is flat
        assert found.zero == dim + unseen
    far = ds.Parameters.from_flat(p.flat + 3.0 * known[0], p.shapes)
    before, after = (ds.loss_and_gradient(each, *data, config)[0] for each in (p, far))
    assert after == pytest.approx(before, rel=1e-13)


@pytest.mark.parametrize(
    "changes", [*MODELS, {"model.norm": "rms", "model.norm_eps": 0.0}], ids=str
)
@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_the_gradient_has_no_part_in_flat_directions(
    changes: dict[str, Any], activation: str
) -> None:
    config, p, data = start({**changes, "model.activation": activation})
    flat = flat_directions(p, config.model)
    assert flat @ flat.T == pytest.approx(np.eye(len(flat)), abs=1e-12)
    gradient = ds.loss_and_gradient(p, *data, config)[1].flat
    assert np.abs(flat @ gradient).max() < 1e-14


COUNTS = [
    ({}, 2 + 1 + 6),
    ({"model.norm": "none"}, 2 + 4 + 6),
    ({"model.norm_eps": 0.0}, 2 + 1 + 1 + 6),
    ({"model.activation": "relu"}, 2 + 1 + 5 + 6),
    ({"model.dim": 3, "task.vocab": 3}, 3 + 3 + 6),
    ({"model.dim": 3, "model.embeddings": 4}, 3 + 3),
    ({"task.vocab": 3}, 2 + 1),
    ({"task.length": 1, "task.relevant": 1}, 2 + 2 + 1 + 6),
]


@pytest.mark.parametrize(("changes", "count"), COUNTS, ids=lambda each: str(each))
def test_how_many_flat_directions_there_are(changes: dict[str, Any], count: int) -> None:
    config, p, _ = start(changes)
    assert len(flat_directions(p, config.model)) == count


@pytest.mark.parametrize("norm", ["rms", "none"])
def test_the_hessian_along_a_symmetry_is_its_generator_times_the_gradient(norm: str) -> None:
    """H Tθ = -Tᵀ∇L for θ → exp(tT)θ: an exact check of the Hessian, anywhere."""
    config, p, data = start({"model.norm": norm, "model.dim": 3})
    turn = np.random.default_rng(0).standard_normal((3, 3))
    turn = turn if norm == "none" else turn - turn.T
    unit = (ds.Parameters.from_flat(row, p.shapes) for row in np.eye(len(p.flat)))
    generator = np.array([_turned(each, turn).flat for each in unit]).T
    gradient = ds.loss_and_gradient(p, *data, config)[1].flat
    image = ds.hessian_products(p, generator @ p.flat, *data, config)
    assert image == pytest.approx(-generator.T @ gradient, abs=1e-13)
    assert np.abs(image).max() > 1e-4


def test_a_dead_unit_is_flat() -> None:
    config, p, data = start({"model.activation": "relu", "model.bias": True})
    p.receptor_bias[2] = -100
    hessian = ds.hessian(p, *data, config)
    unit = ds.Parameters.from_flat(np.zeros(len(p.flat)), p.shapes)
    unit.receptors[2], unit.receptor_bias[2], unit.assemblers[:, 2] = 1, 1, 1
    assert (hessian[unit.flat == 1] == 0).all()
    # The unit, the shifts, and the unread half of what the other four units and the bias write.
    assert spectrum(hessian, null=shifts(p)).zero == 5 + 2 + (4 + 1 - 1)


FROZEN = [  # how many weights that holds, and how many shifts it leaves
    ((), 0, 2),
    (("query",), 2, 2),
    (("token_embedding",), 4, 0),
    (("position_embedding[3,1]",), 1, 1),
]


@pytest.mark.parametrize(("frozen", "held", "left"), FROZEN)
def test_frozen_weights_are_left_out(frozen: tuple[str, ...], held: int, left: int) -> None:
    run = trained(("training.frozen", frozen))
    found = curvature(run)
    assert (found.frozen, found.weights) == (held, 40 - held)
    assert ("frozen" in found.describe()) == bool(held)
    assert ("query" in found.trace) == ("query" not in frozen)
    surface = Surface(run)
    assert len(surface.at(run.parameters().flat).shifts) == left
    part = oracle(run, -1)[np.ix_(surface.free, surface.free)]
    assert found.spectrum.eigenvalues == pytest.approx(np.linalg.eigvalsh(part), abs=1e-12)


def test_symmetries_that_together_leave_the_frozen_alone() -> None:
    """Turning everything about the query moves no frozen query; three rotations make that one."""
    config = ds.Config().replace({"model.dim": 3, "task.vocab": 4, "training.frozen": ["query"]})
    p = ds.initial_parameters(config, 1)
    free = np.concatenate([np.full(array.size, name != "query") for name, array in p.items()])
    assert len(flat_directions(p, config, free)) == 4  # three shifts and that one
    assert len(flat_directions(p, config)) == 3 + 3
