"""A run with data of its own: its config names no task, and whatever asks for one says so.

Before, the config's task was modular addition, which such a run never saw: its circuit had an
accuracy of a half, and so had the score on `ds.dataset(run.config.task)`, for a run that makes no
mistake on its own data.
"""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dynascope as ds
from dynascope.analysis import (
    attention_map,
    attention_similarity,
    circuit,
    circuits,
    embedding_distance,
    kept_sum,
    sparsity,
)
from dynascope.analysis.geometry import travelled
from dynascope.config import OwnDataTask
from dynascope.theory import approach, ideal_head

LENGTH = 6
OPTIONS = {"task.length": LENGTH, "task.relevant": 2, "training.batch": 16}


def first_token() -> ds.Data:
    """The target is the first token, which a model learns in a few epochs."""
    tokens = np.random.default_rng(0).integers(0, 2, (96, LENGTH))
    return ds.Data(train=(tokens[:64], tokens[:64, 0]), test=(tokens[64:], tokens[64:, 0]))


@pytest.fixture(scope="module")
def made() -> ds.Run:
    config = ds.Config().replace({**OPTIONS, "task.train_size": 64, "training.epochs": 60})
    config = config.replace({"training.lr": 0.03})
    return ds.train(config, data=first_token(), progress=False)[0]


@pytest.fixture(scope="module")
def stored(made: ds.Run, tmp_path_factory: pytest.TempPathFactory) -> ds.Run:
    folder = tmp_path_factory.mktemp("own") / "store"
    ds.Runs([made]).save(folder)
    return ds.load(folder)[0]


WAYS: dict[str, Callable[[ds.Run], ds.Run]] = {
    "trained": lambda run: run,
    "a trainer's": lambda run: run.trainer(40).run,
    "continued": lambda run: run.continued(run.epochs + 1),
    "copied": copy.deepcopy,
    "pickled": lambda run: pickle.loads(pickle.dumps(run)),
}

NEED_A_TASK: dict[str, Callable[[ds.Run], object]] = {
    "dataset": lambda run: ds.dataset(run.config.task),
    "dataset of all": lambda run: ds.dataset(run.config.task, split="all"),
    "circuit": lambda run: circuit(run.parameters(), run.config),
    "kept_sum": lambda run: kept_sum(run.parameters(), run.config),
    "attention map": lambda run: attention_map(run.parameters(), run.config),
    "sparsity": lambda run: sparsity(run.parameters(), run.config),
    "distance of sequence embeddings": lambda run: embedding_distance(
        run.parameters(0), run.parameters(), run.config, of="sequence"
    ),
    "ideal head": lambda run: ideal_head(run.config),
    "approach": lambda run: approach(run.config),
    "train without the data": lambda run: ds.train(run.config, progress=False),
    "trainer without the data": lambda run: ds.Trainer(run.config),
    "with other options": lambda run: ds.dataset(run.config.replace({"training.lr": 1.0}).task),
    "at an epoch": lambda run: ds.dataset(run.config_at(3).task),
}


@pytest.mark.parametrize("what", NEED_A_TASK)
@pytest.mark.parametrize("way", [*WAYS, "stored", "stored and loaded"])
def test_what_needs_a_task_is_refused(way: str, what: str, made: ds.Run, stored: ds.Run) -> None:
    others: dict[str, ds.Run] = {"stored": stored, "stored and loaded": stored.loaded()}
    run = others[way] if way in others else WAYS[way](made)
    with pytest.raises(ds.DynascopeError, match=r"data of its own .* run\.examples\('test'\)"):
        NEED_A_TASK[what](run)


def test_the_run_itself_is_right(made: ds.Run, stored: ds.Run) -> None:
    """The README's pattern, which holds for every run."""
    for run in (made, stored):
        tokens, targets = run.examples("test")
        logits = ds.forward(run.parameters(), tokens, run.config.model).logits
        assert (logits.argmax(axis=1) == targets).mean() == run.curves["test_accuracy"][-1] == 1.0
        with pytest.raises(ds.DynascopeError, match="symmetries are known"):
            circuits(run)


def test_measures_on_its_own_sequences(made: ds.Run) -> None:
    tokens = made.examples("train")[0]
    table = attention_map(made.parameters(), made.config, tokens)
    assert table.shape == (2, LENGTH)
    alike = attention_similarity(made, 0, 60, others=[made])
    at_start = attention_map(made.parameters(0), made.config, tokens)
    assert alike.cosine == pytest.approx(
        (table * at_start).sum() / np.linalg.norm(table) / np.linalg.norm(at_start)
    )
    assert sparsity(made.parameters(), made.config, tokens=tokens).sequences == 64
    assert travelled(made, of="sequence").norm == pytest.approx(
        float(np.linalg.norm(ds.forward(made.parameters(0), tokens, made.config).sequence)),
        rel=1e-5,
    )
    assert embedding_distance(made.parameters(0), made.parameters(), made.config).before > 0


def test_runs_of_other_data_are_no_comparison(made: ds.Run) -> None:
    tokens, targets = made.data.train if made.data else ([], [])
    other = ds.train(made.config, [1], data=ds.Data(train=(tokens, 1 - targets)), progress=False)
    with pytest.raises(ds.DynascopeError, match="a run of the same task"):
        attention_similarity(made, others=other)


def test_the_marker_is_no_part_of_what_a_run_is(made: ds.Run) -> None:
    plain = ds.Config.from_dict(made.config.to_dict())
    own = made.config
    assert isinstance(own.task, OwnDataTask)
    assert not isinstance(plain.task, OwnDataTask)
    assert own == plain
    assert plain == own
    assert hash(own) == hash(plain)
    assert own.canonical_json() == plain.canonical_json()
    assert own.to_dict() == plain.to_dict()
    assert own != plain.replace({"task.length": 7})
    assert plain.for_own_data().for_own_data() == plain


def test_a_task_can_be_named_again(made: ds.Run, tmp_path: Path) -> None:
    """Fine-tuning on a task that has a name starts from the weights of a run that had none."""
    config = made.config.replace({"task.name": "modular-addition", "training.epochs": 1})
    run = ds.train(config, start=made, progress=False)[0]
    assert run.task.name == "modular-addition"
    assert ds.dataset(config.task)[0].shape == (64, LENGTH)


def test_a_plain_run_is_as_before() -> None:
    run = ds.train(ds.Config().replace({"training.epochs": 1}), progress=False)[0]
    tokens: Any = ds.dataset(run.config.task, run.seed, "test")
    assert all(map(np.array_equal, tokens, run.examples("test")))
    assert circuit(run.parameters(), run.config).verdict.name == "unsolved"
