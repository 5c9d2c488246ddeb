"""What analyses find, kept beside the runs: right, once, whole or named, read only if asked for.

Sweeps that analyse are here too; what Ray adds is in test_ray.py, the command in test_report.py.
"""

import ast
import hashlib
import inspect
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from sweeping import bits, same, shards, start, toml, twice
from test_sweep_faults import namespaces, wait_for

import dynascope as ds
from dynascope.analysis import rows as rows_module
from dynascope.analysis import thresholds
from dynascope.analysis.circuit import circuit
from dynascope.analysis.phases import phases
from dynascope.analysis.rows import COLUMNS, KINDS, VERSIONS
from dynascope.analysis.spikes import spikes
from dynascope.cli import main
from dynascope.engine import Job
from dynascope.store import analysing
from dynascope.store.analyses import SHOWN
from dynascope.store.parquet_file import footer_length
from dynascope.store.schema import SCHEMA
from dynascope.store.shard_read import Shard
from dynascope.store.sidecar import Sidecar
from dynascope.store.tables import MARKS
from dynascope.store.tensors import DamagedError
from dynascope.sweeps import parcel

TINY: dict[str, Any] = {
    "training.epochs": 30,
    "task.length": 5,
    "task.relevant": 2,
    "task.train_size": 32,
    "task.test_size": 16,
    "training.batch": 8,
    "model.hidden": 4,
}
NAMES = [name for kind in KINDS for name in COLUMNS[kind]]
ALL = [*NAMES, "analysed", "analysis_note"]


def train(changes: dict[str, Any] | None = None, seeds: Any = 3, **more: Any) -> ds.Runs:
    config = ds.Config().replace(TINY | (changes or {}))
    return ds.train(config, seeds, progress=False, **more)


