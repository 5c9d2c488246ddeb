"""Closed-form gradients against the kernel and against automatic differentiation, in float64."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
import reference
import torch
from cases import CASES, Case, largest, relative

import dynascope as ds
from dynascope.theory import class_gradients, gradients, stationarity
from dynascope.theory import closed_form as module

NORMS = ("rms", "unit", "smooth", "none")
ACTIVATIONS = ("gelu", "relu", "silu", "tanh")
SIZES = list(product((1, 2, 3, 8), (2, 3, 5), (0, 2)))  # dim, vocab, embeddings beyond vocab
WHOLE = [case for case in CASES if not case.ablate]  # formulas are those of whole models


def grid(norm: str, activation: str, bias: bool) -> list[Case]:
    model = {"model.norm": norm, "model.activation": activation, "model.bias": bias}
    sizes = {"model.hidden": 7, "task.length": 5, "task.relevant": 3}
    return [
        Case(
            "grid",
            {**model, **sizes, "model.dim": d, "task.vocab": p, "model.embeddings": p + more},
            count=20,
            seed=10 * d + p,
            cancels=d == 1,
        )
        for d, p, more in SIZES
    ]


def assert_gradients(case: Case) -> None:
    p, model = case.parameters("float64"), case.config("float64").model
    tokens, targets = case.examples()
    leaves = reference.tensors(p, grad=True)
    reference.loss(leaves, tokens, targets, model).backward()
    kernel = ds.loss_and_gradient(p, tokens, targets, model)[1]
    got = gradients(p, tokens, targets, model)
    assert set(got) == set(p) - {"token_embedding", "position_embedding"}
    for wanted in (kernel, {name: leaf.grad.numpy() for name, leaf in leaves.items()}):
        # One position has all attention whatever the query: that gradient is 0 but for rounding.
        cancels = case.cancels or tokens.shape[1] == 1
        size = largest(wanted.values()) if cancels else 0.0
        for name, array in got.items():
            assert relative(array, wanted[name], size) < 1e-10, (case.name, name)


def assert_class_gradients(case: Case, count: int) -> None:
    """Every logit differentiated by PyTorch; and their weighted sum is the gradient of the loss."""
    p, model = case.parameters("float64"), case.config("float64").model
    tokens, targets = (part[:count] for part in case.examples())
    leaves = reference.tensors(p, grad=True)
    logits = reference.forward(leaves, torch.as_tensor(tokens).long(), model)["logits"]
    got = class_gradients(p, tokens, model)
    for i, j in product(range(count), range(logits.shape[1])):
        wanted = torch.autograd.grad(
            logits[i, j], [leaves[name] for name in got], retain_graph=True, allow_unused=True
        )
        size = largest(w.numpy() for w in wanted if w is not None) if case.cancels else 0.0
        for (name, array), want in zip(got.items(), wanted, strict=True):
            assert relative(array[i, j], 0.0 if want is None else want.numpy(), size) < 1e-10, name
    errors = ds.forward(p, tokens, model).probabilities.copy()
    errors[np.arange(count), targets] -= 1
    whole = gradients(p, tokens, targets, model)
    size = largest(whole.values())
    for name, array in got.items():
        summed = np.einsum("nj,nj...->...", errors, array) / count
        assert relative(summed, whole[name], size) < 1e-10, name


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("bias", [True, False])
def test_every_option_and_size(norm: str, activation: str, bias: bool) -> None:
    for case in grid(norm, activation, bias):
        assert_gradients(case)
        assert_class_gradients(case, 1)


@pytest.mark.parametrize("case", WHOLE, ids=lambda case: case.name)
def test_every_case(case: Case) -> None:
    assert_gradients(case)


@pytest.mark.parametrize("case", WHOLE[:: len(WHOLE) // 12], ids=lambda case: case.name)
def test_logits_of_some_cases(case: Case) -> None:
    assert_class_gradients(case, 1)


@pytest.mark.parametrize("norm", NORMS)
def test_pieces_change_nothing(norm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("pieces", {"model.norm": norm, "task.vocab": 3})
    p, model = case.parameters("float64"), case.config("float64").model
    tokens, targets = case.examples()
    whole = gradients(p, tokens, targets, model), class_gradients(p, tokens, model)
    monkeypatch.setattr("dynascope.theory._backward._AT_ONCE", 7 * 32)
    split = gradients(p, tokens, targets, model), class_gradients(p, tokens, model)
    for name in whole[0]:
        assert relative(split[0][name], whole[0][name]) < 1e-13
        assert relative(split[1][name], whole[1][name]) < 1e-13


def test_a_logit_by_hand() -> None:
    """One position, one unit, d = 1, norm none, relu: xi = V z, psi = xi + U W xi (W xi > 0)."""
    model = ds.ModelConfig(dim=1, hidden=1, activation="relu", norm="none", bias=False)
    e, place, v, w, u = 2.0, 1.0, 0.5, 3.0, -1.0
    p = ds.Parameters(
        {
            "token_embedding": np.array([[e], [-1.0]]),
            "position_embedding": np.array([[place]]),
            "query": np.array([0.7]),
            "value": np.array([[v]]),
            "receptors": np.array([[w]]),
            "assemblers": np.array([[u]]),
        }
    )
    got = class_gradients(p, [[0]], model)
    z = e + place
    assert got["query"][0].tolist() == [[0.0], [0.0]]  # one position takes all attention anyway
    assert got["value"][0, :, 0, 0].tolist() == [(1 + u * w) * e * z, (1 + u * w) * -z]
    assert got["receptors"][0, :, 0, 0].tolist() == [u * e * v * z, -u * v * z]
    assert got["assemblers"][0, :, 0, 0].tolist() == [e * w * v * z, -w * v * z]


def test_single_precision_weights_are_taken_as_they_are() -> None:
    case = CASES[0]
    p, (tokens, targets) = case.parameters("float32"), case.examples()
    got = gradients(p, tokens, targets)
    wanted = ds.loss_and_gradient(p.astype(np.float64), tokens, targets)[1]
    for name, array in got.items():
        assert array.dtype == np.float64
        assert relative(array, wanted[name]) < 1e-10


def test_a_confident_model_loses_no_digits() -> None:
    """C_x of a doubt of 1e-30, where phat - 1 is 0 in float64: the gradient is not."""
    case = Case("sure", {"model.dim": 2})
    p, (tokens, _) = case.parameters("float64"), case.examples()
    row = p.token_embedding[0]
    sure = p.replace(token_embedding=[row, -row], assembler_bias=40 * row / (row @ row))
    targets = np.zeros(len(tokens), int)
    got = stationarity(sure, tokens, targets)
    assert 0 < got.total_variation < 1e-30
    assert 0 < got.norm < 1e-25


@pytest.mark.parametrize("bias", [True, False])
def test_stationarity(bias: bool) -> None:
    case = Case("stationarity", {"task.vocab": 3, "model.bias": bias})
    p, (tokens, targets) = case.parameters("float64"), case.examples()
    got, act = stationarity(p, tokens, targets), ds.forward(p, tokens)
    grad = ds.loss_and_gradient(p, tokens, targets)[1]
    truth = np.eye(3)[targets]
    assert got.total_variation == pytest.approx(
        np.abs(act.probabilities - truth).sum(axis=1).mean() / 2, rel=1e-12
    )
    squares = sum((grad[name] ** 2).sum() for name in got.conditions)
    assert got.norm == pytest.approx(math.sqrt(squares), rel=1e-12)
    assert len(got.norms) == (6 if bias else 4)
    for name, array in got.conditions.items():
        assert got.norms[name] == pytest.approx(np.linalg.norm(grad[name]), rel=1e-10)
        assert array.shape == p.shapes[name]
    worst = max(got.norms, key=lambda name: got.norms[name]).replace("_", " ")
    assert f"most of it in the {worst}" in got.describe()
    assert "50 sequences" in got.describe()


def test_a_stationary_point() -> None:
    """Nothing but equal embeddings: every class is as likely, and no weight changes that."""
    p = 0 * ds.initial_parameters(ds.Config(precision="float64"))
    got = stationarity(p, [[0] * 12, [1] * 12], [0, 1])
    assert got.norm == 0.0
    assert got.total_variation == 0.5
    assert got.describe().startswith("The gradient is 0 in float64")


P = ds.initial_parameters(ds.Config(), seed=0)
ROWS, ANSWERS = [[0] * 12, [1] * 12], [0, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, ROWS, ANSWERS), "parameters: expected ds.Parameters, but got int."),
        ((dict(P), ROWS, ANSWERS), "parameters: expected ds.Parameters, but got dict."),
        ((float("nan") * P, ROWS, ANSWERS), "parameters.token_embedding: expected finite numbers"),
        ((P, [[0.5] * 12], [0]), "tokens: expected whole numbers, but got an array of float64."),
        ((P, [[2] * 12], [0]), "tokens: expected numbers from 0 to 1, but got 2."),
        ((P, [[0] * 11], [0]), "tokens: expected sequences of length 12, but got 11."),
        ((P, [0] * 12, [0]), "tokens: expected tokens of shape [count, length]"),
        ((P, np.zeros((0, 12), int), []), "tokens: give at least one sequence"),
        ((P, ROWS, [0]), "targets: expected 2 targets, but got shape (1,)."),
        ((P, ROWS, [0, 2]), "targets: expected numbers from 0 to 1, but got 2."),
        ((P, ROWS, "no"), "targets: expected whole numbers"),
        (
            (P, ROWS, ANSWERS, "rms"),
            "model: expected a ds.ModelConfig, a ds.Config or a dict of options, but got",
        ),
        ((P, ROWS, ANSWERS, ds.ModelConfig(dim=3)), "model.dim: expected 2, as in the parameters"),
        (
            (1e200 * P.astype(float), ROWS, ANSWERS),
            "parameters: expected weights whose logits are finite",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(arguments: Any, message: str) -> None:
    for function in (gradients, stationarity):
        with pytest.raises(ds.DynascopeError) as caught:
            function(*arguments)
        assert str(caught.value).startswith(message)


def test_class_gradients_that_would_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_NUMBERS", 700)  # 168 weights, two classes
    assert class_gradients(P, ROWS)["query"].shape == (2, 2, 2)
    with pytest.raises(ds.DynascopeError, match=r"^tokens: expected at most 2 sequences"):
        class_gradients(P, [*ROWS, [0] * 12])
    assert class_gradients(P, np.zeros((0, 12), int))["value"].shape == (0, 2, 2, 2)
