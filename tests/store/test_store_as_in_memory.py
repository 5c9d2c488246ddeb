"""Stored runs answer as those in memory do."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from store_cases import bits, mixed, plain, train

import dynascope as ds
from dynascope.store import schema
from dynascope.store.schema import PLACES


class TestLikeInMemory:
    """Stored runs answer as `Runs` do."""

    @pytest.mark.parametrize(
        "columns", [None, [], ["seed"], ["note", "train_loss", "lr", "tags"], ["relevant", "id"]]
    )
    @pytest.mark.parametrize("curves", [False, True])
    def test_table(self, mixed_folder: Path, columns: list[str] | None, curves: bool) -> None:
        stored, runs = ds.load(mixed_folder), mixed()
        assert plain(stored.table(columns, curves)) == plain(runs.table(columns, curves))
        assert stored.frame(columns, curves).equals(runs.frame(columns, curves))
        assert not set(stored.table(columns, curves).column_names) & set(PLACES)

    @pytest.mark.parametrize("part", [slice(None), slice(3, 9), slice(None, None, -2), slice(0, 0)])
    def test_slices(self, mixed_folder: Path, part: slice) -> None:
        stored, runs = ds.load(mixed_folder)[part], mixed()[part]
        assert [run.id for run in stored] == stored.ids == [run.id for run in runs]
        assert plain(stored.table(curves=True)) == plain(runs.table(curves=True))
        assert len(stored) == len(runs)
        assert stored.solved(0.5) == runs.solved(0.5)
        assert repr(stored) == repr(runs)

    @pytest.mark.parametrize("name", ["train_loss", "grad_norm/query", "min_norm_embedding"])
    def test_curve(self, tmp_path: Path, name: str) -> None:
        for precisions in (["float32"], ["float64"], ["float32", "float64"]):
            runs = ds.Runs(run for each in precisions for run in train({"precision": each}))
            runs.save(tmp_path / "-".join(precisions))
            stored = ds.load(tmp_path / "-".join(precisions))
            assert bits(stored.curve(name)) == bits(runs.curve(name))
            assert bits(stored[::-1].curve(name)) == bits(runs[::-1].curve(name))

    @pytest.mark.parametrize("name", ["nonsense", "seed", "unseen_loss"])
    def test_a_curve_that_is_none(self, tmp_path: Path, name: str) -> None:
        runs = train()
        runs.save(tmp_path / "runs")
        for each in (runs, ds.load(tmp_path / "runs")):
            with pytest.raises(KeyError, match=name):
                each.curve(name)

    def test_by_seed(self, mixed_folder: Path) -> None:
        stored = ds.load(mixed_folder)
        for seed in (0, 1, 2**53 - 1):
            assert stored.by_seed(seed).id == mixed().by_seed(seed).id
        with pytest.raises(ds.DynascopeError, match="seed: expected one of "):
            stored.by_seed(77)

    @pytest.mark.parametrize(
        ("condition", "holds"),
        [
            ("lr > 0.01", lambda run: run.config.training.lr > 0.01),
            ("seed = 1 -- a comment", lambda run: run.seed == 1),
            ("diverged IS NOT NULL", lambda run: run.diverged is not None),
            ('"grad_norm/query"[-1] < 0.05', lambda run: _last(run, "grad_norm/query") < 0.05),
            ("list_contains(relevant, 7)", lambda run: 7 in run.config.task.positions),
            ("list_contains(tags, 'x')", lambda run: False),
            ("seed = 0 OR precision = 'float64'", lambda run: _zero_or_wide(run)),
        ],
    )
    def test_where(
        self, mixed_folder: Path, condition: str, holds: Callable[[ds.Run], bool]
    ) -> None:
        found = ds.load(mixed_folder).where(condition)
        assert found.ids == [run.id for run in mixed() if holds(run)]

    def test_bad_columns(self, mixed_folder: Path) -> None:
        for columns, text in (
            ("seed", "columns: expected a list of names, but got 'seed'"),
            (5, "columns: expected a list of names, but got 5"),
            ([5], "columns: expected a list of names, but got"),
            (["sed"], "sed: unknown column; did you mean 'seed'"),
        ):
            for runs in (ds.load(mixed_folder), mixed()):
                with pytest.raises(ds.DynascopeError, match=re.escape(text)):
                    runs.table(columns)  # type: ignore[arg-type]


def _last(run: ds.Run, name: str) -> float:
    return float(run.curves[name][-1]) if name in run.curves else float("nan")


def _zero_or_wide(run: ds.Run) -> bool:
    return run.seed == 0 or run.config.precision == "float64"


def test_curves_that_nobody_asked_for_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    copied = schema._lists
    monkeypatch.setattr(schema, "_lists", lambda curves: made.append(1) or copied(curves))
    runs = train(seeds=2)
    assert runs.table().num_rows == 2
    assert made == []
    asked = runs.table(["seed", "test_loss", "accuracy"])
    assert made == [1]
    assert asked.column_names == ["seed", "test_loss", "accuracy"]
    assert runs.table(curves=True)["test_loss"].equals(asked["test_loss"])
