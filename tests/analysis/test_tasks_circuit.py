"""Circuits of the tasks beyond modular addition, against NumPy over all sequences; and the way of
their runs through store, sweep, report and sandbox."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dynascope as ds
from dynascope import analysis
from dynascope.analysis.verdict import unlike_the_others
from dynascope.errors import DynascopeError

Array = np.ndarray[Any, Any]
CASES: list[dict[str, Any]] = [
    {"task.name": "most-frequent", "task.length": 7, "task.relevant": [0, 2, 3, 6]},
    {"task.name": "most-frequent", "task.vocab": 3, "task.length": 5, "task.relevant": 3},
    {"task.name": "products", "task.length": 8, "task.relevant": [0, 1, 4, 6]},
    {"task.name": "products", "task.vocab": 3, "task.length": 5, "task.relevant": 4},
    {"task.name": "products", "task.length": 6, "task.relevant": 6, "model.dim": 3},
]
each_case = pytest.mark.parametrize(
    "changes", CASES, ids=lambda case: "-".join(map(str, case.values()))
)


def config_of(changes: dict[str, Any]) -> ds.Config:
    return ds.Config().replace({"precision": "float64", **changes})


def group_of(name: str, prefix: Array) -> tuple[Any, ...]:
    if name == "products":
        pairs = prefix.reshape(-1, 2).tolist()
        return tuple(sorted(tuple(sorted(pair)) for pair in pairs))
    return tuple(sorted(prefix.tolist()))


def numbers(keys: list[Any]) -> Array:
    known = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    return np.array([known[key] for key in keys])


def means(values: Array, groups: Array) -> Array:
    sums = np.zeros((groups.max() + 1, values.shape[1]))
    np.add.at(sums, groups, values)
    return np.asarray((sums / np.bincount(groups)[:, None])[groups])


def mean_square(values: Array) -> float:
    return float((values**2).sum(axis=1).mean())


class Everything:
    """All sequences of a task through a model with initial weights."""

    def __init__(self, changes: dict[str, Any]) -> None:
        self.config = config_of(changes)
        self.task = self.config.task
        self.parameters = ds.initial_parameters(self.config, 3)
        self.tokens, self.targets = ds.dataset(self.task, split="all")
        got = ds.forward(self.parameters, self.tokens, self.config.model)
        self.xi, self.attention = got.sequence, got.attention
        self.predictions = got.logits.argmax(axis=1)
        self.relevant = self.tokens[:, list(self.task.positions)]
        self.group = numbers([group_of(self.task.name, row) for row in self.relevant])
        self.prefix = numbers(list(map(tuple, self.relevant.tolist())))
        rest = [t for t in range(self.task.length) if t not in self.task.positions]
        self.suffix = numbers(list(map(tuple, self.tokens[:, rest].tolist())))
        self.variance = mean_square(self.xi - self.xi.mean(axis=0))


@each_case
def test_shares_accuracy_and_survival(changes: dict[str, Any]) -> None:
    every = Everything(changes)
    found = analysis.circuit(every.parameters, every.config)
    assert found.exhaustive
    assert found.accuracy == (every.predictions == every.targets).mean()
    by_group, by_prefix = means(every.xi, every.group), means(every.xi, every.prefix)
    wanted = [
        mean_square(by_group - every.xi.mean(axis=0)),
        mean_square(by_prefix - by_group),
        mean_square(every.xi - by_prefix),
    ]
    shares = found.embedding
    assert shares is not None
    three = [shares.between, shares.permutation, shares.suffix]
    np.testing.assert_allclose(three, np.array(wanted) / every.variance, atol=1e-12)
    assert abs(sum(three) - 1) < 1e-12
    for survival, kept in (
        (found.permutation_survival, [every.group, every.suffix]),
        (found.suffix_survival, [every.prefix]),
    ):
        alike = np.all([one[:, None] == one[None] for one in kept], axis=0)
        same = every.predictions[:, None] == every.predictions[None]
        assert survival == pytest.approx(((alike & same).sum(1) / alike.sum(1)).mean(), abs=1e-12)
    np.testing.assert_allclose(found.attention, every.attention.mean(axis=0), atol=1e-12)
    assert found.expected_clusters == len(set(every.group))


@each_case
def test_effects_of_positions(changes: dict[str, Any]) -> None:
    every = Everything(changes)
    found = analysis.circuit(every.parameters, every.config)
    digits = every.task.vocab ** np.arange(every.task.length)[::-1]
    positions = every.task.positions
    for (i, t), (j, u) in itertools.product(enumerate(positions), repeat=2):
        swapped = every.tokens.copy()
        swapped[:, [t, u]] = swapped[:, [u, t]]
        theirs = swapped @ digits
        if (every.group[theirs] == every.group).all():
            wanted = mean_square(every.xi - every.xi[theirs]) / 4 / every.variance
            assert found.swap_effect[i, j] == pytest.approx(wanted, abs=1e-12)
        else:
            assert np.isnan(found.swap_effect[i, j])
    for t in range(every.task.length):
        others = numbers([tuple(row) for row in np.delete(every.tokens, t, axis=1).tolist()])
        wanted = mean_square(every.xi - means(every.xi, others)) / every.variance
        assert found.redraw_effect[t] == pytest.approx(wanted, abs=1e-12)
        logits = ds.forward(
            every.parameters, every.tokens, every.config.model, ablate={"positions": [t]}
        ).logits
        right = (logits.argmax(axis=1) == every.targets).mean()
        assert found.accuracy_without_attention[t] == pytest.approx(right, abs=1e-12)
    assert np.isfinite(found.verdict.margin)


def test_culprits_where_some_exchanges_are_no_symmetry() -> None:
    nan = np.nan
    effects = np.array([[0, 0.5, nan, nan], [0.5, 0, nan, nan], [nan, nan, 0, 0], [nan, nan, 0, 0]])
    assert unlike_the_others(effects) == [0, 1]
    assert unlike_the_others(np.where(effects == 0.5, 0.0, effects)) == []
    assert unlike_the_others(np.zeros((1, 1))) == []


@pytest.mark.parametrize("name", ["most-frequent", "products"])
def test_a_sample_estimates_what_all_sequences_give(name: str) -> None:
    """The same weights where 2**20 sequences exist and where one position more makes 2**21."""
    small = config_of({"task.name": name, "task.length": 20, "task.relevant": 6})
    large = small.replace({"task.length": 21})
    weights = ds.initial_parameters(large, 1)
    weights["query"][...] *= 0.3
    short = weights.replace(position_embedding=weights.position_embedding[:20])
    exact, sampled = analysis.circuit(short, small), analysis.circuit(weights, large)
    assert exact.exhaustive
    assert not sampled.exhaustive
    assert exact.embedding
    assert sampled.embedding
    assert sampled.embedding.between == pytest.approx(exact.embedding.between, abs=0.1)
    assert sampled.accuracy == pytest.approx(exact.accuracy, abs=0.1)
    assert (np.isnan(exact.swap_effect) == np.isnan(sampled.swap_effect)).all()


# ---- a run's way --------------------------------------------------------------------------------
TINY = {"training.epochs": 3, "task.train_size": 64, "task.test_size": 64, "task.relevant": 4}


def test_a_grid_over_tasks(tmp_path: Path) -> None:
    """Swept, stored, read again, queried, analysed: each run with its own task."""
    from dynascope.sweeps import sweep

    names = ["modular-addition", "most-frequent", "products"]
    flat = {name.partition(".")[2]: value for name, value in TINY.items() if name[:4] == "task"}
    grid = {
        "seeds": 2,
        "base": {"task": flat, "training": {"epochs": 3}},
        "grid": {"task.name": names},
    }
    sweep(grid, tmp_path / "grid", progress=False)
    runs = ds.load(tmp_path / "grid")
    assert sorted(run.config.task.name for run in runs) == sorted(2 * names)
    table = runs.table(["task", "seed", "accuracy"]).to_pylist()
    assert {row["task"] for row in table} == set(names)
    assert len(runs.where("task = 'products'")) == 2
    found = runs.analyse(progress=False).to_pylist()
    assert all(row["verdict"] == "unsolved" or row["exact_accuracy"] > 0.9 for row in found)
    for run in runs:
        fresh = ds.train(run.config, seeds=[run.seed], progress=False)[0]
        assert fresh.id == run.id
        assert (fresh.weights == run.weights).all()
        assert (run.task.targets(run.examples()[0]) == run.examples()[1]).all()
        holds = next(row for row in found if row["id"] == run.id)
        if run.config.task.name != "modular-addition":
            assert holds["sum_share"] is None
        else:
            assert holds["sum_share"] is not None


def test_a_report_names_the_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from dynascope.cli import main

    config = ds.Config().replace({**TINY, "task.name": "products"})
    runs = ds.train(config, progress=False)
    runs.save(tmp_path / "runs")
    assert main(["report", str(tmp_path / "runs")]) == 0
    assert main(["report", str(tmp_path / "runs"), "--run", runs[0].id]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "products, 4 of 12 tokens, p = 2" in told
    assert "between multisets" in told
    assert "another sum" not in told


def test_the_server_tells_the_task(tmp_path: Path) -> None:
    from dynascope.sandbox.run_answers import about

    config = ds.Config().replace({**TINY, "task.name": "products"})
    tokens, targets = ds.dataset(config.task)
    ds.train(config, progress=False).save(tmp_path / "runs")
    own_config = config.replace({"task.name": "modular-addition"})
    ds.train(own_config, data=ds.Data((tokens, targets)), progress=False).save(tmp_path / "own")
    known = about(ds.load(tmp_path / "runs")[0], {})["task"]
    assert (known["name"], known["groups"]) == ("products", "pairs")
    assert (known["positions"], known["symmetries"]) == ([0, 1, 2, 3], ["pairs", "suffix"])
    assert (known["chance"], known["classes"]) == (0.625, 2)
    own = about(ds.load(tmp_path / "own")[0], {})["task"]
    assert (own["name"], own["positions"], own["groups"]) == ("own data", None, None)
    assert own["chance"] == np.bincount(targets).max() / len(targets)


def test_ideal_heads_are_of_modular_addition() -> None:
    with pytest.raises(DynascopeError, match="modular-addition for an ideal head"):
        ds.theory.ideal_head(ds.Config().replace({"task.name": "most-frequent"}))


def test_learning_is_more_than_guessing() -> None:
    """Where the best constant answer is right in 62.5% of the cases, 60% is not learning."""
    config = ds.Config().replace({**TINY, "task.name": "products", "training.epochs": 0})
    run = ds.train(config, progress=False)[0]
    assert run.task.chance == 0.625
    assert run.task.learning_accuracy == pytest.approx(0.7)
