"""Saddles and bounds as columns: those of the theory, and null where it says nothing."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analysed import TINY, train

import dynascope as ds
from dynascope.analysis_columns import columns_of
from dynascope.cli import main
from dynascope.findings.kind_bounds import KIND as BOUNDS
from dynascope.findings.kind_saddles import KIND as SADDLES
from dynascope.plain import plain
from dynascope.theory import bounds, bounds_along, gradients, saddles

EMBEDDINGS = ("token_embedding", "position_embedding")
IN_THEORY: dict[str, Any] = {
    "model.norm": "unit",
    "model.bias": False,
    "training.frozen": EMBEDDINGS,
}
FULL: dict[str, Any] = {  # learns, with a drop or two, from full batches
    "task.length": 6,
    "task.relevant": 2,
    "task.train_size": 64,
    "training.batch": 64,
    "training.epochs": 400,
    "training.lr": 0.02,
    "model.hidden": 8,
}
PAPER = {"paper_bound_fails", "paper_bound_over_gradient", "paper_bound_least"}


def row_of(run: ds.Run, kind: str) -> dict[str, Any]:
    (row,) = ds.Runs([run]).analyse(kind, progress=False).to_pylist()
    return row


# ---- saddles ------------------------------------------------------------------------------------
def test_each_plateau_is_that_of_the_theory() -> None:
    left = 0
    for run in train(FULL, seeds=4):
        row, found = row_of(run, "saddles"), saddles(run, progress=False)
        assert row["analysis_note"] is None
        assert row["plateau_epochs"] == [each.epoch for each in found]
        assert row["plateau_verdicts"] == [each.verdict for each in found]
        assert row["plateau_gradient_ratio"] == [each.gradient_ratio for each in found]
        for place, each in enumerate(found):
            shares = [row[f"plateau_{name}"][place] for name in ("escape_five", "exit_five")]
            chance = row["plateau_escape_chance"][place]
            if each.escape is None or each.exit is None:
                assert (shares, chance) == ([None, None], None)
                continue
            left += 1
            way = each.escape.deciding
            assert shares == [way.escape.five, each.exit.deciding.escape.five]
            assert chance == way.chance.five == min(way.negative, 5) / way.size
            assert row["plateau_negative"][place] == way.negative
    assert left


def test_negative_directions_by_hand() -> None:
    """In the metric of plain gradient descent: of the Hessian as it is."""
    sgd = {"training.optimizer": "sgd", "training.momentum": 0.0, "training.lr": 0.3}
    (run,) = train(FULL | sgd | {"training.frozen": EMBEDDINGS, "model.dim": 3}, seeds=1)
    row, (only, *_) = row_of(run, "saddles"), saddles(run, progress=False)
    epoch = row["plateau_epochs"][0]
    whole = ds.hessian(run.parameters(epoch).astype(np.float64), *run.examples(), run.config)
    names = [name for name, shape in run.config.shapes.items() for _ in range(np.prod(shape))]
    free = [place for place, name in enumerate(names) if name not in EMBEDDINGS]
    values = np.linalg.eigvalsh(whole[np.ix_(free, free)])
    below = int((values < -only.spectrum.tolerance).sum())
    # Where the gradient is not 0, directions that are taken out as flat bend a little.
    assert row["plateau_negative"][0] <= below
    assert row["plateau_negative"][0] == only.negative == only.spectrum.negative


def test_totals_count_verdicts() -> None:
    known = {"accuracy": 1.0, **dict.fromkeys(columns_of(["saddles"]))}
    one = {**known, "plateau_verdicts": ["slope", "fitted"], "plateau_escape_five": [0.5, None]}
    totals = SADDLES.totals([one, one, known])
    assert (totals["runs"], totals["plateaus"]) == (2, 4)
    assert totals["verdicts"] == {"slope": 2, "fitted": 2}
    text = "\n".join(SADDLES.totals_text(totals))
    assert "plateaus: 4 in 2 runs: 2 slope; 2 fitted" in text
    assert "along the five most negative directions: median 0.5 in 2 solved runs" in text
    assert SADDLES.cells[0].cell(one) == "slope, fitted"
    assert SADDLES.cells[1].cell(one) == "0.5 -"


# ---- bounds -------------------------------------------------------------------------------------
def test_bounds_by_hand() -> None:
    (run,) = train(IN_THEORY | {"training.lr": 0.02}, seeds=1)
    row = row_of(run, "bounds")
    assert row["analysis_note"] is None
    assert row["bounds_epochs"] == 31
    data, apart = run.examples(), []
    ratios: dict[str, list[float]] = {"paper": [], "corrected": [], "tight": []}
    for epoch in range(31):
        p = run.parameters(epoch).astype(np.float64)
        kernel = ds.loss_and_gradient(p, *data, run.config)[1]
        closed = gradients(p, *data, run.config)
        both = [np.concatenate([g[name].ravel() for name in closed]) for g in (closed, kernel)]
        length = np.linalg.norm(both[1])
        apart.append(np.linalg.norm(both[0] - both[1]) / length)
        found = bounds(p, *data, run.config)
        for name, each in ratios.items():
            each.append(getattr(found, name).value / length)
    for name, column in (
        ("paper", "paper_bound"),
        ("corrected", "bound"),
        ("tight", "tight_bound"),
    ):
        assert row[f"{column}_fails"] == 0
        assert row[f"{column}_over_gradient"] == pytest.approx(np.median(ratios[name]))
        assert row[f"{column}_least"] == pytest.approx(min(ratios[name]))
    assert row["closed_form_difference"] == pytest.approx(max(apart))
    assert 0 < row["closed_form_difference"] < 1e-12


def test_the_paper_fails_where_sequence_embeddings_are_near_the_origin() -> None:
    """The very weights of the counterexample: V times 1e-4, with steps too short to leave."""
    config = ds.Config().replace(TINY | IN_THEORY | {"training.lr": 1e-9})
    start = ds.initial_parameters(config)
    start.value *= 1e-4
    row = row_of(ds.train(config, [0], start=start, progress=False)[0], "bounds")
    assert row["paper_bound_fails"] == row["bounds_epochs"] == 31
    assert row["paper_bound_least"] <= row["paper_bound_over_gradient"] < 1
    assert row["bound_fails"] == row["tight_bound_fails"] == 0
    assert row["bound_least"] > row["tight_bound_least"] > 1


def test_the_largest_difference_is_told() -> None:
    (run,) = train(IN_THEORY, seeds=1)
    curves = bounds_along(run, [0, 30])
    wrong = dataclasses.replace(curves, closed_form_difference=np.array([1e-15, 1e-3]))
    found = dataclasses.replace(BOUNDS.make(run), curves=wrong)
    assert BOUNDS.row(found)["closed_form_difference"] == 1e-3
    assert "relative difference at most 0.001" in "\n".join(map(str, BOUNDS.text(found)))


def test_totals_count_failures() -> None:
    known = {"accuracy": 0.0, **dict.fromkeys(columns_of(["bounds"]))}
    one = {**known, "bounds_epochs": 100, "paper_bound_fails": 3, "paper_bound_over_gradient": 2.5}
    totals = BOUNDS.totals([one, {**one, "paper_bound_fails": 0}, known])
    assert totals["fails"]["paper"] == {"epochs": 3, "of": 200, "runs": 1}
    text = "\n".join(BOUNDS.totals_text(totals))
    assert "the paper's bound over the gradient: median 2.5 in 2 other runs" in text
    assert "the paper's bound is below the gradient at 3 of 200 epochs, in 1 run" in text
    assert "corrected" not in text


# ---- what does not apply ------------------------------------------------------------------------
def one(changes: dict[str, Any]) -> Callable[[], ds.Run]:
    return lambda: train(changes, seeds=1)[0]


def _own_data() -> ds.Run:
    data = ds.Data(train=ds.dataset(ds.Config().replace(TINY).task, 5))
    return train(IN_THEORY, data=data, seeds=1)[0]


def _from_nothing() -> ds.Run:
    """With norm_eps = 0, the norm has no derivative at a sequence embedding of 0."""
    config = ds.Config().replace(TINY | IN_THEORY | {"model.norm_eps": 0.0})
    return ds.train(config, [0], start=0 * ds.initial_parameters(config), progress=False)[0]


def _never_sound() -> ds.Run:
    config = ds.Config().replace(TINY)
    start = ds.initial_parameters(config) * 1e20
    return ds.train(config, [0], start=start, progress=False)[0]


NOT = "bounds: the paper's bound does not cover it: "
ABOUT = "it is about gelu, norm unit and no biases, not "
UNFROZEN = "about frozen embeddings, but {} are trained"
BOTH = UNFROZEN.format("token_embedding and position_embedding")
ALL_BOUNDS, ALL_SADDLES = ({*columns_of([kind])} for kind in ("bounds", "saddles"))
RATIOS = {name for name in ALL_BOUNDS if name.endswith(("_over_gradient", "_least"))}
# A run; which columns are null, and the note.
NULLS: dict[str, tuple[Callable[[], ds.Run], set[str], str | None]] = {
    "within the theory": (one(IN_THEORY), set(), None),
    "weights not kept": (one(IN_THEORY | {"record.weights_every": 0}), set(), None),
    "own data": (_own_data, set(), None),
    "lion": (one(IN_THEORY | {"training.optimizer": "lion"}), set(), None),
    "one epoch": (one(IN_THEORY | {"training.epochs": 1}), set(), None),
    "no epochs": (one(IN_THEORY | {"training.epochs": 0}), set(), None),
    "default": (one({}), PAPER, f"{NOT}{ABOUT}norm rms and biases, and {BOTH}"),
    "biases": (one(IN_THEORY | {"model.bias": True}), PAPER, f"{NOT}{ABOUT}biases"),
    "relu": (one(IN_THEORY | {"model.activation": "relu"}), PAPER, f"{NOT}{ABOUT}activation relu"),
    "no norm": (
        one(IN_THEORY | {"model.norm": "none", "training.lr": 1e-4}),
        PAPER,
        f"{NOT}{ABOUT}norm none",
    ),
    "embeddings trained": (one(IN_THEORY | {"training.frozen": ()}), PAPER, f"{NOT}{BOTH}"),
    "positions trained": (
        one(IN_THEORY | {"training.frozen": ("token_embedding",)}),
        PAPER,
        NOT + UNFROZEN.format("position_embedding"),
    ),
    "nothing": (
        _from_nothing,
        RATIOS,
        "bounds: there is no gradient to compare with",
    ),
    "never sound": (
        _never_sound,
        ALL_BOUNDS | ALL_SADDLES,
        "saddles, bounds: there is no epoch to measure, as it diverged at epoch 0",
    ),
    "all frozen": (
        one({"training.frozen": tuple(ds.Config().shapes)}),
        PAPER | ALL_SADDLES,
        "saddles: training.frozen: all weights are frozen; leave at least one trained weight; "
        f"{NOT}{ABOUT}norm rms and biases",
    ),
}


@pytest.mark.parametrize("case", NULLS)
def test_what_does_not_apply_is_null_with_a_note(case: str, tmp_path: Path) -> None:
    make, nulls, note = NULLS[case]
    run = make()
    ds.Runs([run]).save(tmp_path / "runs")
    for source in (ds.Runs([run]), ds.load(tmp_path / "runs"), ds.load(tmp_path / "runs")):
        (row,) = source.analyse(["saddles", "bounds"], progress=False).to_pylist()
        assert row.pop("analysis_note") == note
        assert {name for name, value in row.items() if value is None} == nulls
    assert main(["check", str(tmp_path / "runs")]) == 0
    for kind in (SADDLES, BOUNDS):
        if note is None:
            json.dumps(plain(kind.json(kind.make(run))), allow_nan=False)


# ---- sweeps -------------------------------------------------------------------------------------
@pytest.mark.parametrize("dim", [2, 3])
def test_a_sweep_that_keeps_ends_finds_the_same(tmp_path: Path, dim: int) -> None:
    base = FULL | IN_THEORY | {"model.dim": dim, "training.epochs": 200}
    grid = {"seeds": 2, "base": base, "analyse": ["saddles", "bounds"], "keep": "ends"}
    kept = ds.sweep(grid, tmp_path / "runs", progress=False)
    names = ["seed", *columns_of(["saddles", "bounds"])]
    config = ds.Config().replace(base)
    whole = ds.train(config, 2, progress=False).analyse(["saddles", "bounds"], progress=False)
    assert kept.table(names).equals(whole.select(names))
    assert [run.weight_epochs.tolist() for run in kept] == [[0, 200]] * 2
