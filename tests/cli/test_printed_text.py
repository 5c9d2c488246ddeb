"""Text of other people's, wherever it comes from, is printed as text: nothing in it is obeyed."""

import ast
import csv
import dataclasses
import io
import json
import re
import shutil
import unicodedata
from pathlib import Path

import pytest
from authors_runs import SAMPLES
from command_line import short
from hypothesis import given
from hypothesis import strategies as st
from processes import COMMAND, environment, finished

import dynascope as ds
from dynascope.analysis_row import Row
from dynascope.cli import main
from dynascope.cli.query import _csv_cell
from dynascope.cli.report_run import RunReport
from dynascope.printing import printable
from dynascope.store.sidecar import make_sidecar

pytestmark = pytest.mark.filterwarnings("always")  # as commands have them

# A window's title, a colour, a bell, lines that begin again, deleted letters, swapped and hidden
# ones, C1 controls, rich's markup and emoji, separators of lines.
EVIL = (
    "=1+1\x1b]0;owned\x07\x1b[31mred\x1b[2J\r\nforged\b\x7f\x00\x9b31m\u202egnp.\u2066x\u2069"
    "\u200b\u200d\ufeff\u2028\u3164[red]loud[/red]:skull:"
)
NAME = EVIL.replace("\x00", "")[:60]  # what a file can be called
OURS = re.compile(r"\x1b\[(0|1|32|1;32)m")  # that rich writes for us, on a terminal


