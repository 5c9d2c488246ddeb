"""Wrong calls of the Python API: one sentence with the field, what was expected and what came.

Options have their own table (test_config_errors.py), the command line too (test_cli_refused.py).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dynascope as ds
from dynascope.errors import DynascopeError

CONFIG = ds.Config().replace({"training.epochs": 1, "task.train_size": 64, "task.test_size": 8})
TOKENS, TARGETS = ds.dataset(CONFIG.task)
P = ds.initial_parameters(CONFIG, 0)
WIDE = CONFIG.replace({"task.train_size": 2**24, "task.test_size": 2**24, "task.length": 1024})


def changed(**arrays: Any) -> dict[str, Any]:
    return {**P, **arrays}


BAD: dict[str, tuple[Callable[[], object], str]] = {
    # sizes and seeds
    "no runs": (lambda: ds.train(CONFIG, 0), "seeds: expected from 1 to"),
    "negative runs": (lambda: ds.train(CONFIG, -5), "seeds: expected from 1 to"),
    "absurdly many runs": (lambda: ds.train(CONFIG, 10**15), "seeds: expected from 1 to"),
    "no seeds": (lambda: ds.train(CONFIG, []), "seeds: give at least one seed"),
    "negative seed": (lambda: ds.train(CONFIG, [-1]), "seed: expected a whole number from 0"),
    "huge seed": (lambda: ds.train(CONFIG, [2**53]), "seed: expected a whole number from 0"),
    "seed is a float": (lambda: ds.train(CONFIG, [0.5]), "seed: expected a whole number"),  # type: ignore[list-item]
    "seed is a bool": (lambda: ds.train(CONFIG, [True]), "seed: expected a whole number"),
    "seeds are text": (lambda: ds.train(CONFIG, "3,4"), "seeds: expected a number of runs"),  # type: ignore[arg-type]
    "a seed twice": (
        lambda: ds.train(CONFIG, [3, 4, 3]),
        "seeds: expected each seed once, but got 3 twice",
    ),
    "no threads": (
        lambda: ds.train(CONFIG, 1, threads=0),
        "threads: expected a whole number from 1",
    ),
    "negative epochs": (lambda: ds.Trainer(CONFIG).advance(-1), "epochs: expected a whole number"),
    "half a step": (
        lambda: ds.Trainer(CONFIG).advance_steps(0.5),
        "steps: expected a whole number",
    ),  # type: ignore[arg-type]
    "epoch beyond the end": (
        lambda: ds.train(CONFIG, 1, progress=False)[0].parameters(2),
        "epoch: expected a whole number from 0 to 1, but got 2",
    ),
    "epoch is negative": (
        lambda: ds.train(CONFIG, 1, progress=False)[0].trainer(-2),
        "epoch: expected",
    ),
    "going on to fewer epochs": (
        lambda: ds.train(CONFIG, 1, progress=False)[0].continued(1),
        "epochs: expected more than the 1",
    ),
    # memory
    "record too large": (
        lambda: ds.train(CONFIG.replace({"training.epochs": 10**7, "model.hidden": 65536}), 1),
        "memory: 1 run with these record options would take",
    ),
    "many runs too large": (
        lambda: ds.train(ds.Config(), 10**6),
        "GB) and train fewer runs at a time",
    ),
    "data too large": (lambda: ds.train(WIDE, 1, threads=1), "memory: 1 run with these record"),
    "all of too many sequences": (
        lambda: ds.dataset(ds.TaskConfig(vocab=10), split="all"),
        "at most 16777216 sequences",
    ),
    # tokens and targets
    "token out of range": (
        lambda: ds.forward(P, TOKENS + 1),
        "tokens: expected numbers from 0 to 1, but got 2",
    ),
    "negative token": (
        lambda: ds.forward(P, TOKENS - 1),
        "tokens: expected numbers from 0 to 1, but got -1",
    ),
    "float tokens": (
        lambda: ds.forward(P, TOKENS * 1.0),
        "tokens: expected whole numbers, but got an array of float64",
    ),
    "one sequence, flat": (
        lambda: ds.forward(P, TOKENS[0]),
        "tokens: expected tokens of shape [count, length]",
    ),
    "wrong length": (
        lambda: ds.forward(P, TOKENS[:, :5]),
        "tokens: expected sequences of length 12, but got 5",
    ),
    "no sequences": (
        lambda: ds.loss_and_gradient(P, TOKENS[:0], TARGETS[:0]),
        "tokens: give at least one sequence",
    ),
    "too few targets": (
        lambda: ds.loss_and_gradient(P, TOKENS, TARGETS[:3]),
        "targets: expected 64 targets",
    ),
    "target out of range": (
        lambda: ds.loss_and_gradient(P, TOKENS, TARGETS + 2),
        "targets: expected numbers from 0 to 1",
    ),
    "ragged tokens": (lambda: ds.forward(P, [[0, 1], [1]]), "tokens: expected"),
    "tokens are text": (lambda: ds.forward(P, [["a"] * 12]), "tokens: expected whole numbers"),
    "split": (
        lambda: ds.dataset(CONFIG.task, split="trian"),
        "split: expected one of train, test, unseen, all",
    ),  # type: ignore[arg-type]
    # parameters
    "not parameters": (
        lambda: ds.forward({}, TOKENS),
        "parameters: expected ds.Parameters, but got dict",
    ),  # type: ignore[arg-type]
    "missing parameter": (
        lambda: ds.Parameters({"query": np.zeros(2)}),
        "parameters: expected all of token_embedding",
    ),
    "unknown parameter": (
        lambda: ds.Parameters(changed(qerry=np.zeros(2))),
        "did you mean 'query'?",
    ),
    "wrong shape": (
        lambda: ds.Parameters(changed(value=np.zeros((2, 3)))),
        "parameters.value: expected shape (2, 2)",
    ),
    "a vector for a matrix": (
        lambda: ds.Parameters(changed(receptors=np.zeros(4))),
        "parameters.receptors: expected a non-empty matrix",
    ),
    "integer weights": (
        lambda: ds.Parameters({n: np.zeros(a.shape, int) for n, a in P.items()}),
        "expected arrays of float32 or float64",
    ),
    "one bias only": (
        lambda: ds.Parameters({n: a for n, a in P.items() if n != "receptor_bias"}),
        "both biases or neither",
    ),
    "another model's": (
        lambda: ds.forward(P, TOKENS, ds.ModelConfig(dim=3)),
        "model.dim: expected 2, as in the parameters, but got 3",
    ),
    "arithmetic with text": (lambda: P + "1", "parameters: expected a number or ds.Parameters"),
    "arithmetic of two shapes": (
        lambda: P + ds.initial_parameters(ds.Config(model=ds.ModelConfig(dim=3))),
        "parameters: expected shapes",
    ),
    "state dict name": (
        lambda: ds.Parameters.from_state_dict({"token_emb.wieght": P.query}),
        "did you mean 'token_emb.weight'?",
    ),
    "untied state dict": (
        lambda: ds.Parameters.from_state_dict(
            {**P.to_state_dict(), "output.weight": P.token_embedding + 1}
        ),
        "they are tied",
    ),
    "start of another model": (
        lambda: ds.train(CONFIG.replace({"model.hidden": 5}), 1, start=P),
        "start.receptors: expected shape (5, 2)",
    ),
    "start with too many rows": (
        lambda: ds.train(
            CONFIG, 1, start=ds.initial_parameters(CONFIG.replace({"model.embeddings": 4}))
        ),
        "set model.embeddings=4",
    ),
    "start with biases for a model without": (
        lambda: ds.train(CONFIG.replace({"model.bias": False}), 1, start=P),
        "start: expected no biases",
    ),
    "start without a seed's": (
        lambda: ds.train(CONFIG, [0, 1], start={0: P}),
        "but got none for seed 1",
    ),
    "start is an array": (
        lambda: ds.train(CONFIG, 1, start=P.flat),
        "start: expected ds.Parameters",
    ),  # type: ignore[arg-type]
    "edit of another shape": (
        lambda: setattr(ds.Trainer(CONFIG), "parameters", P.flat),
        "parameters: expected ds.Parameters with shapes",
    ),
    # ablation and patches
    "ablate what": (
        lambda: ds.forward(P, TOKENS, ablate={"position": [1]}),
        "did you mean 'positions'?",
    ),
    "ablate beyond": (
        lambda: ds.forward(P, TOKENS, ablate={"hidden": [32]}),
        "ablate.hidden: expected numbers from 0 to 31, but got 32",
    ),
    "ablate all": (
        lambda: ds.forward(P, TOKENS, ablate={"positions": range(12)}),
        "at least one position must be left",
    ),
    "patch what": (lambda: ds.forward(P, TOKENS, patch={"xi": 0}), "xi: unknown stage"),
    "patch of a wrong shape": (
        lambda: ds.forward(P, TOKENS, patch={"sequence": [1.0]}),
        "patch.sequence: expected shape (64, 2), but got (1,)",
    ),
    # data of one's own
    "data without targets": (
        lambda: ds.Data(train=TOKENS),
        "data.train: expected a pair (tokens, targets)",
    ),  # type: ignore[arg-type]
    "data that is empty": (
        lambda: ds.Data(train=(TOKENS[:0], TARGETS[:0])),
        "data.train: give at least one sequence",
    ),
    "data of two lengths": (
        lambda: ds.Data(train=(TOKENS, TARGETS), test=(TOKENS[:, :3], TARGETS)),
        "data.test: expected sequences of length 12",
    ),
    "data of another length": (
        lambda: ds.train(CONFIG, 1, data=ds.Data(train=(TOKENS[:, :3], TARGETS))),
        "data.train: expected sequences of task.length = 12",
    ),
    "data with unknown tokens": (
        lambda: ds.train(CONFIG, 1, data=ds.Data(train=(TOKENS + 5, TARGETS))),
        "data.train: expected tokens below 2, but got 6",
    ),
    "data with unknown classes": (
        lambda: ds.train(CONFIG, 1, data=ds.Data(train=(TOKENS, TARGETS + 1))),
        "data.train: expected targets below 2",
    ),
    "data smaller than a batch": (
        lambda: ds.train(CONFIG, 1, data=ds.Data(train=(TOKENS[:5], TARGETS[:5]))),
        "training.batch: expected",
    ),
    # files
    "no such folder": (lambda: ds.load("nowhere"), "nowhere: expected a folder of runs"),
}


@pytest.mark.parametrize("case", BAD)
def test_one_sentence(case: str) -> None:
    call, words = BAD[case]
    with pytest.raises(DynascopeError) as refused:
        call()
    text = str(refused.value)
    assert words in text
    assert "\n" not in text
    assert text.rstrip()[-1] in ".?)"


def test_saving_over_something_is_refused(tmp_path: Path) -> None:
    runs = ds.train(CONFIG, 1, progress=False)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/diary.txt").write_text("mine")
    with pytest.raises(DynascopeError, match="expected a new or empty folder"):
        runs.save(tmp_path / "kept")
    assert [file.name for file in tmp_path.rglob("*")] == ["kept", "diary.txt"]
