"""Analyses that are made when they are named: their columns, what they say where a number does not
apply, and the ways to ask for them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from analysed import TINY, train
from reference import forward, tensors

import dynascope as ds
from dynascope.analysis import assemblers, attention, sparsity, speed, step_over_length, tandem
from dynascope.analysis.sparsity import run_sparsity
from dynascope.analysis.thresholds import ATTENTION_OTHERS, SPARSITY_DECADES, SPARSITY_RANGE
from dynascope.analysis_columns import (
    DECLARATIONS,
    DEFAULT_KINDS,
    KINDS,
    PARTS,
    columns_of,
    function_of,
)
from dynascope.cli import main

FURTHER = [kind for kind in KINDS if kind not in DEFAULT_KINDS]
MEASURES = [kind for kind in FURTHER if function_of(kind).startswith("analysis.")]
LEARNING = {"task.length": 8, "training.lr": 0.02, "training.epochs": 150}


def row_of(run: ds.Run, kinds: Any = MEASURES) -> dict[str, Any]:
    (row,) = ds.Runs([run]).analyse(kinds, progress=False).to_pylist()
    return row


# ---- values -------------------------------------------------------------------------------------
def test_values_are_those_of_the_analyses() -> None:
    for run in train(LEARNING, seeds=3):
        row = row_of(run)
        assert row["analysis_note"] is None
        changed, grads, moved = attention(run), tandem(run), speed(run)
        assert row["attention_similarity"] == changed.similarity.rank_correlation
        assert row["attention_similarity_others"] == changed.similarity.chance_rank_correlation
        assert row["attention_similarity_p"] == changed.similarity.p_value
        for moment, there in (("start", changed.start), ("end", changed.end)):
            assert row[f"relevant_attention_{moment}"] == there.relevant
            assert row[f"attention_by_token_{moment}"] == there.by_token.tolist()
            assert row[f"preferred_token_{moment}"] == there.preferred
            assert row[f"token_preference_{moment}"] == there.preference
        assert grads.changes is not None
        assert row["tandem_correlation"] == grads.changes.correlation
        assert row["tandem_lag"] == grads.changes.lag
        assert row["tandem_at_spikes"] == grads.changes.around_spikes
        for part, name in (("all", ""), *((part, f"_{part}") for part in PARTS)):
            assert row[f"gradient_at_drops{name}"] == grads.at_drops[part].tolist()
            assert row[f"gradient_at_spikes{name}"] == grads.at_spikes[part].tolist()
            assert row[f"speed_at_drops{name}"] == moved.at_drops[part].tolist()
        assert row["speed_median"] == moved.overall["all"]
        weighed = assemblers(run.parameters(), run.config)
        assert row["heaviest_assembler"] == weighed.heaviest
        assert row["heaviest_assembler_ratio"] == weighed.heaviness
        assert row["assembler_correlation"] == weighed.correlation
        assert row["assembler_correlation_most"] == weighed.largest
        steps = step_over_length(run)
        assert row["step_over_length"] == steps.ratio
        assert row["step_over_length_most"] == steps.most
        assert row["step_over_length_most_epoch"] == steps.most_epoch
        assert row["unsafe_epochs"] == steps.unsafe_epochs
        assert row["shortest_embedding"] == steps.shortest_embedding
        assert row["shortest_sequence"] == steps.shortest_sequence


def test_lists_go_with_the_drops_and_spikes_of_the_default_analyses() -> None:
    run = ds.train(ds.Config().replace({"training.epochs": 400}), [14], progress=False)[0]
    row = row_of(run, "all")
    assert len(row["drops"]) > 1
    assert len(row["speed_at_drops"]) == len(row["gradient_at_drops"]) == len(row["drops"])
    assert len(row["gradient_at_spikes"]) == len(row["spike_epochs"]) > 0
    assert row["relevant_attention_end"] == pytest.approx(row["relevant_attention"], rel=1e-6)


def test_sparsity_by_hand() -> None:
    (run,) = train({"training.lr": 0.02}, seeds=1)
    row = row_of(run, "sparsity")
    tokens = torch.as_tensor(ds.dataset(run.config.task, split="all")[0]).long()
    hidden = forward(tensors(run.parameters()), tokens, run.config.model)["hidden"].abs()
    names = [*DECLARATIONS["sparsity"].columns]
    shares = [row[name] for name in names]
    assert (SPARSITY_DECADES[0], SPARSITY_DECADES[-1]) == SPARSITY_RANGE
    wanted = [(hidden < eps).double().mean().item() for eps in SPARSITY_DECADES]
    assert shares == pytest.approx(wanted, abs=2 / hidden.numel())  # one at a limit, by rounding
    assert shares == sorted(shares)
    assert [name.removeprefix("sparsity_").replace("_", ".") for name in names] == [
        np.format_float_positional(eps, trim="-") for eps in SPARSITY_DECADES
    ]


def test_sparsity_of_many_sequences_is_near_that_of_all() -> None:
    """3**11 of them, of which a sample is looked at, the same for every run."""
    many = {"task.vocab": 3, "task.length": 11, "training.epochs": 2}
    (run,) = train(many, seeds=1)
    row = row_of(run, "sparsity")
    whole = sparsity(run.parameters(), run.config, SPARSITY_DECADES)
    assert whole.sequences == 3**11
    assert [row[name] for name in columns_of(["sparsity"])] == pytest.approx(whole.share, abs=0.03)
    assert run_sparsity(run).sequences == 4096


def test_sparsity_of_own_data_is_over_the_train_set() -> None:
    run = _own_data()
    found = sparsity(run.parameters(), run.config, SPARSITY_DECADES, run.data.train[0])
    assert [row_of(run, "sparsity")[name] for name in columns_of(["sparsity"])] == [*found.share]


def test_travelled_by_hand() -> None:
    (run,) = train({"training.lr": 0.02}, seeds=1)
    row, (start, end) = row_of(run, "travelled"), (run.parameters(0), run.parameters())
    pairs = [(start[name], end[name]) for name in ("token_embedding", "position_embedding")]
    both = np.concatenate([a for a, _ in pairs]), np.concatenate([b for _, b in pairs])
    for name, (a, b) in zip(("embeddings", "tokens", "positions"), (both, *pairs), strict=True):
        # In the plane all rotations can be tried; complex numbers turn by a product.
        x, y = (m[:, 0].astype(float) + 1j * m[:, 1] for m in (a, b))
        turns = np.exp(1j * np.linspace(0, 2 * np.pi, 20001))
        nearest = min(np.linalg.norm(x * turn - y) for turn in turns)
        length = np.linalg.norm(x)
        assert row[f"{name}_travelled"] == pytest.approx(np.linalg.norm(x - y) / length)
        assert row[f"{name}_travelled_rotated"] == pytest.approx(nearest / length, abs=1e-4)


def test_frozen_embeddings_have_not_travelled() -> None:
    frozen = ["token_embedding", "position_embedding"]
    (run,) = train({"training.frozen": frozen}, seeds=1)
    row = row_of(run, "travelled")
    assert {row[name] for name in columns_of(["travelled"])} == {0.0}


def test_what_meanings_say_is_so() -> None:
    told = DECLARATIONS["attention"].columns
    assert f" {ATTENTION_OTHERS} other seeds" in told["attention_similarity_others"].meaning
    assert f" {ATTENTION_OTHERS + 1} starts" in told["attention_similarity_p"].meaning


# ---- what does not apply ------------------------------------------------------------------------
def _own_data() -> ds.Run:
    return train(data=ds.Data(train=ds.dataset(ds.Config().replace(TINY).task, 5)), seeds=1)[0]


def _from_nothing() -> ds.Run:
    config = ds.Config().replace(TINY)
    return ds.train(config, [0], start=0 * ds.initial_parameters(config), progress=False)[0]


def one(changes: dict[str, Any]) -> Callable[[], ds.Run]:
    return lambda: train(changes, seeds=1)[0]


# A run; what is null of it, columns or whole kinds; and what the note says.
NULLS: dict[str, tuple[Callable[[], ds.Run], set[str], str | None]] = {
    "weights not kept": (one({"record.weights_every": 0}), set(), None),
    "one dimension": (one({"model.dim": 1}), set(), None),
    "three tokens": (one({"task.vocab": 3}), set(), None),
    "no bias": (one({"model.bias": False}), set(), None),
    "one unit": (
        one({"model.hidden": 1}),
        {"assembler_correlation", "assembler_correlation_most"},
        "assemblers: there are no two assemblers to compare",
    ),
    "own data": (
        _own_data,
        {"relevant_attention_start", "relevant_attention_end"},
        "attention: relevant positions are not known, so all of them are looked at",
    ),
    "no gradients": (
        one({"record.gradients": False}),
        {"tandem"},
        "tandem: its gradient norms were not recorded; train it again with record.gradients = true",
    ),
    "no norm": (
        one({"model.norm": "none", "training.lr": 1e-4}),
        {"step_over_length"},
        "step_over_length: model.norm is none, so that nothing is normalised",
    ),
    "one position": (
        one({"task.length": 1, "task.relevant": 1}),
        {
            *("attention_similarity", "attention_similarity_others", "attention_similarity_p"),
            *("preferred_token_start", "preferred_token_end"),
        },
        "attention: a map that is the same everywhere has no ranks to compare",
    ),
    "no epochs": (
        one({"training.epochs": 0}),
        {
            *("tandem", "speed_median", "step_over_length_most"),
            *("step_over_length_most_epoch", "unsafe_epochs"),
        },
        "tandem: it has no epoch with a gradient; speed: there is no epoch that moved anything; "
        "step_over_length: there is no epoch whose shortest vectors were recorded",
    ),
    "nothing": (
        _from_nothing,
        {
            *("attention_similarity", "attention_similarity_others", "attention_similarity_p"),
            *("preferred_token_start", "preferred_token_end", "travelled"),
            *("tandem_correlation", "tandem_lag", "tandem_at_spikes", "heaviest_assembler_ratio"),
            *("assembler_correlation", "assembler_correlation_most", "step_over_length_now"),
            "step_over_length_most",
        },
        "attention: a map that is the same everywhere has no ranks to compare; "
        "tandem: no correlation, as epochs are too few or do not differ; "
        "travelled: the length at the start is 0 (E and P, E, P); "
        "assemblers: the median length of assemblers is 0, and there are no two assemblers to "
        "compare; step_over_length: a vector of length 0 has no ratio",
    ),
}


def _columns(names: set[str]) -> set[str]:
    """Columns, kinds being all of theirs; the one that is called as its kind has another word."""
    found = {"step_over_length" if name == "step_over_length_now" else name for name in names}
    whole = {kind for kind in names if kind in DECLARATIONS}
    return (found - whole) | {column for kind in whole for column in columns_of([kind])}


@pytest.mark.parametrize("case", NULLS)
def test_what_does_not_apply_is_null_with_a_note(case: str, tmp_path: Path) -> None:
    make, nulls, note = NULLS[case]
    run = make()
    ds.Runs([run]).save(tmp_path / "runs")
    for source in (ds.Runs([run]), ds.load(tmp_path / "runs"), ds.load(tmp_path / "runs")):
        (row,) = source.analyse(MEASURES, progress=False).to_pylist()
        assert row.pop("analysis_note") == note
        assert {name for name, value in row.items() if value is None} == _columns(nulls)
    assert main(["check", str(tmp_path / "runs")]) == 0


def test_diverged_runs_are_analysed_up_to_there() -> None:
    wild = {"training.lr": 1e4, "training.optimizer": "sgd", "training.epochs": 40}
    (run,) = train(wild | {"model.norm": "none"}, [0])
    assert run.diverged
    row, last = row_of(run), run.diverged - 1
    told = f"diverged at epoch {run.diverged}: analysed up to {last}"
    assert f"sparsity, attention, travelled, assemblers: {told}" in row["analysis_note"]
    weighed = assemblers(run.parameters(last), run.config)
    assert row["heaviest_assembler_ratio"] == weighed.heaviness


def test_one_that_never_was_sound() -> None:
    config = ds.Config().replace(TINY)
    start = ds.initial_parameters(config) * 1e20
    row = row_of(ds.train(config, [0], start=start, progress=False)[0])
    assert "there is no epoch to measure, as it diverged at epoch 0" in row["analysis_note"]
    lists = {f"speed_at_drops{end}" for end in ("", *(f"_{part}" for part in PARTS))}
    there = {name for name in columns_of(MEASURES) if row[name] is not None}
    assert there == {*lists, "speed_resolution"}


# ---- ways to ask --------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("further") / "runs"
    train(LEARNING, seeds=3).save(folder)
    return folder


def report(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(["report", *map(str, words)]) == 0
    return capsys.readouterr().out


def test_nothing_is_made_unasked(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = report(capsys, stored)
    assert "sparsity" not in printed
    assert "attention maps" not in printed
    made = ds.load(stored).table(["analysed"])["analysed"].to_pylist()
    assert all({*kinds} <= {*DEFAULT_KINDS} for kinds in made)


@pytest.mark.parametrize("kind", FURTHER)
def test_a_report_tells_of_it(stored: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    many = report(capsys, stored, "--kinds", kind)
    assert "median" in many
    assert "verdict" not in many
    detail = report(capsys, f"{stored}#seed=1", "--kinds", kind)
    assert len(detail.splitlines()) > 3
    whole = json.loads(report(capsys, stored, "--kinds", kind, "--json"))
    assert {*columns_of([kind])} <= {*whole["runs"][0]}
    assert whole["totals"][kind]
    alone = json.loads(report(capsys, f"{stored}#seed=1", "--kinds", kind, "--json"))
    assert alone[kind]
    assert alone["circuit"] is None


def test_a_report_of_one_run_leaves_out_what_was_not_asked_for(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.loads(report(capsys, f"{stored}#seed=1", "--json"))
    assert {"circuit", "phases", "spikes"} <= {*told}
    assert {*told}.isdisjoint(FURTHER)


def test_an_epoch_may_be_chosen(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = "sparsity,attention,travelled,assemblers"
    start = json.loads(report(capsys, f"{stored}#seed=1@0", "--kinds", kinds, "--json"))
    assert start["travelled"]["embeddings"]["before"] == 0
    assert start["attention"]["similarity"]["rank_correlation"] == pytest.approx(1)
    config = ds.load(stored)[0].config
    begun = assemblers(ds.initial_parameters(config, 1), config)
    assert start["assemblers"]["heaviness"] == pytest.approx(begun.heaviness)


def test_a_condition_makes_what_it_asks_about(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = report(capsys, stored, "--where", "sparsity_100 = 1", "--kinds", "spikes")
    assert "loss spikes" in printed


def test_sql_asks_naturally(stored: Path) -> None:
    ds.load(stored).analyse("all", progress=False)
    asked = ds.query(
        stored,
        "SELECT seed, sparsity_0_01 AS sparse, unsafe_epochs > 0 AS unsafe, speed_at_drops[1] AS "
        "jump, attention_by_token_end[2] > attention_by_token_end[1] AS prefers_ones FROM runs "
        "ORDER BY seed",
    ).to_pylist()
    for row, run in zip(asked, ds.load(stored), strict=True):
        found = row_of(run)
        assert row["seed"] == run.seed
        assert row["sparse"] == found["sparsity_0_01"]
        assert row["unsafe"] == (found["unsafe_epochs"] > 0)
        assert row["jump"] == next(iter(found["speed_at_drops"]), None)
        assert row["prefers_ones"] == (found["preferred_token_end"] == 1)


@pytest.mark.parametrize("wanted", ["all", ["all"], ["sparsity", "all"], FURTHER])
def test_a_sweep_makes_them(tmp_path: Path, wanted: Any) -> None:
    grid = {"seeds": 2, "base": TINY, "analyse": wanted}
    runs = ds.sweep(grid, tmp_path / "runs", progress=False)
    made = [*FURTHER] if wanted == FURTHER else [*KINDS]
    assert runs.table(["analysed"])["analysed"].to_pylist() == [made] * 2
    again = ds.sweep(grid, tmp_path / "runs", progress=False)
    names = ["seed", *columns_of(FURTHER)]
    fresh = train(seeds=2).analyse(FURTHER, progress=False)
    assert again.table(names).equals(fresh.select(names))


def test_the_help_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    printed = " ".join(report(capsys, "--help").split())
    assert f"(default: {','.join(DEFAULT_KINDS)}); also sparsity, attention, tandem" in printed
    assert "step_over_length, saddles, bounds, or all" in printed
