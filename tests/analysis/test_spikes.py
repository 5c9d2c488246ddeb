"""Spikes in series with known answers, and in runs."""

import dataclasses
import statistics
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dynascope as ds
from dynascope.analysis import thresholds as th
from dynascope.analysis.spike_detection import _medians, robust, skip_step, spike_score
from dynascope.analysis.spikes import Spikes, gradient_norms, spikes, tandem

DEFINITIONS = (spike_score, skip_step, robust)


def noise(seed: int, size: int = 400, sigma: float = 0.05) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).normal(0, sigma, size))


# ---- the three definitions ----------------------------------------------------------------------
@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize("at", [(90,), (150, 300), (200, 201, 202), (399,)])
def test_planted_spikes_are_found_where_they_are(definition, at):
    series = noise(1)
    series[list(at)] *= 5
    found = definition(series)
    assert found.epochs == at
    assert [event.start for event in found.spikes] == [e for e in at if e - 1 not in at]


@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize("seed", range(20))
def test_noise_alone_has_none(definition, seed):
    assert definition(noise(seed)).epochs == ()


@pytest.mark.parametrize("rate", [0.999, 0.97, 0.8])
def test_a_decaying_curve_has_none_and_its_spikes_are_seen(rate):
    series = noise(2) * rate ** np.arange(400)
    assert robust(series).epochs == ()
    series[250] *= 8 / rate**16  # 16 epochs of decline lie between the curve and its median
    assert robust(series).epochs == (250,)


def test_ours_sees_the_spike_that_the_others_miss():
    """A mean over 1000 values remembers the beginning: what OLMo's rules were not made for."""
    series = 0.98 ** np.arange(400)
    series[300] = 0.2  # 0.002 before
    assert robust(series).epochs == (300,)
    assert spike_score(series).epochs == ()


def test_a_step_to_a_new_plateau_is_a_spike_until_half_the_window_has_seen_it():
    series = np.where(np.arange(200) < 100, 1.0, 2.0)
    (event,) = robust(series).spikes
    assert (event.start, event.peak, event.duration) == (100, 100, th.SPIKE_WINDOW // 2)
    assert (event.rise, event.recovery) == (2.0, None)


def test_a_constant_has_none_and_its_smallest_rise_counts_by_our_factor():
    for factor, epochs in ((1.29, ()), (1.31, (50,))):
        series = np.full(100, 0.7)
        series[50] *= factor
        assert robust(series).epochs == epochs
    assert spike_score(np.full(300, 0.1)).epochs == skip_step(np.full(300, 0.1)).epochs == ()


def test_falls_count_for_the_score_alone_and_are_no_spikes():
    series = noise(3)
    series[200] /= 5
    assert spike_score(series).epochs == (200,)
    assert spike_score(series).spikes == ()
    assert skip_step(series).epochs == robust(series).epochs == ()


@pytest.mark.parametrize(("more", "score", "skipped"), [(0.0, 1, 0), (1e-9, 1, 1), (-1e-9, 0, 0)])
def test_exactly_at_the_bound(more, score, skipped):
    """Of 32 ones, 32 minus ones and a 0, mean and standard deviation are 0 and 1."""
    past = [0.0] + 32 * [1.0, -1.0]
    assert len(spike_score([*past, 7 + more]).epochs) == score
    assert len(spike_score([*past, -7 - more]).epochs) == score
    assert len(skip_step([*past, 6 + more]).epochs) == skipped
    assert skip_step([*past, -6 - more]).epochs == ()


def test_the_numbers_of_an_event():
    series = np.ones(100)
    series[60:65] = [3, 9, 4, 1.5, 1.2]
    (event,) = robust(series).spikes
    assert (event.start, event.peak, event.duration) == (60, 61, 4)
    assert (event.before, event.height, event.rise, event.recovery) == (1.0, 9.0, 9.0, 3)


def test_values_below_the_floor_are_the_floor():
    series = np.full(100, 1e-9)
    series[50] = 9e-8
    assert robust(series).epochs == (50,)
    assert robust(series, floor=1e-7).epochs == ()


@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize("size", [0, 1, 2, th.SPIKE_LEAST])
def test_short_series_have_none(definition, size):
    found = definition(np.arange(1.0, size + 1))
    assert (found.epochs, found.judged, found.score) == ((), 0, 0.0)


def test_what_is_not_finite_ends_a_series_or_comes_before_it():
    series = noise(4)
    series[[0, 350]] = np.nan
    series[[200, 380]] *= 9
    assert robust(series).epochs == spike_score(series).epochs == (200,)
    assert robust(series).judged == 349 - th.SPIKE_LEAST


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(70, 300), st.integers(-20, 20))
def test_scale_does_not_matter(seed, size, power):
    series = np.exp(0.2 * np.random.default_rng(seed).standard_t(1.5, size).clip(-50, 50))
    for definition in DEFINITIONS:
        plain, scaled = definition(series), definition(series * 2.0**power)
        assert plain.epochs == scaled.epochs
        assert [e.rise for e in plain.spikes] == pytest.approx([e.rise for e in scaled.spikes])


