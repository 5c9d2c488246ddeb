"""Hostile stores by number: the same number gives the same store."""

import random
import shutil
from functools import cache
from pathlib import Path

import pytest
from analysed import GRID, train
from hostile_kinds import KINDS
from resign import Store
from store_cases import save_module
from sweeping import toml

import dynascope as ds
from dynascope.cli import main

TINY_EPOCHS = 6


@cache
def bases(folder: Path) -> dict[str, Path]:
    """Stores as dynascope writes them: runs of many sorts, and a sweep; and the grid of that."""
    several, sweep, grid = folder / "several", folder / "sweep", folder / "grid.toml"
    short = {"training.epochs": TINY_EPOCHS}
    config = ds.Config().replace({**GRID["base"], **short})
    data = ds.Data(train=ds.dataset(config.task, 5), test=ds.dataset(config.task, 5, "test"))
    trainer = ds.Trainer(config.replace({"record.state_every": 2}), seed=3)
    trainer.advance(2)
    trainer.change({"training.lr": 0.01, "training.batch": 16})
    trainer.advance(2)
    runs = [
        *train(short, 2),
        *train({**short, "record.steps": (1, 2), "precision": "float64"}, 1, data=data),
        *train({**short, "training.lr": 1e6}, 1),
        trainer.run,
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(save_module, "SHARD_RUNS", 2)
        ds.Runs(runs).save(several)
    ds.load(several).analyse("all", progress=False)
    ds.load(several)[:2].tag("good")
    ds.load(several)[1:2].note("a note")
    grid.write_text(toml({**GRID, "base": {**GRID["base"], **short}, "seeds": 2}))
    assert main(["sweep", str(grid), "--out", str(sweep), "--quiet"]) == 0
    for store in (several, sweep):
        shutil.rmtree(store / ".partial", ignore_errors=True)
    return {"several": several, "sweep": sweep, "grid": grid}


@cache
def _parts(path: Path) -> Store:
    return Store.read(path)


def hostile_store(seed: int, folder: Path, base_folder: Path) -> list[str]:
    """Write the store of a number into `folder`; returns what is wrong with it."""
    rng = random.Random(seed)
    base = rng.choice(["several", "sweep"])
    chosen = rng.sample(sorted(KINDS), rng.choice([1, 1, 2, 3, 5]))
    written_with(chosen, rng, base, folder, base_folder)
    return [base, *chosen]


def written_with(
    chosen: list[str], rng: random.Random, base: str, folder: Path, base_folder: Path
) -> None:
    """Write a store with these kinds of nonsense in it."""
    store = _parts(bases(base_folder)[base]).to_change()
    for name in chosen:
        try:
            KINDS[name](store, rng)
        except (KeyError, IndexError, ValueError, TypeError):
            if len(chosen) == 1:
                raise  # of several, one may leave nothing for the next to change
    store.write(folder)
