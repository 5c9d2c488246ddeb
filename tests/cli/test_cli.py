"""The command line as people meet it: processes, exit codes, what is printed and what is written.

Commands that work run as processes. Of the many that are refused, the first of each category does;
the others call `main` in this process, which is the same code at a tenth of the time.
"""

import os
import pty
import re
import signal
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import dynascope as ds
from dynascope.address import Address, parse
from dynascope.cli import demo, main, out
from dynascope.cli.seeds import parse_seeds

SHORT = {"training.epochs": 20, "record.weights_every": 5, "record.state_every": 10}
COMMAND = [sys.executable, "-m", "dynascope"]
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")},
    "PYTHONPATH": str(Path(ds.__file__).parents[1]),
    "PYTHONIOENCODING": "utf-8",
}


def short(**changes: object) -> ds.Config:
    """A config of few epochs; `__` stands for the dot of an option's name."""
    return ds.Config().replace(SHORT | {k.replace("__", "."): v for k, v in changes.items()})


def settings(config: ds.Config) -> list[str]:
    """The command-line options that make the short config."""
    named = {
        f"{name}={getattr(getattr(config, s), o)}" for name in SHORT for s, o in [name.split(".")]
    }
    return [word for setting in sorted(named) for word in ("--set", setting)]


def dynascope(*arguments: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def same(a: ds.Run, b: ds.Run) -> bool:
    """Bit for bit: curves, kept weights, kept states, and the name."""
    arrays = ("table", "weights", "weight_epochs", "states", "state_epochs")
    return a.id == b.id and all(getattr(a, n).tobytes() == getattr(b, n).tobytes() for n in arrays)


def files(folder: Path) -> dict[str, int]:
    """Everything below a folder, and when it was changed."""
    return {str(path): path.lstat().st_mtime_ns for path in sorted(folder.rglob("*"))}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs to start from and files to stumble over."""
    folder = tmp_path_factory.mktemp("cli")
    ds.train(short(), seeds=3, progress=False).save(folder / "runs/first")
    ds.train(short(model__dim=3), seeds=[7], progress=False).save(folder / "runs/one")
    ds.train(short(training__lr=100), seeds=[1], progress=False).save(folder / "runs/diverged")
    cosine = short(training__schedule="cosine")
    ds.train(cosine, seeds=[0], progress=False).save(folder / "runs/cosine")
    tokens = np.arange(12).reshape(1, 12) % 2
    data = ds.Data(train=(tokens, [1]))
    alone = short(training__batch=1)
    ds.train(alone, seeds=[0], data=data, progress=False).save(folder / "runs/data")
    (folder / "empty").mkdir()
    (folder / "dangling").symlink_to("nowhere")
    (folder / "broken.toml").write_text("[model\ndim = 3")
    (folder / "unknown.toml").write_text("[model]\ndmi = 3")
    (folder / "binary.toml").write_bytes(b"\xff\xfe")
    (folder / "good.toml").write_text("[model]\nhidden = 8\n[training]\nepochs = 7\nlr = 0.01\n")
    return folder


# ---- what works ---------------------------------------------------------------------------------


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


def test_demo(tmp_path: Path) -> None:
    done = dynascope("demo", "--no-show", folder=tmp_path)
    assert (done.returncode, done.stderr, list(tmp_path.iterdir())) == (0, "", [])
    rows = re.findall(r"^ *(\d+)   ([01]\.\d{3}) ([✓ ]) ", done.stdout, re.MULTILINE)
    assert [int(seed) for seed, _, _ in rows] == list(range(20))
    assert all((mark == "✓") == (float(accuracy) > 0.9) for _, accuracy, mark in rows)
    solved = sum(mark == "✓" for _, _, mark in rows)
    assert f"{solved} of 20 solved the task" in done.stdout
    assert "dynascope train --seeds 100 --out runs/first" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    names = re.findall(r"(?:epoch +\d+|never)   ([a-z-]+) ", done.stdout)
    assert len(names) == 20
    won = Counter(name for name, row in zip(names, rows, strict=True) if row[2] == "✓")
    for name, count in won.items():
        assert re.search(rf"Their circuits: .*\b{count} {name}", done.stdout)
    counts = [
        int(line.split()[-1])
        for line in done.stdout.splitlines()
        if re.match(r" *\d+   [01]\.", line)
    ]
    assert f"{sum(map(bool, counts))} runs had loss spikes, {sum(counts)} in all" in done.stdout


# The real command with little to do, and a client of our own in the place of the built one.
_SMALL_DEMO = """
import sys; from pathlib import Path
import dynascope as ds
from dynascope.sandbox import client; client.FOLDER = Path(sys.argv[1])
from dynascope.cli import demo, main
demo._SEEDS, short = 2, ds.Config().replace({"training.epochs": 20})
demo.Config = lambda: short
sys.exit(main(["demo", *sys.argv[2:]]))
"""


class Demo:
    """A small demo as a process whose temporary files are in a folder of their own."""

    def __init__(self, folder: Path, *arguments: str, built: bool = True) -> None:
        self.temporary, static = folder / "temporary", folder / "static"
        self.temporary.mkdir()
        static.mkdir()
        if built:
            (static / "index.html").write_text("<!doctype html><title>tiny</title>")
        self.process = subprocess.Popen(
            [sys.executable, "-c", _SMALL_DEMO, str(static), *arguments],
            cwd=folder,
            env={
                **ENVIRONMENT,
                "TMPDIR": str(self.temporary),
                "BROWSER": "sh -c 'touch opened' %s",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def served(self) -> str:
        """What it has said once it serves."""
        assert self.process.stdout is not None
        said = ""
        while "Ctrl-C ends it." not in said:
            line = self.process.stdout.readline()
            assert line, said
            said += line
        return said

    def end(self, how: int | None = None) -> tuple[int, str, str]:
        """Exit code, what else it said, what it complained of."""
        if how is not None:
            self.process.send_signal(how)
        try:
            said, complaints = self.process.communicate(timeout=60)
        finally:
            self.process.kill()
            self.process.wait()
        return self.process.returncode, said, complaints

    def left(self) -> list[Path]:
        return list(self.temporary.iterdir())


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_demo_ends_in_the_sandbox_and_leaves_nothing(tmp_path: Path, how: int) -> None:
    shown = Demo(tmp_path, "--no-open")
    said = shown.served()
    best = re.search(r"^Seed (\d) has the richest story: (un)?solved, \d drops? .*$", said, re.M)
    assert best
    assert "temporary folder, removed at the end" in said
    (above,) = shown.left()
    run = ds.load(above / "demo").by_seed(int(best[1]))
    found = re.search(r"2 runs at (http://127\.0\.0\.1:\d+/\?token=[\w-]+)#v=1&run=(\w+)\n", said)
    assert found
    assert found[2] == run.id
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with opener.open(found[1], timeout=60) as answer:
        assert b"tiny" in answer.read()
    assert shown.end(how) == (0, "", "")
    assert shown.left() == []
    assert not (tmp_path / "opened").exists()


def test_the_demo_opens_the_browser_and_keeps_what_it_is_asked_to(tmp_path: Path) -> None:
    shown = Demo(tmp_path, "--out", "kept")
    said = shown.served()
    assert "Saved 2 runs to kept." in said
    assert "temporary" not in said
    assert shown.left() == []
    until = time.monotonic() + 30
    while not (tmp_path / "opened").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert (tmp_path / "opened").exists()
    assert shown.end(signal.SIGINT) == (0, "", "")
    table = ds.load(tmp_path / "kept").table(["seed", "verdict", "spikes"]).to_pydict()
    assert table["seed"] == [0, 1]
    assert None not in table["verdict"] + table["spikes"]  # the sandbox's list knows them


def test_the_demo_without_a_built_client_says_so_and_ends_well(tmp_path: Path) -> None:
    shown = Demo(tmp_path, built=False)
    code, said, complaints = shown.end()
    assert (code, complaints, shown.left()) == (0, "", [])
    assert said.rstrip().endswith("but they are not built; run scripts/build-web.")
    assert "http" not in said


def test_the_demo_refuses_a_folder_that_is_taken(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--no-show", "--out", str(work / "runs/first")]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "expected a new or empty folder, but it exists" in printed.err


def test_the_demo_shows_a_solved_run_then_phases_then_spikes() -> None:
    rows: list[dict[str, Any]] = [
        {"accuracy": 1.0, "drops": [1, 2], "spikes": 3},
        {"accuracy": 0.95, "drops": [1, 2, 3], "spikes": 4},
        {"accuracy": 1.0, "drops": [1], "spikes": 9},
        {"accuracy": 0.5, "drops": [1, 2], "spikes": 20},
        {"accuracy": None, "drops": None, "spikes": None},
    ]
    ranked = sorted(rows, key=demo._richness, reverse=True)
    assert ranked == [rows[i] for i in (1, 0, 2, 3, 4)]


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


# ---- what is refused ----------------------------------------------------------------------------


class Bad(NamedTuple):
    """Arguments that are refused, and words of the sentence about them."""

    arguments: str  # split at blanks
    words: tuple[str, ...]


def bad(arguments: str, *words: str) -> Bad:
    return Bad(arguments, words)


ONE, FIRST = "train --from runs/one", "train --from runs/first"
BAD = {
    "command": [
        bad("trian", "trian: unknown command", "did you mean 'train'?"),
        bad("--sedes", "--sedes: unknown option", "--version"),
    ],
    "option": [
        bad("train --sedes 3", "--sedes: unknown option", "did you mean '--seeds'?"),
        bad("train --thread=3", "did you mean '--threads'?"),
        bad("train --seed 3", "--seed: unknown option"),  # no abbreviations
        bad("train --seeds", "--seeds: expected one argument; see dynascope train --help"),
        bad("train 20", "'20': expected an option before it"),
        bad("demo --seeds 3", "--seeds: unknown option"),
    ],
    "seeds": [
        bad("train --seeds x", "--seeds: expected how many", "got 'x'"),
        bad("train --seeds 0", "at least one seed"),
        bad("train --seeds -3", "expected how many"),
        bad("train --seeds 3,,4", "got '3,,4'"),
        bad("train --seeds ,", "got ','"),
        bad("train --seeds 5-2", "at least one seed"),
        bad("train --seeds 1.5", "expected how many"),
        bad("train --seeds 3,5,3", "each seed once", "3 twice"),
        bad("train --seeds 9007199254740992,", "from 0 to 9007199254740991"),
        bad("train --seeds 0-9999999999999999", "at most 1000000 runs"),
    ],
    "setting": [
        bad("train --set model.dim=-3", "model.dim: expected a whole number from 1 to 1024"),
        bad("train --set model.dim", "expected NAME=VALUE"),
        bad("train --set model.dmi=3", "model.dmi: unknown option", "did you mean 'model.dim'?"),
        bad("train --set dim=3", "did you mean 'model.dim'?"),
        bad("train --set task.relevant=[1,1]", "task.relevant", "position 1 is repeated"),
        bad("train --set training.batch=4096", "training.batch", "task.train_size = 2048"),
        bad("train --epochs many", "training.epochs", "got 'many'"),
        bad("train --epochs -1", "training.epochs", "got -1"),
    ],
    "threads": [
        bad("train --threads 0", "threads: expected a whole number from 1 to 4096"),
        bad("train --threads two", "got 'two'"),
    ],
    "file": [
        bad("train --config nowhere.toml", "nowhere.toml: expected a readable file"),
        bad("train --config empty", "empty: expected a readable file"),
        bad("train --config broken.toml", "broken.toml: expected TOML"),
        bad("train --config binary.toml", "binary.toml: expected UTF-8"),
        bad("train --config unknown.toml", "unknown.toml: model.dmi", "did you mean 'dim'?"),
    ],
    "memory": [
        bad("train --seeds 1000000", "memory: expected at most", "record.weights_every"),
    ],
    "out": [
        bad("train --out runs/first", "runs/first: expected a new or empty folder"),
        bad("train --out .", "expected a folder of a new name"),
        bad("train --out good.toml", "expected a new or empty folder"),
        bad("train --out good.toml/x", "good.toml/x: expected a place to write"),
        bad("train --out dangling", "expected a folder of a new name"),
        bad(f"train --out {'long' * 100}", "File name too long"),
    ],
    "from": [
        bad("train --from nowhere", "nowhere: expected a folder of runs"),
        bad("train --from empty#seed=3", "empty: expected a folder of runs"),
        bad("train --from #seed=3", "expected FOLDER#ID or FOLDER#seed=N"),
        bad(f"{FIRST}#", "expected FOLDER#ID"),
        bad(FIRST, "expected one run, but this names 3 runs", "(seed=0)", "(seed=2)"),
        bad(f"{FIRST}#seed=9", "none with this name", "(seed=0)", "(seed=2)"),
        bad(f"{FIRST}#what", "none with this name"),
        bad(f"{FIRST}#seed=1@21", "an epoch from 0 to 20", "got 21"),
        bad(f"{FIRST}#seed=1@-1", "a whole number after @"),
        bad(f"{ONE} --set model.dim=2", "start.token_embedding: expected shape"),
        bad(f"{ONE} --set model.bias=false", "start"),
        bad("train --from runs/diverged", "diverged at epoch 1", "choose an earlier epoch"),
        bad("train --from runs/diverged@1", "diverged at epoch 1"),
        bad("train --from runs/data --set task.train_size=2", "the run's own data"),
    ],
    "continue": [
        bad("train --continue --epochs 30", "--continue: expected --from RUN"),
        bad(f"{ONE} --continue", "training.epochs: expected more than the 20", "add --epochs"),
        bad(f"{ONE} --continue --epochs 10", "more than the 20"),
        bad(f"{ONE} --continue --epochs 30 --seeds 3", "--seeds: expected none with --continue"),
        bad(f"{ONE} --continue --config good.toml", "--config: expected none with --continue"),
        bad(f"{ONE} --continue --epochs 30 --set model.dim=2", "no option but training.epochs"),
        bad(f"{ONE}@10 --continue --epochs 30", "the run's last epoch, 20"),
        bad("train --from runs/cosine --continue --epochs 30", "cosine"),
        bad("train --from runs/diverged --continue --epochs 30", "it diverged at epoch 1"),
    ],
}


def refused(case: Bad) -> list[str]:
    """The arguments of a case, which would write a folder if it were not refused."""
    arguments = case.arguments.split(" ")
    trains = arguments[0] == "train" and "--out" not in arguments
    return [*arguments, "--out", "new/runs"] if trains else arguments


def check_refusal(case: Bad, code: int, stdout: str, stderr: str) -> None:
    assert (code, stdout) == (2, "")
    assert stderr.startswith("dynascope: ")
    assert stderr.count("\n") == 1
    for words in case.words:
        assert words in stderr


@pytest.mark.parametrize("case", [case for cases in BAD.values() for case in cases[1:]], ids=str)
def test_bad_input(
    case: Bad, work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(work)
    before = files(work)
    code = main(refused(case))
    check_refusal(case, code, *capsys.readouterr())
    assert files(work) == before


@pytest.mark.parametrize("category", BAD)
def test_bad_input_of_a_process(category: str, work: Path) -> None:
    case, before = BAD[category][0], files(work)
    done = dynascope(*refused(case), folder=work)
    check_refusal(case, done.returncode, done.stdout, done.stderr)
    assert files(work) == before


def test_going_on_for_too_long_is_refused(
    work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dynascope.engine._available_memory", lambda: 1000)
    assert main(["train", "--from", f"{work}/runs/one", "--continue", "--epochs", "30"]) == 2
    assert "memory: expected at most" in capsys.readouterr().err


def test_names_with_line_breaks_stay_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "--from", "no\nsuch\x1b[2Jfolder"]) == 2
    assert capsys.readouterr().err.startswith(r"dynascope: no\nsuch\x1b[2Jfolder: expected")


# ---- what goes wrong ----------------------------------------------------------------------------


def test_out_of_memory_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: Any, **named: Any) -> ds.Runs:
        raise MemoryError

    monkeypatch.setattr("dynascope.cli.train.train", full)
    assert main(["train"]) == 1
    assert capsys.readouterr().err.startswith("dynascope: memory ran out; 0 of 1 runs finished")


def test_runs_survive_a_folder_that_was_taken_meanwhile(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    runs, before = ds.load(work / "runs/one"), files(work)
    trouble = out.save(runs, work / "runs/first")
    (rescue,) = tmp_path.iterdir()
    assert f"The runs are in {rescue} instead." in trouble
    assert same(ds.load(rescue)[0], runs[0])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    assert out.save(runs, work / "runs/first").endswith("Nothing was saved.")
    assert files(work) == before


class Job:
    """A long command, its stderr a terminal so that the progress bar tells how far it is."""

    def __init__(self, *arguments: str, folder: Path) -> None:
        self._terminal, theirs = pty.openpty()
        self._seen = ""
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=folder,
            env={**ENVIRONMENT, "TERM": "xterm"},
            stdout=subprocess.PIPE,
            stderr=theirs,
            text=True,
            encoding="utf-8",
        )
        os.close(theirs)

    def wait_for(self, pattern: str) -> None:
        while not re.search(pattern, self._seen):
            self._seen += os.read(self._terminal, 4096).decode(errors="replace")

    def stop(self) -> tuple[int, str, str]:
        """Two Ctrl-C in quick succession; exit code, stdout, and stderr."""
        self.process.send_signal(signal.SIGINT)
        time.sleep(0.02)
        self.process.send_signal(signal.SIGINT)
        stdout, _ = self.process.communicate(timeout=60)
        try:
            while more := os.read(self._terminal, 4096):
                self._seen += more.decode(errors="replace")
        except OSError:  # how Linux says that the other side has hung up
            pass
        os.close(self._terminal)
        return self.process.returncode, stdout, self._seen

    def hang_up(self) -> int:
        """Close the terminal, which the system tells the process; exit code."""
        os.close(self._terminal)
        self.process.send_signal(signal.SIGHUP)
        self.process.communicate(timeout=60)
        return self.process.returncode


def long_job(config: ds.Config, folder: Path) -> Job:
    """Twenty thousand runs, some of which are finished."""
    job = Job("train", "--seeds", "20000", *settings(config), "--out", "kept/runs", folder=folder)
    job.wait_for(r"[1-9]\d*/20000 runs +[\d.,]+ (runs|epochs)/s +\d+:\d\d left")
    return job


def test_a_closed_terminal_keeps_the_finished_runs(tmp_path: Path) -> None:
    job = long_job(short(record__weights_every=0, record__state_every=0), tmp_path)
    assert job.hang_up() == 1
    assert 1 <= len(ds.load(tmp_path / "kept/runs")) < 20000


def test_ctrl_c_keeps_the_finished_runs(tmp_path: Path) -> None:
    config = short(record__weights_every=0, record__state_every=0)
    job = long_job(config, tmp_path)
    code, stdout, stderr = job.stop()
    runs = ds.load(tmp_path / "kept/runs")
    assert code == 1
    assert 1 <= len(runs) < 20000
    assert f"stopped; {len(runs)} of 20000 runs finished, saved to kept/runs." in stderr
    assert "Traceback" not in stderr
    assert f"{len(runs)} runs above 0.9" in stdout or len(runs) == 1
    expected = ds.train(config, seeds=[run.seed for run in runs[:20]], progress=False)
    assert all(same(a, b) for a, b in zip(runs, expected, strict=False))
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["runs"]


def test_ctrl_c_keeps_the_epochs_of_a_continued_run(work: Path, tmp_path: Path) -> None:
    words = ["--from", f"{work}/runs/first#seed=1", "--continue", "--epochs", "1000000"]
    job = Job("train", *words, "--out", "kept", folder=tmp_path)
    job.wait_for(r"0/1 runs +[\d.,]+ epochs/s")
    code, _, stderr = job.stop()
    (run,) = ds.load(tmp_path / "kept")
    assert (code, run.epochs > 20) == (1, True)
    assert f"stopped; the run is at epoch {run.epochs}, saved to kept." in stderr
    (whole,) = ds.train(short(training__epochs=run.epochs), seeds=[1], progress=False)
    assert same(run, whole)
