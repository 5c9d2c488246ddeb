"""Epochs without a spike, taken for one: what names they are given."""

import dataclasses

import numpy as np
import pytest

import dynascope as ds
from dynascope.analysis import null_causes
from dynascope.analysis import thresholds as th
from dynascope.analysis.spike_detection import Event
from dynascope.analysis.spike_explanation import Cause
from dynascope.analysis.spike_null import matched_events
from dynascope.analysis.spikes import spikes


def test_matched_epochs_are_free_of_spikes_and_at_the_same_level():
    losses = np.geomspace(1, 1e-3, 200)
    losses[[90, 91, 150]] *= 10
    events = [
        Event(90, 90, 2, float(losses[80]), float(losses[90]), 3),
        Event(150, 150, 1, float(losses[140]), float(losses[150]), 1),
    ]
    made = matched_events(losses, events)
    assert len(made) == 2
    for event, spike in zip(made, events, strict=True):
        assert event.start == event.peak
        assert event.before == np.median(losses[event.peak - th.SPIKE_WINDOW : event.peak])
        assert abs(np.log(event.before / spike.before)) < 0.2
        assert event.peak not in (*range(89, 95), *range(149, 153))


def test_none_is_taken_twice_and_there_may_be_too_few():
    losses = np.ones(20)
    events = [Event(18, 18, 1, 1.0, 2.0 + i, 1) for i in range(9)]
    assert [event.peak for event in matched_events(losses, events)] == [16]
    assert matched_events(losses, []) == ()


@pytest.fixture(scope="module")
def runs() -> ds.Runs:
    """Seven; most of them have spikes."""
    config = ds.Config().replace({"training.epochs": 600})
    return ds.train(config, seeds=range(7, 14), progress=False)


def test_quiet_epochs_are_seldom_given_a_name(runs):
    """Not even once in ten, though each has a step that raises the loss most."""
    quiet: list[Cause] = []
    for run in runs:
        found = spikes(run, why=False)
        more = dataclasses.replace(found, spikes=8 * found.spikes)  # eight epochs for each spike
        made = [cause for cause in null_causes(run, more) if isinstance(cause, Cause)]
        quiet += [cause for cause in made if cause.factor < th.SPIKE_RISE]
    assert len(quiet) >= 20
    assert sum(bool(cause.mechanisms.causes) for cause in quiet) <= len(quiet) / 10


def test_the_spikes_may_be_known(runs):
    run = next(run for run in runs if spikes(run, why=False).spikes)
    assert null_causes(run, spikes(run)) == null_causes(run)
    assert len(null_causes(run)) == len(spikes(run, why=False).spikes)
