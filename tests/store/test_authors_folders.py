"""Folders of the authors' code that contradict themselves, or lack something."""

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from authors_runs import TWO, by_torch
from pickles import sentence

import dynascope as ds
from dynascope.store.authors import read_authors_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TWO, tmp_path / "run"))


def change_config(folder: Path, changes: dict[str, object]) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


OPTIONS: list[tuple[dict[str, object], str]] = [
    ({"vocab_size": 1}, "vocab_size: expected a whole number from 2"),
    ({"vocab_size": "2"}, "vocab_size: expected a whole number"),
    ({"seq_length": 12.0}, "seq_length: expected a whole number"),
    ({"sparsity_index": 13}, "sparsity_index: expected at most seq_length = 12"),
    ({"sparsity_index": [0, 1]}, "sparsity_index: expected a whole number"),
    ({"nb_data": -1}, "nb_data: expected"),
    ({"batch_size": 4096}, "batch_size: expected at most nb_data = 2048"),
    ({"nb_epochs": None}, "nb_epochs: expected"),
    ({"nb_epochs": 10**9}, "nb_epochs: expected"),
    ({"lr": float("nan")}, "lr: expected a finite number"),
    ({"lr": "fast"}, "lr: expected a finite number"),
    ({"mlp_lr_discount": 0}, "mlp_lr_discount: expected"),
    ({"emb_dim": True}, "emb_dim: expected a whole number"),
    ({"nb_emb": None}, "nb_emb: expected a whole number"),
    ({"vocab_size": 3, "nb_emb": 2}, "nb_emb: expected none or at least vocab_size = 3"),
    ({"ffn_dim": 0}, "ffn_dim: expected"),
    ({"ffn_bias": 1}, "ffn_bias: expected true or false"),
    ({"ffn_dropout": 0.1}, "ffn_dropout: expected 0, since dynascope has no dropout, but got 0.1"),
    ({"activation": "softplus"}, "activation: expected one of"),
    ({"activation": None}, "activation: expected one of"),
    ({"seed": -1}, "seed: expected"),
    ({"id": 7}, "id: expected a text"),
    ({"id": "a\nb"}, "id: expected a text"),
]


@pytest.mark.parametrize(("changes", "why"), OPTIONS, ids=[why for _, why in OPTIONS])
def test_bad_options(folder: Path, changes: dict[str, object], why: str) -> None:
    change_config(folder, changes)
    with pytest.raises(ds.DynascopeError) as error:
        read_authors_run(folder)
    assert f"config.json: {why}" in str(error.value)


FIELDS = ["vocab_size", "seq_length", "sparsity_index", "nb_data", "batch_size", "nb_epochs", "lr"]
FIELDS += ["mlp_lr_discount", "emb_dim", "nb_emb", "ffn_dim", "ffn_bias", "ffn_dropout"]
FIELDS += ["activation", "seed", "id"]


@pytest.mark.parametrize("field", FIELDS)
def test_missing_options(folder: Path, field: str) -> None:
    file = folder / "config.json"
    given = json.loads(file.read_text())
    del given[field]
    file.write_text(json.dumps(given))
    with pytest.raises(ds.DynascopeError, match=f"config.json: expected the field {field}, but"):
        read_authors_run(folder)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff", b"[" * 100_000, b"[]", b'{"a": ' + b"9" * 9999 + b"}", b" " * 2**21],
)
def test_configs_that_are_none(folder: Path, data: bytes) -> None:
    (folder / "config.json").write_bytes(data)
    with pytest.raises(ds.DynascopeError, match=r"config\.json: expected"):
        read_authors_run(folder)


CONTRADICTIONS: list[tuple[dict[str, object], str]] = [
    ({"ffn_dim": 9}, "receptors: expected shape (9, 2), as config.json says, but got (8, 2)"),
    ({"emb_dim": 3}, "token_embedding: expected shape (2, 3), as config.json says"),
    ({"seq_length": 11}, "position_embedding: expected shape (11, 2)"),
    ({"nb_emb": 3}, "token_embedding: expected shape (3, 2)"),
    ({"ffn_bias": False}, "mlp: expected no biases, as ffn_bias in config.json says"),
    ({"nb_epochs": 10}, "expected 11 state dicts (the start and each of nb_epochs = 10), but got"),
    ({"nb_epochs": 0}, "expected 1 state dicts"),
]


@pytest.mark.parametrize(
    ("changes", "why"), CONTRADICTIONS, ids=[str(changes) for changes, _ in CONTRADICTIONS]
)
def test_options_against_weights(folder: Path, changes: dict[str, object], why: str) -> None:
    change_config(folder, changes)
    with pytest.raises(ds.DynascopeError) as error:
        read_authors_run(folder)
    assert "weights.pkl: " in str(error.value)
    assert why in str(error.value)


