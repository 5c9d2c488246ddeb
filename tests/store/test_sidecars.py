"""What analyses find, kept beside the runs: right, once, read only if asked for.

Which rows count is in test_sidecar_rows.py, what can go wrong in test_sidecar_failures.py and
test_sidecar_faults.py, sweeps in test_sweep_analyses.py, the command in test_report.py.
"""

import ast
import hashlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from analysed import ALL, NAMES, TINY, found, only, refuse, sidecars, three, train

import dynascope as ds
from dynascope.analysis import thresholds
from dynascope.analysis.circuit import circuit
from dynascope.analysis.phases import phases
from dynascope.analysis.spikes import spikes
from dynascope.analysis_columns import DEFAULT_KINDS, KINDS, columns_of, versions
from dynascope.findings import keep_analyses
from dynascope.findings.registry import kinds
from dynascope.store.schema import SCHEMA
from dynascope.store.sidecar import Sidecar
from dynascope.store.sidecar_columns import SHOWN
from dynascope.store.tables import MARKS
from dynascope.theory import bounds_thresholds, curvature_thresholds

# ---- values -------------------------------------------------------------------------------------


def test_columns_have_names_of_their_own() -> None:
    names = [*SCHEMA.names, *MARKS, *SHOWN]
    assert len({name.casefold() for name in names}) == len(names)
    assert inspect.signature(ds.Runs.analyse).parameters["kinds"].default == DEFAULT_KINDS
    assert set(versions()) == set(KINDS) == set(kinds(KINDS))


# The thresholds that decide what each kind finds, as they are in this version of the kind.
THRESHOLDS = {
    "kept_sum": (1, "c4c8fe996e6c"),
    "sum_progress": (1, "501cef6967e7"),
    "circuit": (1, "8125a8221868"),
    "phases": (1, "2b8eb1a91314"),
    "spikes": (2, "dfafa7db1b8e"),
    "sparsity": (1, "1ed0239517b0"),
    "attention": (1, "cb72e5b4fa55"),
    "tandem": (1, "42e27cb7355f"),
    "speed": (1, "2b8eb1a91314"),
    "saddles": (1, "5ea6576680dd"),
    "bounds": (1, "7e9379cc3ba9"),
}
# Kinds that are decided by the thresholds of others: they find their drops and spikes.
DECIDED_BY = {
    "tandem": ("phases", "spikes"),
    "speed": ("phases",),
    "sum_progress": ("kept_sum", "sum_progress", "phases"),
    "saddles": ("phases", "spectra", "saddles"),
}
WITHOUT_THRESHOLDS = {"travelled", "assemblers", "step_over_length"}


def test_every_kind_has_thresholds_or_none() -> None:
    assert {*THRESHOLDS} | WITHOUT_THRESHOLDS == {*KINDS}


@pytest.mark.parametrize("kind", THRESHOLDS)
def test_other_thresholds_are_another_version(kind: str) -> None:
    """Else rows that were decided by the old ones would count beside those of the new."""
    files = (thresholds, curvature_thresholds, bounds_thresholds)
    text, numbers = "\n# ----\n".join(Path(file.__file__).read_text() for file in files), ""
    for section in DECIDED_BY.get(kind, (kind,)):
        begin = re.search(rf"^# ---- {section} -+$", text, re.MULTILINE)
        assert begin
        told = text[begin.end() :].partition("\n# ----")[0]
        numbers += ast.unparse(ast.parse(told))  # without comments
    assert " = " in numbers
    now = versions()[kind], hashlib.sha256(numbers.encode()).hexdigest()[:12]
    assert now == THRESHOLDS[kind], (
        f"thresholds of {kind} have changed: raise its version in analysis_columns.py (unless "
        f"no row of that version was ever released), and put {now} with that version into "
        "THRESHOLDS here"
    )


def test_values_are_those_of_the_analyses() -> None:
    runs = train({"task.length": 8, "training.lr": 0.02, "training.epochs": 150}, seeds=4)
    table = runs.analyse(progress=False)
    assert table.column_names == ["id", "seed", *columns_of(DEFAULT_KINDS), "analysis_note"]
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
        assert row["drop_epochs"] == [drop.epoch for drop in course.drops]
        assert row["drop_votes"] == [drop.votes for drop in course.drops]
        both = row["clustered_epoch"], row["fitted_epoch"]
        assert both == (course.clustered_epoch, course.fitted_epoch)
        assert row["lead"] == (None if None in both else both[1] - both[0])
        loss = spikes(run).spikes
        assert row["spikes"] == len(loss) == len(row["spike_causes"])
        assert row["spike_epochs"] == [spike.peak for spike in loss]
        assert row["spike_rises"] == [spike.rise for spike in loss]


def test_stored_runs_answer_as_those_in_memory(folder: Path) -> None:
    fresh = three().analyse("all", progress=False)
    assert fresh.column_names == ["id", "seed", *NAMES, "analysis_note"]
    assert found(folder) == [dict.fromkeys(ALL)] * 3
    kept = ds.load(folder).analyse("all", progress=False)
    assert kept.equals(fresh)
    assert ds.load(folder).analyse("all", progress=False).equals(fresh)
    assert ds.load(folder).table(kept.column_names).equals(fresh)
    assert [row["analysed"] for row in found(folder)] == [list(KINDS)] * 3


def test_a_kind_at_a_time(folder: Path) -> None:
    runs = ds.load(folder)
    assert runs.analyse("spikes", progress=False).column_names == [
        *("id", "seed", *columns_of(["spikes"])),
        "analysis_note",
    ]
    runs[1:].analyse(["circuit", "spikes"], progress=False)
    assert [row["analysed"] for row in found(runs)] == [["spikes"], *[["circuit", "spikes"]] * 2]
    runs.analyse(progress=False)
    assert len(sidecars(folder)) == 3
    rest = len(DEFAULT_KINDS) - 1
    made = [pq.read_table(file)["analysed"].to_pylist() for file in sidecars(folder)]
    assert sorted(len(kinds) for each in made for kinds in each) == [
        *[1] * 5,
        *[rest - 1] * 2,
        rest,
    ]
    whole = three().analyse(progress=False)
    assert runs.table(whole.column_names).equals(whole)


def test_nothing_is_made_twice(analysed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {file: file.stat().st_mtime_ns for file in sidecars(analysed)}
    monkeypatch.setattr(keep_analyses, "make_row", refuse)
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
        "phases: record.weights_every is 0, but phases need the weights",
    ),
    (
        "own data",
        lambda: train(data=ds.Data(train=ds.dataset(ds.Config().replace(TINY).task, 5)), seeds=1),
        "circuit",
        "kept_sum, circuit, phases, sum_progress: this analysis needs a task whose symmetries are ",
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
        assert {row[name] for name in columns_of([kind])} == {None}
        other = next(each for each in ("spikes", "circuit") if each != kind)
        assert None not in [row[name] for name in columns_of([other])]
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
        begin, end = ranges[name]
        contents[begin:end] = b"\xff" * (end - begin)
    file.write_bytes(contents)
    runs = ds.load(analysed, strict=True)
    assert runs.table(["verdict", "lead", "analysed"])["verdict"].null_count == 0
    with pytest.raises(ds.DynascopeError, match="its column clusters has changed"):
        runs.table(["clusters"])


@pytest.mark.parametrize("name", ["verdict", "spikes", "analysed", "analysis_note"])
def test_runs_in_memory_have_none(name: str) -> None:
    """An empty column would be an answer: that no run is so."""
    text = f"^{name}: expected stored runs, .* only stored runs keep their analyses, so save them"
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