def _scored(series):
    """OLMo 2's rule, value by value."""
    for t in range(64, len(series)):
        before = series[max(0, t - 1000) : t]
        if abs(series[t] - statistics.fmean(before)) >= 7 * statistics.stdev(before):
            yield t


def _skipped(series):
    """OLMo-core's, as an optimizer does it: it goes on when the loss is within the bound."""
    seen = deque(maxlen=128 + 1)  # with the latest
    for t, latest in enumerate(series):
        seen.append(latest)
        *past, _ = seen
        early = len(seen) < 64
        if not (early or latest - statistics.fmean(past) <= 6 * statistics.stdev(past)):
            yield t


@pytest.mark.parametrize("seed", range(2))
def test_the_published_rules_value_by_value(seed):
    series = (3 + np.random.default_rng(seed).standard_t(2, 1100)).tolist()
    assert spike_score(series).epochs == tuple(_scored(series))
    assert skip_step(series).epochs == tuple(_skipped(series)) != ()
    assert skip_step(series).score == len(skip_step(series).epochs) / (1100 - 63)


@pytest.mark.parametrize("window", range(4, 36))
def test_a_straight_decline_has_no_deviation(window):
    """Also while the window grows, and whether its length is odd or even."""
    spread = _medians(5 - 0.25 * np.arange(80.0), window, 2)[1]
    assert spread[2:] == pytest.approx(0, abs=1e-12)
    assert np.isnan(spread[:2]).all()


@pytest.mark.parametrize("seed", range(5))
def test_ours_value_by_value(seed):
    rng = np.random.default_rng(seed)
    series = np.exp(0.1 * rng.standard_t(1.5, 300) - 0.01 * np.arange(300))
    series[200] *= 20
    logs, found = np.log(series), []
    for t in range(16, 300):
        past = logs[max(0, t - 32) : t].tolist()
        half, times = len(past) // 2, range(len(past))
        (x0, t0), (x1, t1) = (
            (statistics.median(past[part]), statistics.median(times[part]))
            for part in (slice(None, half), slice(-half, None))
        )
        level = [x - min(0, (x1 - x0) / (t1 - t0)) * t for t, x in zip(times, past, strict=True)]
        middle = statistics.median(level)
        spread = 1.4826 * statistics.median(abs(x - middle) for x in level)
        bound = max(min(8 * spread, np.log(10)), np.log(1.3))
        found += [t] if logs[t] > statistics.median(past) + bound else []
    assert 200 in found
    assert robust(series).epochs == tuple(found)


# ---- loss and gradient norm together ------------------------------------------------------------
@pytest.mark.parametrize("lag", [-5, -2, 0, 3])
def test_the_lag_between_loss_and_gradient_norm(lag):
    series = noise(5, 300, 0.3)
    norms = np.roll(series, lag) ** 2
    found = tandem(series, norms, [])
    assert found is not None
    assert (found.lag, found.around_spikes) == (lag, False)
    assert found.cross_correlation == pytest.approx(1, abs=0.1)
    assert (found.correlation == pytest.approx(1, abs=1e-9)) == (lag == 0)