@lru_cache
def three() -> ds.Runs:
    return train()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three runs that nobody has analysed."""
    three().save(tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture(scope="module")
def analysed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("analysed") / "store"
    three().save(path)
    ds.load(path).analyse(progress=False)
    return path


@pytest.fixture
def analysed(analysed_once: Path, tmp_path: Path) -> Path:
    """Three runs with one sidecar."""
    shutil.copytree(analysed_once, tmp_path / "analysed")
    return tmp_path / "analysed"


def found(source: Any, names: list[str] = ALL) -> list[dict[str, Any]]:
    runs = source if isinstance(source, ds.Runs) else ds.load(source)
    return runs.table(names).to_pylist()


def sidecars(folder: Path) -> list[Path]:
    return sorted((folder / "analyses").glob("*"))


def only(folder: Path) -> Path:
    (file,) = sidecars(folder)
    return file


def refuse(*args: object, **kwargs: object) -> None:
    raise AssertionError("it was there already")


# ---- values -------------------------------------------------------------------------------------


def test_columns_have_names_of_their_own() -> None:
    names = [*SCHEMA.names, *MARKS, *SHOWN]
    assert len({name.casefold() for name in names}) == len(names)
    assert inspect.signature(ds.Runs.analyse).parameters["kinds"].default == KINDS
    assert set(VERSIONS) == set(COLUMNS) == set(KINDS)


# The thresholds that decide what each kind finds, as they are in this version of the kind.
THRESHOLDS = {
    "circuit": (1, "9a6a6895f735"),
    "phases": (1, "ada7f5716714"),
    "spikes": (1, "16d8e8cb7728"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_other_thresholds_are_another_version(kind: str) -> None:
    """Else rows that were decided by the old ones would count beside those of the new."""
    text = Path(thresholds.__file__).read_text()
    begin = re.search(rf"^# ---- {kind} -+$", text, re.MULTILINE)
    assert begin
    section = text[begin.end() :].partition("\n# ----")[0]
    numbers = ast.unparse(ast.parse(section))  # without comments
    assert numbers.count(" = ") > 3
    now = VERSIONS[kind], hashlib.sha256(numbers.encode()).hexdigest()[:12]
    assert now == THRESHOLDS[kind], (
        f"thresholds of {kind} have changed: raise VERSIONS[{kind!r}] in analysis/rows.py (unless "
        f"no row of that version was ever released), and put {now} with that version into "
        "THRESHOLDS here"
    )


def test_values_are_those_of_the_analyses() -> None:
    runs = train({"task.length": 8, "training.lr": 0.02, "training.epochs": 150}, seeds=4)
    table = runs.analyse(progress=False)
    assert table.column_names == ["id", "seed", *NAMES, "analysis_note"]
    for row, run in zip(table.to_pylist(), runs, strict=True):
        here = circuit(run.parameters(), run.config)
        assert (row["id"], row["seed"], row["analysis_note"]) == (run.id, run.seed, None)
        assert row["verdict"] == here.verdict.name
        assert row["verdict_margin"] == here.verdict.margin
        assert row["culprits"] == list(here.verdict.culprits)
        assert row["exact_accuracy"] == here.accuracy
        assert here.embedding is not None
        shares = [row[f"{name}_share"] for name in ("between", "permutation", "suffix")]
        assert sum(shares) == pytest.approx(1, abs=1e-9)
        assert shares[0] == here.embedding.between
        assert row["clusters"] == here.clusters
        assert row["relevant_attention"] == here.relevant_attention
        course = phases(run)
        assert row["drops"] == [drop.epoch for drop in course.by_slope]
        assert row["drops_agree"] == course.agree
        both = row["clustered_epoch"], row["fitted_epoch"]
        assert both == (course.clustered_epoch, course.fitted_epoch)
        assert row["lead"] == (None if None in both else both[1] - both[0])
        loss = spikes(run).spikes
        assert row["spikes"] == len(loss) == len(row["spike_causes"])
        assert row["spike_epochs"] == [spike.peak for spike in loss]
        assert row["spike_rises"] == [spike.rise for spike in loss]


def test_stored_runs_answer_as_those_in_memory(folder: Path) -> None:
    fresh = three().analyse(progress=False)
    assert found(folder) == [dict.fromkeys(ALL)] * 3
    kept = ds.load(folder).analyse(progress=False)
    assert kept.equals(fresh)
    assert ds.load(folder).analyse(progress=False).equals(fresh)
    assert ds.load(folder).table(kept.column_names).equals(fresh)
    assert [row["analysed"] for row in found(folder)] == [list(KINDS)] * 3


def test_a_kind_at_a_time(folder: Path) -> None:
    runs = ds.load(folder)
    assert runs.analyse("spikes", progress=False).column_names == [
        *("id", "seed", *COLUMNS["spikes"]),
        "analysis_note",
    ]
    runs[1:].analyse(["circuit", "spikes"], progress=False)
    assert [row["analysed"] for row in found(runs)] == [["spikes"], *[["circuit", "spikes"]] * 2]
    runs.analyse(progress=False)
    assert len(sidecars(folder)) == 3
    made = [pq.read_table(file)["analysed"].to_pylist() for file in sidecars(folder)]
    assert sorted(len(kinds) for each in made for kinds in each) == [*[1] * 7, 2]
    whole = three().analyse(progress=False)
    assert runs.table(whole.column_names).equals(whole)


def test_nothing_is_made_twice(analysed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {file: file.stat().st_mtime_ns for file in sidecars(analysed)}
    monkeypatch.setattr(analysing, "make", refuse)
    ds.load(analysed).analyse(progress=False)
    ds.load(analysed)[1:].analyse("phases", progress=False)
    assert {file: file.stat().st_mtime_ns for file in sidecars(analysed)} == before


def test_threads_change_nothing(folder: Path, tmp_path: Path) -> None:
    three().save(tmp_path / "other")
    one = ds.load(folder).analyse(threads=1, progress=False)
    assert one.equals(ds.load(tmp_path / "other").analyse(threads=2, progress=False))


NOTES: list[tuple[str, Callable[[], ds.Runs], str, str]] = [
    (
        "weights not kept",
        lambda: train({"record.weights_every": 0}, 1),
        "phases",
        "phases: record.weights_every is 0; phases need it",
    ),
    (
        "own data",
        lambda: train(data=ds.Data(train=ds.dataset(ds.Config().replace(TINY).task, 5)), seeds=1),
        "circuit",
        "circuit, phases: expected one of sparse modular addition, but it has data of its own",
    ),
]


@pytest.mark.parametrize("case", NOTES, ids=[case[0] for case in NOTES])
def test_what_cannot_be_made_is_null_with_a_note(
    case: tuple[str, Callable[[], ds.Runs], str, str], tmp_path: Path
) -> None:
    _, make, kind, note = case
    runs = make()
    runs.save(tmp_path / "runs")
    for source in (runs, ds.load(tmp_path / "runs"), ds.load(tmp_path / "runs")):
        (row,) = source.analyse(progress=False).to_pylist()
        assert row["analysis_note"].startswith(note)
        assert not row["analysis_note"].endswith(".")
        assert [row[name] for name in COLUMNS[kind]] == [None] * len(COLUMNS[kind])
        other = next(each for each in ("spikes", "circuit") if each != kind)
        assert None not in [row[name] for name in COLUMNS[other]]
    assert len(sidecars(tmp_path / "runs")) == 1


def test_a_run_that_diverged_is_analysed_up_to_there() -> None:
    wild = {"training.lr": 1e4, "training.optimizer": "sgd", "model.norm": "none"}
    (run,) = train(wild, [0])
    assert run.diverged
    (row,) = ds.Runs([run]).analyse(progress=False).to_pylist()
    told = f"diverged at epoch {run.diverged}: analysed up to {run.diverged - 1}"
    assert told in row["analysis_note"]
    assert row["verdict"] == circuit(run.parameters(run.diverged - 1), run.config).verdict.name


def test_an_imported_run_has_a_circuit() -> None:
    """It cannot be replayed, so only what needs that is missing."""
    (run,) = train(seeds=1)
    imported = ds.Run(**(vars(run) | {"origin": ds.Origin("import", "0" * 20)}))
    (row,) = ds.Runs([imported]).analyse(progress=False).to_pylist()
    assert row["verdict"] == circuit(run.parameters(), run.config).verdict.name


# ---- failures -----------------------------------------------------------------------------------


FAILURES = [np.linalg.LinAlgError("SVD did\nnot converge"), MemoryError()]


@pytest.fixture(params=FAILURES, ids=["LinAlgError", "MemoryError"])
def failing(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], list[tuple[int, str]]]:
    """The circuit of seed 1 fails; what is returned counts which analyses were made since then."""
    made: list[tuple[int, str]] = []

    def maker(kind: str, real: Callable[[ds.Run], Any]) -> Callable[[ds.Run], Any]:
        def make(run: ds.Run) -> Any:
            made.append((run.seed, kind))
            if (run.seed, kind) == (1, "circuit"):
                raise request.param
            return real(run)

        return make

    for kind, real in rows_module._MAKERS.items():
        monkeypatch.setitem(rows_module._MAKERS, kind, maker(kind, real))

    def take() -> list[tuple[int, str]]:
        taken = made.copy()
        made.clear()
        return taken

    return take


def _told(run: ds.Run) -> str:
    why = r"\((LinAlgError: SVD did not converge|MemoryError)\)"
    return f"run {run.id}: its circuit could not be analysed {why}"


WITHOUT = [list(KINDS), ["phases", "spikes"], list(KINDS)]  # of three runs, that of seed 1 failed


def test_a_failure_is_no_note_and_costs_nothing_else(
    folder: Path, failing: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for tried in (9, 1):
        with pytest.raises(ds.DynascopeError, match=_told(three()[1])) as caught:
            ds.load(folder).analyse(threads=1, progress=False)
        assert caught.value.code == 1
        assert str(caught.value).endswith("is kept, and the same again tries the rest.")
        assert len(failing()) == tried
        assert [row["analysed"] for row in found(folder)] == WITHOUT
    assert main(["report", str(folder)]) == 1
    with pytest.raises(ds.DynascopeError, match=_told(three()[1])):
        three().analyse(progress=False)
    with pytest.raises(ds.DynascopeError, match=_told(three()[1])):
        rows_module.analyse(three()[1])
    monkeypatch.undo()
    assert ds.load(folder).analyse(progress=False).equals(three().analyse(progress=False))


def test_a_failure_does_not_stop_a_sweep(
    tmp_path: Path,
    failing: Callable[[], Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    grid, folder = tmp_path / "grid.toml", tmp_path / "runs"
    grid.write_text(toml(GRID))
    for tried in (36 + 4, 4):  # four runs have seed 1, and what has failed is tried once more
        assert main(["sweep", str(grid), "--out", str(folder), "--quiet"]) == 1
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert "its circuit could not be analysed" in error
        assert "and 3 more such; all else is done and kept, and the same sweep again" in error
        assert len(failing()) == tried
        runs = ds.load(folder, strict=True)
        assert [row["analysed"] for row in found(runs)] == WITHOUT * 4
    monkeypatch.undo()
    ds.sweep(GRID, folder, progress=False)
    alone = ds.Runs(list(runs)).analyse(progress=False)
    assert ds.load(folder).table(alone.column_names).equals(alone)


def test_damage_is_mended_in_spite_of_failures(tmp_path: Path, failing: Callable[[], Any]) -> None:
    grid, folder = {key: PLAIN[key] for key in ("seeds", "base", "grid")}, tmp_path / "runs"
    runs = ds.sweep(grid, folder, progress=False, shard_seconds=1e-4)
    file = runs[0].file
    file.write_bytes(_flipped(contents := file.read_bytes(), len(contents) - 1))
    with (
        pytest.warns(ds.DamageWarning, match="put aside"),
        pytest.raises(ds.DynascopeError, match="could not be analysed"),
    ):
        ds.sweep(grid | {"analyse": list(KINDS)}, folder, progress=False)
    assert [row["analysed"] for row in found(ds.load(folder, strict=True))] == WITHOUT * 2


@pytest.mark.parametrize("shared", [False, True])
def test_a_failure_costs_a_parcel_nothing_else(
    tmp_path: Path, failing: Callable[[], Any], shared: bool
) -> None:
    """What a worker of a cluster does, done here."""
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "sweep.json").write_text("{}")
    place = parcel.Shared.of(folder) if shared else None
    jobs = tuple(Job(run.config, run.seed) for run in three())
    sent = parcel.Parcel(jobs, (0, 1, 2), 1, place, ("circuit",))
    made = parcel.make(ds.__version__, pickle.dumps(sent))
    if isinstance(made, parcel.Staged):
        made.adopt(place)
    else:
        made.write(folder, folder)
    runs = ds.load(folder)
    whole = ds.Runs([three()[0], three()[2]]).analyse("circuit", progress=False).to_pylist()
    assert [row["analysed"] for row in found(runs)] == [["circuit"], None, ["circuit"]]
    assert found(runs, [*whole[0]])[::2] == whole


@pytest.mark.parametrize(
    ("kinds", "text"),
    [
        ("circut", "kinds: expected circuit, phases or spikes, but got 'circut'; did you mean"),
        (["phases", 3], "kinds: expected circuit, phases or spikes, but got 3"),
        (3, "kinds: expected circuit, phases or spikes, or a list of them, but got 3"),
    ],
)
def test_bad_kinds(kinds: Any, text: str) -> None:
    with pytest.raises(ds.DynascopeError, match=text):
        three().analyse(kinds, progress=False)


# ---- asked for only where they are needed -------------------------------------------------------


def test_questions_that_do_not_name_them_do_not_open_them(analysed: Path) -> None:
    """Every sidecar is damaged; warnings are errors here."""
    only(analysed).write_bytes(b"not what you think")
    runs = ds.load(analysed, strict=True)
    assert ds.query(runs, "SELECT max(seed) AS m FROM runs").to_pylist() == [{"m": 2}]
    assert len(runs.where("accuracy >= 0")) == 3
    assert runs.table(["seed", "tags", "test_loss"]).num_rows == 3
    with pytest.raises(ds.DynascopeError, match=only(analysed).name):
        ds.query(runs, "SELECT verdict FROM runs")


def test_only_the_columns_in_question_are_read(analysed: Path) -> None:
    file = only(analysed)
    ranges = Sidecar.open(file)._ranges
    contents = bytearray(file.read_bytes())
    for name in set(NAMES) - {"verdict", "lead"}:
        for begin, end in ranges[name]:
            contents[begin:end] = b"\xff" * (end - begin)
    file.write_bytes(contents)
    runs = ds.load(analysed, strict=True)
    assert runs.table(["verdict", "lead", "analysed"])["verdict"].null_count == 0
    with pytest.raises(ds.DynascopeError, match="its column clusters is not the one"):
        runs.table(["clusters"])


@pytest.mark.parametrize("name", ["verdict", "spikes", "analysed", "analysis_note"])
def test_runs_in_memory_have_none(name: str) -> None:
    """An empty column would be an answer: that no run is so."""
    text = f"^{name}: expected stored runs, .* analyses are kept of stored runs only: save them"
    for ask in (
        lambda: three().table(["seed", name]),
        lambda: three().where(f"seed = 0 OR {name} IS NOT NULL"),
        lambda: ds.query(three(), f"SELECT count({name}) FROM runs"),
        lambda: ds.query(three(), f"SELECT 1; SELECT r.{name.upper()} FROM runs r"),
    ):
        with pytest.raises(ds.DynascopeError, match=text):
            ask()
    assert ds.query(three(), "SELECT * FROM runs").num_rows == three().table().num_rows == 3
    with pytest.raises(ds.DynascopeError, match='column "verdicts" not found'):
        three().where("verdicts = 1")


def test_sql(analysed: Path) -> None:
    counted = ds.query(analysed, "SELECT verdict, count(*) AS n FROM runs GROUP BY verdict")
    told = [circuit(run.parameters(), run.config).verdict.name for run in three()]
    assert {row["verdict"]: row["n"] for row in counted.to_pylist()} == {
        name: told.count(name) for name in told
    }
    some = ds.load(analysed).where("len(spike_epochs) = spikes AND lead IS NULL")
    assert len(some) == sum(phases(run).lead is None for run in three())
    assert len(ds.load(analysed).where("verdict = 'no such thing'")) == 0


def test_without_dynascope(analysed: Path) -> None:
    """The query of FORMAT.md."""
    import duckdb

    text = (Path(ds.__file__).parent / "store/FORMAT.md").read_text()
    sql = text.partition("    SELECT verdict")[2].partition("\n\n")[0]
    rows = duckdb.sql("SELECT verdict" + sql.replace("store/", f"{analysed}/")).fetchall()
    assert sum(count for _, count, _ in rows) == 3


# ---- which rows count ---------------------------------------------------------------------------


def test_rows_of_another_version_are_made_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(VERSIONS, "circuit", VERSIONS["circuit"] + 1)
        patch.setitem(rows_module._MAKERS, "circuit", lambda run: {"verdict": "of another time"})
        ds.load(folder).analyse(progress=False)
        assert {row["verdict"] for row in found(folder)} == {"of another time"}
    rows = found(folder)
    assert [row["analysed"] for row in rows] == [["phases", "spikes"]] * 3
    assert [row["verdict"] for row in rows] == [None] * 3
    fresh = three().analyse(progress=False)
    assert ds.load(folder).analyse(progress=False).equals(fresh)


def test_the_newest_row_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that analyse the same at the same time is no harm, whatever each found."""
    runs = ds.load(folder)
    lacks = analysing.lacking(runs, ["circuit"])
    for verdict in ("older", "newer"):
        monkeypatch.setattr(analysing, "lacking", lambda *_: lacks)
        monkeypatch.setitem(rows_module._MAKERS, "circuit", lambda run, v=verdict: {"verdict": v})
        analysing.complete(runs, ["circuit"])
    assert len(sidecars(folder)) == 2
    assert {row["verdict"] for row in found(folder)} == {"newer"}


