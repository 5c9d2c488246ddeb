"""Curvature: spectra that are known, symmetries, a Hessian by hand, an optimizer's own metric."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import dynascope as ds
from dynascope.run import Origin
from dynascope.theory import _metric, curvature, flat_directions, spectrum
from dynascope.theory import thresholds as t
from dynascope.theory._surface import Surface
from dynascope.theory.spectrum import spectrum_by_products
from dynascope.theory.symmetry import _turned, shifts

Array = npt.NDArray[Any]

TINY: dict[str, Any] = {
    "training.epochs": 6,
    "task.length": 4,
    "task.relevant": 2,
    "task.train_size": 64,
    "task.test_size": 16,
    "training.batch": 16,
    "model.hidden": 4,
}


@cache
def trained(*changes: tuple[str, Any], seed: int = 0) -> ds.Run:
    return ds.train(ds.Config().replace(TINY | dict(changes)), [seed], progress=False)[0]


def matrix_with(eigenvalues: Any, seed: int = 0) -> tuple[Array, Array]:
    """A symmetric matrix with this spectrum, and its eigenvectors as columns."""
    chance = np.random.default_rng(seed)
    basis = np.linalg.qr(chance.standard_normal((len(eigenvalues),) * 2))[0]
    return basis * np.asarray(eigenvalues) @ basis.T, basis


# ---- spectra -------------------------------------------------------------------------------------

PRESCRIBED = [
    ([-3.0, -1e-3, 0.0, 0.0, 2.0, 50.0], (2, 2, 2)),
    ([0.0] * 4, (0, 4, 0)),
    ([1.0], (0, 0, 1)),
    ([*np.linspace(-1, -0.1, 40), *[0.0] * 20, *np.geomspace(1e-6, 1e3, 60)], (40, 20, 60)),
]


@pytest.mark.parametrize(("wanted", "signs"), PRESCRIBED)
def test_a_prescribed_spectrum_is_found(wanted: list[float], signs: tuple[int, int, int]) -> None:
    matrix, basis = matrix_with(wanted)
    found = spectrum(matrix, directions=3)
    assert (found.negative, found.zero, found.positive) == signs
    assert found.eigenvalues == pytest.approx(sorted(wanted), abs=1e-12 * max(map(abs, wanted)))
    assert (found.complete, found.method) == (True, "dense")
    for vectors, values in (
        (found.bottom, found.eigenvalues),
        (found.top, found.eigenvalues[::-1]),
    ):
        assert len(vectors) == min(3, len(wanted))
        errors = vectors @ matrix - values[: len(vectors), None] * vectors
        assert np.abs(errors).max() < 1e-12 * max(1.0, *map(abs, wanted))
    if signs[0]:
        assert abs(found.bottom[0] @ basis[:, 0]) == pytest.approx(1)


def test_known_zeros_measure_how_far_rounding_reaches() -> None:
    matrix, basis = matrix_with([-1.0, 0.0, 0.0, 0.0, 1.0, 2.0])
    noise = 1e-7 * np.random.default_rng(1).standard_normal(matrix.shape)
    noisy = matrix + noise + noise.T
    blind, sighted = spectrum(noisy), spectrum(noisy, null=7.0 * basis[:, 1:2].T)
    assert blind.zero < 3
    assert (sighted.negative, sighted.zero, sighted.positive) == (1, 3, 2)
    image = np.linalg.norm(noisy @ basis[:, 1])
    assert sighted.tolerance == pytest.approx(t.FLOOR * image)
    assert blind.tolerance < 1e-14


@pytest.mark.parametrize("count", [1, 4])
def test_lanczos_finds_what_eigh_finds(count: int) -> None:
    matrix, basis = matrix_with([*np.linspace(-2, -1, 5), *[0.0] * 60, *np.geomspace(0.1, 30, 85)])
    found = spectrum_by_products(
        lambda rows: rows @ matrix, len(matrix), directions=count, null=basis[:, 5:8].T
    )
    whole = spectrum(matrix, directions=count)
    ends = np.concatenate([whole.eigenvalues[:count], whole.eigenvalues[-count:]])
    assert found.eigenvalues == pytest.approx(ends, rel=1e-9)
    assert (found.negative, found.zero, found.positive) == (count, 0, count)
    assert (found.complete, found.method) == (False, "lanczos")
    for mine, theirs in ((found.bottom, whole.bottom), (found.top, whole.top)):
        assert np.abs((mine * theirs).sum(axis=1)) == pytest.approx(1, abs=1e-6)


def test_lanczos_keeps_only_what_converged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(t, "LANCZOS_STEPS", 1)
    crowd = np.concatenate([np.linspace(0, 1, 3000), [40.0]])  # the lower end has no gaps
    with pytest.raises(ds.DynascopeError, match="whose eigenvalues converge"):
        spectrum_by_products(lambda rows: rows * crowd, len(crowd))


def test_few_weights_need_no_lanczos() -> None:
    found = spectrum_by_products(lambda rows: rows * np.array([1.0, -2.0, 3.0]), 3)
    assert found.method == "dense"
    assert found.eigenvalues.tolist() == [-2.0, 1.0, 3.0]


BAD_MATRICES: list[tuple[Any, dict[str, Any], str]] = [
    ([[1.0, 2.0]], {}, "matrix: expected a square matrix"),
    (np.zeros((0, 0)), {}, "matrix: expected a square matrix"),
    ("text", {}, "matrix: expected real numbers"),
    ([[1.0, np.nan], [np.nan, 1.0]], {}, "matrix: expected finite numbers"),
    ([[1.0, 2.0], [1.0, 1.0]], {}, "matrix: expected a symmetric matrix, but got 'entries 1 apart"),
    (np.eye(2), {"directions": 0}, "directions: expected a whole number"),
    (np.eye(2), {"directions": True}, "directions: expected a whole number"),
    (np.eye(2), {"null": [[1.0, 0.0, 0.0]]}, "null: expected rows of 2 numbers"),
    (np.eye(2), {"null": [[0.0, 0.0]]}, "null: expected directions of a finite length"),
]


@pytest.mark.parametrize(("matrix", "options", "says"), BAD_MATRICES)
def test_bad_matrices(matrix: Any, options: dict[str, Any], says: str) -> None:
    with pytest.raises(ds.DynascopeError, match=says):
        spectrum(matrix, **options)


# ---- symmetries ----------------------------------------------------------------------------------

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


# ---- a Hessian by hand ---------------------------------------------------------------------------


def zero_but_embeddings(hidden: int = 3, dim: int = 2) -> tuple[ds.Config, ds.Parameters]:
    config = ds.Config().replace(
        {**TINY, "model.hidden": hidden, "model.dim": dim, "model.norm": "none"}
    )
    p = ds.initial_parameters(config.replace({"precision": "float64"}), 3)
    for name in p:
        if name != "token_embedding":
            p[name][...] = 0
    return config, p


def by_hand(p: ds.Parameters, move: ds.Parameters, tokens: Array, targets: Array) -> float:
    """The second derivative along a move where all weights but E are 0, without a norm.

    The difference u of the two logits is Δ·ψ, and 0; the loss has slope r = 1/2 - [y = 0] and
    curvature 1/4 in u. With ē the mean embedding and C its covariance over positions,
    dψ = dV ē + db2 and d²ψ = 2 dU db1 / 2 + 2 dV (C dq / sqrt(d) + mean dE + mean dP).
    """
    table, dim = p.token_embedding, p.shapes["value"][0]
    delta, turned = table[0] - table[1], move.token_embedding[0] - move.token_embedding[1]
    total = 0.0
    for row, target in zip(tokens, targets, strict=True):
        slope = 0.5 - (target == 0)
        embedded = table[row]
        mean = embedded.mean(axis=0)
        spread = (embedded - mean).T @ (embedded - mean) / len(row)
        first = move.value @ mean + move.assembler_bias
        shifted = (move.token_embedding[row] + move.position_embedding).mean(axis=0)
        second = move.assemblers @ move.receptor_bias
        second = second + 2 * move.value @ (spread @ move.query / np.sqrt(dim) + shifted)
        total += 0.25 * (delta @ first) ** 2 + slope * (2 * turned @ first + delta @ second)
    return total / len(tokens)


def test_a_hessian_by_hand() -> None:
    config, p = zero_but_embeddings()
    tokens, targets = ds.dataset(config.task, 5)
    hessian, chance = ds.hessian(p, tokens, targets, config), np.random.default_rng(0)
    for _ in range(20):
        move = ds.Parameters.from_flat(chance.standard_normal(len(p.flat)), p.shapes)
        along = move.flat @ hessian @ move.flat
        assert along == pytest.approx(by_hand(p, move, tokens, targets), abs=1e-12)


def test_eigenvalues_in_closed_form() -> None:
    """Assemblers and receptor biases couple by slope Δ / 2 and by nothing else: a pair of
    eigenvalues ±|slope Δ| / 2 for each hidden unit."""
    config, p = zero_but_embeddings(hidden=3)
    tokens, targets = ds.dataset(config.task, 5)
    slope = 0.5 - (targets == 0).mean()
    wanted = abs(slope) * np.linalg.norm(p.token_embedding[0] - p.token_embedding[1]) / 2
    assert wanted > 0.01
    found = spectrum(ds.hessian(p, tokens, targets, config), null=shifts(p))
    for value in (-wanted, wanted):
        assert (np.abs(found.eigenvalues - value) < 1e-14).sum() == 3


# ---- runs ----------------------------------------------------------------------------------------


def oracle(run: ds.Run, epoch: int) -> Array:
    data = run.data.train if run.data else ds.dataset(run.config.task, run.seed)
    return ds.hessian(run.parameters(epoch).astype(np.float64), *data, run.config)


def adam_scale(run: ds.Run, epoch: int) -> Array:
    """D of the module `_metric`, parameter by parameter, from the run's own record."""
    training, steps = run.config.training, 4 * epoch
    second = run.states[list(run.state_epochs).index(epoch)][2].astype(float)
    made = ds.Parameters.from_flat(second, run.config.shapes)
    for name, array in made.items():
        corrected = array / (1 - training.beta2**steps)
        array[...] = (1 - training.beta1**steps) * (np.sqrt(corrected) + training.eps)
        if name in ("receptors", "receptor_bias", "assemblers", "assembler_bias"):
            array *= training.mlp_lr_discount
    return made.flat


