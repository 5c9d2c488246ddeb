"""What objects show of themselves in a notebook equals their data."""

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from notebook_cases import DIVERGING, solved, spiking, train
from parsed_html import parsed

import dynascope as ds
from dynascope.analysis import circuit, phases, spikes
from dynascope.notebook.drawing import thinned
from dynascope.notebook.show import html_of
from dynascope.number_text import fraction, percent


def test_a_run() -> None:
    run = solved()
    page = parsed(run)
    facts = page.facts()
    assert f"Run {run.id}" in page.text()
    assert facts["seed"] == "15"
    assert facts["last epoch"] == "150"
    assert facts["accuracy"] == fraction(float(run.curves["test_accuracy"][-1]))
    assert facts["learning epoch"] == str(run.summary()["learning_epoch"])
    assert facts["optimizer, learning rate, batch"] == "adam, 0.003, 32"
    assert "diverged" not in facts
    assert "note" not in facts


def test_the_loss_is_drawn_as_it_is() -> None:
    """Straight from data to pixels: heights are a linear function of the logarithm."""
    run = solved()
    lines = {line["stroke"]: line["d"] for line in parsed(run).named("path")}
    for name in ("train", "test"):
        loss = np.log10(run.curves[f"{name}_loss"].astype(float))
        drawn = points(lines[f"var(--dynascope-{name})"])
        assert len(drawn) == 151
        for column, data in zip(drawn.T, (np.arange(151), loss), strict=True):
            slope, start = np.polyfit(data, column, 1)
            assert np.abs(slope * data + start - column).max() < 0.1  # pixels are rounded
            assert (slope > 0) == (data is not loss)  # y grows downwards


def points(path: str) -> Any:
    return np.array([list(map(float, p.split(","))) for p in re.split("[ML]", path) if p])


def test_no_spike_is_lost_in_a_long_curve() -> None:
    values = np.ones(10_000)
    values[[17, 5000, 9998]] = 5, 0.1, 7
    at, kept = thinned(values)
    assert len(at) <= 250
    assert {0, 17, 5000, 9998, 9999} <= set(at.tolist())
    assert (values[at] == kept).all()
    values[4000:6000] = np.nan
    at, kept = thinned(values)
    assert np.isnan(kept).any()
    assert (np.diff(at) > 0).all()


def test_a_run_that_diverged() -> None:
    page = parsed(train(DIVERGING, 1)[0])
    assert page.facts()["diverged"] == "at epoch 1"
    assert "accuracy" not in page.facts()
    assert len([each for each in page.named("line") if "bad" in each["stroke"]]) == 1


@pytest.mark.parametrize("count", [2, 10, 11, 1000])
def test_few_of_many_runs_are_shown(count: int) -> None:
    some = train(seeds=10)
    runs = ds.Runs([some[i % 10] for i in range(count)])
    page = parsed(runs)
    head, *rows = page.rows
    shown = min(count, 10)
    assert head == ["seed", "accuracy", "accuracy over time", "learning epoch", "lowest loss"]
    assert [row[0] for row in rows] == [str(run.seed) for run in runs[:shown]]
    assert [row[1] for row in rows] == [fraction(r.summary()["accuracy"]) for r in runs[:shown]]  # type: ignore[arg-type]
    assert f"{count} runs" in page.text()
    assert (f"… and {count - 10} more runs" in page.text()) == (count > 10)
    assert len(page.named("path")) == shown
    bars = [text for where, text in page.texts if where[-1] == "title"]
    assert sum(int(hint.split()[0]) for hint in bars) == count


def test_no_runs_and_one() -> None:
    assert parsed(ds.Runs([])).text() == "No runs"
    page = parsed(ds.Runs([solved()]))
    assert len(page.rows) == 2
    assert "interval" not in page.text()  # of one


def test_options_that_differ_have_a_column() -> None:
    several = train({"training.frozen": ("query",), "training.lr": 0.25}, 2)
    head, *rows = parsed(ds.Runs([*train(seeds=1), *several])).rows
    assert head[:4] == ["seed", "lr", "frozen", "accuracy"]
    assert [row[1:3] for row in rows] == [["0.003", "none"], ["0.25", "query"], ["0.25", "query"]]
    six = {"task.vocab": 3, "task.length": 6, "model.dim": 3, "model.hidden": 5, "task.relevant": 2}
    page = parsed(ds.Runs([*train(seeds=1), *train(six | {"training.lr": 0.25}, 1)]))
    assert "They also differ in hidden, lr." in page.text()


def test_stored_runs_are_shown_as_in_memory(tmp_path: Path) -> None:
    runs = train(seeds=12)
    runs.save(tmp_path / "store")
    stored = ds.load(tmp_path / "store")
    assert html_of(stored) == html_of(runs)
    assert html_of(stored[3]) == html_of(runs[3])
    assert html_of(stored[:0]) == html_of(ds.Runs([]))