_ONE_MORE = """
import json, sys
from dynascope.analysis import rows
rows.COLUMNS["circuit"] |= {"one_more": "double", "clusters": "list<string>"}
real = rows._MAKERS["circuit"]
rows._MAKERS["circuit"] = lambda run: real(run) | {"one_more": 1.0, "clusters": ["a"]}
if "raised" in sys.argv:
    rows.VERSIONS["circuit"] += 1
import dynascope as ds
from dynascope.cli import main
def known():
    names = ["analysed", "one_more", "clusters", "drops_agree"]
    return ds.load(sys.argv[1], strict=True).table(names).to_pydict()
assert main(["check", sys.argv[1]]) == 0
told = [known(), ds.load(sys.argv[1]).table().num_rows]
ds.load(sys.argv[1], strict=True).analyse(progress=False)
print(json.dumps([*told, known()]))
"""


@pytest.mark.parametrize("version", ["raised", "forgotten"])
def test_a_column_more(analysed: Path, tmp_path: Path, version: str) -> None:
    """By the next dynascope: what it measures anew is made again, the rest still counts."""
    script = [sys.executable, "-W", "error", "-c", _ONE_MORE, str(analysed), version]
    done = subprocess.run(script, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    before, rows, after = json.loads(done.stdout.splitlines()[-1])
    agree = [phases(run).agree for run in three()]
    nothing = {"one_more": [None] * 3, "clusters": [None] * 3}
    assert before == {"analysed": [["phases", "spikes"]] * 3, **nothing, "drops_agree": agree}
    all_of_it = {"one_more": [1.0] * 3, "clusters": [["a"]] * 3}
    assert after == {"analysed": [list(KINDS)] * 3, **all_of_it, "drops_agree": agree}
    assert rows == 3
    newest = max(sidecars(analysed), key=lambda file: Sidecar.open(file).about["batch"])
    assert pq.read_table(newest)["analysed"].to_pylist() == [["circuit"]] * 3
    if version == "raised":  # and back again: what was found first still counts here
        assert found(ds.load(analysed, strict=True))[0]["analysed"] == list(KINDS)
        assert main(["check", str(analysed)]) == 0


def test_an_older_format_is_no_damage(
    analysed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = found(analysed)
    monkeypatch.setattr("dynascope.store.sidecar.FORMAT", 2)
    assert found(ds.load(analysed, strict=True)) == [dict.fromkeys(ALL)] * 3
    assert main(["check", str(analysed)]) == 0
    ds.load(analysed).save(tmp_path / "copy")
    assert not sidecars(tmp_path / "copy")
    ds.load(analysed, strict=True).analyse(progress=False)
    assert found(ds.load(analysed, strict=True)) == whole
    assert len(sidecars(analysed)) == 2


def test_a_damaged_column_leaves_no_hole(analysed: Path) -> None:
    whole, file = found(analysed), only(analysed)
    (at, _), *_ = Sidecar.open(file)._ranges["spike_rises"]
    file.write_bytes(_flipped(file.read_bytes(), at))
    with pytest.warns(ds.DamageWarning, match="its column spike_rises is not the one"):
        again = ds.load(analysed).analyse(progress=False)
    assert again.equals(three().analyse(progress=False))
    with pytest.warns(ds.DamageWarning):
        assert found(analysed) == whole


def test_a_run_that_goes_further_is_another_matter(tmp_path: Path) -> None:
    """It has the same id, but what was found of it when it was shorter is not what it is."""
    trainer = ds.Trainer(three()[0].config, seed=0)
    trainer.advance(3)
    ds.Runs([trainer.run]).save(tmp_path / "runs")
    ds.load(tmp_path / "runs").analyse(progress=False)
    three()[:1].save(tmp_path / "runs", append=True)
    (row,) = found(tmp_path / "runs")
    assert row == dict.fromkeys(ALL)
    whole = three()[:1].analyse(progress=False)
    assert ds.load(tmp_path / "runs").analyse(progress=False).equals(whole)


def test_merging_and_saving_take_them_along(
    analysed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(seeds=[7]).save(tmp_path / "more")
    ds.merge([analysed, tmp_path / "more"], tmp_path / "both")
    ds.load(analysed)[1:].save(tmp_path / "some")
    ds.load(analysed)[:1].save(tmp_path / "more", append=True)
    whole = found(analysed)
    assert found(tmp_path / "both") == [*whole, dict.fromkeys(ALL)]
    assert found(tmp_path / "some") == whole[1:]
    assert found(tmp_path / "more") == [dict.fromkeys(ALL), whole[0]]
    assert main(["check", str(tmp_path / "both")]) == 0


def test_any_selection_takes_them_along(analysed: Path, tmp_path: Path) -> None:
    """Also one made by hand, of runs of several stores."""
    train(seeds=[7]).save(tmp_path / "more")
    ds.load(tmp_path / "more").analyse("spikes", progress=False)
    ds.load(analysed).tag("good")
    more = train(seeds=[8])
    some = [run for run in ds.load(analysed) if run.seed != 1]
    ds.Runs([*some, *ds.load(tmp_path / "more"), *more]).save(tmp_path / "some")
    new = ds.load(tmp_path / "some", strict=True)
    assert new.table(["tags"])["tags"].to_pylist() == [["good"], ["good"], [], []]
    whole = [found(analysed)[0], found(analysed)[2], *found(tmp_path / "more")]
    assert found(new) == [*whole, dict.fromkeys(ALL)]


# ---- damage -------------------------------------------------------------------------------------


def _changed(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda file: file.write_bytes(change(file.read_bytes())) and None


def _flipped(contents: bytes, at: int) -> bytes:
    return contents[:at] + bytes([contents[at] ^ 8]) + contents[at + 1 :]


def _newer(file: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dynascope.store.sidecar.FORMAT", 2)
        file.unlink()
        store = file.parent.parent
        patch.setattr("dynascope.store.sidecar.Sidecar.open", refuse)
        runs = ds.load(store)
        lacks = [
            analysing.Lack(i, row["id"], row["checksum"], 30, KINDS)
            for i, row in enumerate(runs.table(["id", "checksum"]).to_pylist())
        ]
        patch.setattr(analysing, "lacking", lambda *_: lacks)
        analysing.complete(runs, KINDS)


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut off": (_changed(lambda b: b[: len(b) // 2]), "it is cut off or no Parquet file"),
    "empty": (_changed(lambda b: b""), "it is cut off or no Parquet file"),
    "a byte of a column": (_changed(lambda b: _flipped(b, 60)), "its column id is not the one"),
    "a byte of the footer": (_changed(lambda b: _flipped(b, len(b) - 300)), "its footer is not"),
    "a byte at the end": (_changed(lambda b: _flipped(b, len(b) - 1)), "it is cut off or no"),
    "zeros": (_changed(lambda b: bytes(len(b))), "it is cut off or no Parquet file"),
    "renamed": (
        lambda file: file.rename(file.with_name("0" * 12 + file.name[12:])),
        "its name is not the one that it was written with",
    ),
    "a foreign name": (lambda file: file.rename(file.with_name("x.parquet")), "its name is none"),
    "a shard": (
        lambda file: shutil.copy(
            shard := next((file.parent.parent / "runs").iterdir()), file.parent / shard.name
        ),
        "it belongs into another folder",
    ),
    "a folder": (lambda file: (file.unlink(), file.mkdir()), "it cannot be read"),
    "a newer format": (_newer, "it has format 2, and this dynascope reads 1; a newer one will"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damage_is_named_and_left_out(
    case: str, analysed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damage, words = DAMAGE[case]
    intact = found(analysed)
    damage(only(analysed))
    with pytest.warns(ds.DamageWarning, match=words) as caught:
        rows = found(analysed)
    file = next(file for file in sidecars(analysed) if file.name in str(caught[0].message))
    assert len(caught) == 1
    assert rows == (intact if case == "a shard" else [dict.fromkeys(ALL)] * 3)
    with pytest.raises(ds.DynascopeError, match=file.name):
        found(ds.load(analysed, strict=True))
    assert main(["check", str(analysed)]) == 1
    told = capsys.readouterr().out
    assert told.count("\n") == 2
    assert file.name in told
    with pytest.warns(ds.DamageWarning, match=words):
        again = ds.load(analysed).analyse(progress=False)
    assert again.equals(three().analyse(progress=False))
    with pytest.warns(ds.DamageWarning, match=words):
        assert found(analysed) == intact
    with pytest.warns(ds.DamageWarning, match=file.name):
        ds.merge([analysed], analysed.parent / "merged")
    assert found(analysed.parent / "merged") == intact


def test_a_removed_sidecar_is_made_again(analysed: Path) -> None:
    whole = found(analysed)
    only(analysed).unlink()
    assert found(analysed) == [dict.fromkeys(ALL)] * 3
    ds.load(analysed).analyse(progress=False)
    assert found(analysed) == whole


@pytest.mark.parametrize("every", [17, pytest.param(1, marks=pytest.mark.slow)])
def test_every_byte_counts(analysed: Path, every: int) -> None:
    """One byte changed, for every byte: its checksum tells, or nobody reads it."""
    file = only(analysed)
    contents = file.read_bytes()
    unnoticed = []
    with open(file, "r+b", buffering=0) as handle:
        for at in {*range(4), *range(0, len(contents), every)}:
            handle.seek(at)
            handle.write(bytes([contents[at] ^ 1 << at % 8]))
            try:
                Sidecar.open(file).check()
                unnoticed.append(at)
            except DamagedError:
                pass
            handle.seek(at)
            handle.write(contents[at : at + 1])
    assert len(contents) > footer_length(contents) > 100
    assert sorted(unnoticed) == [0, 1, 2, 3]  # PAR1


def test_damaged_runs_are_not_results(folder: Path) -> None:
    """Their trajectory may be mended tomorrow."""
    (file,) = (folder / "trajectories").iterdir()
    contents = file.read_bytes()
    file.write_bytes(_flipped(contents, len(contents) - 1))  # of the last run alone
    rows = ds.load(folder).analyse(progress=False).to_pylist()
    assert [row["verdict"] is None for row in rows] == [False, False, True]
    assert f"{file.name}: expected as written" in rows[2]["analysis_note"]
    assert [row["analysed"] is None for row in found(folder)] == [False, False, True]
    file.write_bytes(contents)
    assert ds.load(folder).analyse(progress=False).equals(three().analyse(progress=False))


# ---- stopped, killed, without a place to write --------------------------------------------------

MANY = 24


@pytest.fixture
def many(tmp_path: Path) -> Path:
    train({"task.length": 12}, seeds=MANY).save(tmp_path / "many")
    return tmp_path / "many"


def test_ctrl_c_keeps_what_is_made(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(status: Any) -> None:
        if status.finished_runs:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ds.load(many).analyse(progress=stop)
    made = sum(row["analysed"] is not None for row in found(many))
    assert 0 < made < MANY
    real, again = analysing.make, []
    monkeypatch.setattr(analysing, "make", lambda run, kinds: again.append(run) or real(run, kinds))
    ds.load(many).analyse(progress=False)
    assert len(again) == MANY - made
    assert all(row["analysed"] == list(KINDS) for row in found(many))


_ONE_BY_ONE = """
import sys
import dynascope as ds
from dynascope.store import analysing
analysing._BATCH_RUNS = 1
ds.load(sys.argv[1]).analyse(threads=1, progress=False)
"""


def test_killed_in_the_middle(many: Path, tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", _ONE_BY_ONE, str(many)])
    wait_for(lambda: len(sidecars(many)) >= 3)
    process.kill()
    process.wait()
    made = [row["analysed"] for row in found(many)].count(list(KINDS))
    assert 3 <= made < MANY
    before = set(sidecars(many))
    ds.load(many).analyse(progress=False)
    new = [file for file in sidecars(many) if file not in before]
    assert sum(pq.read_metadata(file).num_rows for file in new) == MANY - made
    shutil.copytree(many, tmp_path / "fresh", ignore=shutil.ignore_patterns("analyses"))
    ds.load(tmp_path / "fresh").analyse(progress=False)
    assert found(tmp_path / "fresh") == found(many)


_READ_ONLY = """
import contextlib, io, json, subprocess, sys, warnings
import dynascope as ds
from dynascope.cli import main
disk, store = sys.argv[1:]
subprocess.run(["mount", "-t", "tmpfs", "tmpfs", disk], check=True)
subprocess.run(["cp", "-r", store, disk + "/store"], check=True)
subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    rows = ds.load(disk + "/store").analyse(progress=False).to_pylist()
error, out = io.StringIO(), io.StringIO()
with contextlib.redirect_stderr(error), contextlib.redirect_stdout(out):
    code = main(["report", disk + "/store"])
print(json.dumps([rows, [str(each.message) for each in caught], code, error.getvalue()]))
"""


@pytest.mark.skipif(not namespaces(), reason="needs unshare -rm, to mount a small tmpfs")
def test_read_only_folders_are_analysed_but_nothing_is_kept(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    script = ["unshare", "-rm", sys.executable, "-c", _READ_ONLY, tmp_path / "disk", folder]
    done = subprocess.run(list(map(str, script)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows, told, code, error = json.loads(done.stdout)
    assert rows == three().analyse(progress=False).to_pylist()
    assert len(told) == 1
    assert "analyses are made but not kept: " in told[0]
    assert "Read-only file system" in told[0]
    assert (code, error.count("\n")) == (0, 1)


def test_a_folder_that_is_gone_does_not_come_back(folder: Path) -> None:
    runs = ds.load(folder)
    real = analysing.make

    def make(run: ds.Run, kinds: Any) -> Any:
        row = real(run, kinds)
        if run.seed == 2:
            shutil.rmtree(folder)
        return row

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysing, "make", make)
        with pytest.raises(ds.DynascopeError, match="expected a folder of runs, but it is gone"):
            runs.analyse(threads=1, progress=False)
    assert not folder.exists()


def test_long_work_leaves_few_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten hours, a row every second: at most 5% of it would be lost, and no thousands of files."""
    clock, written = [0.0], []
    monkeypatch.setattr(analysing, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    keeper = analysing._Keeper(folder, [], strict=True)
    monkeypatch.setattr(keeper, "_write", lambda rows: written.append((clock[0], len(rows))))
    monkeypatch.setattr(analysing, "_BATCH_RUNS", 10**6)
    for second in range(36000):
        clock[0] = float(second)
        keeper.add(second, rows_module.empty(KINDS, ""))
    assert 36000 * 0.95 < sum(rows for _, rows in written) <= 36000
    assert 20 < len(written) < 150
    assert all(rows <= max(12, 0.053 * at) for at, rows in written)


# ---- sweeps -------------------------------------------------------------------------------------

GRID: dict[str, Any] = {
    "seeds": 3,
    "analyse": list(KINDS),
    "base": TINY,
    "grid": {"training.lr": [0.001, 0.01]},
    "chain": {"three": {"set": {"task.vocab": 3}}},
}
PLAIN = {key: value for key, value in GRID.items() if key != "analyse"}


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("swept") / "runs"
    ds.sweep(GRID, path, progress=False)
    return path


def test_sweeps_analyse_where_they_train(swept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sidecar for each shard, of the same batch; the same values as in one go."""
    monkeypatch.setattr(analysing, "make", refuse)
    runs = ds.load(swept, strict=True)
    assert len(runs) == 12
    assert len(sidecars(swept)) == len(shards(swept))
    batches = {Sidecar.open(file).about["batch"] for file in sidecars(swept)}
    assert batches == set(json.loads((swept / "sweep.json").read_text())["sweep"]["batches"])
    monkeypatch.undo()
    alone = ds.Runs(list(runs)).analyse(progress=False)
    assert runs.table(alone.column_names).equals(alone)
    assert main(["check", str(swept)]) == 0


@pytest.mark.parametrize("how", [{"threads": 1}, {"shard_seconds": 1e-4}])
def test_how_it_is_cut_changes_nothing(tmp_path: Path, swept: Path, how: dict[str, Any]) -> None:
    other = ds.sweep(GRID, tmp_path / "runs", progress=False, **how)
    assert same(other, ds.load(swept))
    assert other.table(ALL).equals(ds.load(swept).table(ALL))


def test_analyses_added_later(
    tmp_path: Path, swept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid, folder = tmp_path / "grid.toml", tmp_path / "runs"
    ds.sweep(PLAIN, folder, progress=False)
    before = shards(folder)
    assert "analyse" not in (folder / "sweep.json").read_text()
    grid.write_text(toml(GRID | {"analyse": "circuit"}))
    said = []
    for words in ([grid, "--dry-run"], [grid, "--out", folder], ["--status", folder]):
        assert main(["sweep", *map(str, words)]) == 0
        said.append(capsys.readouterr().out)
    assert "each run is analysed (circuit)" in said[0]
    assert "12 of them from before" in said[1]
    assert [row["analysed"] for row in found(folder)] == [["circuit"]] * 12
    assert "analysed (circuit): 12 of 12 runs" in said[2]
    ds.sweep(GRID, folder, progress=False)
    assert found(folder) == found(swept)
    held = sidecars(folder)
    ds.sweep(GRID, folder, progress=False)
    ds.sweep(PLAIN, folder, progress=False)  # which may be taken back
    assert "analyse" not in (folder / "sweep.json").read_text()
    assert (shards(folder), sidecars(folder)) == (before, held)
    more = ds.sweep(GRID | {"seeds": 4}, folder, progress=False)
    assert [row["analysed"] for row in found(more)] == [list(KINDS)] * 16
    assert before.items() <= shards(folder).items()


def test_status_says_what_is_missing(
    tmp_path: Path, swept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(swept, folder)
    sidecars(folder)[0].unlink()
    assert main(["sweep", "--status", str(folder)]) == 0
    told = capsys.readouterr().out
    assert "of 12 runs\n" in told
    assert "analysed (circuit, phases, spikes): 12 of" not in told
    assert "the same `dynascope sweep` command computes the rest" in told


def test_damaged_sidecars_are_set_aside_and_made_again(tmp_path: Path, swept: Path) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(swept, folder)
    file, before = sidecars(folder)[0], shards(folder)
    file.write_bytes(file.read_bytes()[:500])
    with pytest.raises(ds.DynascopeError, match=file.name):
        ds.sweep(GRID, folder, strict=True, progress=False)
    with pytest.warns(ds.DamageWarning) as caught:
        ds.sweep(GRID, folder, progress=False)
    assert f"{file.name}: damaged, and put aside" in str(caught[-1].message)
    assert (folder / "damaged" / file.name).stat().st_size == 500
    assert found(ds.load(folder, strict=True)) == found(swept)
    assert shards(folder) == before


@pytest.mark.parametrize("what", ["trajectories", "runs"])
def test_runs_that_prove_damaged_are_trained_again(tmp_path: Path, what: str) -> None:
    """When they are read to be analysed, which is more than a sweep reads of them otherwise."""
    folder = tmp_path / "runs"
    before = [bits(run) for run in ds.sweep(PLAIN, folder, progress=False)]
    file = sorted((folder / what).iterdir())[0]
    contents = file.read_bytes()
    at = len(contents) - 1
    if what == "runs":
        (at, _), *_ = Shard.open(file)._ranges["test_loss"]
    file.write_bytes(_flipped(contents, at))
    with pytest.raises(ds.DynascopeError, match=file.name):
        ds.sweep(GRID, folder, strict=True, progress=False)
    with pytest.warns(ds.DamageWarning, match="put aside"):
        runs = ds.sweep(GRID, folder, progress=False)
    assert (folder / "damaged" / file.name).exists()
    assert [bits(run) for run in ds.load(folder, strict=True)] == before
    assert [row["analysed"] for row in found(runs)] == [list(KINDS)] * 12


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)]
)
def test_sweeps_stopped_in_the_middle(tmp_path: Path, number: int) -> None:
    """Whatever runs are there have their analyses, and the rest comes later."""
    many = {"seeds": 30, "analyse": list(KINDS), "base": TINY | {"task.length": 12}}
    grid, folder = tmp_path / "grid.toml", tmp_path / "runs"
    grid.write_text(toml(many))
    process = start("sweep", grid, "--out", folder, "--shard-seconds", 1e-4, "--threads", 1)
    wait_for(lambda: len(shards(folder)) >= 2)
    process.send_signal(number)
    assert process.wait(30) == (-9 if number == signal.SIGKILL else 1)
    kept = found(folder)
    assert 0 < len(kept) < 30
    assert all(row["analysed"] == list(KINDS) for row in kept)
    before = shards(folder)
    runs = ds.sweep(many, folder, progress=False)
    assert before.items() <= shards(folder).items()
    assert not twice(folder)
    assert len(runs) == 30
    assert all(row["analysed"] == list(KINDS) for row in found(runs))


def test_a_sidecar_without_its_shard_is_no_harm(tmp_path: Path, swept: Path) -> None:
    """What a crash between the two leaves."""
    folder = tmp_path / "runs"
    shutil.copytree(swept, folder)
    os.unlink(sorted((folder / "runs").iterdir())[0])
    assert len(ds.load(folder, strict=True)) < 12
    assert main(["check", str(folder)]) == 0
    began = time.time_ns()
    ds.sweep(GRID, folder, progress=False)
    assert found(folder) == found(swept)
    assert all(Sidecar.open(file).about["batch"] < began for file in sidecars(folder))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("circut", "analyse: expected circuit, phases or spikes, but got 'circut'; did you mean"),
        (True, "analyse: expected circuit, phases or spikes, or a list of them, but got True"),
        ({"a": 1}, "analyse: expected circuit, phases or spikes, or a list of them"),
    ],
)
def test_bad_grids(tmp_path: Path, value: Any, text: str) -> None:
    with pytest.raises(ds.DynascopeError, match=text):
        ds.sweep(GRID | {"analyse": value}, tmp_path / "runs", progress=False)


def test_imported_runs_are_analysed_as_far_as_they_can_be(tmp_path: Path) -> None:
    """They have no states and no curves before training; their spikes have no cause."""
    data = Path(__file__).parent / "data" / "authors-runs"
    assert main(["import", str(data), "--out", str(tmp_path / "runs")]) == 0
    runs = ds.load(tmp_path / "runs")
    table = runs.analyse(progress=False)
    assert all(table["verdict"].to_pylist())
    for run in runs:
        assert run.states.shape[0] == 0
        assert ds.analysis.phases(run).fitted_epoch != 1
        assert all(spike.cause is None for spike in ds.analysis.spikes(run).spikes)
