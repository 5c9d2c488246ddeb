"""Which rows of sidecars count: the newest of this version, wherever they were brought."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from analysed import ALL, flipped, found, only, sidecars, three, train
from authors_runs import SAMPLES

import dynascope as ds
from dynascope.analysis.phases import phases
from dynascope.analysis_columns import DECLARATIONS, DEFAULT_KINDS
from dynascope.cli import main
from dynascope.findings import keep_analyses
from dynascope.findings.registry import kind_of
from dynascope.store.sidecar import Sidecar

ALL_BUT_CIRCUIT = [kind for kind in DEFAULT_KINDS if kind != "circuit"]


def test_rows_of_another_version_are_made_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(DECLARATIONS, "circuit", replace(DECLARATIONS["circuit"], version=2))
        patch.setattr(kind_of("circuit"), "row_of", lambda run: {"verdict": "of another time"})
        ds.load(folder).analyse(progress=False)
        assert {row["verdict"] for row in found(folder)} == {"of another time"}
    rows = found(folder)
    assert [row["analysed"] for row in rows] == [ALL_BUT_CIRCUIT] * 3
    assert [row["verdict"] for row in rows] == [None] * 3
    fresh = three().analyse(progress=False)
    assert ds.load(folder).analyse(progress=False).equals(fresh)


def test_the_newest_row_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that analyse the same at the same time is no harm, whatever each found."""
    runs = ds.load(folder)
    lacks = keep_analyses.lacking(runs, ["circuit"])
    for verdict in ("older", "newer"):
        monkeypatch.setattr(keep_analyses, "lacking", lambda *_: lacks)
        monkeypatch.setattr(kind_of("circuit"), "row_of", lambda run, v=verdict: {"verdict": v})
        keep_analyses.complete(runs, ["circuit"])
    assert len(sidecars(folder)) == 2
    assert {row["verdict"] for row in found(folder)} == {"newer"}


_ONE_MORE = """
import json, sys
from dataclasses import replace
from dynascope.analysis_columns import DECLARATIONS, Column
from dynascope.findings.registry import kind_of
added = {"one_more": Column("double", ""), "clusters": Column("list<string>", "")}
DECLARATIONS["circuit"].columns.update(added)
circuit = kind_of("circuit")
real = circuit.row_of
circuit.row_of = lambda run: real(run) | {"one_more": 1.0, "clusters": ["a"]}
if "raised" in sys.argv:
    DECLARATIONS["circuit"] = replace(DECLARATIONS["circuit"], version=2)
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
    assert before == {"analysed": [ALL_BUT_CIRCUIT] * 3, **nothing, "drops_agree": agree}
    all_of_it = {"one_more": [1.0] * 3, "clusters": [["a"]] * 3}
    assert after == {"analysed": [list(DEFAULT_KINDS)] * 3, **all_of_it, "drops_agree": agree}
    assert rows == 3
    newest = max(sidecars(analysed), key=lambda file: Sidecar.open(file).about["batch"])
    assert pq.read_table(newest)["analysed"].to_pylist() == [["circuit"]] * 3
    if version == "raised":  # and back again: what was found first still counts here
        assert found(ds.load(analysed, strict=True))[0]["analysed"] == list(DEFAULT_KINDS)
        assert main(["check", str(analysed)]) == 0


def test_a_later_column_is_null_in_older_rows() -> None:
    """The committed stores know of no `drop_epochs`: the rest of their rows counts as it did, but
    for the spikes, whose version was raised since."""
    folder = Path(__file__).parents[1] / "data/stores/format-2/sweep"
    runs = ds.load(folder, strict=True)
    table = runs.table(["analysed", "drops", "drop_epochs", "drop_votes"])
    assert table["analysed"].to_pylist() == [["circuit", "phases"]] * len(runs)
    assert table["drops"].null_count == 0
    assert table["drop_epochs"].null_count == table["drop_votes"].null_count == len(runs)
    assert main(["check", str(folder)]) == 0


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
    at, _ = Sidecar.open(file)._ranges["spike_rises"]
    file.write_bytes(flipped(file.read_bytes(), at))
    with pytest.warns(ds.DamageWarning, match="its column spike_rises has changed"):
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
    assert main(["import", str(SAMPLES), "--out", str(tmp_path / "runs")]) == 0
    runs = ds.load(tmp_path / "runs")
    table = runs.analyse(progress=False)
    assert all(table["verdict"].to_pylist())
    for run in runs:
        assert run.states.shape[0] == 0
        assert ds.analysis.phases(run).fitted_epoch != 1
        assert all(spike.cause is None for spike in ds.analysis.spikes(run).spikes)