def put(name: str, value: object) -> Callable[[list[Any]], object]:
    """State dicts with an entry of epoch 2 exchanged."""
    return lambda states: [*states[:2], {**states[2], name: value}, *states[3:]]


ONE_NAN = torch.tensor([[0, 1], [float("nan"), 2]])
WEIGHTS: dict[str, tuple[Callable[[list[Any]], object], str]] = {
    "no list": (lambda states: states[0], "expected a list of state dicts, but got dict"),
    "no dict": (lambda states: [*states[:5], 3], "epoch 5: expected a state dict of tensors"),
    "no tensor": (put("pos_emb.weight", [1.0]), "epoch 2: expected a state dict of tensors"),
    "odd name": (put("a\nb", ONE_NAN), "epoch 2: expected a state dict of tensors"),
    "unknown name": (put("head.weight", ONE_NAN[:1]), "epoch 2: state_dict.head.weight: unknown"),
    "nan": (put("token_emb.weight", ONE_NAN), "token_emb.weight: expected finite numbers, but got"),
    "untied": (put("output.weight", torch.ones(2, 2)), "epoch 2: state_dict.output.weight"),
    "shape": (put("mlp.fc1.bias", torch.zeros(9)), "epoch 2: parameters.receptor_bias"),
    "whole numbers": (
        lambda states: [{k: v.long() for k, v in state.items()} for state in states],
        "epoch 0: parameters: expected arrays of float32 or float64",
    ),
    "mixed": (
        lambda states: [{k: v.double() for k, v in states[0].items()}, *states[1:]],
        "epoch 1: expected float64, as at epoch 0, but got float32",
    ),
    "missing": (
        lambda states: [{k: v for k, v in states[0].items() if "query" not in k}, *states[1:]],
        "epoch 0: parameters: expected all of",
    ),
}


@pytest.mark.parametrize("case", WEIGHTS)
def test_bad_weights(folder: Path, case: str) -> None:
    change, why = WEIGHTS[case]
    file = folder / "weights.pkl"
    file.write_bytes(pickle.dumps(change(by_torch(file))))
    with pytest.raises(ds.DynascopeError) as error:
        read_authors_run(folder)
    assert why in sentence(error)


BAD_CURVES: list[tuple[str, object, str]] = [
    ("losses", torch.zeros(4), "losses.pkl: expected 5 numbers, one for each of nb_epochs"),
    ("losses", torch.zeros(5, 1), "losses.pkl: expected 5 numbers"),
    ("losses", torch.zeros(5).long(), "losses.pkl: expected a tensor of real numbers"),
    ("accs", [0.5] * 5, "accs.pkl: expected a tensor of real numbers"),
    ("accs", torch.arange(5.0), "accs.pkl: expected numbers from 0 to 1, but got 2.0 after epoch"),
    ("test_losses", ONE_NAN[1].expand(5, 2)[:, 0], "test_losses.pkl: expected finite numbers"),
    (
        "test_losses",
        torch.full((5,), 1e300, dtype=torch.float64),
        "test_losses.pkl: expected finite numbers",
    ),
    ("test_accs", -torch.ones(5), "test_accs.pkl: expected numbers from 0 to 1"),
]


@pytest.mark.parametrize(("name", "value", "why"), BAD_CURVES)
def test_bad_curves(folder: Path, name: str, value: object, why: str) -> None:
    (folder / f"{name}.pkl").write_bytes(pickle.dumps(value))
    with pytest.raises(ds.DynascopeError) as error:
        read_authors_run(folder)
    assert why in str(error.value)


def test_what_may_be_missing(folder: Path) -> None:
    (folder / "test_accs.pkl").unlink()
    change_config(folder, {"seed": None, "activation": "GELU"})
    run = read_authors_run(folder)
    assert np.isnan(run.curves["test_accuracy"]).all()
    assert (run.seed, run.config.model.activation) == (0, "gelu")
    (folder / "weights.pkl").unlink()
    with pytest.raises(ds.DynascopeError, match=r"weights\.pkl: expected .* save_weights is true"):
        read_authors_run(folder)


def test_double_precision_is_kept(folder: Path) -> None:
    file = folder / "weights.pkl"
    states = [{k: v.double() / 3 for k, v in state.items()} for state in by_torch(file)]
    file.write_bytes(pickle.dumps(states))
    run = read_authors_run(folder)
    assert run.config.precision == "float64"
    assert run.parameters(5) == ds.Parameters.from_state_dict(states[5])