ADAMS = [
    {},
    {"training.mlp_lr_discount": 4.0},
    {"training.optimizer": "adamw", "training.weight_decay": 0.1},
    {"training.weight_decay": 0.1, "training.beta1": 0.5, "training.eps": 1e-3},
]


@pytest.mark.parametrize("changes", ADAMS, ids=str)
def test_the_numbers_of_an_adam_run(changes: dict[str, Any]) -> None:
    run = trained(("record.state_every", 1), *changes.items())
    beta1, coupled = run.config.training.beta1, run.config.training.optimizer == "adam"
    for found in curvature(run, [1, 4]):
        hessian = oracle(run, found.epoch)
        decay = run.config.training.weight_decay if coupled else 0.0
        full = hessian + decay * np.eye(40)
        own = np.linalg.eigvals(full / adam_scale(run, found.epoch)[:, None]).real.max()
        assert found.preconditioned == pytest.approx(own, rel=1e-9)
        assert found.sharpness == pytest.approx(np.linalg.eigvalsh(hessian)[-1], rel=1e-12)
        assert found.sharpness_limit == pytest.approx((2 + 2 * beta1) / ((1 - beta1) * 3e-3))
        assert found.unstable == (own > found.sharpness_limit)
        gradient = gradient_of(run, found.epoch)
        assert found.gradient_norm == pytest.approx(np.linalg.norm(gradient), rel=1e-12)
        assert found.loss == pytest.approx(run.curves["train_loss"][found.epoch], rel=1e-5)
        assert sum(each.value for each in found.trace.values()) == pytest.approx(np.trace(hessian))
        assert found.trace["query"] == (pytest.approx(np.trace(hessian[12:14, 12:14])), 0.0)