def test_parameters() -> None:
    weights = solved().parameters()
    page = parsed(weights)
    rows = {row[0]: row[1:] for row in page.rows[1:]}
    assert list(rows) == list(weights)
    for name, array in weights.items():
        shape, *sizes = rows[name]
        assert shape == " × ".join(map(str, array.shape))
        told = [np.linalg.norm(array.astype(float)), array.min(), array.max()]
        assert [float(size) for size in sizes] == pytest.approx(told, rel=6e-3)
    dots = np.array([[float(dot["cx"]), float(dot["cy"])] for dot in page.named("circle")[:2]])
    tokens = weights.token_embedding.astype(float)
    apart = (dots[0] - dots[1]) * [1, -1]  # in the page's order, last first, and y downwards
    across = tokens[1] - tokens[0]
    assert np.abs(apart / np.linalg.norm(apart) - across / np.linalg.norm(across)).max() < 0.02
    assert len(page.named("polygon")) == 12 + 1  # positions, and in the legend


def test_a_circuit() -> None:
    found = circuit(solved().parameters(), solved().config)
    assert found.sum is not None
    assert found.embedding is not None
    page = parsed(found)
    facts = page.facts()
    assert facts["sum that it keeps"].startswith(found.sum.formula())
    assert facts["share between multisets"] == percent(found.embedding.between)
    assert facts["attention on relevant positions"] == percent(found.relevant_attention)
    assert f"{found.verdict.name}, on all 4096 sequences" in page.text()
    shares, bars = page.named("rect")[:3], page.named("rect")[3:]
    assert [bar["fill"][16:-1] for bar in shares] == ["between", "permutation", "suffix"]
    assert [bar["fill"][16:-1] for bar in bars] == ["accent"] * 5 + ["faint"] * 7
    heights = np.array([float(bar["height"]) for bar in bars])
    assert np.abs(heights / heights.max() - found.attention / found.attention.max()).max() < 0.01


def test_phases() -> None:
    found = phases(solved())
    page = parsed(found)
    facts = page.facts()
    assert facts["clustered"] == f"epoch {found.clustered_epoch}"
    assert facts["fitting"] == f"epoch {found.fitted_epoch}"
    assert facts["fitted"] == f"epoch {found.snapshots.fitted}"
    assert facts["lead"] == f"{found.lead} epochs"
    assert len(page.named("polygon")) == len(found.drops) > 0
    assert [drop.strip().split()[0] for drop in facts["drops"].split(",")] == [
        str(drop.epoch) for drop in found.drops
    ]
    bands = [(float(r["x"]), float(r["width"])) for r in page.named("rect") if "phase" in r["fill"]]
    starts = [found.snapshots.before, found.clustered_epoch, found.fitted_epoch]
    assert len(bands) == 4
    assert [round((x - 1) / 258 * 150) for x, _ in bands[:3]] == starts
    assert bands[-1][0] + bands[-1][1] == pytest.approx(259, abs=0.2)


def test_phases_of_which_nothing_is_known_are_not_drawn() -> None:
    found = phases(solved())
    nothing = {
        **dict.fromkeys(("clustered_epoch", "fitted_epoch", "lead", "sum")),
        "snapshots": type(found.snapshots)(0, None, None, None),
        "drops": (),
    }
    page = parsed(dataclasses.replace(found, **nothing))
    assert page.facts() == {"drops": "none"}
    assert page.named("svg") == []


def test_spikes() -> None:
    found = spikes(spiking(), most=1)
    page = parsed(found)
    head, *rows = page.rows
    assert head == ["epoch", "loss", "rise", "cause", "tested"]
    assert [row[0] for row in rows] == [str(s.peak) for s in found.spikes[:10]]
    (spike,) = [spike for spike in found.spikes if spike.cause]
    assert spike.cause is not None
    (row,) = [row for row in rows if row[0] == str(spike.peak)]
    assert row[3:] == [spike.cause.verdict, spike.cause.tested]
    stems = [float(line["x1"]) for line in page.named("line") if "bad" in line["stroke"]]
    assert [round((x - 1) / 258 * 240) for x in stems] == [spike.peak for spike in found.spikes]
    assert parsed(spikes(spiking(), why=False)).rows[0] == ["epoch", "loss", "rise"]


def test_many_spikes_and_infinite_ones() -> None:
    found = spikes(spiking(), why=False)
    first = dataclasses.replace(found.spikes[0], before=0.0)
    page = parsed(dataclasses.replace(found, spikes=(first,) * 25))
    assert len(page.rows) == 11
    assert "… and 15 more loss spikes" in page.text()
    assert page.rows[1][2] == "∞ ×"
