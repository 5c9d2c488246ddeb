"""Bounds on the gradient: where they hold, where the paper's does not, and what they are."""

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import dynascope as ds
from dynascope import _kernel, catalog
from dynascope.theory import bounds, bounds_along
from dynascope.theory._norms import jacobian, stretch_limit

NORMS = ("rms", "unit", "smooth", "none")
ACTIVATIONS = ("gelu", "relu", "silu", "tanh")
SETTINGS = list(product(NORMS, ACTIVATIONS, (True, False)))
FEW, MANY = 120, 420  # weights in each of the 24 settings: 2,880 always, 10,080 in the slow part


def drawn(rng: Any, norm: str, activation: str, bias: bool) -> tuple[Any, ...]:
    """Small shapes, each parameter on a scale of its own over six decades; sequences."""
    d, h, rows, length, n = (int(rng.integers(1, 5)) for _ in range(5))
    rows += 1
    eps = float(rng.choice([0.0, 1e-5, 0.3]))
    model = ds.ModelConfig(
        dim=d, hidden=h, norm=norm, activation=activation, bias=bias, norm_eps=eps
    )
    sizes = {"embeddings": rows, "length": length, "dim": d, "hidden": h}
    shapes = catalog.parameter_shapes(sizes, bias)
    p = ds.Parameters(
        {k: rng.standard_normal(s) * 10 ** rng.uniform(-4, 2) for k, s in shapes.items()}
    )
    return p, rng.integers(rows, size=(n, length)), rng.integers(rows, size=n), model


@pytest.mark.parametrize(("norm", "activation", "bias"), SETTINGS)
def test_they_hold_on_random_weights(norm: str, activation: str, bias: bool) -> None:
    assert_they_hold(FEW, 0, norm, activation, bias)


@pytest.mark.slow
@pytest.mark.parametrize(("norm", "activation", "bias"), SETTINGS)
def test_they_hold_on_many_random_weights(norm: str, activation: str, bias: bool) -> None:
    assert_they_hold(MANY, 1, norm, activation, bias)


def assert_they_hold(count: int, seed: int, norm: str, activation: str, bias: bool) -> None:
    rng = np.random.default_rng([seed, SETTINGS.index((norm, activation, bias))])
    for _ in range(count):
        given = drawn(rng, norm, activation, bias)
        got = bounds(*given)
        assert got.corrected.covered
        assert got.tight.covered
        assert got.corrected.holds, given
        assert got.tight.holds, given
        assert got.tight.value <= got.corrected.value * (1 + 1e-12), given
        for measured, part in got.by_parameter.values():
            assert measured <= part * (1 + 1e-10), given
        # The kernel's gradient has rounding errors of its own where predictions are confident, and
        # where a norm in one dimension leaves only the sign.
        if got.total_variation > 1e-4 and given[-1].dim > 1:
            kernel = ds.loss_and_gradient(*given)[1]
            size = math.hypot(*(float(np.linalg.norm(kernel[k])) for k in got.by_parameter))
            assert abs(size - got.tight.gradient_norm) <= 1e-9 * got.tight.value, given


@pytest.mark.parametrize(("eps", "factor", "excess"), [(1e-5, 1e-4, 1.2), (0.0, 1e-6, 100)])
def test_the_papers_bound_fails_near_the_origin(eps: float, factor: float, excess: float) -> None:
    config = unit_config(**{"model.norm_eps": eps})
    data = ds.dataset(config.task, seed=0)
    p = ds.initial_parameters(config)
    assert bounds(p, *data, config).paper.holds
    p.value *= factor
    got = bounds(p, *data, config)
    assert got.paper.covered
    assert not got.paper.holds
    assert got.paper.gradient_norm > excess * got.paper.value
    assert got.corrected.holds
    assert got.tight.holds
    assert got.describe().startswith(f"paper: {got.paper.gradient_norm:.3g} > ")


