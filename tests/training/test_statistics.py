"""How often training succeeds, over many seeds (slow)."""

import pytest

import dynascope as ds

pytestmark = pytest.mark.slow


def test_default_seeds_solve_the_task_about_half_the_time() -> None:
    """The paper's setting: over three implementations, 47% passed 0.9 test accuracy."""
    config = ds.Config().replace({"record.weights_every": 0, "record.state_every": 0})
    solved = ds.train(config, 400, progress=False).solved()
    print(f"{solved} of 400 default runs above 0.9 test accuracy")
    assert 0.38 <= solved / 400 <= 0.57


def test_sixteen_dimensions_nearly_always_do() -> None:
    changes = {
        "model.dim": 16,
        "model.hidden": 64,
        "record.weights_every": 0,
        "record.state_every": 0,
    }
    solved = ds.train(ds.Config().replace(changes), 60, progress=False).solved()
    print(f"{solved} of 60 runs with d=16, h=64 above 0.9 test accuracy")
    assert solved >= 0.95 * 60
