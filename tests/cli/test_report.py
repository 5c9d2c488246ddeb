"""`dynascope report`: tables that fit, totals that add up, JSON that parses, one run in detail."""

import json
import math
import os
import pty
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from analysed import found, sidecars, train
from sweeping import command, wait_for
from wording import banned

import dynascope as ds
from dynascope.analysis.circuit import circuit
from dynascope.analysis.phases import phases_by_multisets
from dynascope.analysis.spikes import spikes
from dynascope.analysis.sum_progress import sum_progress
from dynascope.analysis.thresholds import DROP_LEAST
from dynascope.analysis_columns import DEFAULT_KINDS
from dynascope.cli import main
from dynascope.cli.report_totals import totals
from dynascope.number_text import fraction

WILD = {"training.lr": 1e4, "training.optimizer": "sgd", "model.norm": "none"}
Out = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine runs: some learn, some are of another width, one diverges, one kept no weights."""
    path = tmp_path_factory.mktemp("report") / "runs"
    learning = {"training.lr": 0.03, "training.epochs": 120}
    runs = [
        *train(learning, 4),
        *train(learning | {"model.dim": 3}, 3),
        *train(WILD | {"training.epochs": 20}, [7]),
        *train({"record.weights_every": 0}, [8]),
    ]
    assert runs[7].diverged
    ds.Runs(runs).save(path)
    ds.load(path).analyse(progress=False)
    return path


def report(capsys: Out, *words: object) -> str:
    """What the command prints; it must end well."""
    code = main(["report", *map(str, words)])
    out, error = capsys.readouterr()
    assert (code, error) == (0, "")
    return out


def parsed(capsys: Out, *words: object) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(report(capsys, *words, "--json"), parse_constant=refuse)


# ---- many runs ----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [57, 80, 100, 300])
def test_the_table_fits(
    folder: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    printed = report(capsys, folder)
    assert max(map(len, printed.splitlines())) <= width
    assert "\x1b" not in printed
    head, *rest = printed.splitlines()
    wide = width == 300
    after = next(line for line in rest if line.startswith(("no room", "sum: ")))
    assert rest.index(after) == 9
    assert head.split()[0] == ("id" if wide else "seed")
    assert ("causes" in head, "culprits" in head) == (wide, wide)
    assert ("no room for: " in printed) != wide
    if width >= 80:
        for name in ("sum", "verdict", "drops", "spikes", "dim"):
            assert name in head.split()


def test_rows_are_the_runs(folder: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    _, *lines = report(capsys, folder).splitlines()
    for line, run in zip(lines, ds.load(folder), strict=False):
        assert line.startswith(run.id[:8])
        words = line.split()
        assert int(words[1]) == run.seed
        if run.diverged is not None:
            assert f"diverged {run.diverged}" in line
        else:
            assert circuit(run.parameters(), run.config).verdict.name in words


def test_totals_add_up(folder: Path, capsys: Out) -> None:
    """Counted again from the runs themselves."""
    told = parsed(capsys, folder)["totals"]
    runs = list(ds.load(folder))
    accuracy = [float(run.summary()["accuracy"] or 0) for run in runs]
    assert (told["runs"], told["solved"]) == (9, sum(each > 0.9 for each in accuracy))
    last = [run.epochs if run.diverged is None else run.diverged - 1 for run in runs]
    names = [
        circuit(run.parameters(at), run.config).verdict.name
        for run, at in zip(runs, last, strict=True)
    ]
    for which, solved in (("solved", True), ("other", False)):
        some = [n for n, each in zip(names, accuracy, strict=True) if (each > 0.9) == solved]
        assert told["circuit"][which] == dict(Counter(some))
    course = [phases_by_multisets(run) for run in runs if run.config.record.weights_every]
    leads = [each.lead for each in course if each.lead is not None]
    judged = [each.agree for each in course if each.measured_to + 1 >= DROP_LEAST]
    assert told["phases"]["drops_agree"]["count"] == sum(judged)
    assert told["phases"]["drops_agree"]["of"] == len(judged) == 7
    votes = [drop.votes for each in course for drop in each.drops]
    assert told["phases"]["drop_votes"]["count"] == votes.count(3)
    assert told["phases"]["drop_votes"]["of"] == len(votes) > 0
    assert told["phases"]["drop_epochs"] == {
        str(n): count for n, count in sorted(Counter(len(each.drops) for each in course).items())
    }
    assert told["phases"]["clustered_first"]["count"] == sum(lead > 0 for lead in leads)
    assert told["phases"]["clustered_first"]["of"] == len(leads)
    causes = Counter(
        spike.cause.verdict if spike.cause else "unexplained"
        for run in runs
        for spike in spikes(run.loaded()).spikes
    )
    assert told["spikes"]["spikes"] == sum(causes.values())
    assert told["spikes"]["causes"] == dict(causes)
    (note,) = (note for note in told["notes"] if note.startswith("phases: record.weights_every"))
    assert told["notes"][note] == 1


def test_intervals() -> None:
    """Wilson's interval has both ends at z = 1.96 from the share that it is about."""
    never = {
        "drops": [],
        "drop_epochs": [],
        "drop_votes": [],
        "fitted_epoch": None,
        "clustered_epoch": None,
    }
    rows = [never | {"drops_agree": i < 13} for i in range(17)]
    found = totals(rows, ["phases"])["phases"]
    low, high = found["drops_agree"]["interval"]
    for bound in (low, high):
        z = abs(13 / 17 - bound) / math.sqrt(bound * (1 - bound) / 17)
        assert z == pytest.approx(1.96, abs=0.02)
    assert found["clustered_first"] == {"count": 0, "of": 0, "interval": None}


