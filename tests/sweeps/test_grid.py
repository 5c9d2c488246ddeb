"""Sweep descriptions: what they plan, what is refused, and when one contains another."""

import json
import math
import pickle
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynascope.config import Config
from dynascope.errors import DynascopeError
from dynascope.model import initial_parameters
from dynascope.sweeps.compare import difference
from dynascope.sweeps.grid import Grid, parse_grid, read_grid
from dynascope.sweeps.plan import check_fine_tuning, count_runs, expand
from dynascope.sweeps.values import linspace, logspace
from dynascope.trainer import fitted_start

LR, BATCH, EPS = "training.lr", "training.batch", "model.norm_eps"

EXAMPLE = """
seeds = 100
[base]
task.vocab = 2
training.epochs = 200
record.weights_every = 0
[grid]
training.lr = { logspace = [1e-4, 1, 9] }
training.batch = [1, 8, 32, 256]
model.hidden = { linspace = [8, 64, 8] }
[[zip]]
model.dim = [2, 3, 64]
model.norm_eps = [1e-5, 1e-6, 1e-7]
[chain.three]
from = "base"
set.task.vocab = 3
grid.training.lr = [1e-3, 3e-3]
"""


def values(grid: Grid, name: str, stage: int = 0) -> list[Any]:
    """The values that an option takes in a stage, in the order of its factor."""
    factors = [factor for factor in grid.stages[stage].factors if name in factor.options]
    return [row[factors[0].options.index(name)] for row in factors[0].rows]


def written(folder: Path, text: str) -> Path:
    path = folder / "grid.toml"
    path.write_text(text)
    return path


def test_the_example(tmp_path: Path) -> None:
    grid = read_grid(written(tmp_path, EXAMPLE))
    plan = expand(grid)
    base, three = plan.stages
    assert plan.seeds == tuple(range(100))
    assert (len(base.configs), len(three.configs)) == (9 * 4 * 8 * 3, 9 * 4 * 8 * 3 * 2)
    assert plan.runs == count_runs(grid) == 259_200
    assert base.parents == ()
    assert three.parents[:4] == (0, 0, 1, 1)
    assert [c.task.vocab for c in (base.configs[5], three.configs[5])] == [2, 3]
    assert three.configs[5] == base.configs[2].replace({"task.vocab": 3, LR: 3e-3})
    assert {config.record.weights_every for config in three.configs} == {0}


GOOD: list[tuple[str, str, list[Any]]] = [
    ("training.lr = [1, 0.5]", LR, [1.0, 0.5]),
    ("training.lr = { linspace = [1, 0.5, 3] }", LR, [1.0, 0.75, 0.5]),
    ("training.lr = { logspace = [1e-3, 1e1, 5] }", LR, [0.001, 0.01, 0.1, 1.0, 10.0]),
    ("training.lr = { logspace = [0.1, 0.1, 1] }", LR, [0.1]),
    ("training.lr = { linspace = [0.1, 0.7, 7] }", LR, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]),
    (
        "training.beta2 = { linspace = [0.5, 0.9999999999999, 2] }",
        "training.beta2",
        [0.5, 1 - 1e-13],
    ),
    ("model.hidden = { logspace = [1, 8, 7] }", "model.hidden", [1, 2, 3, 4, 6, 8]),
    ("model.hidden = { linspace = [3, 1, 9] }", "model.hidden", [3, 2, 1]),
    ("model.embeddings = ['none', 5]", "model.embeddings", [None, 5]),
    ("model.embeddings = { linspace = [2, 4, 3] }", "model.embeddings", [2, 3, 4]),
    ("model.norm = ['none', 'rms']", "model.norm", ["none", "rms"]),
    ("training.clip = ['None', 2]", "training.clip", [None, 2.0]),
    ("task.relevant = [3, [7, 1], [0, 1]]", "task.relevant", [3, (1, 7), 2]),
    ("training.frozen = [[], ['query']]", "training.frozen", [(), ("query",)]),
    ("model.bias = [true, false]", "model.bias", [True, False]),
    ("precision = ['float32', 'float64']", "precision", ["float32", "float64"]),
]