def gradient_of(run: ds.Run, epoch: int) -> Array:
    p, data = run.parameters(epoch).astype(np.float64), ds.dataset(run.config.task, run.seed)
    return ds.loss_and_gradient(p, *data, run.config)[1].flat


def test_before_the_first_step_adam_has_no_metric() -> None:
    found = curvature(trained(), 0)
    assert (found.preconditioned, found.unstable) == (None, None)
    assert found.sharpness_limit == pytest.approx(38 / 3e-3)
    assert "not known" in found.describe()


@pytest.mark.parametrize("momentum", [0.0, 0.75])
@pytest.mark.parametrize("times", [0.99, 1.01])
def test_the_limit_of_gradient_descent(momentum: float, times: float) -> None:
    sharp = curvature(trained(("training.epochs", 0))).sharpness
    lr = times * (2 + 2 * momentum) / sharp
    found = curvature(
        trained(
            ("training.epochs", 0),
            ("training.optimizer", "sgd"),
            ("training.momentum", momentum),
            ("training.lr", lr),
        )
    )
    assert found.sharpness_limit == pytest.approx((2 + 2 * momentum) / lr)
    assert found.unstable == (times > 1)
    assert ("beyond" in found.describe()) == (times > 1)


def test_gradient_descent_diverges_beyond_its_limit_and_not_within() -> None:
    """Along the top eigenvector from a place near a minimum: the limit is where steps turn round
    into growth. One full-batch step multiplies the displacement by 1 - lr sharpness."""
    run = trained(("training.epochs", 400), ("training.lr", 0.01), ("training.batch", 64))
    found = curvature(run)
    top, p = found.spectrum.top[0], run.parameters().astype(np.float64)
    data = ds.dataset(run.config.task, run.seed)
    here = ds.loss_and_gradient(p, *data, run.config)[1].flat
    there = ds.Parameters.from_flat(p.flat + 1e-6 * top, p.shapes)
    change = (ds.loss_and_gradient(there, *data, run.config)[1].flat - here) / 1e-6
    for times, grows in ((0.95, False), (1.05, True)):
        lr = times * 2 / found.sharpness
        assert (np.linalg.norm(top - lr * change) > 1) == grows