def test_json_has_every_run(folder: Path, capsys: Out) -> None:
    rows = parsed(capsys, folder)["runs"]
    stored = found(folder, ["id", "seed", "dim", "accuracy", "verdict", "lead", "spike_causes"])
    for row, run in zip(rows, stored, strict=True):
        for name, value in run.items():
            value = None if isinstance(value, float) and math.isnan(value) else value
            assert row[name] == value, name


def test_some_runs_and_some_kinds(folder: Path, capsys: Out) -> None:
    told = parsed(capsys, folder, "--where", "dim = 3", "--kinds", "spikes")
    assert [row["seed"] for row in told["runs"]] == [0, 1, 2]
    assert set(told["totals"]) == {"runs", "solved", "spikes", "notes"}
    assert "verdict" not in told["runs"][0]
    printed = report(capsys, folder, "--where", "dim = 3", "--kinds", "spikes, circuit")
    assert "verdict" in printed
    assert "drops" not in printed


def test_conditions_about_what_is_not_known_yet(tmp_path: Path, capsys: Out) -> None:
    """It is found first, of all runs, but no more than the condition asks about."""
    runs = train(seeds=3)
    runs.save(tmp_path / "runs")
    names = [circuit(run.parameters(), run.config).verdict.name for run in runs]
    where = f"seed < 2 AND verdict = '{names[0]}'"
    told = parsed(capsys, tmp_path / "runs", "--where", where, "--kinds", "spikes")
    expected = [seed for seed in (0, 1) if names[seed] == names[0]]
    assert [row["seed"] for row in told["runs"]] == expected
    made = [["circuit", "spikes"] if seed in expected else ["circuit"] for seed in range(3)]
    assert [row["analysed"] for row in found(tmp_path / "runs")] == made
    told = parsed(
        capsys, tmp_path / "runs", "--where", "analysis_note IS NULL", "--kinds", "phases"
    )
    assert len(told["runs"]) == 3


def test_long_tables_are_cut(tmp_path: Path, capsys: Out) -> None:
    train({"training.epochs": 1}, 43).save(tmp_path / "runs")
    printed = report(capsys, tmp_path / "runs", "--kinds", "circuit")
    assert "... and 3 more runs; " in printed
    assert "circuits of 43 runs" in printed
    assert len(parsed(capsys, tmp_path / "runs", "--kinds", "circuit")["runs"]) == 43


def test_what_is_missing_is_made_and_kept(tmp_path: Path, capsys: Out) -> None:
    train(seeds=2).save(tmp_path / "runs")
    first = report(capsys, tmp_path / "runs")
    (file,) = sidecars(tmp_path / "runs")
    before = file.stat().st_mtime_ns
    assert report(capsys, tmp_path / "runs") == first
    assert [each.stat().st_mtime_ns for each in sidecars(tmp_path / "runs")] == [before]
    assert [row["analysed"] for row in found(tmp_path / "runs")] == [list(DEFAULT_KINDS)] * 2


