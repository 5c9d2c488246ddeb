"""The same bits in whatever floating-point mode a thread calls us, and that mode afterwards."""

import json
import os
import re
import subprocess
import sys
import threading
from typing import Any

import kernel_calls
import numpy as np
import pytest
from fingerprints import SHORT, fingerprint
from float_modes import MODES, FloatModes
from variant import ROOT

import dynascope as ds
from dynascope import _kernel


@pytest.fixture(scope="module")
def modes(tmp_path_factory: pytest.TempPathFactory) -> FloatModes:
    return FloatModes(tmp_path_factory.mktemp("modes"))


def test_every_function_is_called_below() -> None:
    assert {call.function for call in kernel_calls.calls()} == kernel_calls.bound_functions()


def test_no_function_is_bound_past_the_guard() -> None:
    """`python_bind.hpp` is the one place in which nanobind's own ways to bind are used."""
    for file in (ROOT / "kernel").glob("python*"):
        if file.name != "python_bind.hpp":
            text = file.read_text()
            assert not re.search(r"module_&|class_<|cpp_function|module\.def|add_object", text), (
                file
            )


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `kernel_calls.py` prints, by instruction set."""
    answers = {}
    for isa in _kernel.usable_isas():
        program = [sys.executable, kernel_calls.__file__, str(tmp_path_factory.mktemp(isa))]
        environment = {**os.environ, "DYNASCOPE_ISA": isa}
        done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{isa}: exit code {done.returncode}\n{done.stderr}"
        answers[isa] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize("isa", _kernel.usable_isas())
def test_every_function_under_every_mode(isa: str, found: dict[str, Any]) -> None:
    assert found[isa]["isa"] == isa
    assert found[isa]["wrong"] == []


def test_every_function_on_every_instruction_set(found: dict[str, Any]) -> None:
    first, *others = ({**answer["hashes"], "isa ()": ""} for answer in found.values())
    for other in others:
        assert other == first


VARIED: list[dict[str, Any]] = [
    {},
    {"precision": "float64", "training.schedule": "cosine", "model.dim": 3},
    {"training.lr": 1e-20, "training.optimizer": "sgd", "model.norm": "smooth"},
    {"training.optimizer": "muon", "training.sam": 0.05},
]


@pytest.mark.parametrize("changes", VARIED, ids=str)
@pytest.mark.parametrize("mode", MODES)
def test_training_on_this_and_on_worker_threads(
    mode: str, changes: dict[str, Any], modes: FloatModes
) -> None:
    config = SHORT.replace({"task.train_size": 256, "task.test_size": 256, **changes})
    friendly = [fingerprint(run) for run in ds.train(config, 3, progress=False)]
    trainers = [ds.Trainer(config, seed) for seed in range(3)]
    with modes.hostile(MODES[mode]):
        for trainer in trainers:
            trainer.advance(12)
        runs = ds.train(config, 3, threads=2, progress=False)
    assert [fingerprint(run) for run in runs] == friendly
    assert [fingerprint(trainer.run) for trainer in trainers] == friendly
    assert [run.id for run in runs] == [run.id for run in ds.train(config, 3, progress=False)]


def test_workers_inherit_the_mode(modes: FloatModes) -> None:
    """Otherwise the test above would say nothing about them."""
    seen = []
    with modes.hostile(MODES["up, kept"]):
        thread = threading.Thread(target=lambda: seen.append(modes.read()))
        thread.start()
        thread.join()
    assert seen == [MODES["up, kept"]]


@pytest.mark.parametrize("mode", MODES)
def test_single_evaluations(mode: str, modes: FloatModes) -> None:
    """The API around the kernel, as far as it computes nothing itself."""
    config = SHORT.replace({"precision": "float64"})
    weights, (tokens, targets) = ds.initial_parameters(config, 1), ds.dataset(config.task, 0)

    def everything() -> list[bytes]:
        loss, grad = ds.loss_and_gradient(weights, tokens, targets, config.model)
        activations = ds.forward(weights, tokens, config.model)
        bent = ds.hessian(weights, tokens, targets, config.model)
        results = (grad.flat, activations.logits, activations.probabilities, bent)
        return [float(loss).hex().encode(), *(result.tobytes() for result in results)]

    friendly = everything()
    with modes.hostile(MODES[mode]):
        hostile = everything()
    assert hostile == friendly


def test_an_error_restores_the_mode(modes: FloatModes) -> None:
    with modes.hostile(MODES["up, kept"]), pytest.raises(ValueError, match="unknown function"):
        _kernel.math("nothing", ds.initial_parameters(SHORT, 0).flat)


def test_subnormal_numbers_are_kept() -> None:
    """The kernel's own mode, and not only the same one for all callers."""
    matrix = np.array([[0.0, 2e-310], [4e-310, 0.0]])
    _kernel.symmetrize(matrix)
    assert matrix.tolist() == [[0.0, 3e-310], [3e-310, 0.0]]
