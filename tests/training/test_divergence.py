"""Runs that blow up are marked at their epoch; their neighbours are untouched; no NaN elsewhere."""

import numpy as np
import pytest

import dynascope as ds
from dynascope.errors import DynascopeError

SHORT = ds.Config().replace({"training.epochs": 5})


def test_a_huge_learning_rate() -> None:
    run = ds.train(SHORT.replace({"training.lr": 100.0}), 1, progress=False)[0]
    assert run.diverged == 1
    assert run.epochs == 5
    loss = run.curves["train_loss"]
    assert loss[1] > 1e4 or not np.isfinite(loss[1])
    assert np.isfinite(loss[0])
    assert all(np.isnan(curve[2:]).all() for curve in run.curves.values())
    assert run.weight_epochs.tolist() == [0, 1]
    with pytest.raises(DynascopeError, match="the run diverged at epoch 1"):
        run.parameters(2)
    assert run.trainer(0).parameters == run.parameters(0)
    again = run.trainer()
    assert again.diverged == 1
    again.advance(4)
    assert again.run.diverged == 1
    with pytest.raises(DynascopeError, match="it diverged at epoch 1"):
        run.continued(20)


def test_parameters_scaled_by_1e20() -> None:
    start = ds.initial_parameters(SHORT, 0) * 1e20
    run = ds.train(SHORT, 1, start=start, progress=False)[0]
    assert run.diverged == 0
    assert all(np.isnan(curve[1:]).all() for curve in run.curves.values())


@pytest.mark.parametrize("name", ["token_embedding", "position_embedding", "value", "assemblers"])
def test_one_parameter_scaled_by_1e20(name: str) -> None:
    start = ds.initial_parameters(SHORT, 0)
    start[name][...] *= 1e20
    assert ds.train(SHORT, 1, start=start, progress=False)[0].diverged == 0


def test_in_the_middle() -> None:
    trainer = ds.Trainer(SHORT, seed=0)
    trainer.advance(2)
    trainer.parameters = trainer.parameters * 1e12
    trainer.advance(3)
    assert trainer.diverged == 3
    trainer.advance(1)  # nothing to do, and no error
    run = trainer.run
    assert run.diverged == 3
    assert np.isfinite(run.curves["train_loss"][:3]).all()
    with pytest.raises(DynascopeError, match="the run diverged at epoch 3"):
        trainer.parameters = run.parameters(0)


def test_neighbours_are_untouched() -> None:
    starts = {seed: ds.initial_parameters(SHORT, seed) for seed in range(4)}
    plain = ds.train(SHORT, 4, start=starts, progress=False, threads=2)
    starts[1] = starts[1] * 1e20
    mixed = ds.train(SHORT, 4, start=starts, progress=False, threads=2)
    assert [run.diverged for run in mixed] == [None, 0, None, None]
    for a, b in zip(plain, mixed, strict=True):
        if b.diverged is None:
            np.testing.assert_array_equal(a.table, b.table)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ds.PARAMETER_NAMES)
def test_given_parameters_must_be_finite(name: str, bad: float) -> None:
    p = ds.initial_parameters(SHORT, 0)
    p[name].flat[-1] = bad
    tokens, targets = ds.dataset(SHORT.task)
    trainer = ds.Trainer(SHORT)
    calls = [
        lambda: ds.forward(p, tokens),
        lambda: ds.loss_and_gradient(p, tokens, targets),
        lambda: ds.train(SHORT, 1, start=p, progress=False),
        lambda: ds.Trainer(SHORT, start=p),
        lambda: setattr(trainer, "parameters", p),
    ]
    for call in calls:
        with pytest.raises(DynascopeError, match=rf"{name}: expected finite numbers, but got"):
            call()


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("vocab", [2, 3, 20])
@pytest.mark.parametrize("norm", ["rms", "unit", "smooth", "none"])
def test_a_query_of_length_1000_gives_no_nan(precision: str, vocab: int, norm: str) -> None:
    config = SHORT.replace({"precision": precision, "task.vocab": vocab, "model.norm": norm})
    for seed in range(10):
        p = ds.initial_parameters(config, seed)
        p.query[:] *= 1000 / np.linalg.norm(p.query)
        tokens, targets = ds.dataset(config.task, seed)
        loss, grad = ds.loss_and_gradient(p, tokens, targets, config.model)
        assert np.isfinite(loss)
        assert np.isfinite(grad.flat).all()
        act = ds.forward(p, tokens, config.model)
        np.testing.assert_allclose(act.attention.sum(1), 1, rtol=1e-5)
        assert np.isfinite(act.logits).all()


def test_training_goes_on_from_a_query_of_length_1000() -> None:
    start = ds.initial_parameters(SHORT, 0)
    start.query[:] *= 1000 / np.linalg.norm(start.query)
    run = ds.train(SHORT, 1, start=start, progress=False)[0]
    assert run.diverged is None
    assert np.isfinite(run.curves["train_loss"]).all()
    assert run.curves["train_loss"][-1] < run.curves["train_loss"][0]


@pytest.mark.parametrize(
    "name", ["token_embedding", "position_embedding", "query", "value", "receptors", "assemblers"]
)
@pytest.mark.parametrize("size", [0.0, 1e-30, 1e-10])
@pytest.mark.parametrize("norm", ["rms", "unit", "smooth", "none"])
@pytest.mark.parametrize("dim", [2, 5])
def test_vanishing_parameters_give_no_nan(name: str, size: float, norm: str, dim: int) -> None:
    model = ds.ModelConfig(norm=norm, norm_eps=0.0, dim=dim)
    config = ds.Config(model=model)
    p = ds.initial_parameters(config, 0)
    p[name][...] *= np.float32(size)
    tokens, targets = ds.dataset(config.task)
    loss, grad = ds.loss_and_gradient(p, tokens, targets, model)
    assert np.isfinite(loss)
    assert np.isfinite(grad.flat).all()
