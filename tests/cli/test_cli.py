"""The command line as people meet it: processes, exit codes, what is printed and what is written.

The demo is in test_cli_demo.py, what is refused in test_cli_refused.py, what goes wrong in
test_cli_faults.py.
"""

import re
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pytest
from command_line import ENVIRONMENT, dynascope, same, settings, short
from processes import COMMAND

import dynascope as ds
from dynascope.address import Address, parse
from dynascope.cli import main
from dynascope.cli.seeds import parse_seeds


def test_runs_are_saved_with_the_bits_of_python(tmp_path: Path) -> None:
    config = short()
    done = dynascope(
        "train", "--seeds", "3,5-6", *settings(config), "--out", "a/b", folder=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert "Saved 3 runs to a/b." in done.stdout
    assert re.search(r"\d of 3 runs above 0.9 \(\d+%; 95% interval \d+% to \d+%\)", done.stdout)
    loaded, expected = ds.load(tmp_path / "a/b"), ds.train(config, seeds=[3, 5, 6], progress=False)
    assert all(same(a, b) for a, b in zip(loaded, expected, strict=True))


def test_without_out_nothing_is_written(tmp_path: Path) -> None:
    done = dynascope("train", "--epochs", "3", folder=tmp_path)
    assert (done.returncode, done.stderr, list(tmp_path.iterdir())) == (0, "", [])
    assert "Nothing was saved" in done.stdout


def test_file_settings_and_epochs_go_on_top_of_each_other(work: Path, tmp_path: Path) -> None:
    words = ["--config", str(work / "good.toml"), "--set", "model.hidden=4", "--epochs", "3"]
    done = dynascope("train", "--quiet", "--threads", "1", *words, "--out", "x", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    config = ds.load(tmp_path / "x")[0].config
    assert (config.model.hidden, config.training.epochs, config.training.lr) == (4, 3, 0.01)


def test_listed_options_are_a_config_file(work: Path, tmp_path: Path) -> None:
    done = dynascope("train", "--options", "--set", "model.dim=5", folder=tmp_path)
    assert ds.Config.from_dict(tomllib.loads(done.stdout)) == ds.Config().replace({"model.dim": 5})
    assert "# none or a whole number from 2 to 8192" in done.stdout  # model.embeddings
    done = dynascope("train", "--options", "--from", f"{work}/runs/one", folder=tmp_path)
    assert ds.Config.from_dict(tomllib.loads(done.stdout)) == short(model__dim=3)


@pytest.mark.parametrize("epoch", [-1, 13])  # 13: kept neither as weights nor as a state
def test_fine_tuning_keeps_the_parents_options_and_appends_rows(
    work: Path, tmp_path: Path, epoch: int
) -> None:
    parent = ds.load(work / "runs/one")[0]
    address = f"{work}/runs/one" + ("" if epoch == -1 else f"#{parent.id[:6]}@{epoch}")
    done = dynascope(
        "train", "--from", address, "--set", "task.vocab=3", "--out", "x", folder=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    (tuned,) = ds.load(tmp_path / "x")
    start = parent.parameters(epoch)
    assert tuned.config == short(model__dim=3, task__vocab=3)
    assert tuned.seed == parent.seed
    assert tuned.origin is not None
    assert (tuned.origin.parent, tuned.origin.epoch) == (parent.id, 20 if epoch == -1 else epoch)
    assert np.array_equal(tuned.parameters(0).token_embedding[:2], start.token_embedding)
    again = ds.train(tuned.config, seeds=[7], start=start, progress=False)[0]
    assert again.parameters() == tuned.parameters()


def test_fine_tuning_for_other_seeds_and_on_own_data(
    work: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["train", "--from", f"{work}/runs/one", "--seeds", "2", "--epochs", "2"]) == 0
    capsys.readouterr()
    assert main(["train", "--from", f"{work}/runs/data", "--out", str(tmp_path / "x")]) == 0
    assert "train accuracy" in capsys.readouterr().out  # there is no test set
    assert ds.load(tmp_path / "x")[0].data is not None


def test_a_continued_run_is_the_run_in_one_go(work: Path, tmp_path: Path) -> None:
    words = ["--from", f"{work}/runs/first#seed=2", "--continue", "--epochs", "33"]
    done = dynascope("train", *words, "--out", "x", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (run,) = ds.load(tmp_path / "x")
    (whole,) = ds.train(short(training__epochs=33), seeds=[2], progress=False)
    assert same(run, whole)
    assert run.parameters() == whole.parameters()


def test_long_tables_are_cut_and_diverged_runs_named(capsys: pytest.CaptureFixture[str]) -> None:
    wild = ["training.lr=1e30", "training.optimizer=sgd", "model.norm=none"]
    words = [word for setting in wild for word in ("--set", setting)]
    assert main(["train", "--seeds", "45", "--epochs", "1", *words]) == 0
    printed = capsys.readouterr().out
    assert printed.count("diverged at epoch 1") == 40
    assert "... and 5 more" in printed
    assert "45 diverged" in printed


def test_help_and_version(tmp_path: Path) -> None:
    version = dynascope("--version", folder=tmp_path).stdout
    assert re.fullmatch(rf"dynascope {re.escape(ds.__version__)} \([a-z0-9]+\)\n", version)
    for words in ([], ["--help"], ["train", "--help"], ["demo", "--help"]):
        done = dynascope(*words, folder=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("usage: dynascope")
        assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_terminal_without_the_blocks_gets_a_plain_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dynascope.cli.table._has_blocks", lambda console: False)
    assert main(["train", "--epochs", "1"]) == 0
    assert capsys.readouterr().out.isascii()


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    job = subprocess.Popen(
        [*COMMAND, "train", "--epochs", "1", "--seeds", "30", "--out", "x"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert job.stdout is not None
    assert job.stderr is not None
    job.stdout.close()
    assert job.stderr.read() == b""
    job.stderr.close()
    assert job.wait(timeout=60) == 1
    assert len(ds.load(tmp_path / "x")) == 30


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("3", [0, 1, 2]),
        ("3,", [3]),
        ("3-3", [3]),
        ("3,5,8", [3, 5, 8]),
        ("10-12", [10, 11, 12]),
        ("8, 1-2", [8, 1, 2]),
        ("9007199254740991,", [2**53 - 1]),
    ],
)
def test_seeds(text: str, seeds: list[int]) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("runs", Address("runs")),
        ("runs@7", Address("runs", None, 7)),
        ("a/b#3f", Address("a/b", "3f")),
        ("a#b#seed=3@0", Address("a#b", "seed=3", 0)),
        ("me@home/runs#3f@12", Address("me@home/runs", "3f", 12)),
        ("odd@5/", Address("odd@5/")),
    ],
)
def test_addresses(text: str, address: Address) -> None:
    assert parse(text) == address
