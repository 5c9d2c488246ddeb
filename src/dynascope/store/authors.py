"""Runs that the paper's authors' released code saved, read as ours.

It writes a folder per run: config.json, and pickles of torch tensors:

- weights.pkl: a list of `nb_epochs + 1` state dicts, the first from before training. It is only
  there if the run had `save_weights`.
- losses.pkl, accs.pkl, test_losses.pkl, test_accs.pkl: `nb_epochs` numbers each. Number i comes
  from the whole train or test set after epoch i + 1, so from state dict i + 1: in the samples, the
  test loss is within 1.5 standard errors of the loss over all sequences (or, for p = 3, over a
  large sample) of those weights, and up to 17 off that of the weights before. Losses are mean
  cross-entropies, accuracies are shares (2048ths). Nothing was evaluated before training: index 0
  of our curves is NaN, and so is every curve that they have no file for.

What such a run is not: their data come from generators of their own, and neither data nor moments
are saved. Its config, seed included, says how it was trained, but training it again with us gives
another run; its origin, "import", says so. A seed of null (drawn anew each time) is read as 0.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope._kernel import CURVE_NAMES
from dynascope.config import OPTIONS, Config
from dynascope.data import MAX_SEED
from dynascope.errors import Description, DynascopeError, expected
from dynascope.option_rules import Maybe, Real, Rule, Whole
from dynascope.parameters import Parameters
from dynascope.run import Origin, Run
from dynascope.store.unpickle import read_pickle
from dynascope.trainer import fingerprint

Array = npt.NDArray[Any]

_CONFIG, _WEIGHTS = "config.json", "weights.pkl"
_LARGEST_CONFIG = 2**20  # bytes
_LONGEST_ID = 80

# Their name of an option, and ours.
_OPTIONS = {
    "vocab_size": "task.vocab",
    "seq_length": "task.length",
    "sparsity_index": "task.relevant",
    "nb_data": "task.train_size",
    "batch_size": "training.batch",
    "nb_epochs": "training.epochs",
    "lr": "training.lr",
    "mlp_lr_discount": "training.mlp_lr_discount",
    "emb_dim": "model.dim",
    "nb_emb": "model.embeddings",
    "ffn_dim": "model.hidden",
    "ffn_bias": "model.bias",
    "activation": "model.activation",
}
# Where their option takes other values than ours, and what we have no option for.
_RULES: dict[str, Rule[object]] = {
    **{theirs: OPTIONS[ours] for theirs, ours in _OPTIONS.items()},
    "sparsity_index": Whole(1, 1024),
    "mlp_lr_discount": Maybe(OPTIONS["training.mlp_lr_discount"]),
    "nb_emb": Whole(2, 8192),
    "seed": Maybe(Whole(0, MAX_SEED)),
    "ffn_dropout": Real(0),
}
# Their file, our curve, and the largest value that it can have.
_HIGHEST_LOSS = float(np.finfo(np.float32).max)
_CURVES = {
    "losses.pkl": ("train_loss", _HIGHEST_LOSS),
    "accs.pkl": ("train_accuracy", 1.0),
    "test_losses.pkl": ("test_loss", _HIGHEST_LOSS),
    "test_accs.pkl": ("test_accuracy", 1.0),
}


def find_authors_runs(folder: str | os.PathLike[str]) -> list[Path]:
    """The folders of runs with weights, in order: this folder or any below it."""
    top = Path(folder)
    if not os.path.isdir(top):
        raise DynascopeError(
            f"{folder}: expected a folder of the authors' runs, but there is no such folder."
        )
    found, without_weights = [], 0
    for path, _, files in os.walk(top):
        if _CONFIG in files and _WEIGHTS in files:
            found.append(Path(path))
        without_weights += _CONFIG in files and _WEIGHTS not in files
    if not found:
        got = f"{without_weights} without weights" if without_weights else "none"
        raise DynascopeError(
            f"{folder}: expected runs of the authors' code (folders with {_CONFIG} and {_WEIGHTS}, "
            f"which save_weights=true writes), but found {got}."
        )
    return sorted(found)


def read_authors_run(folder: str | os.PathLike[str]) -> Run:
    """One run of the authors' code; every epoch's weights, and the curves that they recorded."""
    path = Path(folder)
    options, name = _read_options(path / _CONFIG)
    config, epochs = _config(path / _CONFIG, options), int(options["nb_epochs"])
    weights = _read_weights(path / _WEIGHTS, config)
    if weights[0].dtype == np.float64:
        config = config.replace({"precision": "float64"})
    start = fingerprint(Parameters.from_flat(weights[0], config.shapes))
    return Run(
        config=config,
        seed=options["seed"] or 0,
        table=_read_table(path, epochs, weights.dtype),
        weights=weights,
        weight_epochs=np.arange(epochs + 1, dtype=np.int64),
        states=np.empty((0, 3, weights.shape[1]), weights.dtype),
        state_epochs=np.empty(0, np.int64),
        origin=Origin("import", start, parent=name),
    )


# ---- config.json --------------------------------------------------------------------------------
def _read_options(file: Path) -> tuple[dict[str, Any], str]:
    """Their options, each checked under their name, and the run's id."""
    given = _read_json(file)
    for name in (*_RULES, "id"):
        if name not in given:
            raise DynascopeError(f"{file}: expected the field {name}, but it is missing.")
    if isinstance(given["activation"], str):
        given["activation"] = given["activation"].lower()  # as their code does
    options: dict[str, Any] = {
        name: rule.check(f"{file}: {name}", given[name]) for name, rule in _RULES.items()
    }
    if options["ffn_dropout"]:
        what = "0, since dynascope has no dropout"
        raise expected(f"{file}: ffn_dropout", what, options["ffn_dropout"])
    name = given["id"]
    if not (isinstance(name, str) and name.isprintable() and 0 < len(name) <= _LONGEST_ID):
        raise expected(f"{file}: id", f"a text of 1 to {_LONGEST_ID} characters", name)
    return options, name


