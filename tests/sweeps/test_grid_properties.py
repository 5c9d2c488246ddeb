"""What holds for any grid, and for any damage to one."""

import json
import pickle
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from sweeping import BATCH, EPS, LR

from dynascope.errors import DynascopeError
from dynascope.sweeps.grid import Grid, parse_grid
from dynascope.sweeps.grid_difference import difference
from dynascope.sweeps.plan import count_runs, expand

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
    lost = f"grid training.lr no longer has {rate!r}"
    if len(rates) == 1:
        assert difference(wider, old) == [lost]
    longer = parse_grid({**tables, "seeds": [*seeds, seed]}) if seed not in seeds else old
    assert difference(old, longer) == []
    assert difference(longer, old) == ([f"seeds no longer has {seed}"] if seed not in seeds else [])
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