@pytest.mark.parametrize(("line", "name", "expected"), GOOD, ids=[case[0] for case in GOOD])
def test_values(tmp_path: Path, line: str, name: str, expected: list[Any]) -> None:
    grid = read_grid(written(tmp_path, f"[grid]\n{line}"))
    assert values(grid, name) == expected
    assert [type(value) for value in values(grid, name)] == [type(value) for value in expected]
    assert count_runs(grid) == len(expected)


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [
        (3, (0, 1, 2)),
        ([5, 3], (5, 3)),
        ("10-12", (10, 11, 12)),
        ("7,", (7,)),
        (range(2, 4), (2, 3)),
        (np.arange(2), (0, 1)),
        ([2**53 - 1], (2**53 - 1,)),
    ],
)
def test_seeds(seeds: object, expected: tuple[int, ...]) -> None:
    grid = parse_grid({"seeds": seeds})
    assert grid.seeds == expected
    assert expand(grid).runs == len(expected)


@given(
    st.floats(1e-6, 1e6), st.floats(1e-6, 1e6), st.integers(2, 200), st.sampled_from([1.0, -1.0])
)
def test_spacing_agrees_with_numpy(first: float, last: float, count: int, sign: float) -> None:
    size = max(first, last)
    even = np.linspace(first, sign * last, count)
    np.testing.assert_allclose(linspace(first, sign * last, count), even, 1e-11, 1e-11 * size)
    np.testing.assert_allclose(
        logspace(first, last, count), np.geomspace(first, last, count), 1e-11
    )
    for number in (*linspace(first, last, count)[1:-1], *logspace(first, last, count)[1:-1]):
        assert float(f"{number:.12g}") == number


def test_tables_may_be_nested_or_dotted() -> None:
    nested = {"base": {"model": {"dim": 3}}, "grid": {"training": {"lr": [1, 2]}}}
    dotted = {"base": {"model.dim": 3}, "grid": {LR: (1, 2.0)}}
    assert parse_grid(nested) == parse_grid(dotted)
    assert parse_grid({"zip": {LR: np.array([1, 2])}, "base": {"model.dim": np.int64(3)}}) == (
        parse_grid(nested)
    )
    assert values(parse_grid({"grid": {"training.clip": [None, 1]}}), "training.clip") == [None, 1]


def test_a_zip_keeps_what_its_options_repeat() -> None:
    hidden = {"linspace": [4, 5, 4]}
    grid = parse_grid({"zip": [{"model.hidden": hidden, "model.dim": [1, 1, 2, 2]}, {LR: [1, 2]}]})
    assert grid.stages[0].factors[0].rows == ((4, 1), (5, 2))
    assert count_runs(grid) == 4


def test_a_base_may_need_its_grid() -> None:
    grid = parse_grid({"base": {BATCH: 4096}, "grid": {"task.train_size": [5000, 6000]}})
    assert [c.task.train_size for c in expand(grid).stages[0].configs] == [5000, 6000]
    assert Grid.from_dict(grid.to_dict()) == grid


def test_chains_of_chains_come_after_their_parents() -> None:
    tables = {
        "grid": {LR: [0.1, 0.2]},
        "chain": {
            "c": {"from": "b", "zip": {BATCH: [4, 8], "training.eps": [1e-7, 1e-6]}},
            "b": {"from": "a", "set": {"model.embeddings": 7}},
            "a": {"set": {"task.vocab": 5}, "grid": {LR: [0.3, 0.4, 0.5]}},
            "again": {"from": "base"},
        },
    }
    plan = expand(parse_grid(tables))
    assert [stage.name for stage in plan.stages] == ["base", "a", "b", "c", "again"]
    assert [len(stage.configs) for stage in plan.stages] == [2, 6, 6, 12, 2]
    last = plan.stages[3].configs[-1]
    assert (last.training.lr, last.training.batch, last.embeddings) == (0.5, 8, 7)
    assert plan.stages[4].configs == plan.stages[0].configs  # other runs: they start elsewhere


def one(line: str, table: str = "grid") -> str:
    return f"[{table}]\n{line}"