def test_a_discount_is_a_metric_for_gradient_descent_too() -> None:
    run = trained(("training.optimizer", "sgd"), ("training.mlp_lr_discount", 4.0))
    rate = np.concatenate([np.ones(18), np.full(22, 0.25)])
    wanted = np.linalg.eigvals(oracle(run, 3) * rate[:, None]).real.max()
    assert curvature(run, 3).preconditioned == pytest.approx(wanted, rel=1e-9)


SCHEDULES = [
    {"training.schedule": "constant"},
    {"training.schedule": "warmup", "training.warmup": 4},
    {"training.schedule": "cosine", "training.warmup": 2, "training.lr_final": 1e-3},
]


@pytest.mark.parametrize("changes", SCHEDULES, ids=str)
def test_the_learning_rate_is_the_one_that_moves_the_weights(changes: dict[str, Any]) -> None:
    run = trained(
        ("training.optimizer", "sgd"),
        ("training.batch", 64),
        ("precision", "float64"),
        *changes.items(),
    )
    for epoch in range(run.epochs):
        moved = np.linalg.norm(run.weights[epoch + 1] - run.weights[epoch])
        rate = moved / np.linalg.norm(gradient_of(run, epoch))
        assert _metric.learning_rate(run.config, epoch) == pytest.approx(rate, rel=1e-9)
        assert curvature(run, epoch + 1).sharpness_limit == pytest.approx(2 / rate, rel=1e-9)


def test_lanczos_and_the_whole_matrix_agree_on_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    run = trained(("model.hidden", 32), ("model.dim", 4), ("task.length", 8))
    whole = curvature(run, directions=3)
    monkeypatch.setattr(t, "DENSE_WEIGHTS", 100)
    ends = curvature(run, directions=3)
    assert (whole.spectrum.method, ends.spectrum.method) == ("dense", "lanczos")
    assert "Lanczos" in ends.describe()
    values = whole.spectrum.eigenvalues
    both = np.concatenate([values[:3], values[-3:]])
    assert ends.spectrum.eigenvalues == pytest.approx(both, rel=1e-6)
    assert ends.preconditioned == pytest.approx(whole.preconditioned, rel=1e-6)
    for name, trace in ends.trace.items():
        assert trace.error > 0
        assert abs(trace.value - whole.trace[name].value) < 4.5 * trace.error


