"""What analyses find, kept beside the runs: right, once, read only if asked for.

What can go wrong is in test_sidecar_faults.py, sweeps in test_sweep_analyses.py, the command in
test_report.py.
"""

import ast
import hashlib
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from analysed import (
    ALL,
    NAMES,
    TINY,
    flipped,
    found,
    only,
    refuse,
    sidecars,
    three,
    train,
)

import dynascope as ds
from dynascope.analysis import rows as rows_module
from dynascope.analysis import thresholds
from dynascope.analysis.circuit import circuit
from dynascope.analysis.phases import phases
from dynascope.analysis.rows import COLUMNS, KINDS, VERSIONS
from dynascope.analysis.spikes import spikes
from dynascope.cli import main
from dynascope.store import analysing
from dynascope.store.analyses import SHOWN
from dynascope.store.schema import SCHEMA
from dynascope.store.sidecar import Sidecar
from dynascope.store.tables import MARKS

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
        "circuit, phases: expected one of a task whose symmetries are known, but it has data of",
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
    file.write_bytes(flipped(file.read_bytes(), at))
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