def test_the_rank_correlation_is_spearmans():
    from scipy.stats import spearmanr

    a, b = noise(6, 60, 0.5), noise(7, 60, 0.5)
    b[10:20] = b[9]  # ties
    found = tandem(a, b, [])
    assert found is not None
    want = spearmanr(np.diff(np.log(a)), np.diff(np.log(b))).statistic
    assert found.correlation == pytest.approx(want, abs=1e-12)


def test_too_few_epochs_or_a_constant_have_no_tandem():
    assert tandem(noise(8, 6), noise(9, 6), []) is None
    assert tandem(np.ones(50), noise(9, 50), []) is None


# ---- runs ---------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def run() -> ds.Run:
    """It has three spikes by epoch 500."""
    config = ds.Config().replace({"training.epochs": 500})
    return ds.train(config, seeds=[7], progress=False)[0]


@pytest.fixture(scope="module")
def found(run) -> Spikes:
    return spikes(run)


def test_a_run_has_its_spikes_and_the_highest_are_explained(run, found):
    at = [spike.peak for spike in found.spikes]
    assert {325, 481} <= set(at)
    assert at == [event.peak for event in found.loss.robust.spikes]
    assert all(spike.cause is not None for spike in found.spikes)
    (one,) = [spike for spike in spikes(run, most=1).spikes if spike.cause is not None]
    assert one.rise == max(spike.rise for spike in found.spikes)
    assert all(spike.cause is None for spike in spikes(run, why=False).spikes)


def test_it_is_a_pure_function_of_the_run(run, found):
    assert spikes(run) == found


def test_the_gradient_norm_is_of_all_parameters(run, found):
    norms = gradient_norms(run, run.epochs)
    parts = [run.curves[f"grad_norm_max/{name}"][325].astype(float) for name in run.config.shapes]
    assert norms[325] == pytest.approx(np.linalg.norm(parts))
    assert 325 in found.gradient_norm.robust.epochs
    assert found.tandem.around_spikes
    assert found.tandem.lag in (0, 1)


def test_it_describes_itself(found):
    text = found.describe()
    assert f"{len(found.spikes)} loss spikes." in text
    assert "Epoch 325: the train loss rose to 0.0773" in text
    assert text.count("; cause: ") == len(found.spikes)
    for spike in found.spikes:
        assert spike.describe() == "\n  ".join([spike.told.headline, *spike.told.lines])
        assert spike.told.headline.count(". ") == 0  # one sentence
        assert spike.cause.verdict in spike.told.headline
        assert f"({spike.cause.tested})." in spike.told.headline


def test_without_gradient_norms_it_says_so():
    config = ds.Config().replace({"training.epochs": 40, "record.gradients": False})
    made = spikes(ds.train(config, seeds=[0], progress=False)[0])
    assert (made.gradient_norm, made.tandem, made.spikes) == (None, None, ())
    assert "not recorded" in made.describe()


def test_an_imported_run_has_spikes_and_no_causes(run, found):
    imported = dataclasses.replace(run, origin=ds.Origin("import", "elsewhere"))
    made = spikes(imported)
    assert [s.peak for s in made.spikes] == [s.peak for s in found.spikes]
    assert all(s.cause is None and "imported" in (s.unexplained or "") for s in made.spikes)
    assert "imported" in made.describe()


def test_a_run_that_diverged_is_analysed_up_to_there():
    config = ds.Config().replace(
        {"training.optimizer": "sgd", "training.lr": 1e6, "training.epochs": 40}
    )
    run = ds.train(config, seeds=[0], progress=False)[0]
    assert run.diverged is not None
    made = spikes(run)
    assert (made.last_epoch, made.diverged) == (max(run.diverged - 1, 0), run.diverged)
    assert f"diverged at epoch {run.diverged}" in made.describe()


@pytest.mark.parametrize("most", [-1, 1.5, True, "3"])
def test_bad_most(run, most):
    with pytest.raises(ds.DynascopeError, match="most: expected None or a whole number"):
        spikes(run, most=most)


def test_bad_run(run):
    with pytest.raises(ds.DynascopeError, match=r"run: expected a ds\.Run, but got Runs"):
        spikes(ds.Runs([run]))
