"""The rule that judges claims: right where the truth is known, and safe over many claims."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dynascope.studies.claims import FAILS, HOLDS, IN_PART, OPEN, Claim, holm_errors, judge
from dynascope.studies.estimates import Measured, Share, TwoGroups, mean, median, paired
from dynascope.studies.paired_estimates import (
    paired_outcomes,
    rank_correlation,
    ratio_of_means,
    share_of_events,
)

DRAWS = np.random.default_rng(3)
NEAR, FAR = DRAWS.normal(0, 1, 60), DRAWS.normal(1.5, 1, 60)

MEASURED: dict[str, tuple[Measured, float, str]] = {  # measured, effect, verdict of "above"
    "most of many": (Share(90, 100), 0.5, HOLDS),
    "few of many": (Share(10, 100), 0.5, FAILS),
    "half of many": (Share(50, 100), 0.5, OPEN),
    "all of three": (Share(3, 3), 0.5, OPEN),
    "none at all": (Share(0, 0), 0.5, OPEN),
    "a larger group": (TwoGroups(FAR, NEAR), 0.2, HOLDS),
    "a smaller group": (TwoGroups(NEAR, FAR), 0.2, FAILS),
    "a group of one": (TwoGroups(FAR[:1], NEAR), 0.2, OPEN),
    "two groups without spread": (TwoGroups(np.ones(9), np.zeros(9)), 0.2, HOLDS),
    "two small groups without spread": (TwoGroups(np.ones(3), np.zeros(3)), 0.2, OPEN),
    "three alike": (mean(np.ones(3)), 0.5, OPEN),
    "outcomes that gain": (paired_outcomes(np.ones(30), np.zeros(30)), 0.1, HOLDS),
    "outcomes that lose": (paired_outcomes(np.zeros(30), np.ones(30)), 0.1, FAILS),
    "a dozen outcomes without a difference": (
        paired_outcomes(NEAR[:12] > 0, NEAR[:12] > 0),
        -0.1,
        OPEN,
    ),
    "many outcomes without a difference": (paired_outcomes(np.ones(99), np.ones(99)), -0.1, HOLDS),
    "half as much": (ratio_of_means(1 + NEAR**2, 2 + 2 * NEAR**2 + FAR**2), 0.8, FAILS),
    "over nothing": (ratio_of_means(NEAR**2, np.zeros(60)), 0.8, OPEN),
    "over what may be nothing": (ratio_of_means(NEAR**2, (np.arange(60) == 3)), 0.8, OPEN),
    "events of one kind": (share_of_events(np.ones(60), np.ones(60)), 0.5, HOLDS),
    "few events of one kind": (share_of_events(np.ones(3), np.ones(3)), 0.5, OPEN),
    "no events": (share_of_events(np.zeros(60), np.zeros(60)), 0.5, OPEN),
    "pairs that gain": (paired(NEAR + 1, NEAR), 0.5, HOLDS),
    "pairs that lose": (paired(NEAR, NEAR + 1), 0.5, FAILS),
    "a mean": (mean(FAR), 0.5, HOLDS),
    "a median": (median(NEAR), 0.5, FAILS),
    "one number": (mean(np.ones(1)), 0.5, OPEN),
    "what rises together": (rank_correlation(NEAR, NEAR**3), 0.3, HOLDS),
    "what does not": (rank_correlation(NEAR, FAR), 0.6, FAILS),
    "what does not vary": (rank_correlation(NEAR, np.zeros(60)), 0.3, OPEN),
}


def claim(name: str, effect: float = 0.5, side: str = "above", **measures: Measured) -> Claim:
    by = {key: (lambda tables, one=one: one) for key, one in measures.items()}
    measure = by["only"] if list(by) == ["only"] else by
    return Claim(name, "it is so", "section 3", "how often", measure, effect, side)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", MEASURED)
def test_a_claim_is_judged_by_its_interval(name: str) -> None:
    one, effect, wanted = MEASURED[name]
    (above,) = judge([claim(name, effect, only=one)], {})
    assert above.verdict == wanted
    (below,) = judge([claim(name, effect, "below", only=one)], {})
    assert below.verdict == {HOLDS: FAILS, FAILS: HOLDS, OPEN: OPEN}[wanted]
    (measure,) = above.measures
    low, high = measure.interval
    assert not low > measure.value  # NaN is nowhere
    assert not high < measure.value


def test_conditions_that_differ_hold_in_part() -> None:
    (mixed,) = judge([claim("x", large=Share(99, 100), small=Share(1, 100))], {})
    assert mixed.verdict == IN_PART
    assert [(each.condition, each.verdict) for each in mixed.measures] == [
        ("large", HOLDS),
        ("small", FAILS),
    ]


def test_one_claim_among_many_needs_more() -> None:
    """61 of 100 are above half at 5%, but not as the surest of ten claims."""
    alone = judge([claim("a", only=Share(61, 100))], {})
    crowd = [claim(str(i), only=Share(50, 100)) for i in range(9)]
    among = judge([claim("a", only=Share(61, 100)), *crowd], {})
    assert (alone[0].verdict, among[0].verdict) == (HOLDS, OPEN)
    assert among[0].measures[0].error == pytest.approx(0.005)


def test_clopper_pearson_is_scipys() -> None:
    for count, of, error in ((0, 7, 0.05), (3, 7, 0.01), (500, 1000, 0.2), (9, 9, 0.001)):
        found = stats.binomtest(count, of).proportion_ci(1 - error, "exact")
        assert Share(count, of).interval(error) == pytest.approx((found.low, found.high), abs=1e-12)


def test_welch_is_scipys() -> None:
    """Of groups without skewness."""
    ones, others = np.concatenate([FAR, 3 - FAR]), np.concatenate([NEAR, -NEAR])
    found = stats.ttest_ind(ones, others, equal_var=False).confidence_interval(0.98)
    assert TwoGroups(ones, others).interval(0.02) == pytest.approx((found.low, found.high))


def test_spearman_is_scipys() -> None:
    found = rank_correlation(NEAR, np.round(FAR)).value
    assert found == pytest.approx(stats.spearmanr(NEAR, np.round(FAR)).statistic)


@pytest.mark.parametrize("one", [Share(61, 100), Share(43, 90), mean(FAR), TwoGroups(FAR, NEAR)])
def test_a_p_value_is_that_of_the_interval(one: Measured) -> None:
    """The interval of that error begins, or ends, at the effect."""
    above, below = one.p_above(0.5), one.p_below(0.5)
    assert max(above, below) == 0.5
    p = min(above, below)
    end = one.interval(2 * p)[0 if p == above else 1]
    assert p == pytest.approx(1e-9) or end == pytest.approx(0.5, abs=1e-3)


@given(st.lists(st.floats(1e-6, 0.5), min_size=1, max_size=12))
def test_holm_never_allows_more_than_one_test_would_nor_less_than_bonferroni(
    p_values: list[float],
) -> None:
    errors = holm_errors(p_values)
    assert all(0.05 / len(p_values) - 1e-15 <= error <= 0.05 for error in errors)
    order = np.argsort(p_values, kind="stable")
    assert sorted(errors) == [errors[i] for i in order]


def test_false_claims_of_a_study_rarely_hold() -> None:
    """Eight claims, none true: at most 5% of studies may call one of them true or false. 95% of
    such counts of 300 are below 22."""
    draws = np.random.default_rng(0)
    wrong = 0
    for _ in range(300):
        counts = draws.binomial(200, 0.5, 8)
        found = judge([claim(str(i), only=Share(int(n), 200)) for i, n in enumerate(counts)], {})
        wrong += any(each.verdict != OPEN for each in found)
    assert wrong <= 22