def test_the_papers_bound_fails_far_from_the_origin_too() -> None:
    """Its term of q counts |W|² |U| where |W| |U| is meant: small receptors, large assemblers
    and values."""
    arrays = {
        "token_embedding": [[1.0, 0.0], [-1.0, 0.0]],
        "position_embedding": [[0.0, 1.0], [0.0, 1.0]],
        "query": [0.0, 0.0],
        "value": [[1e6, 0.0], [0.0, 1.5]],
        "receptors": [[1e-3, 0.0]],
        "assemblers": [[1e6], [0.0]],
    }
    p = ds.Parameters({name: np.array(array) for name, array in arrays.items()})
    model = ds.ModelConfig(hidden=1, norm="unit", norm_eps=0.0, bias=False)
    got = bounds(p, [[0, 1]], [0], model)
    assert got.shortest_sequence > 1
    assert got.paper.covered
    assert got.paper.gradient_norm > 5 * got.paper.value
    assert got.corrected.holds
    assert got.tight.holds
    # By hand: Cov_a(z) = diag(1/2, 0), |C_x| = 1, Q = diag(U W act'(0) / |xi|, 0), act'(0) = 1/2.
    xi = 1.5 * math.sqrt(0.5)
    query = 0.5 * 1e6 * (1 + 500 / xi) / math.sqrt(2)
    assert got.by_parameter["query"][0] == pytest.approx(query, rel=1e-12)
    limit = 0.5 * 1e6 * (1 + catalog.ACTIVATIONS["gelu"].steepest * 1000 / xi) / math.sqrt(2)
    assert got.by_parameter["query"][1] == pytest.approx(limit, rel=1e-12)


def unit_config(**more: Any) -> ds.Config:
    changes = {"model.norm": "unit", "model.bias": False, "precision": "float64"}
    return ds.Config().replace({**changes, **more})


@pytest.mark.parametrize(
    ("changes", "why_not"),
    [
        ({}, ""),
        ({"model.norm": "rms"}, "it is about gelu, norm unit and no biases, not norm rms"),
        ({"model.bias": True}, "it is about gelu, norm unit and no biases, not biases"),
        (
            {"model.activation": "relu", "model.norm": "none", "model.bias": True},
            "it is about gelu, norm unit and no biases, not activation relu and norm none and "
            "biases",
        ),
    ],
    ids=str,
)
def test_what_the_paper_claims(changes: dict[str, Any], why_not: str) -> None:
    config = unit_config(**changes)
    got = bounds(ds.initial_parameters(config), *ds.dataset(config.task), config)
    assert (got.paper.covered, got.paper.why_not) == (not why_not, why_not)
    biases = [got.by_parameter[name][0] for name in got.by_parameter if name.endswith("_bias")]
    assert len(biases) == 2 * config.model.bias
    whole = math.hypot(got.paper.gradient_norm, *biases)
    assert got.tight.gradient_norm == pytest.approx(whole, rel=1e-12)


def one_of_each() -> tuple[ds.Parameters, ds.ModelConfig]:
    """One position, one unit, one dimension, no norm: z = 3 for token 0, xi = 1.5, hidden 4.5."""
    arrays = {
        "token_embedding": [[2.0], [-1.0]],
        "position_embedding": [[1.0]],
        "query": [0.7],
        "value": [[0.5]],
        "receptors": [[3.0]],
        "assemblers": [[-1.0]],
    }
    model = ds.ModelConfig(dim=1, hidden=1, activation="relu", norm="none", bias=False)
    return ds.Parameters({k: np.array(v) for k, v in arrays.items()}), model


def test_values_by_hand() -> None:
    p, model = one_of_each()
    got = bounds(p, [[0]], [0], model)
    doubt = 1 / (1 + math.exp(-9))  # psi = 1.5 - 4.5 = -3: logits -6 and 3
    assert got.total_variation == pytest.approx(doubt, rel=1e-14)
    assert got.shortest_sequence == 1.5
    # |C| = doubt |E(1) - E(0)| = 3 doubt; r = 1 + |U||W| = 4; one position: no covariance.
    tight = 3 * doubt * math.hypot(4 * 3, 1.5, 4.5)
    assert got.tight.value == pytest.approx(tight, rel=1e-14)
    corrected = 3 * doubt * math.hypot(4 * 9 * 0.5, 4 * 3, 1.5, 4.5)
    assert got.corrected.value == pytest.approx(corrected, rel=1e-14)
    inside = math.hypot(2 * 0.5 * (1 + math.sqrt(2 / math.pi) * 9), 1 + 2 * 3, 2, 3)
    assert got.paper.value == pytest.approx(2 * 2 * inside * math.sqrt(doubt), rel=1e-14)
    # The gradient: V: (1 - 3) C z, W: -C xi, U: C hidden.
    assert got.tight.gradient_norm == pytest.approx(
        3 * doubt * math.hypot(2 * 3, 1.5, 4.5), rel=1e-14
    )


