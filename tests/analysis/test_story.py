"""The story of a run: moments that agree with the analyses, and nothing that does not apply."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dynascope as ds
from dynascope._kernel import CURVE_NAMES
from dynascope.analysis import phases, spikes, story, sum_progress
from dynascope.analysis.drop_votes import SeenDrop
from dynascope.analysis.story import Analyses, Moment, Story, story_of
from dynascope.analysis.story_moments import MOST_DROPS, MOST_SPIKES, drop_moments, spike_moments
from dynascope.findings.run_story import run_story, story_kinds
from dynascope.sandbox import analysis_answers

ROOT = Path(__file__).parents[2]
PANELS = re.search(
    r"export const PANELS = \[(.*?)\]", (ROOT / "web/src/model/types.ts").read_text(), re.S
)


@cache
def trained(seed: int = 0, own: bool = False, **changes: Any) -> ds.Run:
    config = ds.Config().replace({name.replace("__", "."): to for name, to in changes.items()})
    data = own_data() if own else None
    return ds.train(config, [seed], data=data, progress=False)[0]


def own_data() -> ds.Data:
    tokens, _ = ds.dataset(ds.Config().task, seed=5)
    return ds.Data(train=(tokens, tokens[:, 0] * tokens[:, 1]))


def two_phases() -> ds.Run:
    return trained(15)


def spiky() -> ds.Run:
    return trained(18)


def unsolved() -> ds.Run:
    return trained(10, training__epochs=300)


def diverged() -> ds.Run:
    return trained(training__optimizer="sgd", training__lr=1e6, training__epochs=20)


def ends_only() -> ds.Run:
    return trained(15, record__weights_every=0, training__epochs=150)


def with_own_data() -> ds.Run:
    return trained(own=True, training__epochs=150)


def untrained() -> ds.Run:
    return trained(training__epochs=0)


def without_a_first_accuracy() -> ds.Run:
    """As an imported run."""
    run = trained(10, training__epochs=300)
    table = run.table.copy()
    for name in ("train_loss", "train_accuracy", "test_accuracy"):
        table[0, CURVE_NAMES.index(name)] = np.nan
    return replace(run, table=table)


RUNS: dict[str, Callable[[], ds.Run]] = {
    run.__name__: run
    for run in (
        *(two_phases, spiky, unsolved, diverged, ends_only, with_own_data, untrained),
        without_a_first_accuracy,
    )
}
told = cache(story)


def kinds_of(found: Story) -> list[str]:
    return [moment.kind for moment in found.moments]


def only(found: Story, kind: str) -> Moment:
    [moment] = [moment for moment in found.moments if moment.kind == kind]
    return moment


@pytest.mark.parametrize("name", RUNS)
def test_moments_lie_in_the_run_and_in_order(name: str) -> None:
    run = RUNS[name]()
    found = told(run)
    epochs = [moment.epoch for moment in found.moments]
    assert epochs == sorted(epochs)
    assert epochs[0] >= 0
    assert epochs[-1] <= run.epochs
    assert PANELS is not None
    for moment in found.moments:
        assert moment.caption
        assert moment.text.endswith(".")
        assert "nan" not in moment.text
        assert moment.panels
        assert all(f'"{panel}"' in PANELS[1] for panel in moment.panels)


@pytest.mark.parametrize("name", ["two_phases", "spiky", "unsolved"])
def test_moments_agree_with_the_analyses(name: str) -> None:
    run = RUNS[name]()
    found, dated, in_phases = told(run), sum_progress(run), phases(run)
    assert dated is not None
    by_kind = {moment.kind: moment.epoch for moment in found.moments}
    if dated.sum.holds:
        assert dated.clustering.half is not None
        assert dated.clustering.nine_tenths is not None
        assert by_kind["gathering"] == dated.clustering.half.first
        assert by_kind["sum"] == dated.clustering.nine_tenths.first
    else:
        assert "sum" not in by_kind
        assert by_kind.get("gathering") == in_phases.clustered_epoch
    drops = [moment.epoch for moment in found.moments if moment.kind == "drop"]
    assert {*drops} <= {drop.epoch for drop in in_phases.drops}
    peaks = {spike.peak for spike in spikes(run, why=False).spikes}
    assert {moment.epoch for moment in found.moments if moment.kind == "spike"} <= peaks


def test_a_run_of_two_phases() -> None:
    run, found = two_phases(), told(two_phases())
    assert kinds_of(found) == [
        *("start", "gathering", "sum", "drop", "accuracy", "drop", "spike", "spike", "spike", "end")
    ]
    assert [m.caption for m in found.moments if m.kind == "drop"] == [
        "The loss drops?",  # that not all methods see
        "The loss drops again",
    ]
    passes = only(found, "accuracy")
    curve = run.curves["test_accuracy"]
    assert curve[passes.epoch] > 0.9 >= curve[: passes.epoch].max()
    assert "x0 + x1 + x2 + x3 + x4 (plain, value-corrected)" in only(found, "end").text
    assert found.describe().splitlines()[0].startswith("Epoch 0: The start. Before the first epoch")


def test_many_spikes_are_told_together() -> None:
    run, found = spiky(), told(spiky())
    every = spikes(run, why=False).spikes
    highest = sorted(every, key=lambda spike: -spike.rise)[:MOST_SPIKES]
    shown = [moment for moment in found.moments if moment.kind == "spike"]
    assert [m.epoch for m in shown] == sorted(spike.peak for spike in highest)
    assert all(m.caption == "Spike: a long step" for m in shown)
    assert all("cause: optimizer (confirmed)." in m.text for m in shown)
    others = only(found, "spikes")
    assert others.caption == f"{len(every) - MOST_SPIKES} more spikes"
    assert others.epoch == min(s.peak for s in every if s not in highest)


def test_a_cause_that_is_not_confirmed_is_asked() -> None:
    found = spikes(spiky(), most=1)
    [spike] = [spike for spike in found.spikes if spike.cause]
    assert spike.cause is not None
    failed = tuple(replace(made, remains=1.0) for made in spike.cause.interventions)
    doubted = replace(spike, cause=replace(spike.cause, interventions=failed))
    without = replace(spike, cause=None, unexplained="it cannot be replayed")
    for one, caption, why in (
        (doubted, "Spike: a long step?", "(not confirmed)."),
        (without, "Spike", "; not explained: it cannot be replayed."),
        (replace(without, height=1.5 * spike.before), "Small spike", "it cannot be replayed."),
    ):
        [moment] = spike_moments(replace(found, spikes=(one,)))
        assert moment.caption == caption
        assert moment.text.startswith("The train loss rose to")
        assert moment.text.endswith(why)


def test_many_drops_are_told_together() -> None:
    drops = [SeenDrop(e, e - 5, e + 5, 0.1 * n, ()) for n, e in enumerate(range(100, 600, 100), 1)]
    moments = list(drop_moments(drops))
    assert [m.epoch for m in moments] == [300, 400, 500, 100]
    assert moments[-1].caption == f"{len(drops) - MOST_DROPS} more drops"
    assert moments[-1].text == (
        "Besides the 3 largest drops there are 2, from epoch 100 to 200: the train loss became "
        "1.11 to 1.22 times smaller."
    )
    assert list(drop_moments(drops[:4]))[-1].caption == "1 more drop"
    assert list(drop_moments([])) == []


def test_a_run_in_which_nothing_happened() -> None:
    found = told(unsolved())
    assert [moment.caption for moment in found.moments] == ["The start", "The end: unsolved"]
    text = only(found, "end").text
    assert "Nothing stands out: no drop of the loss, no spike and no rise of the accuracy." in text
    assert "No sum explains its sequence embeddings." in text
    assert not found.left_out


def test_a_run_that_diverged_ends_there() -> None:
    run, found = diverged(), told(diverged())
    assert found.moments[-1].caption == "The run diverges"
    assert found.moments[-1].epoch == run.diverged
    assert "end" not in kinds_of(found)


def test_what_cannot_be_analysed_is_left_out() -> None:
    kept, own = told(ends_only()), told(with_own_data())
    assert {*kept.left_out} == {"phases", "sum_progress"}
    assert "weights_every is 0" in kept.describe()
    assert not {"gathering", "sum"} & {*kinds_of(kept)}
    assert {"drop", "accuracy"} <= {*kinds_of(kept)}  # for which no weights are needed
    assert {*own.left_out} == {"phases", "sum_progress", "circuit"}
    assert len(own.omissions) == 1  # for one and the same reason
    assert only(own, "end").caption == "The end"
    assert "train accuracy" in only(own, "end").text  # there is no test set
    assert kinds_of(told(untrained())) == ["end"]


def test_without_any_analysis_little_is_said() -> None:
    found = story_of(unsolved(), Analyses())
    assert [moment.caption for moment in found.moments] == ["The start", "The end"]
    assert only(found, "end").text.endswith("No drop of the loss stands out.")


@pytest.mark.parametrize("name", RUNS)
def test_made_from_other_analyses_it_is_the_same(name: str) -> None:
    run = RUNS[name]()
    answer = analysis_answers.analysis(run, lambda: None)
    wanted = [vars(m) | {"panels": [*m.panels]} for m in told(run).moments]
    assert json.loads(answer)["story"] == wanted


def test_a_circuit_of_another_epoch_is_not_that_of_the_end() -> None:
    run = unsolved()
    found = {name: kind.make(run, epoch=100) for name, kind in story_kinds().items()}
    assert only(run_story(run, found, {}, 100), "end").caption == "The end"
    assert only(run_story(run, found, {}, run.epochs), "end").caption == "The end: unsolved"


def test_what_is_no_run_is_refused() -> None:
    with pytest.raises(ds.DynascopeError, match=r"run: expected a ds\.Run, but got str"):
        story("id")  # type: ignore[arg-type]