@pytest.mark.filterwarnings("default")
def test_damage_is_a_line_of_its_own(tmp_path: Path, capsys: Out) -> None:
    train(seeds=2).save(tmp_path / "runs")
    first = report(capsys, tmp_path / "runs")
    (file,) = sidecars(tmp_path / "runs")
    file.write_bytes(file.read_bytes()[:-9])
    assert main(["report", str(tmp_path / "runs")]) == 0
    out, error = capsys.readouterr()
    assert out == first
    assert error.count("\n") == 1
    assert file.name in error


def test_ctrl_c(tmp_path: Path) -> None:
    train({"task.length": 12, "training.epochs": 200}, 60).save(tmp_path / "runs")
    words = command("report", tmp_path / "runs", "--threads", 1)
    patched = [words[0], "-c", _ONE_BY_ONE, *words[3:]]
    process = subprocess.Popen(patched, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: len(sidecars(tmp_path / "runs")) >= 2)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=30)
    assert (process.returncode, out) == (1, "")
    kept = "results so far are saved; run the same command to resume"
    assert error == f"dynascope: stopped; {kept}.\n"
    assert 2 <= sum(row["analysed"] is not None for row in found(tmp_path / "runs")) < 60


_ONE_BY_ONE = """
import sys
from dynascope.findings import keep_analyses
keep_analyses._BATCH_RUNS = 1
from dynascope.cli import main
sys.exit(main())
"""


def test_a_terminal_has_colours_and_a_bar_is_no_part_of_the_report(folder: Path) -> None:
    host, guest = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    environment.pop("NO_COLOR", None)
    with open(host, "rb", buffering=0) as terminal:
        process = subprocess.Popen(
            command("report", folder), stdout=guest, stderr=subprocess.PIPE, env=environment
        )
        os.close(guest)
        shown = b""
        try:
            while piece := terminal.read(4096):
                shown += piece
        except OSError:  # how Linux says that the other end was closed
            pass
        _, error = process.communicate()
    assert (process.returncode, error) == (0, b"")
    assert b"\x1b[1m" in shown  # the heading
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())
    assert max(map(len, plain.splitlines())) <= 100


# ---- one run ------------------------------------------------------------------------------------


def test_one_run_in_detail(folder: Path, capsys: Out) -> None:
    run = ds.load(folder)[5]
    printed = report(capsys, f"{folder}#{run.id[:10]}")
    assert printed == report(capsys, folder, "--run", run.id)
    assert max(map(len, printed.splitlines())) <= 80
    here, text = circuit(run.parameters(), run.config), " ".join(printed.split())
    assert f"{here.verdict.name}, decided by {here.verdict.decided_by}" in text
    assert f"accuracy {fraction(here.accuracy, places=4)} on all 32 sequences" in text
    rows = re.findall(r"^ +(\d+) ([* ])((?: +[<>]?\d\.\d{3}){5})$", printed, re.MULTILINE)
    assert [int(row[0]) for row in rows] == list(range(5))
    assert [row[1] for row in rows] == ["*", "*", " ", " ", " "]
    attention = [float(row[2].split()[0].strip("<>")) for row in rows]
    assert attention == pytest.approx(here.attention.tolist(), abs=1e-3)
    assert " ".join(phases_by_multisets(run).describe().split()) in text
    progress = sum_progress(run)
    assert progress is not None
    assert " ".join(progress.describe().split()) in text
    assert " ".join(spikes(run.loaded()).describe().split()) in text


def test_it_says_one_word_for_each_idea(
    folder: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "260")
    many, one = report(capsys, folder), report(capsys, folder, "--run", ds.load(folder)[1].id)
    for printed in (many, one):
        assert banned(printed) == []
        assert "between multisets" in printed
        assert "from irrelevant tokens" in printed
    assert "of new irrelevant tokens" in one


