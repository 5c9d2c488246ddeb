"""Runs, curves and epochs that do not exist: a sentence, of the kind that Python code expects."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stopping import stopped_after

import dynascope as ds

CONFIG = ds.Config().replace(
    {"training.epochs": 3, "record.gradients": False, "record.steps": [1, 2]}
)


@pytest.fixture(scope="module", params=["in memory", "stored"])
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ds.Runs:
    made = ds.train(CONFIG, 2, progress=False)
    if request.param == "in memory":
        return made
    folder: Path = tmp_path_factory.mktemp("names") / "runs"
    made.save(folder)
    return ds.load(folder)


NOT_EPOCHS = ["x", 1.5, True, None, np.float64(1), np.bool_(True), [1], -2, 4, 2**70]
# The call, the kind of error that Python's own containers raise, words of the sentence.
WRONG: dict[str, tuple[Callable[[ds.Runs], Any], type[Exception], str]] = {
    "too far": (lambda runs: runs[99], IndexError, "runs[99]: there are 2 runs"),
    "too far back": (lambda runs: runs[-3], IndexError, "runs[-3]: there are 2 runs"),
    "of none": (lambda runs: runs[:0][0], IndexError, "runs[0]: there are 0 runs"),
    "of one": (lambda runs: runs[:1][1], IndexError, "there is 1 run, counted from 0"),
    "text": (lambda runs: runs["3"], ValueError, "expected a place in the list"),  # type: ignore[call-overload]
    "flag": (lambda runs: runs[True], ValueError, "by_seed"),
    "curve": (lambda runs: runs[0].curves["nope"], KeyError, "curves.nope: unknown curve"),
    "near": (lambda runs: runs[0].curves["test_los"], KeyError, "did you mean 'test_loss'?"),
    "all": (lambda runs: runs.curve("tset_loss"), KeyError, "did you mean 'test_loss'?"),
    "no text": (lambda runs: runs[0].curves[3], KeyError, "curves: 3: unknown curve"),  # type: ignore[index]
    "off": (
        lambda runs: runs[0].curves["grad_norm/query"],
        KeyError,
        "not recorded in this run; it needs record.gradients = true.",
    ),
    "step": (lambda runs: steps_of(runs[0]).curves["los"], KeyError, "did you mean 'loss'?"),
    "none": (lambda runs: runs[:0].curve("test_loss"), ValueError, "but got no runs"),
    "lengths": (
        lambda runs: ds.Runs([runs[0], runs[1].continued(5)]).curve("test_loss"),
        ValueError,
        "3 to 5 epochs",
    ),
}


def steps_of(run: ds.Run) -> Any:
    assert run.steps is not None
    return run.steps


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_there_is_one_sentence(name: str, runs: ds.Runs) -> None:
    call, kind, words = WRONG[name]
    with pytest.raises(kind) as raised:
        call(runs)
    assert isinstance(raised.value, ds.DynascopeError)
    assert words in str(raised.value)
    assert str(raised.value)[-1] in ".?)"


@pytest.mark.parametrize("epoch", NOT_EPOCHS, ids=repr)
@pytest.mark.parametrize(
    "method", ["parameters", "trainer", "continued", "config_at", "steps_done"]
)
def test_what_is_no_epoch_is_one_sentence(method: str, epoch: Any, runs: ds.Runs) -> None:
    if type(epoch) is int and epoch > 3 and method not in ("parameters", "trainer"):
        return  # later epochs, which a longer run would have
    with pytest.raises(ds.DynascopeError, match=r"epochs?: expected "):
        getattr(runs[0], method)(epoch)


@pytest.mark.parametrize("kind", [int, np.int8, np.int64, np.uint16])
def test_any_whole_number_is_an_epoch_and_an_index(kind: Any, runs: ds.Runs) -> None:
    assert runs[kind(1)].seed == 1
    assert runs[0].parameters(kind(2)) == runs[0].parameters(2)


def test_containers_behave_as_pythons_own(runs: ds.Runs) -> None:
    curves = runs[0].curves
    assert curves.get("nope") is None
    assert "nope" not in curves
    assert "test_loss" in curves
    assert [run.seed for run in runs] == [0, 1]
    assert [run.seed for run in reversed(runs)] == [1, 0]
    assert [run.seed for run in runs[5:]] == []


@pytest.mark.parametrize("epochs", [10**8, 2**70])
def test_a_run_cannot_go_on_for_longer_than_any_run(epochs: int, runs: ds.Runs) -> None:
    with pytest.raises(ds.DynascopeError, match=r"training.epochs: expected a whole number"):
        runs[0].continued(epochs)


def test_a_stopped_training_has_its_parts() -> None:
    def stop(status: Any) -> None:
        if status.finished_epochs >= 5:
            raise KeyboardInterrupt

    config = ds.Config().replace({"training.epochs": 90, "record.weights_every": 0})
    said = r"0 runs .* 1 under way in \.partial"
    with stopped_after(5, ends=()), pytest.raises(ds.Interrupted, match=said) as stopped:
        ds.train(config, seeds=[5], progress=stop)
    (part,) = stopped.value.partial
    assert len(stopped.value.runs) == 0
    assert part.config == config.replace({"training.epochs": part.epochs})
    whole = ds.train(part.config, [5], progress=False)[0]
    assert part.id == whole.id
    assert part.parameters() == whole.parameters()
    assert np.array_equal(part.table, whole.table, equal_nan=True)
    assert np.array_equal(part.states, whole.states)