BAD = [
    # the file and its tables
    ("", "sweep: expected a table with something in it", "empty"),
    ("seeds = =", "expected TOML", "line 1"),
    ("gird.training.lr = [1]", "gird: unknown key; did you mean 'grid'?"),
    ("training.lr = [1]", "training: unknown key (keys: seeds, analyse, base, grid, zip, chain)"),
    ("grid = 3", "grid: expected a table, but got 3"),
    ("[grid]", "grid: expected a table with something in it"),
    ("[base]", "base: expected a table with something in it"),
    ("[grid.training]", "grid.training: expected a table with something in it"),
    ("zip = []", "zip: expected tables of lists, as [[zip]]", "it has 0"),
    ("[[zip]]", "zip: expected a table with something in it"),
    ("[chain]", "chain: expected a table with something in it"),
    ("[chain.a]", "chain.a: expected a table with something in it"),
    ("[chain.a.set]", "chain.a.set: expected a table with something in it"),
    # seeds
    ("seeds = 0", "seeds: expected a whole number from 1 to 1000000, but got 0"),
    ("seeds = 1000001", "seeds: expected a whole number from 1"),
    ("seeds = true", "seeds: expected how many, a list of seeds, or text"),
    ("seeds = 1.5", "seeds: expected how many"),
    ("seeds = []", "seeds: expected how many", "it has 0"),
    ("seeds = [3, -1]", "seeds: expected a whole number from 0 to 9007199254740991, but got -1"),
    ("seeds = [3, 5, 3]", "seeds: expected each seed once, but 3 is there twice"),
    ("seeds = '3-5,4'", "seeds: expected each seed once, but 4"),
    ("seeds = 'ten'", "seeds: expected how many (20) or which seeds", "'ten'"),
    # options
    (one("training.l_r = [1]"), "grid.training.l_r: unknown option; did you mean 'training.lr'?"),
    (one("lr = 1", "base"), "base.lr: unknown option; did you mean 'training.lr'?"),
    (one("training = 3", "base"), "base.training: expected a table, but got 3"),
    (one("model.dim = 0", "base"), "base.model.dim: expected a whole number from 1 to 1024"),
    (one("model.dim = [2, 3]", "base"), "base.model.dim: expected", "several values make a [grid]"),
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
    (one("training.lr = [1, 2, 1.0]"), "expected each value once, but training.lr=1.0 is there tw"),
    (one("task.relevant = [2, [0, 1]]"), "expected each value once, but task.relevant=2 is there"),
    (one("record.steps = [[0, 1]]"), "grid.record.steps: expected an option that makes other runs"),
    (one("set.record.unseen = true", "chain.a"), "chain.a.set.record.unseen", "belongs in [base]"),
    (
        "[base]\ntraining.lr = 1\n[grid]\ntraining.lr = [1]",
        "grid.training.lr: expected an option in one place, but it is also in base",
    ),
    (
        "[grid]\ntraining.lr = [1]\n[[zip]]\ntraining.lr = [1]",
        "zip.training.lr: expected an option in one place, but it is also in grid",
    ),
    ("[[zip]]\nmodel.dim = [1]\n[[zip]]\nmodel.dim = [2]", "zip.model.dim", "also in zip"),
    (one("training.lr = [1]\n'training.lr' = [2]"), "grid.training.lr", "it is there twice"),
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
        "expected each combination once, but model.dim=2, model.hidden=8 is there twice",
    ),
    # linspace and logspace
    (one("training.lr = {linspac = [1, 2, 3]}"), "grid.training.lr.linspac: unknown key", "linsp"),
    (one("training.lr = {}"), "grid.training.lr: expected a table with something in it"),
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
    ("[chain]\na.from = 'b'\nb.from = 'c'\nc.from = 'b'", "chain.b.from", "b, c come", "circle"),
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
        "model.embeddings=2: expected other runs than model.embeddings=none makes",
    ),
    (
        "[chain]\na.set.task.vocab = 3\nb.grid.task.vocab = [4, 3]",
        "chain b, task.vocab=3: expected other runs than chain a makes",
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


# Properties of any grid.

RATES = st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=4, unique=True)
BATCHES = st.lists(st.integers(1, 2048), min_size=1, max_size=4, unique=True)
SEEDS = st.lists(st.integers(0, 2**53 - 1), min_size=1, max_size=5, unique=True)
PAIRS = st.lists(st.tuples(st.integers(1, 9), st.floats(0, 1)), min_size=1, max_size=3, unique=True)


@st.composite
def described(draw: st.DrawFn) -> dict[str, Any]:
    """Tables with a grid, a zip and up to two chains, any of which may be missing."""
    tables: dict[str, Any] = {"seeds": draw(SEEDS)}
    if draw(st.booleans()):
        tables["base"] = {"task.vocab": draw(st.integers(2, 5)), "record.unseen": True}
    if draw(st.booleans()):
        tables["grid"] = {LR: draw(RATES), BATCH: draw(BATCHES)}
    if draw(st.booleans()):
        dims, tails = zip(*draw(PAIRS), strict=True)
        tables["zip"] = [{"model.dim": list(dims), EPS: list(tails)}]
    if draw(st.booleans()):
        tables["chain"] = {
            "b": {"from": "a", "set": {"training.clip": draw(st.sampled_from([None, 1.0]))}},
            "a": {"set": {"task.vocab": draw(st.integers(5, 9))}, "grid": {LR: draw(RATES)}},
        }
    return tables


