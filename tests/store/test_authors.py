"""Runs of the authors' released code: read as torch reads them, and never more than read."""

import math
import pickle
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
import torch
from authors_runs import SAMPLES, THREE, TWO, by_torch
from pickles import TENSORS, read

import dynascope as ds
from dynascope._kernel import CURVE_NAMES
from dynascope.store.authors import find_authors_runs, read_authors_run
from dynascope.store.unpickle import read_pickle

RUNS = [pytest.param(TWO, id="p=2"), pytest.param(THREE, id="p=3")]


def same(ours: object, theirs: object) -> bool:
    """Equal values; our arrays for their tensors."""
    if isinstance(theirs, torch.Tensor):
        array = theirs.detach().numpy()
        assert isinstance(ours, np.ndarray)
        assert ours.flags.c_contiguous
        assert (ours.dtype, ours.shape) == (array.dtype, array.shape)
        return np.array_equal(ours, array)
    if isinstance(theirs, dict):
        assert isinstance(ours, dict)
        return list(ours) == list(theirs) and all(same(ours[k], theirs[k]) for k in theirs)
    if isinstance(theirs, list | tuple):
        assert type(ours) is type(theirs)
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return type(ours) is type(theirs) and ours == theirs


# ---- the samples --------------------------------------------------------------------------------
@pytest.mark.parametrize("folder", RUNS)
def test_pickles_hold_what_torch_finds_in_them(folder: Path) -> None:
    files = sorted(folder.glob("*.pkl"))
    assert len(files) == 5
    for file in files:
        assert same(read_pickle(file), by_torch(file))


@pytest.mark.parametrize("folder", RUNS)
def test_weights_are_those_of_their_state_dicts(folder: Path) -> None:
    run, states = read_authors_run(folder), by_torch(folder / "weights.pkl")
    assert run.weight_epochs.tolist() == list(range(len(states)))
    for epoch, state in enumerate(states):
        params = run.parameters(epoch)
        assert params == ds.Parameters.from_state_dict(state)
        assert same(params.to_state_dict(), state)


CURVES = {
    "train_loss": "losses",
    "train_accuracy": "accs",
    "test_loss": "test_losses",
    "test_accuracy": "test_accs",
}


@pytest.mark.parametrize("folder", RUNS)
def test_curves_are_theirs_and_nothing_is_invented(folder: Path) -> None:
    run = read_authors_run(folder)
    assert run.table.shape == (6, len(CURVE_NAMES))
    assert np.isnan(run.table[0]).all()
    for i, name in enumerate(CURVE_NAMES):
        if name in CURVES:
            theirs = by_torch(folder / f"{CURVES[name]}.pkl").numpy()
            np.testing.assert_array_equal(run.curves[name][1:], theirs)
        else:
            assert np.isnan(run.table[:, i]).all()


@pytest.mark.parametrize("folder", RUNS)
def test_curves_are_of_the_weights_after_the_epoch(folder: Path) -> None:
    """Their sets are not saved: 2048 draws from all sequences, within four standard errors."""
    run = read_authors_run(folder)
    config, size = run.config, run.config.task.test_size
    tokens, targets = ds.dataset(config.task, split="all")
    tokens, targets = tokens[:: 1 + len(tokens) // 50_000], targets[:: 1 + len(tokens) // 50_000]
    for epoch in range(1, 6):
        probabilities = ds.forward(run.parameters(epoch), tokens, config.model).probabilities
        losses = -np.log(probabilities[np.arange(len(targets)), targets])
        right = probabilities.argmax(axis=1) == targets
        for split in ("train", "test"):
            loss = run.curves[f"{split}_loss"][epoch] - losses.mean()
            accuracy = run.curves[f"{split}_accuracy"][epoch] - right.mean()
            assert abs(loss) < 4 * losses.std() / math.sqrt(size)
            assert abs(accuracy) < 4 * 0.5 / math.sqrt(size)


def test_options_are_ours() -> None:
    run = read_authors_run(THREE)
    expected = {
        "task.vocab": 3,
        "model.embeddings": 4,
        "model.hidden": 12,
        "training.epochs": 5,
        "record.state_every": 0,
        "record.gradients": False,
    }
    assert run.config == ds.Config().replace(expected)
    assert read_authors_run(TWO).config.model.embeddings is None
    assert (run.seed, run.epochs, run.diverged, run.data) == (1, 5, None, None)
    assert run.states.shape == (0, 3, run.weights.shape[1])


def test_the_origin_says_where_it_is_from() -> None:
    run = read_authors_run(TWO)
    assert run.origin is not None
    assert (run.origin.kind, run.origin.parent, run.origin.epoch) == ("import", TWO.name, None)
    assert len({run.id, read_authors_run(THREE).id, ds.Trainer(run.config, run.seed).run.id}) == 3


def test_runs_are_found_below_a_folder_and_by_themselves(tmp_path: Path) -> None:
    assert find_authors_runs(SAMPLES) == [TWO, THREE]
    assert find_authors_runs(TWO) == [TWO]
    with pytest.raises(ds.DynascopeError, match="but found none"):
        find_authors_runs(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ds.DynascopeError, match="1 without weights"):
        find_authors_runs(tmp_path)
    with pytest.raises(ds.DynascopeError, match="expected a folder"):
        find_authors_runs(tmp_path / "missing")


def test_torch_is_not_needed() -> None:
    code = "import sys; sys.modules['torch'] = None\n"
    code += "from dynascope.store.authors import read_authors_run as read\n"
    code += f"print(read({str(TWO)!r}).epochs)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "5\n"


# ---- what torch can write -----------------------------------------------------------------------
PLAIN = [None, True, 0, -5, 2**40, -(2**900), 1.5, "naïve", "x" * 300, (), (1,), (1, 2, 3, 4)]
PLAIN += [[], {}, [[], {"a": [1, (2, "b")]}], {1: {"x": ()}}, list(range(3000))]


@pytest.mark.parametrize("protocol", [3, 4, 5])
@pytest.mark.parametrize("tensor", [pytest.param(t, id=name) for name, t in TENSORS.items()])
def test_every_kind_of_tensor(tmp_path: Path, tensor: torch.Tensor, protocol: int) -> None:
    nested = [tensor, OrderedDict(a=tensor, b=(tensor, 1))]
    assert same(read(tmp_path, pickle.dumps(nested, protocol)), nested)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("value", PLAIN, ids=lambda value: repr(value)[:20])
def test_plain_values(tmp_path: Path, value: object, protocol: int) -> None:
    assert same(read(tmp_path, pickle.dumps(value, protocol)), value)
