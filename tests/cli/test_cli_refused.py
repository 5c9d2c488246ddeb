"""Commands that are refused: one sentence, exit code 2, and nothing is written.

The first of each category runs as a process; the others call `main` in this process, which is the
same code at a tenth of the time.
"""

import os
from pathlib import Path
from typing import NamedTuple

import pytest
from command_line import ENVIRONMENT, dynascope, files
from processes import COMMAND, finished
from wrong_isas import WRONG_ISAS, wrong_isa_sentence

from dynascope.cli import main


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
        bad("train 20", "'20': unexpected argument"),
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
        bad("train --threads 0", "dynascope: --threads: expected a whole number from 1 to 4096"),
        bad("train --threads two", "--threads: expected", "got 'two'"),
        bad("sweep grid.toml --out new/runs --threads 0", "--threads: expected a whole number"),
        bad("report runs/first --threads 5000", "--threads: expected a whole number"),
    ],
    "file": [
        bad("train --config nowhere.toml", "nowhere.toml: expected a readable file"),
        bad("train --config empty", "empty: expected a readable file"),
        bad("train --config broken.toml", "broken.toml: expected TOML"),
        bad("train --config binary.toml", "binary.toml: expected UTF-8"),
        bad("train --config unknown.toml", "unknown.toml: model.dmi", "did you mean 'dim'?"),
    ],
    "memory": [
        bad("train --seeds 1000000", "memory: 1000000 runs with these", "record.weights_every"),
    ],
    "out": [
        bad("train --out runs/first", "runs/first: expected a new or empty folder"),
        bad("train --out .", "expected the name of a new folder"),
        bad("train --out good.toml", "expected a new or empty folder"),
        bad("train --out good.toml/x", "good.toml/x: cannot be created"),
        bad("train --out dangling", "expected the name of a new folder"),
        bad(f"train --out {'long' * 100}", "File name too long"),
    ],
    "from": [
        bad("train --from nowhere", "nowhere: expected a folder of runs"),
        bad("train --from empty#seed=3", "empty: expected a folder of runs"),
        bad("train --from #seed=3", "expected FOLDER#ID or FOLDER#seed=N"),
        bad(f"{FIRST}#", "expected FOLDER#ID"),
        bad(FIRST, "expected one run, but this names 3 runs", "(seed=0)", "(seed=2)"),
        bad(f"{FIRST}#seed=9", "no such run in the folder", "(seed=0)", "(seed=2)"),
        bad(f"{FIRST}#what", "no such run in the folder"),
        bad(f"{FIRST}#seed=1@21", "an epoch from 0 to 20", "got 21"),
        bad(f"{FIRST}#seed=1@-1", "a whole number after @"),
        bad(f"{ONE} --set model.dim=2", "start.token_embedding: expected shape"),
        bad(f"{ONE} --set model.bias=false", "start"),
        bad("train --from runs/diverged", "diverged at epoch 1", "choose an earlier epoch"),
        bad("train --from runs/diverged@1", "diverged at epoch 1"),
        bad("train --from runs/data --set task.train_size=2", "the run's own data"),
    ],
    "export": [
        bad("export runs/one", "-o/--out: missing; see dynascope export --help"),
        bad("export -o run.html", "RUN: missing"),
        bad("export runs/nowhere -o run.html", "runs/nowhere: expected a folder of runs"),
        bad("export runs/first -o run.html", "expected one run, but this names 3 runs"),
        bad("export runs/first#seed=9 -o run.html", "no such run in the folder"),
        bad("export runs/one@21 -o run.html", "an epoch from 0 to 20", "got 21"),
        bad("export runs/one runs/one -o run.html", "runs: expected one run, or two", "twice"),
        bad(
            "export runs/first#seed=0 runs/first#seed=1 runs/first#seed=2 -o run.html",
            "runs: expected one run, or two to compare, but got more than two",
        ),
        bad(
            "export runs/first#seed=0@3 runs/first#seed=1@4 -o run.html",
            "runs/first#seed=1@4: expected an epoch after the first run only, but got another one",
        ),
        bad("export runs/one -o run.pdf", "run.pdf: expected a name that ends with .html or .htm"),
        bad("export runs/one -o empty", "ends with .html"),
        bad("export runs/one -o nowhere/run.html", "cannot be written (there is no such folder)"),
        bad("export runs/one -o good.toml/run.html", "cannot be written"),
        bad("export runs/one -o run.html --every 0", "--every: expected a whole number"),
        bad("export runs/one -o run.html --every x", "--every: expected", "got 'x'"),
        bad("export runs/one -o run.html --evry 3", "did you mean '--every'?"),
    ],
    "continue": [
        bad("train --continue --epochs 30", "--continue: expected --from RUN"),
        bad(f"{ONE} --continue", "training.epochs: expected more than the 20", "add --epochs"),
        bad(f"{ONE} --continue --epochs 10", "more than the 20"),
        bad(
            f"{ONE} --continue --epochs 30 --seeds 3", "--seeds: cannot be combined with --continue"
        ),
        bad(f"{ONE} --continue --config good.toml", "--config: cannot be combined with --continue"),
        bad(f"{ONE} --continue --epochs 30 --set model.dim=2", "only training.epochs can change"),
        bad(f"{ONE}@10 --continue --epochs 30", "the run's last epoch, 20"),
        bad("train --from runs/cosine --continue --epochs 30", "cosine"),
        bad("train --from runs/diverged --continue --epochs 30", "the run diverged at epoch 1"),
    ],
    "figure": [
        bad("figure phsaes runs/one -o x.pdf", "phsaes: unknown layout", "did you mean 'phases'?"),
        bad("figure panels runs/one", "-o/--out: missing"),
        bad("figure panels runs/one -o x.jpg", "x.jpg: expected a name that ends with .pdf, .svg"),
        bad("figure panels runs/one -o x", "x: expected a name that ends with"),
        bad("figure panels runs/one -o no/x.pdf", "cannot be written (there is no such folder)"),
        bad("figure panels runs/one -o good.toml/x.pdf", "x.pdf: cannot be written"),
        bad("figure panels runs/one -o /proc/x.pdf", "/proc/x.pdf: cannot be written"),
        bad(
            "figure panels runs/one -o x.pdf --data x.txt",
            "x.txt: expected",
            "ends with .csv",
        ),
        bad("figure panels runs/one -o x.pdf --panels seqence", "did you mean 'sequence'?"),
        bad("figure phases runs/one -o x.pdf --panels loss", "phases has no such choice"),
        bad("figure panels runs/one@99 -o x.pdf", "an epoch from 0 to 20", "got 99"),
        bad("figure panels runs/one -o x.pdf --epochs 0,many", "--epochs: expected whole numbers"),
        bad("figure panels runs/one -o x.pdf --epochs 99", "a whole number from 0 to 20"),
        bad("figure panels runs/first -o x.pdf", "expected one run, but this names 3 runs"),
        bad("figure panels nowhere -o x.pdf", "nowhere: expected a folder of runs"),
        bad("figure panels runs/one -o x.pdf --width wide", "width: expected one of"),
        bad("figure panels runs/one -o x.pdf --theme sepia", "theme: expected one of"),
        bad("figure spike runs/one -o x.pdf", "has no spike of its loss"),
        bad("figure phases runs/data -o x.pdf", "symmetries are known"),
        bad("figure circuits runs/data -o x.pdf", "symmetries are known"),
        bad("figure phases runs/one runs/one -o x.pdf", "expected one run, but got 2"),
        bad("figure panels runs/diverged@1 -o x.pdf", "diverged at epoch 1"),
        bad("figure landscape runs/one -o x.pdf --directions up", "directions: expected one of"),
        bad("figure gradients runs/one -o x.pdf --scale cubic", "scale: expected one of"),
        bad("figure panels runs/imported@7 -o x.pdf", "cannot be replayed", "the nearest is 10"),
    ],
    "study": [
        bad("study spike", "study: expected one of ideal, circuits", "did you mean 'spikes'?"),
        bad("study", "NAME: expected a study, or all; see dynascope study --list"),
        bad("study two-phase nothing", "study: expected one of", "got 'nothing'"),
        bad("study two-phase --scale papr", "--scale: expected one of", "did you mean 'paper'?"),
        bad("study two-phase --scale paper --out studied", "holds studies at scale quick, not"),
        bad("study two-phase --out studied", "holds the study width, which was not asked for"),
        bad("study two-phase --out runs/first", "a new folder or one of studies", "one with"),
        bad("study two-phase --out good.toml", "good.toml: expected a folder, but got a file"),
        bad("study two-phase --out good.toml/x", "good.toml/x: cannot be created"),
        bad("study two-phase --out dangling", "dangling: expected the name of a new folder"),
        bad(f"study two-phase --out {'long' * 100}", "File name too long"),
        bad("study two-phase --out broken-study", "expected what `dynascope study` writes"),
        bad("study two-phase --out odd-study", "expected what `dynascope study` writes"),
        bad("study two-phase --out later-study", "written by a later version of dynascope"),
        bad("study two-phase --threads 0", "--threads: expected a whole number"),
        bad("study two-phase --ray auto --threads 2", "--threads: cannot be combined with --ray"),
        bad("study --list --dry-run", "--dry-run: cannot be combined with --list"),
        bad("study --timings runs/first", "runs/first: expected a folder of studies"),
        bad("study --timings nowhere", "nowhere: expected a folder of studies"),
        bad("study two-phase --scael paper", "did you mean '--scale'?"),
        bad("show studied", "studied: has no report yet"),
        bad("show studied#seed=3", "expected a run of one of its folders"),
        bad("show broken-study", "expected what `dynascope study` writes"),
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


@pytest.mark.parametrize("isa", WRONG_ISAS)
def test_unknown_instruction_set_is_refused(isa: str | bytes, work: Path) -> None:
    chosen = ENVIRONMENT | {"DYNASCOPE_ISA": os.fsdecode(isa)}
    done = finished([*COMMAND, "--version"], cwd=work, env=chosen)
    case = bad("--version", wrong_isa_sentence(isa))
    check_refusal(case, done.returncode, done.stdout, done.stderr)


def test_going_on_for_too_long_is_refused(
    work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dynascope.engine.available_memory", lambda: 1000)
    assert main(["train", "--from", f"{work}/runs/one", "--continue", "--epochs", "30"]) == 2
    assert "memory: 1 run with these record options would take" in capsys.readouterr().err


def test_names_with_line_breaks_stay_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "--from", "no\nsuch\x1b[2Jfolder"]) == 2
    assert capsys.readouterr().err.startswith(r"dynascope: no\nsuch\x1b[2Jfolder: expected")
