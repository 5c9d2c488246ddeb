"""Sweep descriptions: what they plan."""

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweeping import BATCH, LR, written

from dynascope.sweeps.grid import Grid, parse_grid, read_grid
from dynascope.sweeps.plan import count_runs, expand
from dynascope.sweeps.values import linspace, logspace

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


def test_twenty_thousand_configs_take_seconds() -> None:
    rates, widths = {"logspace": [1e-4, 1, 200]}, list(range(1, 101))
    began = time.perf_counter()
    plan = expand(parse_grid({"grid": {LR: rates, "model.hidden": widths}}))
    assert plan.runs == 20_000
    assert math.isclose(plan.stages[0].configs[-1].training.lr, 1)
    assert time.perf_counter() - began < 6  # a second, on a machine with nothing else to do
