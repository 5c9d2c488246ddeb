"""Copies of trainers and runs, by copy and by pickle: they go on as the original would, alone."""

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fingerprints import SHORT, VARIED, fingerprint
from hypothesis import given, settings
from hypothesis import strategies as st

import dynascope as ds

COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "oldest pickle": lambda value: pickle.loads(pickle.dumps(value, 0)),
}
SMALL = SHORT.replace({"task.train_size": 100, "task.test_size": 64, "training.epochs": 8})


def edit(trainer: ds.Trainer) -> None:
    trainer.parameters = trainer.parameters * 1.01


# What may have happened to a trainer before it is copied.
HISTORIES: dict[str, list[Callable[[ds.Trainer], None]]] = {
    "nothing": [],
    "epochs": [lambda t: t.advance(3)],
    "steps": [lambda t: t.advance(2), lambda t: t.advance_steps(2)],
    "an edit": [lambda t: t.advance(2), edit],
    "an edit within an epoch": [lambda t: t.advance(1), lambda t: t.advance_steps(1), edit],
    "other options": [
        lambda t: t.advance(2),
        lambda t: t.change({"training.batch": 16, "training.weight_decay": 0.1}),
        lambda t: t.advance_steps(9),
    ],
    "all": [lambda t: t.advance(11)],
}


def with_history(config: ds.Config, history: str) -> ds.Trainer:
    trainer = ds.Trainer(config, seed=3)
    for happen in HISTORIES[history]:
        happen(trainer)
    return trainer


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize(
    "changes", [*VARIED, {"record.steps": (1, 4), "record.state_every": 0}], ids=str
)
def test_a_copy_goes_on_as_the_original(changes: dict[str, Any], history: str, how: str) -> None:
    if history == "other options" and changes.get("training.schedule") == "cosine":
        changes = {**changes, "training.schedule": "warmup"}  # else the batch cannot change
    batch = min(changes.get("training.batch", 32), 100)
    config = SMALL.replace({**changes, "task.train_size": 100, "training.batch": batch})
    if "training.lr" in changes and history != "nothing":  # diverges, and cannot be edited then
        history = "epochs"
    trainer = with_history(config, history)
    twin = COPIES[how](trainer)
    assert (twin.epoch, twin.step, twin.diverged) == (trainer.epoch, trainer.step, trainer.diverged)
    assert twin.parameters.flat.tobytes() == trainer.parameters.flat.tobytes()
    trainer.advance(4)  # the copy is not moved by this ...
    twin.advance(4)  # ... and comes to the same
    assert fingerprint(twin.run) == fingerprint(trainer.run)
    assert twin.run.id == trainer.run.id
    if trainer.run.steps is not None:
        assert twin.run.steps.weights.tobytes() == trainer.run.steps.weights.tobytes()


@pytest.mark.parametrize("how", COPIES)
def test_two_branches_of_one_state(how: str) -> None:
    trainer = ds.Trainer(SMALL, seed=1)
    trainer.advance(3)
    before = fingerprint(trainer.run)
    twin = COPIES[how](trainer)
    edit(twin)
    twin.advance(3)
    assert fingerprint(trainer.run) == before
    trainer.change({"training.lr": 1e-3})
    trainer.advance(3)
    ids = {twin.run.id, trainer.run.id, ds.train(SMALL, [1], progress=False)[0].id}
    assert len(ids) == 3


@pytest.mark.parametrize("how", COPIES)
def test_with_data_of_its_own(how: str) -> None:
    data = ds.Data(train=ds.dataset(SMALL.task, 5), test=ds.dataset(SMALL.task, 6))
    trainer = ds.Trainer(SMALL, seed=1, data=data)
    trainer.advance_steps(5)
    twin = COPIES[how](trainer)
    trainer.advance(3)
    twin.advance(3)
    assert fingerprint(twin.run) == fingerprint(trainer.run)
    assert twin.run.id == trainer.run.id


@settings(deadline=None, max_examples=30)
@given(
    before=st.lists(st.integers(0, 9), max_size=4),
    after=st.lists(st.integers(0, 9), max_size=4),
    how=st.sampled_from(list(COPIES)),
)
def test_copied_between_any_steps(before: list[int], after: list[int], how: str) -> None:
    trainer = ds.Trainer(SMALL, seed=2)
    for steps in before:
        trainer.advance_steps(steps)
    twin = COPIES[how](trainer)
    for steps in after:
        twin.advance_steps(steps)
    trainer.advance_steps(sum(after))
    assert fingerprint(twin.run) == fingerprint(trainer.run)


def test_in_another_process(tmp_path: Path) -> None:
    trainer = ds.Trainer(SMALL, seed=1)
    trainer.advance_steps(6)
    (tmp_path / "trainer").write_bytes(pickle.dumps(trainer))
    code = (
        "import pickle, sys; trainer = pickle.load(open(sys.argv[1], 'rb')); trainer.advance(2); "
        "print(trainer.parameters.flat.tobytes().hex())"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "trainer")]
    told = subprocess.check_output(command, text=True, env=os.environ)
    trainer.advance(2)
    assert told.strip() == trainer.parameters.flat.tobytes().hex()


def test_a_snapshot_that_does_not_fit_is_refused() -> None:
    kernel = ds.Trainer(SMALL, seed=1)._kernel
    rows, numbers, progress = kernel.snapshot()
    for wrong in (
        (rows[:3].copy(), numbers, progress),
        (rows, numbers[1:].copy(), progress),
        (rows, numbers, progress[:3]),
        (rows, numbers, (0, 4, 0, -1)),  # 100 sequences in batches of 32: steps 0 to 3
        (rows, numbers, (0, -1, 0, -1)),
        (rows, numbers, (-1, 0, 0, -1)),
    ):
        with pytest.raises(ValueError, match=r"another trainer|epoch"):
            kernel.restore(*wrong)


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("looked_at", [False, True])
def test_runs(how: str, looked_at: bool, tmp_path: Path) -> None:
    config = SMALL.replace({"record.steps": (1, 3)})
    runs = ds.train(config, 2, progress=False)
    runs.save(tmp_path / "runs")
    stored = ds.load(tmp_path / "runs")
    if looked_at:
        _ = stored[1].weights, stored[1].curves["test_loss"]
    for value in (runs, stored, list(runs), [stored[0], stored[1]]):
        for copied, run in zip(COPIES[how](value), value, strict=True):
            assert (copied.id, fingerprint(copied)) == (run.id, fingerprint(run))
            assert type(copied) is type(run)
            for array in (copied.table, copied.weights, copied.states):
                with pytest.raises(ValueError, match="read-only"):
                    array[0] = 0
            np.testing.assert_array_equal(copied.steps.weights, run.steps.weights)
            assert fingerprint(copied.continued(10)) == fingerprint(run.continued(10))
