"""What pictures of many runs cannot draw gets one sentence, and leaves no trace on the axes."""

from collections.abc import Callable
from typing import Any

import pytest

import dynascope as ds

NAN = float("nan")
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "zero on a logarithm": (
        lambda: ds.plots.rates([0, 1], [1, 1], [2, 2], scale="log"),
        "x: expected numbers above 0 for a logarithmic axis, but got 0.0; leave it out, or pass "
        'scale="linear".',
    ),
    "value of zero": (
        lambda: ds.plots.dots([1, 2], [0, 1], scale_y="log"),
        "values: expected numbers above 0",
    ),
    "x of zero": (lambda: ds.plots.dots([0, 2], [1, 1], scale="log"), "x: expected numbers above"),
    "cloud at zero": (
        lambda: ds.plots.cloud([1, 0], [1, 1], scale_x="log"),
        'pass scale_x="linear"',
    ),
    "cloud below zero": (lambda: ds.plots.cloud([1], [-1], scale_y="log"), "but got -1.0"),
    "threshold of zero": (lambda: ds.plots.thresholds([0, 1], [[0, 1]]), "x: expected numbers"),
    "effect of zero": (
        lambda: ds.plots.effects(["a"], [1], [0], [2], scale="log"),
        "expected numbers above 0",
    ),
    "scale": (lambda: ds.plots.rates([1], [1], [2], scale="cubic"), "scale: expected one of"),
    "scale of names": (lambda: ds.plots.dots(["a"], [1], scale="lin"), "scale: expected one of"),
    "theme": (lambda: ds.plots.bars(["a"], [1], theme="sepia"), "theme: expected one of"),
    "axes": (lambda: ds.plots.rates([1], [1], [2], 3), "a matplotlib Axes"),
    "more than all": (
        lambda: ds.plots.rates([1, 2], [1, 5], [2, 4]),
        "counts: expected at most 4, as totals says, but got 5.",
    ),
    "bars above all": (lambda: ds.plots.bars(["a"], [5], of=4), "at most 4, as of says"),
    "half a run": (lambda: ds.plots.rates([1], [0.5], [2]), "counts: expected whole numbers"),
    "no number": (lambda: ds.plots.rates([1], [NAN], [2]), "counts: expected whole numbers"),
    "too few": (lambda: ds.plots.rates([1, 2], [1], [2, 2]), "counts: expected 2 numbers"),
    "too few values": (lambda: ds.plots.dots([1, 2], [1]), "values: expected 2 numbers"),
    "too few y": (lambda: ds.plots.cloud([1, 2], [1]), "y: expected 2 numbers"),
    "text": (lambda: ds.plots.cloud(["a"], [1]), "x: expected numbers, but got ['a']"),
    "one number": (lambda: ds.plots.dots(3, [1]), "x: expected numbers or names"),
    "one name": (lambda: ds.plots.bars("abc", [1, 2, 3]), "names: expected"),
    "runs": (
        lambda: ds.plots.cloud([1, 2], [1, 2], runs=["a"]),
        "runs: expected 2, one for each, but got 1.",
    ),
    "groups": (lambda: ds.plots.dots([1, 2], [1, 2], groups=["a"]), "groups: expected 2"),
    "middle": (lambda: ds.plots.dots([1], [1], middle="mode"), "middle: expected one of"),
    "error": (lambda: ds.plots.rates([1], [1], [2], error=0), "error: expected a probability"),
    "curves": (
        lambda: ds.plots.thresholds([1, 2], [[0.1, 0.2, 0.3]]),
        "curves: expected a row of 2 shares for each run, but got an array of shape (1, 3).",
    ),
    "one curve": (lambda: ds.plots.thresholds([1, 2], [0.1, 0.2]), "an array of 2 dimensions"),
    "verdict": (
        lambda: ds.plots.effects(["a"], [1], [0], [2], verdicts=["hods"]),
        "did you mean 'holds'?",
    ),
    "height": (lambda: ds.plots.subplots(height=0), "height: expected inches"),
    "width": (lambda: ds.plots.subplots(width="wide"), "width: expected"),
    "argument": (lambda: ds.plots.rates([1], [1], [2], color="red"), "no argument 'color'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    call, words = REFUSED[case]
    with pytest.raises(ds.DynascopeError) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_and_numbers_do_not_share_an_axis() -> None:
    ax = ds.plots.rates(["a", "b"], [1, 2], [3, 3])
    with pytest.raises(ds.DynascopeError, match="x: expected names, such as 'a', but got 1"):
        ds.plots.rates([1, 2], [1, 2], [3, 3], ax)
    ax = ds.plots.rates([1, 2], [1, 2], [3, 3])
    with pytest.raises(ds.DynascopeError, match=r"x: expected numbers, as .* but got 'a'"):
        ds.plots.rates(["a", "b"], [1, 2], [3, 3], ax)


def test_what_is_refused_leaves_no_trace() -> None:
    ax = ds.plots.rates(["a", "b"], [1, 2], [3, 3])
    before, numbers = len(ax.get_children()), ax.figure.numbers()  # type: ignore[union-attr]
    with pytest.raises(ds.DynascopeError):
        ds.plots.rates(["c"], [4], [3], ax)
    ds.plots.rates(["d"], [1], [3], ax)
    assert [each.get_text() for each in ax.get_xticklabels()] == ["a", "b", "d"]
    assert len(ax.get_children()) > before
    assert ax.figure.numbers().startswith(numbers)  # type: ignore[union-attr]
