"""Drops against marks made by eye. Floors are what was measured, see docs/analysis.md."""

from operator import methodcaller
from pathlib import Path

import pytest
from labelled_drops import (
    Label,
    agreement,
    labelled_by_votes,
    labelled_curves,
    matches,
    same_drop,
    table,
)

from dynascope.analysis.drops import Drop


def test_the_curves_are_all_there() -> None:
    to_tune, to_judge = labelled_curves()
    assert [curve.number for curve in (*to_tune, *to_judge)] == list(range(90))
    assert len(to_judge) == 30
    for curve in (*to_tune, *to_judge):
        edges = [edge for label in curve.labels for edge in (label.begin, label.end)]
        assert edges == sorted(edges)
        assert all(0 <= edge < len(curve.loss) for edge in edges)


@pytest.mark.parametrize(
    ("drop", "label", "same"),
    [
        ((105, 100, 110), (100, 110), True),
        ((105, 100, 110), (114, 130), True),  # as uncertain as the eye: 10 of 1000 epochs
        ((105, 100, 110), (116, 130), False),
        ((105, 20, 800), (100, 110), True),  # the shorter one is within the longer
        ((150, 90, 155), (145, 400), False),  # hardly any of it is
    ],
)
def test_the_same_drop(drop: tuple[int, int, int], label: tuple[int, int], same: bool) -> None:
    assert same_drop(Drop(*drop, 1.0), Label(*label, sure=True), 1000) == same


def test_each_label_has_a_drop_of_its_own() -> None:
    merged = [Drop(50, 20, 80, 1.0)]
    labels = [Label(45, 48, True), Label(52, 55, True)]
    assert len(matches(merged, labels, 1000)) == 1
    assert matches([], labels, 1000) == []


def test_shelves_agree_with_the_eye_as_far_as_was_measured() -> None:
    """On the curves that it was judged by, once."""
    _, to_judge = labelled_curves()
    told = agreement(to_judge, methodcaller("drops", "shelves"))
    assert told.matched >= 57  # of 66 labels: 86%
    assert told.found - told.matched <= 11  # of 68 drops: 16%
    assert told.same >= 18
    for method in ("change", "slope"):
        other = agreement(to_judge, methodcaller("drops", method))
        assert other.matched < told.matched
        assert other.same <= told.same


def test_votes_tell_how_far_a_drop_can_be_trusted() -> None:
    _, to_judge = labelled_curves()
    votes = labelled_by_votes(to_judge)
    seen, of = votes[3]
    assert seen >= 46
    assert of - seen <= 3
    alone, alone_of = votes[1]
    assert alone / alone_of < seen / of


def test_two_drops_of_a_run_that_had_one_by_slope() -> None:
    """Its first fall pauses at 0.25 for thirty epochs, which is long to the eye."""
    to_tune, _ = labelled_curves()
    (curve,) = (each for each in to_tune if each.seed == 1003)
    assert len(curve.drops("slope")) == 1
    assert [drop.epoch for drop in curve.drops("shelves")] == pytest.approx([52, 117], abs=5)


def test_the_documentation_has_these_figures() -> None:
    page = Path(__file__).parents[2] / "docs" / "analysis.md"
    for part in table().split("\n\n"):
        assert part in page.read_text(encoding="utf-8")
