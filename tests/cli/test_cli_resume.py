"""`dynascope train`, stopped and run again: the runs, ids and bits of one go."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from command_line import files, short
from stopping import ALL_ENDS, stopped_after
from store_cases import ACCESSORS

import dynascope as ds
from dynascope.cli import main

EPOCHS = 90  # of the runs that are stopped: more than threads do before they look around
WORDS = ["--epochs", str(EPOCHS), "--quiet"]


class Case(NamedTuple):
    """Options of the command besides those above, and what its runs are in one go."""

    words: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (4, 1, 7)
    source: str | None = None


def settings(*each: str, **more: object) -> Case:
    return Case(tuple(word for setting in each for word in ("--set", setting)), **more)  # type: ignore[arg-type]


CASES = {
    "default": settings(),
    "one run": settings(seeds=(5,)),
    "warm-up": settings("training.schedule=warmup", "training.warmup=700"),
    "cosine": settings("training.schedule=cosine"),
    "steps that are not reached": settings("record.steps=[80,82]"),
    "in the middle of steps": settings("record.steps=[2,60]", "task.train_size=64"),
    "steps that are done": settings("record.steps=[0,1]"),
    "few weights": settings("record.weights_every=0", "record.state_every=0"),
    "odd rows": settings("record.weights_every=7", "record.state_every=4"),
    "float64": settings("precision=float64", "record.unseen=true", "record.full_gradients=true"),
    "lion": settings("training.optimizer=lion", "model.bias=false", "training.lr=1e-3"),
    "muon with sam": settings("training.optimizer=muon", "training.sam=0.05"),
    "two diverge later": settings("training.lr=1.0", "model.norm=none"),
    "fine-tuned": settings("task.vocab=3", source="runs/one"),
    "fine-tuned from an epoch": settings(source="runs/one@13", seeds=(7, 2)),
    "own data": settings(source="runs/data"),
}


def command(case: Case, out: str) -> list[str]:
    seeds = "".join(f"{seed}," for seed in case.seeds)
    source = ["--from", case.source] if case.source else []
    return ["train", *WORDS, "--seeds", seeds, *source, *case.words, "--out", out]


def in_one_go(case: Case, folder: Path) -> ds.Runs:
    assert main(command(case, str(folder / "whole"))) == 0
    return ds.load(folder / "whole")


def assert_same(stored: ds.Runs, expected: ds.Runs) -> None:
    """The same runs in the same order, bit for bit; only their times differ."""
    assert [run.id for run in stored] == [run.id for run in expected]
    for name, value in ACCESSORS.items():
        if name not in ("seconds", "summary"):
            assert [value(run) for run in stored] == [value(run) for run in expected], name


@pytest.fixture
def here(work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to write to; the command runs where runs/one and the others are."""
    monkeypatch.chdir(work)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "threads"), [*((name, 2) for name in CASES), ("default", 1), ("cosine", 1)]
)
def test_stopped_twice_is_the_same_as_in_one_go(name: str, threads: int, here: Path) -> None:
    case = CASES[name]
    words = [*command(case, str(here / "out")), "--threads", str(threads)]
    with stopped_after(5):
        assert main(words) == 1
    first, before = ds.load(here / "out"), files(here / "out")
    assert_parts(first, case)
    with stopped_after(120 if len(case.seeds) > 1 else 20):
        assert main(words) == 1
    assert_parts(ds.load(here / "out"), case)
    assert main(words) == 0
    assert_same(ds.load(here / "out"), in_one_go(case, here))
    shards = {path for path in before if path.endswith((".parquet", ".safetensors"))}
    after = files(here / "out")
    assert {path: before[path] for path in shards} == {path: after[path] for path in shards}
    assert main(words) == 0  # there is nothing left to do
    assert {path: files(here / "out")[path] for path in after} == after


def assert_parts(runs: ds.Runs, case: Case) -> None:
    """One run for each seed at most; the parts of runs say so, by tag and by what they are."""
    assert len({run.seed for run in runs}) == len(runs) >= 1
    parts = {run.id for run in runs if "stopped" in run.tags}  # type: ignore[attr-defined]
    assert parts
    for run in runs:
        if run.id not in parts:
            assert run.epochs == run.config.training.epochs == EPOCHS
            continue
        assert 0 < run.epochs < EPOCHS
        planned = run.has_fixed_length or run.config.record.steps is not None
        assert run.config.training.epochs == (EPOCHS if planned else run.epochs)
        whole = run.continued(EPOCHS)
        assert whole.epochs == EPOCHS


def test_a_part_is_the_run_of_so_many_epochs(here: Path) -> None:
    with stopped_after(5):
        assert main(command(CASES["one run"], str(here / "out"))) == 1
    (run,) = ds.load(here / "out")
    config = ds.Config().replace({"training.epochs": run.epochs})
    assert_same(ds.Runs([run]), ds.train(config, [5], progress=False))


def test_a_continued_run_goes_on_in_its_folder(here: Path) -> None:
    words = ["train", "--from", "runs/one", "--continue", *WORDS, "--out", str(here / "out")]
    for _ in range(2):
        with stopped_after(5):
            assert main(words) == 1
        (run,) = ds.load(here / "out")
        assert 20 < run.epochs == run.config.training.epochs < EPOCHS
    assert main(words) == 0
    (whole,) = ds.train(short(model__dim=3, training__epochs=EPOCHS), [7], progress=False)
    assert_same(ds.load(here / "out"), ds.Runs([whole]))


