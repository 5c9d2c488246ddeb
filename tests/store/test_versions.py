"""Stores of other versions: an earlier one's read as if written today, a later one's are read as
far as this one understands them, and never trained on by mistake."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from later_version import AS_BEFORE, NEW_CURVE, run_later
from showing import show, tiny_client

import dynascope as ds
from dynascope.cli import main
from dynascope.config import LATER, OPTIONS
from dynascope.plain import plain
from dynascope.store.schema import CONFIG, CURVES

COMMITTED = Path(__file__).parents[1] / "data" / "stores" / "format-1"
SMALL = ds.Config().replace(
    {
        "training.epochs": 4,
        "task.train_size": 64,
        "task.test_size": 32,
        "record.weights_every": 2,
        "record.state_every": 2,
    }
)


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of today, which is an earlier one for the later version."""
    folder = tmp_path_factory.mktemp("versions") / "earlier"
    ds.train(SMALL, 2, progress=False).save(folder)
    return folder


@pytest.fixture(scope="module")
def told(earlier: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the later version says of that store, and the folder of one that it wrote."""
    folder = tmp_path_factory.mktemp("versions") / "later"
    answer: dict[str, Any] = run_later(
        """
        import dataclasses
        import numpy as np

        def changed(run, changes):
            return dataclasses.replace(run, config=run.config.replace(changes))

        runs = ds.load(given["earlier"], strict=True)
        run = runs[0].loaded()
        table = np.nan_to_num(run.table)
        curve = dataclasses.replace(run, seed=7, table=table, unrecorded=frozenset())
        written = {
            "as before": run,
            "curve": curve,
            "training": changed(run, {"training.lookahead": 3}),
            "both": changed(run, {"training.lookahead": 3, "training.shrink": 0.5}),
            "task": changed(run, {"task.noise": 0.25}),
            "model": changed(run, {"model.activation": "snake"}),
        }
        ds.Runs(written.values()).save(given["later"])
        again = ds.load(given["later"], strict=True)
        print(json.dumps({
            "folder": given["later"],
            "ids": {name: each.id for name, each in written.items()},
            "table": runs.table(["id", "lookahead", "noise", "shrink"]).to_pylist(),
            "digests": [each.config.digest() for each in runs],
            "curves": [list(each.curves) for each in (runs[0], run, again[0], again[1])],
            "unknown": [list(each.unknown_options) for each in again],
            "continued": run.continued(6).parameters().flat.tolist(),
            "column": runs.table(["bend/query"]).to_pydict(),
            "query": ds.query(runs, "SELECT count(*) AS n FROM runs WHERE lookahead = 1")
                .to_pylist(),
        }))
        """,
        earlier=str(earlier),
        later=str(folder),
    )
    return answer


@pytest.fixture
def later(told: dict[str, Any]) -> dict[str, ds.store.StoredRun]:
    """The later version's runs, opened by this one."""
    runs = {run.id: run for run in ds.load(told["folder"], strict=True)}
    return {name: runs[id_] for name, id_ in told["ids"].items()}


class TestEarlier:
    def test_ids_stay_and_options_are_as_before(self, earlier: Path, told: dict[str, Any]) -> None:
        runs = ds.load(earlier)
        columns = {name.rpartition(".")[2]: value for name, value in AS_BEFORE.items()}
        assert told["table"] == [{"id": run.id, **columns} for run in runs]
        assert told["digests"] == [run.config.digest() for run in runs]
        assert told["ids"]["as before"] == runs[0].id
        assert told["query"] == [{"n": 2}]

    def test_it_goes_on_as_here(self, earlier: Path, told: dict[str, Any]) -> None:
        expected = ds.load(earlier)[0].continued(6).parameters().flat
        assert np.array_equal(np.array(told["continued"], np.float32), expected)

    def test_a_later_curve_was_not_recorded(self, earlier: Path, told: dict[str, Any]) -> None:
        stored, in_memory, saved_again, with_it = told["curves"]
        assert stored == in_memory == saved_again == list(ds.load(earlier)[0].curves)
        assert with_it == [*stored, *(f"{NEW_CURVE}/{name}" for name in ds.PARAMETER_NAMES)]
        assert told["column"] == {f"{NEW_CURVE}/query": [None, None]}

    def test_its_sweep_is_complete(self, tmp_path: Path) -> None:
        """Also where the default of a later option would make other runs."""
        folder = shutil.copytree(COMMITTED / "sweep", tmp_path / "sweep")
        files = sorted(folder.rglob("*.parquet"))
        grid = json.loads((folder / "sweep.json").read_bytes())["sweep"]["grid"]
        ids = run_later(
            """
            from dynascope.sweeps.ledger import read_ledger
            from pathlib import Path
            grid = read_ledger(Path(given["folder"])).grid
            assert grid.base.training.lookahead == 1 != ds.Config().training.lookahead
            print(json.dumps(ds.sweep(grid, given["folder"], threads=1, progress=False).ids))
            """,
            folder=str(folder),
        )
        assert ids == ds.load(COMMITTED / "sweep").ids
        now = sorted(folder.rglob("*.parquet"))
        assert {*files} <= {*now}
        assert all(file.parent.name == "analyses" for file in {*now} - {*files})  # a later version
        assert grid == json.loads((folder / "sweep.json").read_bytes())["sweep"]["grid"]

    def test_it_knows_its_own(self, told: dict[str, Any]) -> None:
        assert told["unknown"] == [[]] * len(told["ids"])


class TestLater:
    def test_everything_is_listed(self, told: dict[str, Any], later: Any) -> None:
        table = ds.load(told["folder"]).table()
        assert sorted(table["id"].to_pylist()) == sorted(told["ids"].values())
        assert ds.query(told["folder"], "SELECT count(*) AS n FROM runs").to_pylist() == [{"n": 6}]

    def test_as_before_is_replayable(self, earlier: Path, later: Any) -> None:
        run, same = later["as before"], ds.load(earlier)[0]
        assert run.replayable
        assert not run.unknown_options
        assert run.config == same.config
        assert np.array_equal(run.parameters(3).flat, same.parameters(3).flat)
        assert np.array_equal(run.continued(6).weights, same.continued(6).weights)

    def test_an_unknown_curve_is_ignored(self, later: Any) -> None:
        assert later["curve"].replayable
        assert f"{NEW_CURVE}/query" not in later["curve"].curves
        assert list(later["curve"].curves) == list(later["as before"].curves)

    @pytest.mark.parametrize(
        ("name", "options"),
        [
            ("training", "(training.lookahead = 3)"),
            ("both", "(training.lookahead = 3, training.shrink = 0.5)"),
        ],
    )
    def test_a_run_of_an_unknown_rule_is_shown_but_not_trained(
        self, later: Any, name: str, options: str
    ) -> None:
        run = later[name]
        assert not run.replayable
        assert np.array_equal(run.parameters(2).flat, later["as before"].parameters(2).flat)
        assert run.curves["train_loss"].tolist() == (
            later["as before"].curves["train_loss"].tolist()
        )
        said = (
            f"run {run.id}: cannot be replayed, since it was made with options that "
            f"this version of dynascope does not know {options}; use a newer one."
        )
        for each in (run, run.loaded()):
            for train in (
                each.trainer,
                lambda each=each: each.parameters(3),
                lambda each=each: each.continued(9),
            ):
                with pytest.raises(ds.DynascopeError, match=f"^{re.escape(said)}$"):
                    train()

    @pytest.mark.parametrize(
        ("name", "option"),
        [
            ("task", "task.noise = 0.25"),
            ("model", 'model.activation = "snake"'),
        ],
    )
    def test_of_an_unknown_model_or_task_only_the_record_is_read(
        self, later: Any, name: str, option: str
    ) -> None:
        run = later[name]
        assert not run.replayable
        assert run.summary()["accuracy"] == later["as before"].summary()["accuracy"]
        assert list(run.curves) == list(later["as before"].curves)
        assert len(run.curves["train_loss"]) == 5
        with pytest.raises(ds.DynascopeError, match=re.escape(f"but it has {option}; its table")):
            run.parameters()

    def test_it_is_not_saved_without_its_options(self, later: Any, tmp_path: Path) -> None:
        for name in ("training", "model"):
            with pytest.raises(ds.DynascopeError, match="`dynascope merge` copies such runs"):
                ds.Runs([later[name]]).save(tmp_path / name)
            assert not (tmp_path / name).exists()

    def test_merging_keeps_them(self, told: dict[str, Any], earlier: Path, tmp_path: Path) -> None:
        ds.merge([told["folder"], earlier], tmp_path / "all")
        runs = {run.id: run for run in ds.load(tmp_path / "all", strict=True)}
        assert len(runs) == 7
        assert not runs[told["ids"]["training"]].replayable

    def test_reports_and_checks(
        self, told: dict[str, Any], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["check", told["folder"]]) == 0
        assert main(["report", told["folder"]]) == 0
        assert "6 runs" in capsys.readouterr().out
        assert main(["report", f"{told['folder']}#{told['ids']['training']}"]) == 0
        text = " ".join(capsys.readouterr().out.split())
        assert "not replayable, since this version does not know training.lookahead = 3" in text

    def test_shown(self, told: dict[str, Any], tmp_path: Path) -> None:
        with show(tiny_client(tmp_path), told["folder"]) as server:
            assert len(server.get("/api/runs").json["columns"]["id"]) == 6
            for name, status in (("as before", 200), ("training", 200), ("task", 422)):
                run = told["ids"][name]
                assert server.get(f"/api/run/{run}/curves").status == 200
                answer = server.get(f"/api/run/{run}")
                assert answer.status == status
                assert ("does not know" in str(answer.json)) == (name == "training")


class TestFooter:
    def about(self, folder: Path) -> dict[str, Any]:
        file = next((folder / "runs").iterdir())
        return dict(json.loads(pq.read_metadata(file).metadata[b"dynascope"]))

    def test_it_says_which_columns_are_options(self, earlier: Path) -> None:
        about = self.about(earlier)
        assert about["options"] == {field.name: name for name, field in CONFIG.items()}
        assert about["options"].keys() <= about["columns"].keys()
        assert [*about["options"].values()] == [*OPTIONS]
        assert about["as_before"] == plain(dict(LATER))

    def test_it_says_which_curves_there_are(self, earlier: Path) -> None:
        about = self.about(earlier)
        assert about["curves"] == [name for name in CURVES if name in ds.load(earlier)[0].curves]

    def test_plain_readers_see_one_table(self, told: dict[str, Any], earlier: Path) -> None:
        files = [
            str(file)
            for each in (earlier, Path(told["folder"]))
            for file in sorted((each / "runs").iterdir())
        ]
        rows = duckdb.sql(
            f"SELECT count(*), count(lookahead) FROM read_parquet({files}, union_by_name = true)"
        ).fetchall()
        assert rows == [(8, 6)]
