"""What has no value is one NaN, whichever function says so, whatever the hardware makes of 0/0."""

from typing import Any

import numpy as np
import pytest
from fingerprints import SHORT, VARIED

import dynascope as ds
from dynascope import _kernel
from dynascope.model import config_shape, kernel_training
from dynascope.tasks import task_of

CONFIG = SHORT.replace(
    {"task.length": 6, "task.relevant": 3, "task.train_size": 64, "task.test_size": 32}
)
HUGE = {"float32": 1e30, "float64": 1e300}  # products overflow: there will be inf - inf


def results(precision: str) -> dict[str, Any]:
    config = CONFIG.replace({"precision": precision, "model.norm": "none"})
    flat = (ds.initial_parameters(config, 1).flat * HUGE[precision]).astype(precision)
    shape, training = config_shape(config), kernel_training(config.training)
    tokens, targets = ds.dataset(config.task, 0)
    sets = [task_of(config).examples(0, split) for split in ("train", "test", "unseen")]
    make = _kernel.Trainer32 if precision == "float32" else _kernel.Trainer64
    trainer = make(shape, training, sets, 1, flat, None, True, True)
    trainer.advance(2, 2**40)
    wide = flat.astype(np.float64)
    directions = np.ones((2, flat.size))
    return {
        "loss_and_gradient": _kernel.loss_and_gradient(flat, shape, tokens, targets),
        "inspect": _kernel.inspect(flat, shape, tokens, {}),
        "evaluate": _kernel.evaluate(flat[None], shape, tokens, targets),
        "circuits": _kernel.circuits(flat[None], shape, *task_of(config).design().arguments, []),
        "math": _kernel.math("log", np.array([-1, 1], precision)),
        "hessian_products": _kernel.hessian_products(
            wide * (1.0 if precision == "float64" else 1e270), shape, tokens, targets, directions
        ),
        "parameters": trainer.parameters(),
        "state": trainer.state(),
        "snapshot": trainer.snapshot()[0],
    }


def numbers(value: Any) -> list[np.ndarray[Any, Any]]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [array for part in value for array in numbers(part)]
    return [np.atleast_1d(value)]


@pytest.mark.parametrize("precision", HUGE)
def test_every_function_says_it_in_the_same_way(precision: str) -> None:
    for name, result in results(precision).items():
        found = 0
        for array in numbers(result):
            none = array[np.isnan(array)]
            found += len(none)
            assert set(none.view(f"u{none.itemsize}").tolist()) <= {
                int(np.array(np.nan, none.dtype).view(f"u{none.itemsize}"))
            }, name
        # Circuits are measured in double precision, where float32 weights do not overflow.
        assert found or (name, precision) == ("circuits", "float32"), f"{name}: no case of it"


def test_a_measure_over_nothing() -> None:
    """No sequence of these has token 0 at the last position: the mean over them is 0/0."""
    config = CONFIG.replace({"task.relevant": 5})
    prefixes = np.array([[0, 1, 0, 1, 1], [1, 0, 1, 0, 0]], np.int32)
    found = _kernel.circuits(
        ds.initial_parameters(config, 1).flat[None],
        config_shape(config),
        config.task.kernel,
        prefixes,
        np.array([0, 1, 2], np.int32),
        np.array([[1]], np.int32),
        False,
        ["redraw"],
    )["redraw"][0]
    assert np.isnan(found).tolist() == [False, False, False, False, False, True]
    assert found[-1:].tobytes() == np.array([np.nan]).tobytes()


@pytest.mark.parametrize("every", [0, 1])
def test_runs_that_diverged(every: int) -> None:
    """Also the last row, which is read from the trainer instead of being recorded by it."""
    diverging = next(changes for changes in VARIED if "training.lr" in changes)
    kept = {"record.weights_every": every, "record.state_every": every}
    run = ds.train(CONFIG.replace({**diverging, **kept, "training.lr": 1e30}), [1], progress=False)[
        0
    ]
    assert run.diverged is not None
    for array in (run.table, run.weights, run.states):
        none = np.ascontiguousarray(array)[np.isnan(array)]
        assert len(none)
        assert set(none.view(np.uint32).tolist()) == {0x7FC00000}