def hidden(text: str) -> list[str]:
    """What a terminal would obey or not show."""
    shown = OURS.sub("", text).replace("\n", "")
    return [c for c in shown if unicodedata.category(c)[0] == "C" or c in "\u2028\u2029\u3164"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with such a text in every place that takes one."""
    folder = tmp_path_factory.mktemp("printed") / NAME
    ds.train(short(), seeds=2, progress=False).save(folder)
    runs = ds.load(folder)
    runs.note(EVIL)
    known = runs.table(["id", "checksum"])
    # Of what analyses found, only notes are free texts: a reader refuses others.
    rows = [Row({}, dict.fromkeys(("circuit", "phases", "spikes"), EVIL))] * len(known)
    made = make_sidecar(known["id"].to_pylist(), known["checksum"].to_pylist(), rows, batch=1)
    made.write(folder)
    for place in ("runs", "marks", "analyses", "trajectories"):
        (folder / place / f"{NAME}.parquet").write_bytes(b"PAR1")
        (folder / place / f"{NAME}.json").write_text(json.dumps({"format": EVIL}))
    (folder / "sweep.json").write_text(json.dumps({EVIL: EVIL, "format": 1, "stages": [EVIL]}))
    return folder


@pytest.fixture
def authors(tmp_path: Path) -> Path:
    """A run of the authors' code under such a name, with such an id."""
    sample = next(SAMPLES.glob("*/config.json")).parent
    shutil.copytree(sample, tmp_path / NAME)
    config = json.loads((sample / "config.json").read_text())
    (tmp_path / NAME / "config.json").write_text(json.dumps({**config, "id": EVIL}))
    return tmp_path / NAME


ALIASED = 'SELECT id, note, analysis_note, verdict, note AS "{}" FROM runs'.format(
    EVIL.replace("\x00", "")
)
PIVOTED = "PIVOT (SELECT note, seed FROM runs) ON note USING count(*)"
COMMANDS: dict[str, list[str]] = {
    "query": ["query", "{}", ALIASED],
    "query, names from values": ["query", "{}", PIVOTED],
    "query --csv": ["query", "{}", ALIASED, "--csv"],
    "query --csv, names from values": ["query", "{}", PIVOTED, "--csv"],
    "query --json": ["query", "{}", ALIASED, "--json"],
    "query, lists and structs": ["query", "{}", "SELECT [note], {{'a': note}} FROM runs"],
    "query --csv, lists": ["query", "{}", "SELECT [note], encode(note) FROM runs", "--csv"],
    "query, wrong": ["query", "{}", f"SELECT '{NAME}' FROM {NAME}"],
    "query, its own error": ["query", "{}", "SELECT error(note) FROM runs"],
    "query --strict": ["query", "{}", "SELECT 1", "--strict"],
    "report": ["report", "{}"],
    "report --json": ["report", "{}", "--json"],
    "report --where": ["report", "{}", "--where", f"note = '{NAME}'"],
    "report one": ["report", "{}", "--run", "seed=0"],
    "report nobody": ["report", "{}#" + NAME],
    "check": ["check", "{}"],
    "tag": ["tag", "{}", "good", "--all"],
    "tag, wrong": ["tag", "{}", EVIL, "--all"],
    "note": ["note", "{}", EVIL, "--all"],
    "delete": ["delete", "{}#seed=1"],
    "restore": ["restore", "{}", "--all"],
    "merge": ["merge", "{}", "--out", "{}-merged"],
    "merge, taken": ["merge", "{}", "--out", "{}"],
    "sweep --status": ["sweep", "--status", "{}"],
    "sweep": ["sweep", "{}", "--out", "{}"],
    "show": ["show", "{}#" + NAME],
    "show, elsewhere": ["show", "{}", "--host", NAME],
    "train": ["train", "--epochs", "1", "--out", "{}-trained"],
    "train, taken": ["train", "--epochs", "1", "--out", "{}"],
    "train --from": ["train", "--from", "{}#" + NAME],
    "train --set": ["train", "--set", f"x{NAME[4:]}=1"],
    "train --config": ["train", "--config", "{}"],
    "figure": ["figure", "panels", "{}#seed=0", "--panels", "loss", "-o", "{}.svg"],
    "figure, no layout": ["figure", NAME, "{}", "-o", "x.svg"],
    "figure, no panel": ["figure", "panels", "{}#seed=0", "--panels", NAME, "-o", "{}.svg"],
    "no command": [NAME],
    "no option": ["query", "{}", "SELECT 1", f"--{NAME[4:]}"],
    "no folder": ["check", "{}/" + NAME],
}


@pytest.mark.parametrize("colours", [False, True])
@pytest.mark.parametrize("case", COMMANDS)
def test_every_command(
    store: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    case: str,
    colours: bool,
) -> None:
    folder = tmp_path / NAME
    shutil.copytree(store, folder)
    if colours:
        monkeypatch.setenv("FORCE_COLOR", "1")
    arguments = [word.replace("{}", str(folder)).replace("{{", "{") for word in COMMANDS[case]]
    main([word.replace("}}", "}") for word in arguments])
    told = capsys.readouterr()
    assert told.out + told.err
    assert r"\x1b]0;owned\x07" in (told.out + told.err).replace("\\u00", "\\x")
    assert hidden(told.out + told.err) == []
    assert not re.search(r"^forged", told.out + told.err, re.MULTILINE)
    assert "Traceback" not in told.err


@pytest.mark.parametrize("case", [name for name in COMMANDS if name.startswith("report")][:2])
def test_what_analyses_say_is_part_of_it(
    store: Path, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    main([word.replace("{}", str(store)) for word in COMMANDS[case]])
    assert "owned" in capsys.readouterr().out.replace(str(store.name), "")


def test_marks_and_markup_are_shown(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", str(store), "SELECT right(note, 23) AS x FROM runs LIMIT 1"]) == 0
    assert r"\u3164[red]loud[/red]:skull:" in capsys.readouterr().out


def test_authors_runs(authors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(authors), "--out", f"{authors}-imported"]) == 2
    told = capsys.readouterr().err
    assert "id: expected a text" in told
    assert hidden(told) == []


def test_as_a_process(store: Path) -> None:
    """Warnings among it, which come before and after all else."""
    for command in (["check", str(store)], ["query", str(store), "FROM runs", "--csv"]):
        done = finished([*COMMAND, *command], env=environment(PYTHONIOENCODING="utf-8"))
        assert "damaged" in done.stdout + done.stderr
        assert hidden(done.stdout + done.stderr) == []


def test_options_of_a_later_version(capsys: pytest.CaptureFixture[str]) -> None:
    run = ds.train(short(), seeds=[0], progress=False)[0]
    unknown = dataclasses.replace(run, unknown_options={EVIL: EVIL})
    RunReport(unknown, 0, {}, {"circuit": EVIL}).print()
    told = capsys.readouterr().out
    assert "does not know" in told
    assert hidden(told) == []


def test_errors_are_printable_wherever_they_are_shown() -> None:
    assert hidden(str(ds.DynascopeError(f"{EVIL}: gone."))) == []


class TestCsv:
    def test_json_is_exact_and_csv_can_be_read_back(
        self, store: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        sql = "SELECT note, -1.5 AS x, seed FROM runs ORDER BY seed LIMIT 1"
        assert main(["query", str(store), sql, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"note": EVIL, "x": -1.5, "seed": 0}
        assert main(["query", str(store), sql, "--csv"]) == 0
        rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
        assert rows == [["note", "x", "seed"], [f"'{printable(EVIL)}", "-1.5", "0"]]

    @given(st.text())
    def test_no_text_is_a_formula_and_each_comes_back(self, text: str) -> None:
        cell = _csv_cell(text)
        assert not cell.strip().startswith(tuple("=+-@"))
        assert not re.search(r"[\t\r\n]", cell)
        assert cell.removeprefix("'") == printable(text)


@given(st.text(st.characters(exclude_categories=[])))
def test_printable(text: str) -> None:
    shown = printable(text)
    assert hidden(shown) == []
    assert "\n" not in shown
    assert printable(shown) == shown


SOURCES = sorted(Path(ds.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_all_printing_goes_one_way(path: Path) -> None:
    """By the `print` of `printing`, a line per argument, or by the console that knows it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {
        name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "dynascope.printing"
        for name in node.names
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        if called == "print":
            assert "print" in imported, f"{path}:{node.lineno}"
            texts = [n.value for a in node.args for n in ast.walk(a) if isinstance(n, ast.Constant)]
            assert not [text for text in texts if isinstance(text, str) and "\n" in text]
        assert called not in ("sys.stdout.write", "sys.stderr.write"), f"{path}:{node.lineno}"
        if called.endswith("Console") and path.name != "run_table.py":
            assert path.name == "progress.py", f"{path}:{node.lineno}"