@pytest.mark.parametrize("norm", NORMS)
def test_nothing_is_lost_on_one_sequence_without_assemblers(norm: str) -> None:
    """Then |z a|, |hidden| and |C_x| are all there is: tight is the gradient itself."""
    config = ds.Config().replace(
        {"model.norm": norm, "task.length": 1, "task.relevant": 1, "precision": "float64"}
    )
    p = ds.initial_parameters(config)
    p.assemblers = 0 * p.assemblers
    got = bounds(p, [[1]], [0], config)
    assert got.tight.value == pytest.approx(got.tight.gradient_norm, rel=1e-13)
    assert got.tight.holds


def test_two_classes_lose_nothing_in_the_error() -> None:
    """|C_x| = TV_x D for two classes; with more, C_x is shorter."""
    for vocab in (2, 3):
        config = ds.Config().replace({"task.vocab": vocab, "precision": "float64"})
        p, (tokens, targets) = ds.initial_parameters(config), ds.dataset(config.task)
        rows = p.token_embedding
        apart = max(np.linalg.norm(a - b) for a in rows for b in rows)
        got = bounds(p, tokens, targets, config)
        whole = got.total_variation * apart
        assert got.by_parameter["assembler_bias"][1] == pytest.approx(whole) or vocab == 3
        assert got.by_parameter["assembler_bias"][1] < whole * (1 + 1e-12)


@pytest.mark.parametrize(("norm", "eps"), [("unit", 0.0), ("rms", 0.0), ("unit", 1e-3)])
def test_an_embedding_of_zero(norm: str, eps: float) -> None:
    config = ds.Config().replace(
        {"model.norm": norm, "model.norm_eps": eps, "precision": "float64"}
    )
    p = ds.initial_parameters(config)
    p.value = 0 * p.value
    got = bounds(p, *ds.dataset(config.task), config)
    for bound in (got.corrected, got.tight):
        assert math.isfinite(bound.value) == (eps > 0)
        assert bound.value > 0
        assert bound.holds
    p.assemblers = 0 * p.assemblers  # nobody looks at the norm: 0 times infinity is 0
    assert math.isfinite(bounds(p, *ds.dataset(config.task), config).corrected.value)


@pytest.mark.parametrize("norm", NORMS)
def test_equal_embeddings_and_weights_of_zero(norm: str) -> None:
    """No gradient at all, and bounds that say so."""
    config = ds.Config().replace({"model.norm": norm, "precision": "float64"})
    p = ds.initial_parameters(config)
    for weights in (p.replace(token_embedding=np.ones((2, 2))), 0 * p):
        got = bounds(weights, *ds.dataset(config.task), config)
        assert got.tight.value == got.corrected.value == got.tight.gradient_norm == 0.0
        assert got.paper.holds


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_steepest_slopes(activation: str) -> None:
    x = np.linspace(-40, 40, 2_000_001)
    steepest = float(np.abs(_kernel.math(f"{activation}_slope", x)).max())
    assert steepest <= catalog.ACTIVATIONS[activation].steepest < steepest + 1e-9
    assert (np.abs(_kernel.math(activation, x)) <= np.abs(x)).all()


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("eps", "tau", "d"), [(1e-5, 1.0, 2), (0.3, 0.2, 3), (0.0, 5.0, 1)])
def test_the_jacobian_of_a_norm(norm: str, eps: float, tau: float, d: int) -> None:
    """Against differences of the norm itself; its operator norm against singular values."""
    model = ds.ModelConfig(dim=d, hidden=1, norm=norm, norm_eps=eps, norm_tau=tau, bias=False)
    rng = np.random.default_rng(d)
    x = rng.standard_normal((60, d)) * 10 ** rng.uniform(-2, 1, (60, 1))
    at = jacobian(x, model)
    whole = at.times(np.broadcast_to(np.eye(d), (60, d, d)))
    step = 1e-6 * np.linalg.norm(x, axis=1)[:, None]
    for c, unit in enumerate(np.eye(d)):
        ends = [normed(x + sign * step * unit, model) for sign in (1, -1)]
        differences = (ends[0] - ends[1]) / (2 * step)
        scale = np.abs(whole).max(axis=(1, 2)) + 1e-3 * at.across
        assert (np.abs(whole[:, c] - differences).max(axis=1) < 1e-6 * scale).all()
    largest = np.linalg.svd(whole, compute_uv=False).max(axis=1)
    np.testing.assert_allclose(at.operator_norm(), largest, rtol=1e-12, atol=1e-300)
    assert (largest <= stretch_limit(np.linalg.norm(x, axis=1), model) * (1 + 1e-12)).all()