@given(described())
def test_counting_agrees_with_expanding(tables: dict[str, Any]) -> None:
    grid = parse_grid(tables)
    plan = expand(grid)
    assert count_runs(grid) == plan.runs
    assert count_runs(grid) == len(plan.seeds) * sum(len(stage.configs) for stage in plan.stages)
    for stage in plan.stages[1:]:
        assert len(stage.parents) == len(stage.configs)
        assert list(stage.parents) == sorted(stage.parents)


@given(described())
def test_a_round_trip_changes_nothing(tables: dict[str, Any]) -> None:
    grid = parse_grid(tables)
    text = json.dumps(grid.to_dict(), allow_nan=False)
    again = Grid.from_dict(json.loads(text))
    assert again == grid
    assert json.dumps(again.to_dict()) == text
    assert pickle.loads(pickle.dumps(grid)) == grid
    assert difference(grid, again) == difference(again, grid) == []


@given(RATES, BATCHES, PAIRS)
def test_the_last_factor_varies_fastest(
    rates: list[float], batches: list[int], pairs: list[tuple[int, float]]
) -> None:
    dims, tails = map(list, zip(*pairs, strict=True))
    zips = [{"model.dim": dims, EPS: tails}]
    plan = expand(parse_grid({"grid": {LR: rates, BATCH: batches}, "zip": zips}))
    made = [
        (c.training.lr, c.training.batch, c.model.dim, c.model.norm_eps)
        for c in plan.stages[0].configs
    ]
    assert made == [(r, b, *pair) for r in rates for b in batches for pair in pairs]


@given(RATES, st.floats(2, 3), SEEDS, st.integers(0, 2**53 - 1))
def test_more_is_an_extension_and_less_is_not(
    rates: list[float], rate: float, seeds: list[int], seed: int
) -> None:
    tables = {"seeds": seeds, "grid": {LR: rates}, "chain": {"a": {"set": {"task.vocab": 3}}}}
    old = parse_grid(tables)
    wider = parse_grid({**tables, "grid": {LR: [rate, *rates]}})
    assert difference(old, wider) == []
    lost = f"grid training.lr lost {rate!r}"
    if len(rates) == 1:
        assert difference(wider, old) == [lost]
    longer = parse_grid({**tables, "seeds": [*seeds, seed]}) if seed not in seeds else old
    assert difference(old, longer) == []
    assert difference(longer, old) == ([f"seeds lost {seed}"] if seed not in seeds else [])
    assert lost in difference(wider, old)


DAMAGE = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@settings(max_examples=300)
@given(st.data())
def test_damage_is_refused_or_harmless(data: st.DataObject) -> None:
    """Any part of a stored sweep replaced by anything."""
    tables = {
        "grid": {LR: [0.1, 0.2], "task.relevant": [[1, 3], 2]},
        "zip": {"model.dim": [2, 3], EPS: [0, 1]},
        "chain": {"a": {"set": {"training.clip": None}, "grid": {BATCH: [8]}}, "b": {"from": "a"}},
    }
    stored: Any = {"top": parse_grid(tables).to_dict()}
    at, key = stored, "top"
    while isinstance(at[key], dict | list) and at[key] and data.draw(st.integers(0, 6)):
        at = at[key]
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
    if data.draw(st.booleans()) and at is not stored:
        del at[key]
    else:
        at[key] = data.draw(DAMAGE)
    try:
        grid = Grid.from_dict(stored["top"])
    except DynascopeError:
        return
    assert Grid.from_dict(grid.to_dict()) == grid


BASE: dict[str, Any] = {
    "seeds": 10,
    "base": {LR: 0.003, "record.weights_every": 0},
    "grid": {BATCH: [32, 64], "model.hidden": [8, 16]},
    "chain": {"three": {"set": {"task.vocab": 3}, "grid": {"training.eps": [1e-8, 1e-7]}}},
}


def changed(**tables: Any) -> dict[str, Any]:
    return {name: table for name, table in (BASE | tables).items() if table is not None}


