"""The curvature of runs: a Hessian by hand, and an optimizer's own metric."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from small_runs import TINY, Array, oracle, trained

import dynascope as ds
from dynascope.optimizer_metric import learning_rate
from dynascope.run import Origin
from dynascope.theory import curvature, spectrum
from dynascope.theory import curvature_thresholds as t
from dynascope.theory.symmetry import shifts

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


def adam_scale(run: ds.Run, epoch: int) -> Array:
    """D of the module `optimizer_metric`, parameter by parameter, from the run's own record."""
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
        assert learning_rate(run.config, epoch) == pytest.approx(rate, rel=1e-9)
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
    (lambda: curvature(imported()), "it was imported without data;"),
    (lambda: curvature(trained(("training.frozen", EVERYTHING))), "at least one trained weight"),
]


@pytest.mark.parametrize(("call", "says"), BAD, ids=[says for _, says in BAD])
def test_bad_input(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(ds.DynascopeError, match=says) as raised:
        call()
    assert str(raised.value).count(". ") == 0


NONLINEAR: list[dict[str, Any]] = [
    {"training.optimizer": "lion"},
    {"training.optimizer": "muon"},
    {"training.sam": 0.05},
    {"training.sam": 0.05, "training.optimizer": "sgd", "training.momentum": 0.9},
]


@pytest.mark.parametrize("changes", NONLINEAR, ids=str)
def test_steps_that_are_not_linear_have_no_sharpness_limit(changes: dict[str, Any]) -> None:
    changes = {**changes, "training.epochs": 2, "model.hidden": 4}
    run = ds.train(ds.Config().replace(changes), progress=False)[0]
    found = curvature(run)
    assert (found.sharpness_limit, found.unstable, found.preconditioned) == (None, None, None)
    assert "no sharpness limit" in found.describe()