def normed(x: Any, model: ds.ModelConfig) -> Any:
    """The norm by itself, from the kernel."""
    d = model.dim
    arrays = {"token_embedding": (1, d), "position_embedding": (1, d), "query": (d,)}
    arrays |= {"value": (d, d), "receptors": (1, d), "assemblers": (d, 1)}
    p = ds.Parameters({name: np.ones(shape) for name, shape in arrays.items()})
    tokens = np.zeros((len(x), 1), int)
    return ds.forward(p, tokens, model, patch={"sequence": x}).sequence_normalized


# ---- along runs ---------------------------------------------------------------------------------
def assert_sound(run: ds.Run, epochs: Any = None) -> None:
    curves = bounds_along(run, epochs)
    assert (curves.tight >= curves.gradient_norm).all()
    assert (curves.corrected >= curves.tight).all()
    assert (curves.paper_gradient_norm <= curves.gradient_norm).all()
    assert len(curves.epochs) == len(curves.paper)


@pytest.fixture(scope="module")
def run() -> ds.Run:
    return ds.train(ds.Config().replace({"training.epochs": 200}), seeds=[3], progress=False)[0]


def test_along_a_run(run: ds.Run) -> None:
    assert_sound(run)
    curves = bounds_along(run, [0, 7, 200])
    assert curves.epochs.tolist() == [0, 7, 200]
    data = ds.dataset(run.config.task, run.seed)
    for i, epoch in enumerate(curves.epochs):
        got = bounds(run.parameters(int(epoch)), *data, run.config)
        assert got.tight.gradient_norm == curves.gradient_norm[i]
        for name in ("paper", "corrected", "tight"):
            assert getattr(got, name).value == getattr(curves, name)[i]
    assert "does not claim to bound: it is about gelu" in curves.describe()


def test_epochs_are_thinned_and_can_be_named(run: ds.Run) -> None:
    epochs = bounds_along(run).epochs
    assert (epochs[0], epochs[-1]) == (0, 200)
    assert 95 <= len(epochs) <= 105
    assert bounds_along(run, iter([5, 6])).epochs.tolist() == [5, 6]
    assert bounds_along(run, np.array([4])).epochs.tolist() == [4]
    assert bounds_along(run, [-1]).epochs.tolist() == [200]
    assert bounds_along(run, np.array(7)).epochs.tolist() == [7]  # type: ignore[arg-type]


def test_weights_that_were_not_kept_are_computed_again() -> None:
    changes = {"training.epochs": 12, "task.train_size": 64, "record.state_every": 5}
    kept, bare = (
        ds.train(ds.Config().replace({**changes, "record.weights_every": every}), progress=False)[0]
        for every in (1, 0)
    )
    np.testing.assert_array_equal(bounds_along(kept).tight, bounds_along(bare).tight)