RECORDED = {"record.weights_every": 0}
SAME = [
    changed(base=RECORDED, grid={LR: [0.003], **BASE["grid"]}),
    changed(base=RECORDED, grid={LR: {"linspace": [0.002, 0.004, 3]}, **BASE["grid"]}),
    changed(grid={"model.hidden": {"linspace": [8, 32, 4]}, BATCH: [64, 32]}),
    changed(grid=None, zip=[{BATCH: [32, 32, 64, 64], "model.hidden": [8, 16, 8, 16]}]),
    changed(
        base={**BASE["base"], "model.embeddings": 2},
        chain={
            "new": {
                "set": {"task.vocab": 3, "model.embeddings": 3},
                "grid": {"training.eps": [1e-8, 1e-7]},
            }
        },
    ),
    changed(seeds="0-19"),
    changed(chain={"renamed": BASE["chain"]["three"]}),
    changed(
        chain={
            "a": {"set": {"task.vocab": 3}},
            "b": {"set": {"task.vocab": 3, "training.eps": 1e-7}},
        }
    ),
]


@pytest.mark.parametrize("tables", SAME, ids=range(len(SAME)))
def test_spelling_does_not_count(tables: dict[str, Any]) -> None:
    assert difference(parse_grid(BASE), parse_grid(tables)) == []


def chained(**table: Any) -> dict[str, Any]:
    return changed(chain={"three": {**BASE["chain"]["three"], **table}})


LOST = [
    (changed(base={**BASE["base"], LR: 0.01}), ["training.lr of base was 0.003 and is now 0.01"]),
    (
        changed(base=RECORDED, grid={LR: [0.1, 0.2], **BASE["grid"]}),
        ["training.lr of base was 0.003 and is now 0.1, 0.2"],
    ),
    (
        changed(base={LR: 0.003, "record.weights_every": 1}),
        ["record.weights_every was 0 and is now 1"],
    ),
    (changed(grid={BATCH: [32, 128], "model.hidden": [8, 16]}), ["grid training.batch lost 64"]),
    (changed(grid={"model.hidden": [8, 16]}), ["grid training.batch lost 64"]),
    (changed(seeds=[0, 2, 3, 4]), ["seeds lost 1, 5-9"]),
    (changed(seeds=5, chain=None), ["chain three is gone", "seeds lost 5-9"]),
    (
        changed(grid=None, zip=[{BATCH: [32, 64], "model.hidden": [8, 16]}]),
        ["lost training.batch=32, model.hidden=16 and 1 more"],
    ),
    (
        chained(set={"task.vocab": 5}),
        ["task.vocab of chain three was 3 and is now 5"],
    ),
    (
        chained(set={"training.clip": 1.0}),
        [
            "task.vocab of chain three was 3 and is now the parent's",
            "training.clip of chain three was the parent's and is now 1.0",
        ],
    ),
    (
        chained(grid={"training.eps": [1e-8]}),
        ["grid training.eps of chain three lost 1e-07"],
    ),
    (
        changed(
            chain={"three": {**BASE["chain"]["three"], "from": "two"}, "two": {"from": "base"}}
        ),
        ["chain three came from base and now comes from two"],
    ),
]


@pytest.mark.parametrize(("tables", "phrases"), LOST, ids=[str(case[1]) for case in LOST])
def test_what_is_lost_is_said(tables: dict[str, Any], phrases: list[str]) -> None:
    assert difference(parse_grid(BASE), parse_grid(tables)) == phrases


def test_long_losses_are_cut_short() -> None:
    old = parse_grid({"seeds": range(0, 100, 2), "grid": {BATCH: list(range(1, 100))}})
    new = parse_grid({"seeds": 1, "grid": {BATCH: [1]}})
    assert difference(old, new) == [
        "grid training.batch lost 2, 3, 4, 5, 6 and 93 more",
        "seeds lost 2, 4, 6, 8, 10 and 44 more",
    ]


def test_twenty_thousand_configs_take_seconds() -> None:
    rates, widths = {"logspace": [1e-4, 1, 200]}, list(range(1, 101))
    began = time.perf_counter()
    plan = expand(parse_grid({"grid": {LR: rates, "model.hidden": widths}}))
    assert plan.runs == 20_000
    assert math.isclose(plan.stages[0].configs[-1].training.lr, 1)
    assert time.perf_counter() - began < 6  # a second, on a machine with nothing else to do
