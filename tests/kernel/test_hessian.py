"""The exact Hessian against PyTorch's in double precision, over all cases; and what it obeys."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference
import torch
from cases import CASES, Case, relative
from torch import Tensor

import dynascope as ds
from dynascope import _kernel
from dynascope.model import Call
from dynascope.second_order import MAX_DENSE

# PyTorch's own: its transforms import a module that warns of itself.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")

WHOLE = [case for case in CASES if not case.ablate]  # `hessian` takes no ablation
# At 0 a norm has a kink: its second derivative is nothing that two programs would agree on.
KINKED = {
    case.name for case in WHOLE if case.category == "zero vectors" and "smooth" not in case.name
}
SMOOTH = [case for case in WHOLE if case.name not in KINKED]
DENSE = 400  # weights: up to here PyTorch computes the whole matrix, beyond some products


def _loss_of_flat(case: Case, like: ds.Parameters) -> Callable[[Tensor], Tensor]:
    tokens, targets = case.examples()
    model = case.config("float64").model

    def loss(flat: Tensor) -> Tensor:
        parts, start = {}, 0
        for name, shape in like.shapes.items():
            size = int(np.prod(shape))
            parts[name] = flat[start : start + size].reshape(shape)
            start += size
        return reference.loss(parts, tokens, targets, model)

    return loss


@pytest.mark.parametrize("case", SMOOTH, ids=lambda case: case.name)
def test_against_torch(case: Case) -> None:
    p = case.parameters("float64")
    tokens, targets = case.examples()
    model, flat = case.config("float64").model, torch.tensor(p.flat)
    loss = _loss_of_flat(case, p)
    if len(flat) <= DENSE:
        got: Any = ds.hessian(p, tokens, targets, model)
        wanted = torch.func.hessian(loss)(flat).numpy()
    else:
        directions = np.random.default_rng(0).standard_normal((5, len(flat)))
        got = ds.hessian_products(p, directions, tokens, targets, model)
        gradient = torch.func.grad(loss)
        wanted = np.stack(
            [torch.func.jvp(gradient, (flat,), (torch.tensor(v),))[1].numpy() for v in directions]
        )
    assert relative(got, wanted) < 1e-8


def test_enough_cases() -> None:
    small = [case for case in SMOOTH if len(case.parameters("float64").flat) <= DENSE]
    assert len(small) >= 30
    assert {case.config("float64").model.norm for case in small} == {
        "rms",
        "unit",
        "smooth",
        "none",
    }
    activations = {case.config("float64").model.activation for case in small}
    assert activations == {"gelu", "relu", "silu", "tanh"}


@pytest.mark.parametrize("case", WHOLE, ids=lambda case: case.name)
def test_values_are_those_of_the_plain_gradient(case: Case) -> None:
    """Dual numbers carry the plain ones along, bit for bit."""
    p, model = case.parameters("float64"), case.config("float64").model
    tokens, targets = case.examples()
    loss, grad = ds.loss_and_gradient(p, tokens, targets, model)
    products, dual_grad, dual_loss = _products(p, case, np.zeros((1, len(p.flat))))
    assert dual_loss == loss
    np.testing.assert_array_equal(dual_grad, grad.flat)
    assert not products.any()


def _products(p: ds.Parameters, case: Case, directions: Any) -> tuple[Any, Any, float]:
    call = Call(p, case.config("float64").model)
    return _kernel.hessian_products(
        call.flat, call.shape, *call.examples(*case.examples()), directions
    )


@pytest.mark.parametrize("case", WHOLE, ids=lambda case: case.name)
def test_symmetric_and_finite_also_at_a_kink(case: Case) -> None:
    p = case.parameters("float64")
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, len(p.flat)))
    (of_a, of_b), *_ = _products(p, case, np.stack([a, b]))
    assert np.isfinite([of_a, of_b]).all()
    if case.name not in KINKED:
        assert abs(of_a @ b - of_b @ a) <= 1e-9 * np.linalg.norm(of_a) * np.linalg.norm(b)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 9])
def test_any_number_of_directions(count: int) -> None:
    """They are taken a few at a time: each result is that of its direction alone, bit for bit."""
    config = ds.Config(precision="float64")
    p = ds.initial_parameters(config)
    examples = ds.dataset(config.task)
    directions = np.random.default_rng(2).standard_normal((count, len(p.flat)))
    got = ds.hessian_products(p, directions, *examples, config)
    assert got.shape == directions.shape
    for row, direction in zip(got, directions, strict=True):
        alone = ds.hessian_products(p, direction, *examples, config)
        np.testing.assert_array_equal(row, alone)


@pytest.mark.parametrize("norm", ["rms", "unit", "smooth", "none"])
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_shifting_embeddings_against_positions_changes_nothing(norm: str, dim: int) -> None:
    config = ds.Config(precision="float64").replace(
        {"model.norm": norm, "model.dim": dim, "model.hidden": 5, "model.embeddings": 4}
    )
    p = ds.initial_parameters(config, 3)
    h = ds.hessian(p, *ds.dataset(config.task), config)
    for c in range(dim):
        shift = p * 0
        shift.token_embedding[:, c], shift.position_embedding[:, c] = 1, -1
        assert np.abs(h @ shift.flat).max() < 1e-13 * np.abs(h).max()


def test_of_a_model_known_by_heart() -> None:
    """No feed-forward, no norm, no attention to speak of: logits are a quadratic form in E and V.

    With q = 0, V = 0, U = 0 and b = 0 the output is 0, every class has probability 1/p, and of the
    second derivatives only those remain in which the output's first-order part meets E: for b2 the
    block is the covariance of E's rows under the uniform distribution, and between E(r) and b2 the
    entry is -(share of class r in the targets - 1/p), on the diagonal.
    """
    config = ds.Config(precision="float64").replace(
        {"model.norm": "none", "task.vocab": 3, "model.hidden": 2}
    )
    p = ds.initial_parameters(config, 0)
    for name in ("query", "value", "assemblers", "assembler_bias"):
        p[name][...] = 0
    tokens, targets = ds.dataset(config.task)
    h = ds.hessian(p, tokens, targets, config)
    place = ds.Parameters.from_flat(np.arange(len(p.flat)), p.shapes)
    bias, E = place.assembler_bias, p.token_embedding
    np.testing.assert_allclose(h[np.ix_(bias, bias)], np.cov(E.T, bias=True), atol=1e-15)
    shares = np.bincount(targets, minlength=3) / len(targets)
    for r in range(3):
        block = h[np.ix_(place.token_embedding[r], bias)]
        np.testing.assert_allclose(block, (1 / 3 - shares[r]) * np.eye(2), atol=1e-15)
    assert not h[np.ix_(place.receptors.ravel(), place.receptors.ravel())].any()


def test_parameters_are_directions_too() -> None:
    direction = DEFAULT * 2
    along = ds.hessian_products(DEFAULT, direction, X, Y)
    np.testing.assert_array_equal(along, ds.hessian_products(DEFAULT, direction.flat, X, Y))


def test_a_matrix_in_several_pieces() -> None:
    """Rows are computed some at a time: with more weights than that, it is the same matrix."""
    config = ds.Config().replace({"model.hidden": 60, "task.train_size": 32})
    p, examples = ds.initial_parameters(config), ds.dataset(config.task)
    assert len(p.flat) > 256
    whole = ds.hessian_products(p, np.eye(len(p.flat)), *examples, config)
    h = ds.hessian(p, *examples, config)
    np.testing.assert_array_equal(h, h.T)
    np.testing.assert_array_equal(h, (whole + whole.T) / 2)


def test_float32_parameters_are_taken_exactly() -> None:
    config = ds.Config()
    p = ds.initial_parameters(config)
    examples = ds.dataset(config.task)
    narrow, wide = (ds.hessian(q, *examples, config) for q in (p, p.astype("float64")))
    assert narrow.dtype == np.float64
    np.testing.assert_array_equal(narrow, wide)


LARGE = ds.Config().replace({"model.dim": 64, "model.hidden": 256})
DEFAULT = ds.initial_parameters(ds.Config())
X, Y = ds.dataset(ds.Config().task)
BAD = [
    (lambda: ds.hessian(DEFAULT, X[:0], Y[:0]), "tokens: give at least one sequence"),
    (lambda: ds.hessian(DEFAULT, X, Y[:5]), "targets"),
    (lambda: ds.hessian(DEFAULT, X[:, :5], Y), "tokens: expected sequences of length 12"),
    (lambda: ds.hessian(None, X, Y), "parameters: expected ds.Parameters"),  # type: ignore[arg-type]
    (lambda: ds.hessian(DEFAULT, X, Y, LARGE), "model.dim: expected 2"),
    (
        lambda: ds.hessian(ds.initial_parameters(LARGE), X, Y, LARGE),
        f"parameters: expected at most {MAX_DENSE} weights for a whole Hessian, but got .*use",
    ),
    (lambda: ds.hessian_products(DEFAULT, np.zeros(5), X, Y), "directions: expected 196 finite"),
    (lambda: ds.hessian_products(DEFAULT, np.full(196, np.nan), X, Y), "but got NaN or infinity"),
    (lambda: ds.hessian_products(DEFAULT, np.full(196, 1j), X, Y), "expected 196 finite numbers,"),
    (lambda: ds.hessian_products(DEFAULT, [[1.0], [1.0, 2.0]], X, Y), "rows of different lengths"),
    (lambda: ds.hessian_products(DEFAULT, "up", X, Y), "directions: expected 196 finite numbers"),
    (lambda: ds.hessian_products(DEFAULT, np.zeros((1, 1, 196)), X, Y), "directions: expected 196"),
]


@pytest.mark.parametrize(("call", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_bad_input(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ds.DynascopeError, match=sentence) as error:
        call()
    assert "\n" not in str(error.value)
