"""When one grid contains another, and what is said to be lost where it does not."""

from typing import Any

import pytest
from sweeping import BATCH, LR

from dynascope.sweeps.grid import parse_grid
from dynascope.sweeps.grid_difference import difference

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
    (
        changed(grid={BATCH: [32, 128], "model.hidden": [8, 16]}),
        ["grid training.batch no longer has 64"],
    ),
    (changed(grid={"model.hidden": [8, 16]}), ["grid training.batch no longer has 64"]),
    (changed(seeds=[0, 2, 3, 4]), ["seeds no longer has 1, 5-9"]),
    (changed(seeds=5, chain=None), ["chain three is gone", "seeds no longer has 5-9"]),
    (
        changed(grid=None, zip=[{BATCH: [32, 64], "model.hidden": [8, 16]}]),
        ["it no longer has training.batch=32, model.hidden=16 and 1 more"],
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
        ["grid training.eps of chain three no longer has 1e-07"],
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
        "grid training.batch no longer has 2, 3, 4, 5, 6 and 93 more",
        "seeds no longer has 2, 4, 6, 8, 10 and 44 more",
    ]
