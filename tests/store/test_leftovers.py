"""What killed writers left is cleared; what could be somebody's is not lost."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from store_cases import save_module, train

import dynascope as ds
from dynascope.store.index import open_index
from dynascope.store.leftovers import StrangerWarning, clear_leftovers

pytestmark = pytest.mark.usefixtures("both_ways")
LONG_AGO = 10**9
TABLE = "0123456789ab-0123456789abcdef.parquet"
# Files of dead writers, in the making: gone with the next sweep.
DEAD = [
    f".partial/{TABLE}.0123456789ab",
    ".partial/0123456789ab.safetensors.0123456789ab",
    f".partial/0123456789ab/{TABLE}.0123456789ab",
    f".partial/ray-0123456789ab/0123456789ab/runs/{TABLE}",
    ".partial/ray-0123456789ab/0123456789ab/trajectories/0123456789ab.safetensors",
    f".partial/{'0' * 32}.json.0123456789ab",
    ".partial/sweep.json.0123456789ab",
]
# Somebody's: left alone, and named.
OTHERS = [
    ".partial/thesis.tex",
    ".partial/notes/thesis.tex",
    ".partial/0123456789ab/thesis.tex",
    f".partial/{TABLE}.bak",
    ".partial/ray-0123456789ab/0123456789ab/thesis/runs.txt",
]
# Ways for a table to be away from its trajectory, as people and programs bring them about.
AWAY: dict[str, Callable[[Path], object]] = {
    "renamed": lambda table: table.rename(f"{table}.bak"),
    "renamed by hand": lambda table: table.rename(table.with_name("good run.parquet")),
    "hidden": lambda table: table.rename(table.with_name(f".{table.name}.swp")),
    "still being copied": lambda table: table.rename(table.with_name(f".{table.name}.x7Zq1p")),
    "half copied": lambda table: table.write_bytes(table.read_bytes()[:1000]),
    "zipped": lambda table: table.rename(f"{table}.gz"),
}


def old(file: Path, contents: bytes = b"x") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(contents)
    os.utime(file, (LONG_AGO, LONG_AGO))
    return file


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three shards of a run each, old, and the lock that a sweep has just taken."""
    monkeypatch.setattr(save_module, "SHARD_RUNS", 1)
    train(seeds=3).save(tmp_path / "store")
    for file in (tmp_path / "store").rglob("*"):
        os.utime(file, (LONG_AGO, LONG_AGO))
    (tmp_path / "store" / ".lock").write_bytes(b"")
    return tmp_path / "store"


def clear(store: Path) -> None:
    index = open_index(store)
    shards = index.shards
    clear_leftovers(store, {s.path.name for s in shards}, {s.tensors.path.name for s in shards})


def trajectories(store: Path) -> list[str]:
    return sorted(os.listdir(store / "trajectories"))


@pytest.mark.parametrize("name", DEAD)
def test_files_in_the_making_go(name: str, store: Path) -> None:
    file = old(store / name)
    clear(store)
    assert not file.exists()
    assert len(ds.load(store, strict=True)) == 3


@pytest.mark.parametrize("name", DEAD)
def test_but_not_while_their_maker_may_be_at_work(name: str, store: Path) -> None:
    (store / name).parent.mkdir(parents=True, exist_ok=True)
    (store / name).write_bytes(b"x")
    clear(store)
    assert (store / name).exists()


@pytest.mark.parametrize("name", DEAD)
def test_age_is_told_by_the_clock_of_the_files(
    name: str, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine whose clock is years ahead does not take what another one is making for dead."""
    monkeypatch.setattr("time.time", lambda: 4e9)
    test_but_not_while_their_maker_may_be_at_work(name, store)


def test_what_the_last_sweep_was_making_is_dead_for_sure(store: Path) -> None:
    (store / ".partial" / "sweep").mkdir(parents=True)
    (store / ".partial" / "sweep" / f"{TABLE}.0123456789ab").write_bytes(b"x")
    clear(store)
    assert not (store / ".partial" / "sweep").exists()


@pytest.mark.parametrize("name", [*OTHERS, ".partial/sweep/thesis.tex"])
def test_what_is_not_ours_is_left_alone_and_named(name: str, store: Path) -> None:
    file = old(store / name, b"years of work")
    with pytest.warns(StrangerWarning) as said:
        clear(store)
    assert any(part in str(said[0].message) for part in (name, str(Path(name).parent)))
    assert file.read_bytes() == b"years of work"


class TestOrphans:
    """Trajectories without a table are put aside, never deleted."""

    def test_one_of_a_dead_writer_is_put_aside(self, store: Path) -> None:
        orphan = old(store / "trajectories" / "0123456789ab.safetensors", b"weights")
        with pytest.warns(ds.DamageWarning, match=r"no table of runs belongs to it; moved to"):
            clear(store)
        assert not orphan.exists()
        assert (store / "damaged" / orphan.name).read_bytes() == b"weights"
        assert len(ds.load(store, strict=True)) == 3

    def test_two_of_one_name_are_both_kept(self, store: Path) -> None:
        for contents in (b"one", b"two"):
            old(store / "trajectories" / "0123456789ab.safetensors", contents)
            with pytest.warns(ds.DamageWarning):
                clear(store)
        kept = {file.read_bytes() for file in (store / "damaged").iterdir()}
        assert kept == {b"one", b"two"}

    def test_a_young_one_stays(self, store: Path) -> None:
        (store / "trajectories" / "0123456789ab.safetensors").write_bytes(b"weights")
        clear(store)
        assert "0123456789ab.safetensors" in trajectories(store)

    def test_what_is_not_ours_stays(self, store: Path) -> None:
        for name in ("thesis.tex", "0123456789ab.safetensors.bak", "chapters/one.tex"):
            old(store / "trajectories" / name)
        clear(store)
        assert {"thesis.tex", "0123456789ab.safetensors.bak", "chapters"} < {*trajectories(store)}

    @pytest.mark.parametrize("away", AWAY)
    @pytest.mark.filterwarnings("ignore::dynascope.DamageWarning")
    def test_none_while_a_file_among_the_tables_is_unexplained(
        self, away: str, store: Path
    ) -> None:
        """It may be the table of one: renamed, not yet whole, on its way."""
        before = trajectories(store)
        AWAY[away](sorted((store / "runs").iterdir())[0])
        with pytest.warns(StrangerWarning, match="trajectories without a table stay"):
            clear(store)
        assert trajectories(store) == before
        assert not (store / "damaged").exists()

    def test_a_store_copied_table_after_trajectory(self, store: Path, tmp_path: Path) -> None:
        """As rsync copies, in the order of names, with a sweep in between: nothing is lost."""
        grid = {"seeds": 1, "base": {"training.epochs": 1, "task.train_size": 32}}
        copy = tmp_path / "copy"
        ds.sweep(grid, copy, progress=False)
        for file in sorted((store / "trajectories").iterdir()):
            shutil.copy2(file, copy / "trajectories")
        with pytest.warns(ds.DamageWarning, match="moved to"):
            ds.sweep(grid, copy, progress=False)
        for file in sorted((store / "runs").iterdir()):
            shutil.copy2(file, copy / "runs")
        for file in (copy / "damaged").iterdir():
            file.rename(copy / "trajectories" / file.name)
        runs = ds.load(copy, strict=True)
        assert len(runs) == 4
        assert all(run.parameters() for run in runs)
