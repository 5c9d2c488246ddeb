"""Without any extra you can train, save, load, report, tag and export; what needs more says in one
sentence which command adds it."""

import sys
from pathlib import Path

import pytest
from clean_environment import CORE, clean_environment
from processes import finished

TRAIN_AND_LOOK = """
import sys
import dynascope as ds
from dynascope.analysis import circuit, phases, spikes, story
runs = ds.train({"training.epochs": 60}, seeds=range(12, 16), progress=False)
run = runs.by_seed(15)
for told in (circuit(run.parameters(), run.config).sum, phases(run), spikes(run)):
    assert told.describe()
assert story(run)
runs.save(sys.argv[1])
loaded = ds.load(sys.argv[1])
loaded.analyse(progress=False)
loaded.tag("seen")
assert loaded.table(["seed", "accuracy"]).num_rows == 4
print(sorted({"scipy", "duckdb", "ruptures"} & set(sys.modules)))
"""


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return clean_environment(tmp_path_factory.mktemp("core"), CORE)


@pytest.fixture(scope="module")
def store(core: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stores") / "four"
    done = finished([sys.executable, "-c", TRAIN_AND_LOOK, str(folder)], env=core)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
    return folder


@pytest.mark.parametrize(
    "command",
    [
        "train --seeds 3 --epochs 20 --out {store}-more",
        "report {store}",
        "report {store}#seed=15",
        "tag {store}#seed=15 good",
        "note {store}#seed=15 solved",
        "check {store}",
        "delete {store}#seed=12",
        "restore {store}#seed=12",
        "sweep --example",
        "export {store}#seed=15 -o {store}.html",
        "show --help",
        "demo --help",
    ],
)
def test_commands_work(command: str, core: dict[str, str], store: Path) -> None:
    words = command.format(store=store).split()
    done = finished([sys.executable, "-m", "dynascope", *words], env=core)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["query", "{store}", "SELECT seed FROM runs"], "query: duckdb {}[sql]'."),
        (["report", "{store}", "--where", "seed = 15"], "query: duckdb {}[sql]'."),
        (["tag", "{store}", "good", "--where", "seed = 15"], "query: duckdb {}[sql]'."),
        (["study", "two-phase"], "study: scipy {}[study]'."),
        (["figure", "phases", "{store}#seed=15", "-o", "x.pdf"], "plots: matplotlib {}[plots]'."),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_what_needs_more_says_how_to_add_it(
    words: list[str], sentence: str, core: dict[str, str], store: Path, tmp_path: Path
) -> None:
    given = [word.format(store=store) for word in words]
    done = finished([sys.executable, "-m", "dynascope", *given], env=core, cwd=tmp_path)
    wanted = sentence.format("is not installed; run: pip install 'dynascope")
    assert (done.returncode, done.stderr) == (2, f"dynascope: {wanted}\n")


PYTHON = {
    "query": ("ds.load(folder).where('seed = 15')", "query: duckdb {}[sql]'."),
    "study": ("ds.study('two-phase')", "study: scipy {}[study]'."),
    "theory": ("ds.theory.escape.chance_of(0.5, 1, 3)", "theory: scipy {}[theory]'."),
}


@pytest.mark.parametrize(("code", "sentence"), PYTHON.values(), ids=PYTHON)
def test_python_says_so_too(code: str, sentence: str, core: dict[str, str], store: Path) -> None:
    begin = f"import dynascope as ds, dynascope.theory.escape; folder = {str(store)!r}; "
    done = finished([sys.executable, "-c", begin + code], env=core)
    wanted = sentence.format("is not installed; run: pip install 'dynascope")
    assert done.stderr.strip().splitlines()[-1].endswith(f"DynascopeError: {wanted}")
