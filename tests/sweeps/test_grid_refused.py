"""Sweep descriptions that are refused, in one sentence."""

import time
from pathlib import Path
from typing import Any

import pytest
from sweeping import BATCH, written

from dynascope.config import Config
from dynascope.errors import DynascopeError
from dynascope.model import initial_parameters
from dynascope.sweeps.grid import parse_grid, read_grid
from dynascope.sweeps.plan import check_fine_tuning
from dynascope.trainer import fitted_start


def one(line: str, table: str = "grid") -> str:
    return f"[{table}]\n{line}"


BAD = [
    # the file and its tables
    ("", "sweep: expected a table with entries", "empty"),
    ("seeds = =", "expected TOML", "line 1"),
    ("gird.training.lr = [1]", "gird: unknown key; did you mean 'grid'?"),
    (
        "training.lr = [1]",
        "training: unknown key (keys: seeds, analyse, keep, base,",
    ),
    ("grid = 3", "grid: expected a table, but got 3"),
    ("[grid]", "grid: expected a table with entries"),
    ("[base]", "base: expected a table with entries"),
    ("[grid.training]", "grid.training: expected a table with entries"),
    ("zip = []", "zip: expected tables of lists, as [[zip]]", "it has 0"),
    ("[[zip]]", "zip: expected a table with entries"),
    ("[chain]", "chain: expected a table with entries"),
    ("[chain.a]", "chain.a: expected a table with entries"),
    ("[chain.a.set]", "chain.a.set: expected a table with entries"),
    # seeds
    ("seeds = 0", "seeds: expected a whole number from 1 to 1000000, but got 0"),
    ("seeds = 1000001", "seeds: expected a whole number from 1"),
    ("seeds = true", "seeds: expected how many, a list of seeds, or text"),
    ("seeds = 1.5", "seeds: expected how many"),
    ("seeds = []", "seeds: expected how many", "it has 0"),
    ("seeds = [3, -1]", "seeds: expected a whole number from 0 to 9007199254740991, but got -1"),
    ("seeds = [3, 5, 3]", "seeds: expected each seed once, but 3 appears twice"),
    ("seeds = '3-5,4'", "seeds: expected each seed once, but 4"),
    ("seeds = 'ten'", "seeds: expected how many (20) or which seeds", "'ten'"),
    # options
    (one("training.l_r = [1]"), "grid.training.l_r: unknown option; did you mean 'training.lr'?"),
    (one("lr = 1", "base"), "base.lr: unknown option; did you mean 'training.lr'?"),
    (one("training = 3", "base"), "base.training: expected a table, but got 3"),
    (one("model.dim = 0", "base"), "base.model.dim: expected a whole number from 1 to 1024"),
    (one("model.dim = [2, 3]", "base"), "base.model.dim: expected", "put several values in [grid]"),
    (
        one("training.batch = 4096", "base"),
        "base: training.batch: expected at most task.train_size",
    ),
    (one("model.hdden = [1]", "[zip]"), "zip.model.hdden: unknown option; did you mean 'model.hid"),
    (one("training.lr = 0.1"), "grid.training.lr: expected a list of values", "got 0.1"),
    (one("training.lr = []"), "grid.training.lr: expected a list of values", "it has 0"),
    (one("training.lr = [0.1, nan]"), "grid.training.lr: expected a finite number", "got nan"),
    (one("training.lr = [inf]"), "grid.training.lr: expected a finite number", "got inf"),
    (one("training.lr = ['none']"), "grid.training.lr: expected a finite number", "'none'"),
    (one("model.dim = [2, 2.0]"), "grid.model.dim: expected a whole number", "got 2.0"),
    (one("model.norm = ['rsm']"), "grid.model.norm: expected one of", "did you mean 'rms'?"),
    (one("training.frozen = ['query']"), "grid.training.frozen: expected a list of parameter"),
    (one("training.lr = [1, 2, 1.0]"), "expected each value once, but training.lr=1.0 appears t"),
    (one("task.relevant = [2, [0, 1]]"), "expected each value once, but task.relevant=2 appears"),
    (one("record.steps = [[0, 1]]"), "grid.record.steps: expected an option that changes the runs"),
    (one("set.record.unseen = true", "chain.a"), "chain.a.set.record.unseen", "put it in [base]"),
    (
        "[base]\ntraining.lr = 1\n[grid]\ntraining.lr = [1]",
        "grid.training.lr: expected an option in one place, but it is also in base",
    ),
    (
        "[grid]\ntraining.lr = [1]\n[[zip]]\ntraining.lr = [1]",
        "zip.training.lr: expected an option in one place, but it is also in grid",
    ),
    ("[[zip]]\nmodel.dim = [1]\n[[zip]]\nmodel.dim = [2]", "zip.model.dim", "also in zip"),
    (one("training.lr = [1]\n'training.lr' = [2]"), "grid.training.lr", "it appears twice"),
    (
        one("set.training.lr = 1\ngrid.training.lr = [2]", "chain.a"),
        "chain.a.grid.training.lr: expected an option in one place, but it is also in chain.a.set",
    ),
    (
        one("model.dim = [2, 3]\nmodel.norm_eps = [0]", "[zip]"),
        "zip.model.norm_eps: expected as many values as model.dim has, 2, but it has 1",
    ),
    (
        one("model.dim = [2, 3, 2]\nmodel.hidden = [8, 8, 8]", "[zip]"),
        "expected each combination once, but model.dim=2, model.hidden=8 appears twice",
    ),
    # linspace and logspace
    (one("training.lr = {linspac = [1, 2, 3]}"), "grid.training.lr.linspac: unknown key", "linsp"),
    (one("training.lr = {}"), "grid.training.lr: expected a table with entries"),
    (one("training.lr = {linspace = [1, 2, 3], logspace = [1, 2, 3]}"), "linspace or logspace"),
    (one("training.lr = {linspace = 3}"), "training.lr.linspace: expected [from, to, count]"),
    (one("training.lr = {linspace = [1, 2]}"), "training.lr.linspace: expected [from, to, count]"),
    (one("training.lr = {linspace = [1, 2, 0]}"), "linspace: expected a count from 1 to 100000"),
    (one("training.lr = {linspace = [1, 2, 3.0]}"), "linspace: expected a count", "got 3.0"),
    (one("training.lr = {linspace = [1, 2, 100001]}"), "linspace: expected a count", "100001"),
    (one("training.lr = {linspace = [1, 2, 1]}"), "expected two different ends and a count of at"),
    (one("training.lr = {linspace = [1, 1, 3]}"), "expected two different ends", "[1, 1, 3]"),
    (one("training.lr = {linspace = [nan, 2, 3]}"), "expected finite numbers as its ends", "nan"),
    (one("training.lr = {linspace = [true, 2, 3]}"), "finite numbers as its ends", "True"),
    (one(f"training.lr = {{linspace = [1, {10**400}, 3]}}"), "finite numbers as its ends"),
    (one("training.lr = {linspace = ['1', 2, 3]}"), "finite numbers as its ends", "'1'"),
    (one("training.lr = {logspace = [0, 2, 3]}"), "finite numbers above 0 as its ends", "got 0"),
    (one("training.lr = {logspace = [1, -2, 3]}"), "finite numbers above 0 as its ends", "-2"),
    (one("training.lr = {linspace = [-1, 1, 3]}"), "expected a finite number above 0", "got -1.0"),
    (one("task.relevant = {linspace = [1, 5, 5]}"), "task.relevant: expected a list of values, si"),
    (one("model.norm = {linspace = [1, 5, 5]}"), "grid.model.norm: expected a list of values"),
    # chains
    (one("form = 'base'", "chain.a"), "chain.a.form: unknown key; did you mean 'from'?"),
    (one("task.vocab = 3", "chain.a"), "chain.a.task: unknown key (keys: from, set, grid, zip)"),
    (one("from = 'bas'", "chain.a"), "chain.a.from: expected base or another", "mean 'base'?"),
    (one("from = 3", "chain.a"), "chain.a.from: expected base or another chain, but got 3"),
    (one("from = 'a'", "chain.a"), "chain.a.from: expected another stage, but it names itself"),
    (
        one("set.task.vocab = 3", "chain.base"),
        "chain: expected a name",
        "other than base",
        "'base'",
    ),
    (one("set.task.vocab = 3", "chain.'a b'"), "chain: expected a name", "'a b'"),
    ("chain = [1]", "chain: expected a table, but got [1]"),
    ("[chain]\na.from = 'b'\nb.from = 'c'\nc.from = 'b'", "chain.b.from", "b, c form", "circle"),
    # combinations
    (
        one("training.batch = [32, 4096]\ntask.train_size = [2048]"),
        "training.batch=4096, task.train_size=2048: training.batch: expected at most task.train_si",
    ),
    (
        "[grid]\ntraining.lr = [0.1]\n[chain.a]\ngrid.training.batch = [8, 4096]",
        "chain a, training.batch=4096, from training.lr=0.1: training.batch: expected at most",
    ),
    (
        "[grid]\nmodel.dim = [2, 3]\n[chain.a]\nset.model.dim = 3",
        "chain a, from model.dim=2: model.dim: expected the parent's 2, which fine-tuning keeps",
    ),
    (one("set.model.hidden = 8", "chain.a"), "chain a: model.hidden: expected the parent's 32"),
    (one("set.task.length = 8", "chain.a"), "chain a: task.length: expected the parent's 12"),
    (one("set.model.bias = false", "chain.a"), "chain a: model.bias: expected the parent's true"),
    (
        "[base]\ntask.vocab = 3\n[chain.a]\n[chain.a.set]\ntask.vocab = 2",
        "chain a: model.embeddings: expected at least the parent's 3",
        "set model.embeddings=3",
    ),
    (
        "[chain.a]\nset.task.vocab = 5\n[chain.b]\nfrom = 'a'\nset.task.vocab = 4",
        "chain b, from chain a: model.embeddings: expected at least the parent's 5",
    ),
    (
        one("model.embeddings = ['none', 2]\ntraining.lr = [0.1, 0.2]"),
        "model.embeddings=2: makes the same runs as model.embeddings=none",
    ),
    (
        "[chain]\na.set.task.vocab = 3\nb.grid.task.vocab = [4, 3]",
        "chain b, task.vocab=3: makes the same runs as chain a",
    ),
    # size
    (
        "seeds = 1000\n[grid]\ntraining.lr = {linspace = [1, 2, 1000]}\n"
        "training.eps = {linspace = [1, 2, 900]}\nmodel.norm_tau = {linspace = [1, 2, 1100]}",
        "grid: expected at most 100000 configs, but got 990000000 (990000000000 runs)",
        "the largest factors: model.norm_tau (1100), training.lr (1000)",
    ),
    (
        "seeds = 1000000\n[grid]\ntraining.lr = {linspace = [1, 2, 100]}",
        "seeds: expected at most 10000000 runs, but got 100000000",
        "seeds (1000000), training.lr (100)",
    ),
    (
        "[grid]\ntraining.lr = {linspace = [1, 2, 1000]}\n"
        "[chain.a]\ngrid.training.eps = {linspace = [1, 2, 1001]}",
        "chain a: expected at most 100000 configs, but got 1001000",
    ),
]


