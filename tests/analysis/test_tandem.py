"""Gradient norms at drops and spikes: planted curves, and sums by hand."""

from dataclasses import replace

import numpy as np
import pytest
from planted_curves import curve
from planted_runs import planted, small_run

import dynascope as ds
from dynascope.analysis import spikes, tandem
from dynascope.analysis import thresholds as th
from dynascope.analysis.shapley import GROUPS

EPOCHS = 600
LOSS = curve((150, 0.5, 5), (400, 1.5, 5), epochs=EPOCHS)
NOISE = np.exp(np.random.default_rng(0).normal(0, 0.01, EPOCHS + 1))
PARAMETERS = 8


def with_values(base: np.ndarray, values: dict[int, float]) -> np.ndarray:
    changed = base.astype(float).copy()
    changed[list(values)] = list(values.values())
    return changed


def test_planted_gradients_at_drops() -> None:
    time = np.arange(EPOCHS + 1)
    high = np.where(np.abs(time - 400) < 30, 5.0, 1.0)
    fed = np.where(np.abs(time - 150) < 30, 3.0, 1.0)
    curves = {"train_loss": LOSS, "grad_norm": high, "grad_norm_max": high}
    curves |= {f"grad_norm/{name}": fed for name in GROUPS["feed_forward"]}
    found = tandem(planted(EPOCHS, curves))
    assert len(found.drops) == 2
    for part in ("token_embedding", "position_embedding", "query", "value"):
        assert found.at_drops[part].tolist() == [1.0, 5.0]
    assert found.at_drops["feed_forward"].tolist() == [3.0, 1.0]
    whole = np.sqrt([4 * 1 + 4 * 9, 4 * 25 + 4 * 1]) / np.sqrt(PARAMETERS)
    np.testing.assert_allclose(found.at_drops["all"], whole)
    assert found.spikes == ()
    assert all(len(found.at_spikes[part]) == 0 for part in ("all", *GROUPS))


def test_planted_gradients_at_spikes() -> None:
    loss = with_values(0.3 * NOISE, {300: 1.2, 301: 3.0, 302: 0.9, 450: 2.0})
    norms = with_values(np.full(EPOCHS + 1, 2.0), {300: 40.0, 301: 8.0, 302: 100.0, 450: 2.0})
    query = with_values(np.full(EPOCHS + 1, 2.0), {450: 14.0})
    curves = {"train_loss": loss, "grad_norm": norms, "grad_norm_max": norms}
    found = tandem(planted(EPOCHS, curves | {"grad_norm_max/query": query}))
    assert [spike.peak for spike in found.spikes] == [301, 450]
    # Up to the peak: what comes after it is the way back.
    assert found.at_spikes["value"].tolist() == [20.0, 1.0]
    assert found.at_spikes["query"].tolist() == [1.0, 7.0]
    fed = found.at_spikes["feed_forward"]
    assert fed.tolist() == [20.0, 1.0]


def test_norms_by_hand() -> None:
    """Of a run as it was recorded, with a spike and drops of its own."""
    run = ds.train(ds.Config().replace({"training.epochs": 300}), [14], progress=False)[0]
    found = tandem(run)
    assert found.drops
    whole = np.sqrt(sum(run.curves[f"grad_norm/{name}"] ** 2 for name in run.config.shapes))
    spans = [(drop.start, max(drop.end, drop.start + 1)) for drop in found.drops]
    for i, (start, end) in enumerate(spans):
        mine = [epoch for epoch in range(1, 301) if start < epoch < end + 1]
        near = [
            epoch
            for epoch in range(1, 301)
            if start - th.DROP_NEAR < epoch < end + th.DROP_NEAR + 1
            and not any(a < epoch < b + 1 for a, b in spans)
        ]
        ratio = np.median(whole[mine]) / np.median(whole[near])
        assert found.at_drops["all"][i] == pytest.approx(ratio)
    assert found.changes == spikes(run, why=False).tandem
    assert [spike.peak for spike in found.spikes] == [s.peak for s in spikes(run, why=False).spikes]


def test_nothing_before_is_no_ratio() -> None:
    curves = {"train_loss": LOSS, "grad_norm": np.zeros(EPOCHS + 1), "grad_norm_max": NOISE}
    found = tandem(planted(EPOCHS, curves))
    assert np.isnan(found.at_drops["all"]).all()


def test_what_was_not_recorded_is_refused() -> None:
    run = ds.train(
        ds.Config().replace({"training.epochs": 3, "record.gradients": False}), 1, progress=False
    )[0]
    with pytest.raises(ds.DynascopeError, match="gradient norms were not recorded; train it again"):
        tandem(run)
    with pytest.raises(ds.DynascopeError, match="it has no epoch with a gradient"):
        tandem(replace(small_run(3), diverged=1))
