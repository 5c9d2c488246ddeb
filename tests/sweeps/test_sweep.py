"""Sweeps: plans carried out, resumed, extended, refused; shards cut; what is printed about them."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sweeping import SMALL, bits, run, same, shards, toml, twice

import dynascope as ds
from dynascope.cli import main
from dynascope.run_cost import expected_seconds
from dynascope.run_size import recorded_bytes
from dynascope.store.save import SHARD_BYTES, SHARD_RUNS, shape_key
from dynascope.sweeps.estimate import disk_bytes
from dynascope.sweeps.packing import pack

CHAIN = {
    "seeds": 3,
    "base": {"training.epochs": 4},
    "chain": {
        "three": {"set": {"task.vocab": 3}},
        "four": {"from": "three", "set": {"task.vocab": 4}},
    },
}


def extended(tables: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**tables, **changes}


def test_runs_are_those_of_train(tmp_path: Path) -> None:
    """Every combination, in the order of the grid, with the bits that `train` gives."""
    found = ds.sweep(SMALL, tmp_path, progress=False)
    expected = [
        run
        for hidden in (4, 8)
        for lr in (0.001, 0.01)
        for run in ds.train(
            ds.Config().replace({"training.epochs": 4, "training.lr": lr, "model.hidden": hidden}),
            3,
            progress=False,
        )
    ]
    assert sorted(map(bits, found)) == sorted(map(bits, expected))
    table = found.table(["lr", "hidden", "seed"]).to_pylist()
    assert table == sorted(table, key=lambda row: table.index(row))
    assert [row["seed"] for row in table] == [0, 1, 2] * 4


@pytest.mark.parametrize("how", [{"threads": 1}, {"shard_seconds": 1e-6}, {"shard_seconds": 1e6}])
def test_how_it_is_cut_changes_nothing(tmp_path: Path, how: dict[str, Any]) -> None:
    usual = ds.sweep(CHAIN, tmp_path / "usual", progress=False)
    other = ds.sweep(CHAIN, tmp_path / "other", progress=False, **how)
    assert same(usual, other)


def test_chains_continue_every_run(tmp_path: Path) -> None:
    found = ds.sweep(CHAIN, tmp_path, progress=False)
    assert found.table(["vocab"])["vocab"].to_pylist() == [2] * 3 + [3] * 3 + [4] * 3
    base, three, four = found[:3], found[3:6], found[6:]
    for stage, parents in ((three, base), (four, three)):
        assert [run.origin.parent for run in stage] == parents.ids  # type: ignore[union-attr]
        config = stage[0].config
        assert same(stage, ds.train(config, 3, start=ds.Runs(parents), progress=False))


def test_diverged_parents_are_left_out(tmp_path: Path) -> None:
    grid = extended(CHAIN, base={"training.epochs": 4, "training.lr": 1e8})
    found = ds.sweep(grid, tmp_path, progress=False)
    assert len(found) == 3
    told = run("sweep", "--status", tmp_path).stdout
    assert "6 could not be continued" in told
    assert "3 of 9 runs" in told
    assert "left:" not in told


def test_the_same_again_computes_nothing(tmp_path: Path) -> None:
    ds.sweep(CHAIN, tmp_path, progress=False)
    before = shards(tmp_path)
    ds.sweep(CHAIN, tmp_path, progress=False)
    assert shards(tmp_path) == before


EXTENSIONS = {
    "seeds": {"seeds": 5},
    "values": {"grid": {"training.lr": [0.001, 0.01, 0.1], "model.hidden": [4, 8]}},
    "an option": {"grid": SMALL["grid"] | {"training.batch": [32, 64]}},
    "a chain": {"chain": {"three": {"set": {"task.vocab": 3}}}},
}


@pytest.mark.parametrize("more", EXTENSIONS)
def test_larger_grids_extend(tmp_path: Path, more: str) -> None:
    first = [bits(run) for run in ds.sweep(SMALL, tmp_path / "x", progress=False)]
    before = shards(tmp_path / "x")
    larger = extended(SMALL, **EXTENSIONS[more])
    found = [bits(run) for run in ds.sweep(larger, tmp_path / "x", progress=False)]
    assert found[: len(first)] == first  # what was there stays first, and is not computed again
    assert before.items() <= shards(tmp_path / "x").items()
    assert not twice(tmp_path / "x")
    fresh = ds.sweep(larger, tmp_path / "fresh", progress=False)
    assert sorted(found) == sorted(bits(run) for run in fresh)


CONTRADICTIONS = {
    "fewer seeds": ({"seeds": 2}, "seeds no longer has 2"),
    "fewer values": (
        {"grid": {"training.lr": [0.001], "model.hidden": [4, 8]}},
        "lr no longer has 0.01",
    ),
    "another base": ({"base": {"training.epochs": 5}}, "was 4 and is now 5"),
    "another record": (
        {"base": {"training.epochs": 4, "record.weights_every": 2}},
        "weights_every",
    ),
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_contradicting_grids_are_refused(tmp_path: Path, case: str) -> None:
    changes, words = CONTRADICTIONS[case]
    ds.sweep(SMALL, tmp_path, progress=False)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    with pytest.raises(ds.DynascopeError, match=re.escape(words)) as refused:
        ds.sweep(extended(SMALL, **changes), tmp_path, progress=False)
    assert "\n" not in str(refused.value)
    assert before == {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}


def test_deleted_runs_are_not_computed_again(tmp_path: Path) -> None:
    ds.sweep(SMALL, tmp_path, progress=False).where("seed = 1").delete()
    assert len(ds.sweep(SMALL, tmp_path, progress=False)) == 8
    assert not twice(tmp_path)


def test_runs_saved_into_the_folder_count(tmp_path: Path) -> None:
    """A store that `train` began can be swept over: what it has is not computed again."""
    config = ds.Config().replace({"training.epochs": 4, "training.lr": 0.01, "model.hidden": 8})
    ds.train(config, 3, progress=False).save(tmp_path / "runs")
    assert len(ds.sweep(SMALL, tmp_path / "runs", progress=False)) == 12
    assert not twice(tmp_path / "runs")


def test_progress_ends_at_one(tmp_path: Path) -> None:
    shares: list[float] = []
    last: list[Any] = []

    def report(status: Any) -> None:
        shares.append(status.share)
        last[:] = [status]

    grid = extended(CHAIN, base={"training.epochs": 300})
    ds.sweep(grid, tmp_path, progress=report)
    assert shares == sorted(shares)
    status = last[0]
    assert status.runs == 9
    assert status.finished_runs == 9
    assert status.finished_cost == pytest.approx(status.cost, rel=0.02)


DIMS = st.lists(
    st.tuples(st.sampled_from([2, 3]), st.integers(1, 300), st.sampled_from([1, 1000])),
    min_size=1,
    max_size=6,
)


@settings(deadline=None, max_examples=60)
@given(DIMS, st.integers(1, 200), st.sampled_from([None, 0.01, 1.0, 100.0]))
def test_shards_are_balanced(
    drawn: list[tuple[int, int, int]], seeds: int, seconds: float | None
) -> None:
    configs = [
        ds.Config().replace(
            {"model.dim": dim, "training.epochs": epochs, "record.weights_every": w}
        )
        for dim, epochs, w in drawn
    ]
    items = [(c, s) for c in range(len(configs)) for s in range(seeds)]
    cut = pack(items, configs, seconds)
    assert sorted(item for shard in cut for item in shard) == items
    groups: dict[str, list[tuple[float, float]]] = {}
    for shard in cut:
        (key,) = {shape_key(configs[c]) for c, _ in shard}
        costs = [expected_seconds(configs[c]) for c, _ in shard]
        assert len(shard) <= SHARD_RUNS
        assert sum(recorded_bytes(configs[c]) for c, _ in shard) <= SHARD_BYTES * 1.01
        groups.setdefault(key, []).append((sum(costs), max(costs)))
    for found in groups.values():
        total, dearest = np.array(found).T
        assert total.max() <= total.sum() / len(total) + dearest.max() * 1.001


def test_dry_run_says_what_it_will_be(tmp_path: Path) -> None:
    grid, folder = tmp_path / "grid.toml", tmp_path / "runs"
    grid.write_text(toml(CHAIN))
    told = run("sweep", grid, "--out", folder, "--dry-run").stdout
    assert told.startswith("9 runs of 3 configs\n")
    assert "  three: 3 runs of 1 config\n" in told
    assert re.search(r"expected time: 0:0\d on \d+ threads? of this machine", told)
    assert re.search(r"expected disk: \d+ kB \(.* free\)", told)
    assert not folder.exists()
    ds.sweep(CHAIN, folder, progress=False)
    assert "9 of them are in" in run("sweep", grid, "--out", folder, "--dry-run").stdout


def test_disk_is_what_was_said(tmp_path: Path) -> None:
    """The estimate of the disk that runs take, against what they took."""
    for changes in ({}, {"record.weights_every": 0}, {"model.dim": 3, "record.gradients": False}):
        config = ds.Config().replace({"training.epochs": 200, **changes})
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        ds.train(config, 10, progress=False).save(folder)
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        assert 0.6 < 10 * disk_bytes(config) / size < 1.5, (changes, size)


def test_status_and_report(tmp_path: Path) -> None:
    grid, folder = tmp_path / "grid.toml", tmp_path / "runs"
    grid.write_text(toml(SMALL))
    done = run("sweep", grid, "--out", folder)
    assert done.returncode == 0
    assert done.stdout.startswith(f"12 runs are in {folder}; this took ")
    assert f"{folder}: 12 of 12 runs done (100%)" in run("sweep", "--status", folder).stdout
    question = re.search(r'query \S+ "(.*)"', done.stdout)
    assert question is not None
    answer = run("query", folder, question[1], "--json").stdout.splitlines()
    assert [json.loads(line)["runs"] for line in answer] == [3] * 4


def test_the_example_works(tmp_path: Path) -> None:
    example = run("sweep", "--example").stdout
    grid = tmp_path / "grid.toml"
    grid.write_text(re.sub("epochs = 200", "epochs = 2", example))
    assert run("sweep", grid, "--out", tmp_path / "runs", "--quiet").stdout == ""
    assert len(ds.load(tmp_path / "runs")) == 120
    grid.write_text(re.sub(r"^# (?=\[|[a-z.]+ =)", "", example, flags=re.MULTILINE))
    told = run("sweep", grid, "--dry-run")
    assert told.returncode == 0, told.stderr


BAD: dict[str, tuple[str, list[str], str]] = {
    "unknown option": ("[grid]\ntraning.lr = [1]", [], "did you mean"),
    "unknown key": ("[gird]\ntraining.lr = [1]", [], "did you mean 'grid'"),
    "empty list": ("[grid]\ntraining.lr = []", [], "training.lr"),
    "empty grid": ("[grid]\n", [], "grid"),
    "empty file": ("", [], "expected"),
    "too many": (
        "seeds = 1000000\n[grid]\ntraining.lr = {linspace=[1, 2, 1000]}\n"
        "training.beta1 = {linspace=[0.1, 0.2, 1000]}",
        [],
        "1000000000000",
    ),
    "bad TOML": ("seeds = 3\n[grid\n", [], "line 2"),
    "unknown chain": ("[chain.three]\nfrom = 'bas'\nset.task.vocab = 3", [], "'base'"),
    "no folder": ("seeds = 1", ["--out", ""], "folder"),
    "seconds": ("seeds = 1", ["--shard-seconds", "0"], "shard_seconds"),
    "seconds word": ("seeds = 1", ["--shard-seconds", "long"], "shard_seconds"),
    "two at once": ("seeds = 1", ["--dry-run", "--example"], "--example"),
    "results alone": ("seeds = 1", ["--results", "shared"], "--ray"),
    "results": ("seeds = 1", ["--ray", "local", "--results", "pigeon"], "object, shared"),
    "threads": ("seeds = 1", ["--threads", "0"], "threads"),
    "option": ("seeds = 1", ["--dryrun"], "--dry-run"),
    "stranger": ("seeds = 1", ["--out", "{folder}"], "expected a new folder or one of a sweep"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, options, words = BAD[case]
    grid = tmp_path / "grid.toml"
    grid.write_text(text)
    options = [option.format(folder=tmp_path) for option in options]
    out = [] if "--out" in options else ["--out", str(tmp_path / "runs")]
    assert main(["sweep", str(grid), *out, *options]) == 2
    told = capsys.readouterr()
    assert words in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""
    assert not (tmp_path / "runs").exists()


APPENDED = {
    "from given weights": lambda config, runs: ds.train(
        config, 3, start=ds.initial_parameters(config, 99), progress=False
    ),
    "before its end": lambda config, runs: ds.Runs([run.trainer(2).run for run in runs]),
    "on other data": lambda config, runs: ds.train(
        config, 3, data=ds.Data(train=ds.dataset(config.task, 7)), progress=False
    ),
}


@pytest.mark.parametrize("how", APPENDED)
def test_runs_that_only_look_alike_do_not_count(tmp_path: Path, how: str) -> None:
    config = ds.Config().replace({"training.epochs": 4})
    runs = ds.train(config, 3, progress=False)
    APPENDED[how](config, runs).save(tmp_path / "x")
    found = ds.sweep({"seeds": 3, "base": {"training.epochs": 4}}, tmp_path / "x", progress=False)
    assert {bits(run) for run in runs} <= {bits(run) for run in found}


def test_a_child_of_another_epoch_does_not_count(tmp_path: Path) -> None:
    chain = {**CHAIN, "chain": {"three": {"set": {"task.vocab": 3}}}}
    alone = ds.sweep(chain, tmp_path / "alone", progress=False)
    base = ds.Runs([run.trainer(1).run for run in alone[:3]])
    early = ds.train(alone[3].config, 3, start=base, progress=False)
    alone[:3].save(tmp_path / "x")
    early.save(tmp_path / "x", append=True)
    found = ds.sweep(chain, tmp_path / "x", progress=False)
    assert {bits(run) for run in alone} <= {bits(run) for run in found}


def test_runs_recorded_otherwise_are_refused(tmp_path: Path) -> None:
    ds.train(ds.Config().replace({"training.epochs": 4}), 3, progress=False).save(tmp_path / "x")
    grid = {"seeds": 3, "base": {"training.epochs": 4, "record.unseen": True}}
    with pytest.raises(ds.DynascopeError, match=r"record\.unseen = True"):
        ds.sweep(grid, tmp_path / "x", progress=False)


def test_folders_of_stores_are_not_stores(tmp_path: Path) -> None:
    """`runs/first` is a store, but the folder above it is none, though it has a folder `runs`."""
    ds.train(ds.Config().replace({"training.epochs": 1}), 1, progress=False).save(
        tmp_path / "runs/first"
    )
    (tmp_path / "runs/notes.txt").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ds.DynascopeError, match="expected a new folder or one of a sweep"):
        ds.sweep(SMALL, tmp_path, progress=False)
    assert sorted(tmp_path.rglob("*")) == before


def test_bad_arguments_are_refused(tmp_path: Path) -> None:
    for grid, out in ((None, tmp_path), (3, tmp_path), (SMALL, None), (SMALL, 3), ([], tmp_path)):
        with pytest.raises(ds.DynascopeError):
            ds.sweep(grid, out, progress=False)  # type: ignore[arg-type]