def test_where_the_papers_bound_fails_along_a_run() -> None:
    """A fine-tuned start near the origin, and a step away from it."""
    config = unit_config(**{"training.epochs": 3, "training.lr": 0.03})
    start = ds.initial_parameters(config)
    start.value *= 1e-4
    made = ds.train(config, seeds=[0], start=start, progress=False)[0]
    curves = bounds_along(made)
    assert curves.paper_covered
    assert curves.paper_fails[0] == 0
    assert "below the gradient at" in curves.describe()
    assert f"first at {curves.paper_fails[0]}" in curves.describe()


def test_data_of_ones_own() -> None:
    tokens = np.array([[0, 1], [1, 1], [1, 0], [0, 0]])
    data = ds.Data(train=(tokens, tokens.prod(axis=1)))
    changes = {"task.length": 2, "task.relevant": 1, "training.epochs": 2, "training.batch": 4}
    config = ds.Config().replace(changes)
    made = ds.train(config, seeds=[0], data=data, progress=False)[0]
    got = bounds_along(made).gradient_norm
    wanted = bounds(made.parameters(2), tokens, tokens.prod(axis=1), made.config)
    assert got[-1] == wanted.tight.gradient_norm


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"training.batch": 2048, "training.lr": 0.03},
        {"model.norm": "unit", "model.bias": False},
        {"model.norm": "smooth", "model.activation": "silu"},
        {"model.norm": "none", "model.activation": "relu"},
        {"model.dim": 8, "task.vocab": 3},
    ],
    ids=str,
)
def test_along_whole_runs(changes: dict[str, Any]) -> None:
    config = ds.Config().replace(changes)
    for each in ds.train(config, seeds=range(3), progress=False):
        assert_sound(each)


# ---- bad input ----------------------------------------------------------------------------------
P = ds.initial_parameters(ds.Config(), seed=0)
ROWS, ANSWERS = [[0] * 12, [1] * 12], [0, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, ROWS, ANSWERS), "parameters: expected ds.Parameters, but got NoneType."),
        ((P, [], []), "tokens: expected tokens of shape [count, length], but got shape (0,)."),
        ((P, np.zeros((0, 12), int), []), "tokens: give at least one sequence"),
        ((P, [[0] * 11], [0]), "tokens: expected sequences of length 12, but got 11."),
        ((P, [["a"] * 12], [0]), "tokens: expected whole numbers"),
        ((P, ROWS, [0, 1, 0]), "targets: expected 2 targets, but got shape (3,)."),
        ((P, ROWS, [0.0, 1.0]), "targets: expected whole numbers"),
        (
            (P, ROWS, ANSWERS, 3),
            "model: expected a ds.ModelConfig, a ds.Config or a dict of options, but got 3.",
        ),
        ((P, ROWS, ANSWERS, ds.ModelConfig(bias=False)), "model.bias: expected True, as in the"),
        ((float("inf") * P, ROWS, ANSWERS), "parameters.token_embedding: expected finite numbers"),
        ((1e200 * P.astype(float), ROWS, ANSWERS), "parameters: expected weights whose logits"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ds.DynascopeError) as caught:
        bounds(*arguments)
    assert str(caught.value).startswith(message)


def test_runs_that_cannot_be_are_refused(run: ds.Run) -> None:
    from dataclasses import replace

    def cases() -> Iterator[tuple[Any, Any, str]]:
        yield 3, None, "run: expected a ds.Run, but got int."
        yield run, [], "epochs: give at least one epoch."
        yield run, [1000], "epoch: expected a whole number from 0 to 200, but got 1000"
        yield run, [0.5], "epoch: expected a whole number from 0 to 200, but got 0.5."
        yield run, "last", "epoch: expected a whole number from 0 to 200, but got 'l'."
        imported = replace(run, origin=ds.Origin("import", "0" * 20))
        yield imported, None, f"run {imported.id}: its train set is not known"
        yield replace(run, diverged=0), None, f"run {run.id}: there is no epoch to measure"

    for given, epochs, message in cases():
        with pytest.raises(ds.DynascopeError) as caught:
            bounds_along(given, epochs)
        assert str(caught.value).startswith(message)