def test_a_stopped_cosine_run_can_be_continued_to_its_planned_end_only(here: Path) -> None:
    with stopped_after(5):
        assert main(command(CASES["cosine"]._replace(seeds=(4,)), str(here / "out"))) == 1
    (run,) = ds.load(here / "out")
    with pytest.raises(ds.DynascopeError, match="cosine"):
        run.continued(EPOCHS + 1)
    words = ["train", "--quiet", "--from", str(here / "out"), "--continue"]
    assert main([*words, "--out", str(here / "on")]) == 0
    whole = in_one_go(CASES["cosine"], here)
    assert_same(ds.load(here / "on"), whole[:1])
    assert_same(ds.Runs([run.continued(EPOCHS)]), whole[:1])


@pytest.mark.parametrize("end", [*((end,) for end in ALL_ENDS), ALL_ENDS * 2], ids=str)
def test_any_end_and_several_of_them_keep_what_is_there(end: tuple[int, ...], here: Path) -> None:
    words = command(CASES["default"], str(here / "out"))
    with stopped_after(5, end):
        assert main(words) == 1
    assert_parts(ds.load(here / "out"), CASES["default"])
    assert [path.name for path in here.iterdir()] == ["out"]


AS_BY_DEFAULT = ["--set", "record.weights_every=1", "--set", "record.state_every=50"]
SEVERAL = ("model.dim", "model.hidden", "training.batch", "task.vocab")
# What differs from the command that was stopped, and words of the sentence about it.
OTHER = {
    "learning rate": (["--set", "training.lr=0.01"], "training.lr = 0.003 (this command: 0.01)"),
    "record": (["--set", "record.weights_every=2"], "record.weights_every = 1 (this command: 2)"),
    "several": (
        [word for name in SEVERAL for word in ("--set", f"{name}=3")],
        "and 1 more option that differs",
    ),
    "fewer epochs": (["--epochs", "1"], "training.epochs = "),
    "other seeds": (["--seeds", "1,2"], "holds a run of seed 4, which this command does not"),
    "start": (
        ["--from", "runs/first#seed=1", *AS_BY_DEFAULT],
        "from the weights of its seed, not from run",
    ),
}


@pytest.mark.parametrize("name", OTHER)
def test_another_command_is_refused(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more, said = OTHER[name]
    words = command(CASES["default"], str(here / "out"))
    with stopped_after(5):
        assert main(words) == 1
    before = files(here)
    capsys.readouterr()
    assert main([*words, *more]) == 2
    assert said in capsys.readouterr().err
    assert files(here) == before


def test_another_start_or_other_data_are_refused(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", "--quiet", "--from", "runs/one", "--out", str(here / "out")]
    with stopped_after(5):
        assert main([*words, *WORDS]) == 1
    words[3] = "runs/one@13"
    assert main([*words, *WORDS]) == 2
    said = capsys.readouterr().err
    parent = ds.load("runs/one")[0].id
    assert f"starts from run {parent} at epoch 20, not from run {parent} at epoch 13" in said


def test_a_finished_shorter_run_is_not_taken_for_a_part(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", "--quiet", "--out", str(here / "out")]
    assert main([*words, "--epochs", "3"]) == 0
    assert main([*words, "--epochs", "9"]) == 2
    assert "training.epochs = 3 (this command: 9)" in capsys.readouterr().err
    assert [run.epochs for run in ds.load(here / "out")] == [3]


def test_more_seeds_join_those_that_are_there(here: Path) -> None:
    words = ["train", "--quiet", "--epochs", "3", "--out", str(here / "out"), "--seeds"]
    assert main([*words, "2"]) == 0
    assert main([*words, "5"]) == 0
    expected = ds.train(ds.Config().replace({"training.epochs": 3}), 5, progress=False)
    assert_same(ds.load(here / "out"), expected)


def test_a_run_that_was_deleted_stays_deleted(here: Path) -> None:
    words = ["train", "--quiet", "--epochs", "3", "--out", str(here / "out"), "--seeds", "3"]
    assert main(words) == 0
    ds.load(here / "out").where("seed = 1").delete()
    assert main(words) == 0
    assert [run.seed for run in ds.load(here / "out")] == [0, 2]


def test_lost_runs_are_trained_again(here: Path) -> None:
    words = ["train", "--quiet", "--epochs", "3", "--out", str(here / "out"), "--seeds"]
    assert main([*words, "2"]) == 0
    (shard,) = (here / "out/runs").iterdir()
    assert main([*words, "5"]) == 0
    shard.unlink()
    assert main([*words, "5"]) == 0
    expected = ds.train(ds.Config().replace({"training.epochs": 3}), 5, progress=False)
    assert_same(ds.load(here / "out"), expected)


def test_what_is_said(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [word for word in command(CASES["default"], str(here / "out")) if word != "--quiet"]
    words += ["--threads", "1"]
    with stopped_after(5):
        assert main(words) == 1
    out = here / "out"
    epoch = ds.load(out)[0].epochs
    assert capsys.readouterr().err == (
        f"dynascope: stopped; 0 of 3 runs finished, 1 more under way (seed 4 at epoch {epoch} of "
        f"{EPOCHS}), saved to {out}. Run the same command again to go on.\n"
    )
    assert main(words) == 0
    said = capsys.readouterr()
    assert said.err == (
        f"{out} has 1 run under way (seed 4 at epoch {epoch}); training goes on from there.\n"
    )
    assert f"Saved 3 runs to {out}." in said.out
    assert main(words) == 0
    said = capsys.readouterr()
    assert said == ("", f"{out} has 3 runs finished; there is nothing left to train.\n")


def test_without_a_folder_nothing_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    with stopped_after(5):
        assert main(["train", *WORDS]) == 1
    assert "nothing was saved." in capsys.readouterr().err
