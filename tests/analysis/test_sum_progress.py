"""When a run found its sum: crossings against all values, dips, and what cannot be dated."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dynascope as ds
from dynascope.analysis import kept_sum, phases, sum_progress
from dynascope.analysis.kept_sum import sum_shares
from dynascope.analysis.rises import Series
from dynascope.analysis.smoothing import running_median
from dynascope.analysis.thresholds import LEAD_PAIRS, RISE_REACH


@pytest.fixture(scope="module")
def run() -> ds.Run:
    """One that ends with a folded sum."""
    return ds.train(ds.Config(), seeds=[14], progress=False)[0]


def test_against_all_values(run: ds.Run) -> None:
    """Every epoch's share, and the first at which their running median is above."""
    found = sum_progress(run)
    assert found is not None
    kept = kept_sum(run.parameters(), run.config)
    assert kept is not None
    assert found.sum.formula() == kept.formula() == "x0 + x1 + x2 + x3 + x4 + 2 x9"
    shares = sum_shares(run.weights, run.config, kept)
    accuracy = run.curves["test_accuracy"].astype(float)
    for values, rise in ((shares, found.clustering), (accuracy, found.fitting)):
        smooth = running_median(values, RISE_REACH)
        for part, crossing in zip((0.1, 0.5, 0.9), rise[1:], strict=True):
            level = values[0] + part * rise.size
            assert crossing is not None
            assert crossing.first == int((smooth > level).argmax())
            assert crossing.last >= crossing.first
            assert (smooth[crossing.last : -50] > level).all()
    assert found.lead == found.fitting.half.first - found.clustering.half.first
    assert [lead[:2] for lead in found.leads] == [*LEAD_PAIRS]
    assert phases(run).sum_lead == found.lead


def test_a_dip_later_on_does_not_date_a_run_again() -> None:
    values = np.r_[np.zeros(100), np.ones(300), np.zeros(50), np.ones(550)]
    series = Series(lambda places: values[places], len(values))
    assert (series.first_passed(0.5), series.passed(0.5)) == (100, 450)


@given(st.integers(20, 400), st.integers(0, 2**32), st.sampled_from([0.1, 0.5, 0.9]))
def test_the_first_passage_is_the_first(count: int, seed: int, part: float) -> None:
    """Where all values are known, exactly; and never after the last one."""
    rng = np.random.default_rng(seed)
    values = np.cumsum(rng.normal(0.02, 0.1, count))
    series = Series(lambda places: values[places], count, coarse=count)
    first, last = series.first_passed(part), series.passed(part)
    assert (first is None) == (last is None) == (not series.rise >= 0.1)
    if first is None or last is None:
        return
    above = running_median(values, min(RISE_REACH, count // 20)) > series.start + part * series.rise
    assert not above[:first].any()
    assert above[first] or first == count - 1


def test_against_its_own_end_a_run_can_be_dated_that_multisets_do_not_date() -> None:
    """Its embeddings never gather by multisets."""
    runs = ds.train(ds.Config(), seeds=range(40000, 40010), progress=False)
    other = [
        run
        for run in runs
        if run.curves["test_accuracy"][-1] > 0.9 and phases(run).clustered_epoch is None
    ]
    assert other
    assert all(phases(run).sum_lead is not None for run in other)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"record.weights_every": 0}, "record.weights_every is 0, but sums over time need"),
    ({"task.name": "most-frequent"}, "sums are looked for in modular addition"),
    ({"task.vocab": 17}, "sums are looked for in modular addition of at most 16 tokens"),
]


@pytest.mark.parametrize(("options", "why"), REFUSED)
def test_what_cannot_be_dated_says_why(options: dict[str, Any], why: str) -> None:
    small = {"training.epochs": 3, "task.train_size": 64, "task.test_size": 32}
    run = ds.train(ds.Config().replace(small | options), progress=False)[0]
    with pytest.raises(ds.DynascopeError, match=why):
        sum_progress(run)


def test_columns_of_a_store(run: ds.Run, tmp_path: Path) -> None:
    """What is queried is what the functions say."""
    ds.Runs([run]).save(tmp_path / "runs")
    (row,) = ds.load(tmp_path / "runs").analyse(progress=False).to_pylist()
    found = sum_progress(run)
    assert found is not None
    assert (row["sum_kind"], row["sum_weights"]) == ("folded", list(found.sum.weights or ()))
    assert row["sum_values"] == found.sum.values == 8
    assert (row["sum_half"], row["sum_half_last"]) == found.clustering.half
    assert (row["accuracy_nine_tenths"], row["accuracy_nine_tenths_last"]) == found.fitting[-1]
    assert row["sum_leads"] == [lead.epochs for lead in found.leads]
    answer = ds.query(tmp_path / "runs", "SELECT sum_formula FROM runs WHERE sum_lead > 0")
    assert answer.to_pylist() == [{"sum_formula": "x0 + x1 + x2 + x3 + x4 + 2 x9"}]