def _read_json(file: Path) -> dict[str, Any]:
    try:
        if not file.is_file():
            raise DynascopeError(
                f"{file}: expected the options of a run, but there is no such file."
            )
        if file.stat().st_size > _LARGEST_CONFIG:
            raise expected(str(file), f"at most {_LARGEST_CONFIG} bytes", file.stat().st_size)
        given = json.loads(file.read_text(encoding="utf-8"))
    except DynascopeError:
        raise
    except OSError as error:
        raise DynascopeError(f"{file}: cannot be read ({error.strerror or error}).") from None
    except (ValueError, RecursionError):  # not UTF-8, not JSON, a number of thousands of digits
        raise DynascopeError(
            f"{file}: expected JSON, but it is something else or damaged."
        ) from None
    if not isinstance(given, dict):
        raise expected(str(file), "a JSON object", given)
    return given


def _config(file: Path, options: Mapping[str, Any]) -> Config:
    ours: dict[str, Any] = {_OPTIONS[name]: options[name] for name in _OPTIONS}
    ours["task.test_size"] = options["nb_data"]
    if options["mlp_lr_discount"] is None:
        ours["training.mlp_lr_discount"] = 1.0
    if options["nb_emb"] == options["vocab_size"]:
        ours["model.embeddings"] = None
    kept = {"record.weights_every": 1, "record.state_every": 0, "record.gradients": False}
    try:
        return Config().replace({**ours, **kept})
    except DynascopeError as error:  # two options that do not go together
        sentence = str(error)
        for theirs, name in _OPTIONS.items():
            sentence = sentence.replace(name, theirs)
        raise DynascopeError(f"{file}: {sentence}") from None


# ---- the pickles --------------------------------------------------------------------------------
def _read_weights(file: Path, config: Config) -> Array:
    """Every epoch's weights: [epochs + 1, packed].

    Their code keeps every epoch or none. Fewer state dicts than that could be of any epochs, so
    they are refused rather than put where they may not belong.
    """
    if not os.path.exists(file):
        raise DynascopeError(
            f"{file}: expected the weights of a run, but there is no such file; their code writes "
            "it when save_weights is true."
        )
    states, epochs = read_pickle(file), config.training.epochs
    if not isinstance(states, list):
        raise expected(str(file), "a list of state dicts", Description(type(states).__name__))
    if len(states) != epochs + 1:
        what = f"{epochs + 1} state dicts (the start and each of nb_epochs = {epochs})"
        raise expected(str(file), what, len(states))
    flats = [_flat(f"{file}: epoch {i}", state, config) for i, state in enumerate(states)]
    other = [i for i, flat in enumerate(flats) if flat.dtype != flats[0].dtype]
    if other:
        what = f"{flats[0].dtype}, as at epoch 0"
        raise expected(f"{file}: epoch {other[0]}", what, Description(flats[other[0]].dtype))
    return np.stack(flats)


def _flat(where: str, state: object, config: Config) -> Array:
    """One state dict as a packed vector, found to be what the config says."""
    if not isinstance(state, dict) or not all(map(_is_entry, state, state.values())):
        raise DynascopeError(f"{where}: expected a state dict of tensors, but got something else.")
    for name, array in state.items():
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            got = Description(f"{array[tuple(bad[0])]} at {bad[0].tolist()}")
            raise expected(f"{where}: {name}", "finite numbers", got)
    try:
        parameters = Parameters.from_state_dict(state)
    except DynascopeError as error:
        raise DynascopeError(f"{where}: {error}") from None
    if len(parameters) != len(config.shapes):
        words = {True: "biases", False: "no biases"}
        what = f"{words[config.model.bias]}, as ffn_bias in {_CONFIG} says"
        raise expected(f"{where}: mlp", what, Description(words[not config.model.bias]))
    for name, shape in config.shapes.items():
        if parameters.shapes[name] != shape:
            what = f"shape {shape}, as {_CONFIG} says"
            raise expected(f"{where}: {name}", what, parameters.shapes[name])
    return parameters.flat


def _is_entry(name: object, value: object) -> bool:
    """A tensor under a name that a sentence can carry."""
    return isinstance(value, np.ndarray) and isinstance(name, str) and name.isprintable()


def _read_table(folder: Path, epochs: int, dtype: np.dtype[Any]) -> Array:
    """Our curves: [epochs + 1, all of the kernel's], NaN where they recorded nothing."""
    table = np.full((epochs + 1, len(CURVE_NAMES)), np.nan, dtype)
    for name, (curve, most) in _CURVES.items():
        if os.path.exists(folder / name):
            table[1:, CURVE_NAMES.index(curve)] = _read_curve(folder / name, epochs, most)
    return table


def _read_curve(file: Path, epochs: int, most: float) -> Array:
    values = read_pickle(file)
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f":
        raise DynascopeError(f"{file}: expected a tensor of real numbers, but got something else.")
    if values.shape != (epochs,):
        what = f"{epochs} numbers, one for each of nb_epochs"
        raise expected(str(file), what, Description(f"shape {values.shape}"))
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0) & (values <= most)))
    if len(bad):
        what = "numbers from 0 to 1" if most == 1 else "finite numbers of at least 0"
        raise expected(str(file), what, Description(f"{values[bad[0]]} after epoch {bad[0] + 1}"))
    return values