def same(one: Any, other: Any) -> bool:
    return one.epoch == other.epoch and np.array_equal(
        one.spectrum.eigenvalues, other.spectrum.eigenvalues
    )


def test_several_epochs_are_each_of_them() -> None:
    run = trained()
    found = curvature(run, np.array([0, 3, 3, 6]), threads=2, progress=False)
    assert [each.epoch for each in found] == [0, 3, 3, 6]
    assert all(same(each, curvature(run, each.epoch)) for each in found)
    assert curvature(run, []) == ()
    sparse = trained(("record.weights_every", 0), ("record.state_every", 0))
    assert all(same(*pair) for pair in zip(found, curvature(sparse, [0, 3, 3, 6]), strict=True))


def test_progress_is_told() -> None:
    shares: list[float] = []
    epochs = [*range(7)] * 30  # it is told ten times a second
    curvature(trained(), epochs, threads=1, progress=lambda status: shares.append(status.share))
    assert shares == sorted(shares)
    assert 0 < shares[-1] <= 1


def test_data_of_ones_own() -> None:
    tokens = np.array([[0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 1, 1]])
    data = ds.Data(train=(tokens, [0, 1, 1]))
    config = ds.Config().replace({**TINY, "task.train_size": 16, "training.batch": 3})
    run = ds.train(config, data=data, progress=False)[0]
    found = curvature(run)
    assert found.spectrum.eigenvalues == pytest.approx(np.linalg.eigvalsh(oracle(run, -1)))


def test_a_branch() -> None:
    trainer = ds.Trainer(ds.Config().replace(TINY))
    trainer.advance(2)
    trainer.parameters = 1.1 * trainer.parameters
    trainer.advance(2)
    run = trainer.run
    for found in curvature(run, [1, 2, 4]):
        wanted = np.linalg.eigvalsh(oracle(run, found.epoch))
        assert found.spectrum.eigenvalues == pytest.approx(wanted, abs=1e-12)


def test_a_diverged_run_is_measured_before() -> None:
    run = trained(("training.lr", 1e30), ("training.optimizer", "sgd"), ("training.epochs", 30))
    assert run.diverged is not None
    assert run.diverged > 0
    for last in (-1, np.int64(-1), np.array(-1)):
        assert curvature(run, last).epoch == run.diverged - 1  # type: ignore[arg-type]
    for epochs in (run.diverged, np.int64(run.diverged), np.arange(run.diverged, 3)):
        with pytest.raises(ds.DynascopeError, match=f"diverged at epoch {run.diverged}"):
            curvature(run, epochs)  # type: ignore[arg-type]


def test_symmetries_that_together_leave_the_frozen_alone() -> None:
    """Turning everything about the query moves no frozen query; three rotations make that one."""
    config = ds.Config().replace({"model.dim": 3, "task.vocab": 4, "training.frozen": ["query"]})
    p = ds.initial_parameters(config, 1)
    free = np.concatenate([np.full(array.size, name != "query") for name, array in p.items()])
    assert len(flat_directions(p, config, free)) == 4  # three shifts and that one
    assert len(flat_directions(p, config)) == 3 + 3


def imported() -> ds.Run:
    return replace(trained(), origin=Origin("import", "0"))


EVERYTHING = tuple(ds.PARAMETER_NAMES)
BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: curvature("run"), "run: expected a ds.Run"),
    (lambda: curvature(trained(), 7), "epoch: expected a whole number from 0 to 6"),
    (lambda: curvature(trained(), [0, 7]), "epoch: expected a whole number from 0 to 6"),
    (lambda: curvature(trained(), 1.5), "epoch: expected a whole number"),
    (lambda: curvature(trained(), "1"), "epoch: expected a whole number"),
    (lambda: curvature(trained(), directions=0), "directions: expected a whole number"),
    (lambda: curvature(trained(), [1], threads=0), "threads: expected a whole number"),
    (lambda: curvature(imported()), "imported: its data were not kept"),
    (lambda: curvature(trained(("training.frozen", EVERYTHING))), "at least one weight that is"),
]


@pytest.mark.parametrize(("call", "says"), BAD, ids=[says for _, says in BAD])
def test_bad_input(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(ds.DynascopeError, match=says) as raised:
        call()
    assert str(raised.value).count(". ") == 0
