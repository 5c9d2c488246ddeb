"""A sweep that keeps only the ends of its runs, once they are analysed."""

from pathlib import Path

import numpy as np
import pytest

import dynascope as ds
from dynascope.errors import DynascopeError
from dynascope.sweeps.estimate import plan_estimate
from dynascope.sweeps.grid import Grid, parse_grid

GRID = {"seeds": 3, "base": {"training.epochs": 12}, "analyse": ["phases", "spikes", "travelled"]}


def test_a_run_of_ends_is_as_if_only_they_had_been_recorded() -> None:
    config = ds.Config().replace({"training.epochs": 7, "record.steps": (2, 3)})
    few = {"record.weights_every": 0, "record.state_every": 0, "record.steps": None}
    thinned = ds.train(config, [4], progress=False)[0].ends_only()
    wanted = ds.train(config.replace(few), [4], progress=False)[0]
    assert (thinned.id, thinned.config, thinned.steps) == (wanted.id, wanted.config, None)
    for name in ("table", "weights", "weight_epochs", "states", "state_epochs"):
        np.testing.assert_array_equal(getattr(thinned, name), getattr(wanted, name))
    np.testing.assert_array_equal(
        thinned.trainer(5).parameters.flat,
        ds.train(config, [4], progress=False)[0].parameters(5).flat,
    )


def test_what_was_found_is_as_with_everything_kept(tmp_path: Path) -> None:
    whole = ds.sweep(GRID, tmp_path / "all", progress=False)
    ends = ds.sweep({**GRID, "keep": "ends"}, tmp_path / "ends", progress=False)
    columns = [name for name in whole.table().column_names if name not in ("seconds",)]
    same = [name for name in columns if not name.startswith(("weights_every", "state_every"))]
    assert str(ends.table(same).to_pydict()) == str(whole.table(same).to_pydict())
    assert [run.weight_epochs.tolist() for run in ends] == [[0, 12]] * 3
    again = ds.sweep({**GRID, "keep": "ends"}, tmp_path / "ends", progress=False)  # all is there
    assert [run.id for run in again] == [run.id for run in whole]


def test_it_is_written_down_and_counted() -> None:
    grid = parse_grid({**GRID, "keep": "ends"})
    assert Grid.from_dict(grid.to_dict()).keep == "ends"
    assert "keep" not in parse_grid(GRID).to_dict()
    _, small = plan_estimate(grid, None, 1)
    _, large = plan_estimate(parse_grid(GRID), None, 1)
    assert 3 * small.disk < 2 * large.disk


def test_anything_else_is_refused() -> None:
    with pytest.raises(DynascopeError, match="keep: expected all or ends, but got 'middle'"):
        parse_grid({**GRID, "keep": "middle"})
