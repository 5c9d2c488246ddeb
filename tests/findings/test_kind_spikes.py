"""Spikes as columns, JSON and totals: what follows from the numbers is there, not only they."""

import dataclasses
import json
from typing import Any

import pytest

import dynascope as ds
from dynascope.analysis.spikes import Spikes, spikes
from dynascope.findings.kind_spikes import KIND
from dynascope.plain import plain


@pytest.fixture(scope="module")
def found() -> Spikes:
    """Two spikes; a third, of which nothing is known."""
    config = ds.Config().replace({"training.epochs": 500})
    made = spikes(ds.train(config, seeds=[7], progress=False)[0])
    first = made.spikes[0]
    unknown = dataclasses.replace(first, cause=None, unexplained="it cannot be replayed")
    return dataclasses.replace(made, spikes=(*made.spikes, unknown))


def test_columns(found: Spikes) -> None:
    row = KIND.row(found)
    lists = [value for name, value in row.items() if name.startswith("spike_")]
    assert len(lists) == 6
    assert {len(values) for values in lists} == {row["spikes"]} == {len(found.spikes)}
    for spike, cause, tested, small, sharpness in zip(
        found.spikes,
        row["spike_causes"],
        row["spike_confirmed"],
        row["spike_small"],
        row["spike_sharpness"],
        strict=True,
    ):
        assert small == (spike.rise < 2)
        if spike.cause is None:
            assert (cause, tested, sharpness) == ("unexplained", "not tested", None)
        else:
            words = {True: "confirmed", False: "not confirmed", None: "not tested"}
            assert (cause, tested) == (spike.cause.verdict, words[spike.cause.confirmed])
            assert sharpness == spike.cause.sharpness > 0


def test_json_has_a_headline_and_lines(found: Spikes) -> None:
    told = json.loads(json.dumps(plain(KIND.json(found)), allow_nan=False))["spikes"]["spikes"]
    for spike, made in zip(found.spikes, told, strict=True):
        assert made["told"] == {"headline": spike.told.headline, "lines": [*spike.told.lines]}
        assert made["small"] == spike.small
        assert all(": " in line and len(line.split()) < 50 for line in spike.told.lines)
        if spike.cause is None:
            assert made["cause"] is None
            assert "not explained: it cannot be replayed." in spike.told.headline
            continue
        assert made["cause"]["verdict"] == spike.cause.verdict
        assert made["cause"]["confirmed"] == spike.cause.confirmed
        names = [each["name"] for each in made["cause"]["interventions"]]
        assert names == ["second moments", "smooth norm", "clip", "nudge"]
        assert made["cause"]["orders"]["tried"] == 10


def test_totals_count_what_was_tested_and_what_is_small() -> None:
    known: dict[str, Any] = {
        "spikes": 2,
        "spike_causes": ["optimizer", "batch order"],
        "spike_confirmed": ["confirmed", "not confirmed"],
        "spike_small": [True, False],
    }
    totals = KIND.totals([known, known, dict.fromkeys(known)])
    assert totals["tested"] == {"confirmed": 2, "not confirmed": 2}
    assert (totals["small"], totals["runs"], totals["spikes"]) == (2, 2, 4)
    text = "\n".join(KIND.totals_text(totals))
    assert "2 optimizer, 2 batch order" in text
    assert "2 confirmed, 2 not confirmed; 2 of the spikes are small" in text