def test_only_columns_that_are_there_are_explained(
    folder: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    for width in (57, 80, 100, 260):
        monkeypatch.setenv("COLUMNS", str(width))
        head, *rest = report(capsys, folder).splitlines()
        text = " ".join(" ".join(rest).split())
        for name in ("margin", "variance %", "clusters", "culprits", "lead"):
            assert (name in head) == (f"{name}: " in text), (width, name)


def test_one_run_as_json(folder: Path, capsys: Out) -> None:
    run = ds.load(folder)[1]
    told = parsed(capsys, folder, "--run", run.id)
    here = circuit(run.parameters(), run.config)
    assert told["run"]["id"] == run.id
    assert (told["epoch"], told["notes"]) == (120, {})
    assert told["circuit"]["accuracy"] == here.accuracy
    assert told["circuit"]["attention"] == here.attention.tolist()
    assert told["circuit"]["verdict"]["name"] == here.verdict.name
    assert told["phases"]["clustered_epoch"] == phases_by_multisets(run).clustered_epoch
    assert [each["peak"] for each in told["spikes"]["spikes"]] == [
        each.peak for each in spikes(run.loaded()).spikes
    ]


def test_the_circuit_of_an_epoch(folder: Path, capsys: Out) -> None:
    run = ds.load(folder)[1]
    told = parsed(capsys, f"{folder}#{run.id}@17", "--kinds", "circuit")
    assert told["epoch"] == 17
    assert told["circuit"]["accuracy"] == circuit(run.parameters(17), run.config).accuracy
    assert (told["phases"], told["spikes"]) == (None, None)
    assert "Circuit after epoch 17" in report(capsys, folder, "--run", f"{run.id}@17")


def test_what_cannot_be_made_of_it_is_said(folder: Path, capsys: Out) -> None:
    printed = report(capsys, f"{folder}#seed=8")
    assert "phases: record.weights_every is 0, but phases need the weights" in " ".join(
        printed.split()
    )
    assert "Circuit after epoch 30" in printed
    wild = report(capsys, f"{folder}#seed=7")
    epoch = ds.load(folder)[7].diverged
    assert f"diverged at epoch {epoch}" in wild
    assert f"Circuit after epoch {epoch - 1}" in wild
    note = f"diverged at epoch {epoch}: analysed up to {epoch - 1}"
    assert note in " ".join(wild.split())
    told = parsed(capsys, f"{folder}#seed=7@{epoch - 1}", "--kinds", "circuit,spikes")
    assert told["notes"] == {"spikes": note}


# ---- bad input ----------------------------------------------------------------------------------

BAD = [
    ("nowhere", "nowhere: expected a folder of runs, but it does not exist"),
    ("{} --kinds circut", "saddles, bounds or all, but got 'circut'; did you mean 'circuit'?"),
    ("{} --run zz", "no such run in the folder"),
    ("{} --run seed=0", "expected one run, but this names 2 runs"),
    ("{}#seed=3@999", "expected an epoch from 0 to 120, but got 999"),
    ("{}#seed=3 --run seed=4", "--run: cannot be combined with"),
    ("{} --run seed=3 --where true", "--where: cannot be combined with a single run"),
    ("{} --where seed>99", "--where: no run matches seed>99"),
    ("{} --where verdict=='nothing'", "no run matches verdict=='nothing'"),
    ("{} --where verdict=", "syntax error"),
    ("{} --where nope>1", 'Referenced column "nope" not found'),
    ("{} --threads 0", "threads: expected a whole number from 1 to 4096, but got 0"),
    ("{} --kind circuit", "--kind: unknown option; did you mean '--kinds'?"),
]


@pytest.mark.parametrize(("words", "text"), BAD, ids=[words for words, _ in BAD])
def test_bad_input_is_one_sentence(folder: Path, capsys: Out, words: str, text: str) -> None:
    assert main(["report", *words.format(folder).split()]) == 2
    out, error = capsys.readouterr()
    assert (out, error.count("\n")) == ("", 1)
    assert error.startswith("dynascope: ")
    assert text in error


def test_help(capsys: Out) -> None:
    assert main(["report", "--help"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("usage: dynascope report FOLDER [option ...]")
    assert max(map(len, printed.splitlines())) <= 80


def test_imports_stay_light() -> None:
    code = "import dynascope.analysis, dynascope.findings.make_analyses, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pyarrow", "scipy", "duckdb", "pandas"} & set(done.stdout.split())