@pytest.mark.parametrize("case", BAD, ids=[case[1] for case in BAD])
def test_bad_file_is_one_sentence(tmp_path: Path, case: tuple[str, ...]) -> None:
    path = written(tmp_path, case[0])
    with pytest.raises(DynascopeError) as caught:
        read_grid(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert text.isprintable()
    assert len(text) - len(str(path)) < 400
    assert text[-1] in ".?)"
    assert text.count(". ") == 0
    for words in case[1:]:
        assert words in text


def test_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(
        DynascopeError, match=r"nowhere: expected a readable file, but got: No such"
    ):
        read_grid(tmp_path / "nowhere")


@pytest.mark.parametrize("tables", [None, [], "grid.toml", {3: 4}, {"grid": {7: [1]}}])
def test_bad_tables_are_refused(tables: Any) -> None:
    with pytest.raises(DynascopeError):
        parse_grid(tables)


def test_absurd_lengths_are_refused_at_once() -> None:
    began = time.perf_counter()
    for values_, words in ((range(10**30), "a list of values"), (range(10**12), "it has 10000")):
        with pytest.raises(DynascopeError, match=words):
            parse_grid({"grid": {"model.hidden": values_}})
    many = {"linspace": [1, 2, 10**4]}
    options = ("lr", "eps", "clip", "weight_decay", "mlp_lr_discount")
    with pytest.raises(DynascopeError, match=r"but got about 10\^20 \(about 10\^26 runs\)"):
        parse_grid({"seeds": 10**6, "grid": {f"training.{name}": many for name in options}})
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    "changes",
    [
        *({"task.vocab": 3}, {"model.dim": 3}, {"model.hidden": 8}, {"task.length": 9}),
        *({"model.bias": False}, {"model.embeddings": 4}, {"model.embeddings": 3}, {BATCH: 8}),
        {"precision": "float64"},
    ],
    ids=str,
)
def test_planning_refuses_what_training_would(changes: dict[str, object]) -> None:
    parent = Config().replace({"model.embeddings": 4})
    config = parent.replace({"model.embeddings": 5} | changes)

    def refuses(check: Any, *arguments: object) -> bool:
        try:
            check(*arguments)
        except DynascopeError:
            return True
        return False

    start = initial_parameters(parent, 0)
    assert refuses(check_fine_tuning, parent, config) == refuses(fitted_start, start, config, 0)
