"""One word for each idea, explained once: the glossary, and all that people read."""

from collections import Counter
from pathlib import Path

import pytest
from docs_pages import PAGES, ROOT, anchors, prose
from wording import banned

from dynascope import glossary
from dynascope.analysis.verdict import VERDICTS
from dynascope.analysis_columns import columns_of
from dynascope.catalog import OPTIONS, SUM_KINDS
from dynascope.cli import main
from dynascope.cli.arguments import COMMANDS
from dynascope.config import column_name
from dynascope.sandbox.table_answers import ALWAYS
from dynascope.store.schema import PLACES, SCALARS

ENTRIES = list(glossary.entries())
# Columns of the files that no table of runs shows.
UNSEEN = {"config", "position", *PLACES}


def test_each_entry_is_there_once() -> None:
    assert len(ENTRIES) > 100
    for what in (
        [entry.id for entry in ENTRIES],
        [name for entry in ENTRIES for name in entry.columns],
        [entry.term for entry in ENTRIES if not entry.id.endswith(".own")],
    ):
        assert [name for name, count in Counter(what).items() if count > 1] == []


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_an_entry_leads_to_a_heading(entry: glossary.Entry) -> None:
    page, _, anchor = entry.docs.partition("#")
    assert anchor in anchors(ROOT / "docs" / page)


def test_every_column_of_a_table_of_runs_is_explained() -> None:
    explained = {name for entry in ENTRIES for name in entry.columns}
    options = {column_name(name) for name in OPTIONS}
    assert {*columns_of(), *ALWAYS, *SCALARS.names} - UNSEEN - options <= explained


def test_every_verdict_and_cause_is_explained() -> None:
    known = {entry.id for entry in ENTRIES}
    assert {*VERDICTS} <= known
    assert {f"sum.{kind}" for kind in SUM_KINDS} <= known
    causes = ("optimizer", "normalisation", "feed-forward", "batch order", "unstable state")
    for name in (*causes, "other", "unexplained"):
        assert f"cause.{name.replace(' ', '-')}" in known


def test_thresholds_are_those_of_the_analysis() -> None:
    """The explanations name numbers: these must be the ones that decide."""
    from dynascope.analysis import thresholds
    from dynascope.run import SOLVED_ACCURACY

    texts = {entry.id: entry.text for entry in ENTRIES}
    for name, number in {
        "unsolved": f"{SOLVED_ACCURACY}",
        "phase.solved": f"{SOLVED_ACCURACY}",
        "solved": f"{SOLVED_ACCURACY}",
        "ideal": f"{thresholds.RELEVANT_ATTENTION:.0%}",
        "value-corrected": f"{thresholds.RELEVANT_ATTENTION:.0%}",
        "attention.relevant": f"{thresholds.RELEVANT_ATTENTION:.0%}",
        "sum.unexplained": f"{thresholds.SUM_SHARE:.0%}",
        "sum.corrected": f"{thresholds.SUM_SHARE:.0%}",
        "sum.by": f"{thresholds.RELEVANT_ATTENTION:.0%}",
        "phase.fitting": "half",
        "phase.settled": f"{thresholds.RISE_DONE:.0%}",
    }.items():
        assert number in texts[name], name
    assert (thresholds.CLEAR_GAP, "threefold" in texts["clusters"]) == (3, True)
    assert (thresholds.DROP_SIZE, "a tenth" in texts["drops"]) == (0.1, True)
    assert (thresholds.SPIKE_LONGER, "three times" in texts["cause.optimizer"]) == (3, True)
    for cause in ("optimizer", "normalisation", "feed-forward"):
        assert "at least half of the rise" in texts[f"cause.{cause}"]
    assert thresholds.SPIKE_REMOVED == 0.5
    assert (thresholds.SPIKE_REMAINS, "less than half" in texts["spike.confirmed"]) == (0.5, True)
    assert (thresholds.SPIKE_SMALL, "twice" in texts["spike.small"]) == (2, True)
    for cause in ("batch-order", "unstable-state"):
        assert (thresholds.SPIKE_ORDERS, "of ten other" in texts[f"cause.{cause}"]) == (10, True)
        assert (thresholds.SPIKE_EARLIER, "twelve" in texts[f"cause.{cause}"]) == (12, True)


# ---- what people read ----------------------------------------------------------------------------
@pytest.mark.parametrize("word", ["suffixes", "a Suffix.", "prefix", "positions to blame"])
def test_a_banned_word_is_noticed(word: str) -> None:
    assert banned(f"before {word} after")
    assert not banned("before irrelevant tokens after")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_say_one_word_for_each_idea(page: Path) -> None:
    assert banned(prose(page)) == []


def test_the_glossary_says_one_word_for_each_idea() -> None:
    assert [banned(f"{entry.term} {entry.text}") for entry in ENTRIES if banned(entry.text)] == []


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
def test_helps_say_one_word_for_each_idea(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert banned(capsys.readouterr().out) == []


def test_the_reports_help_explains_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--help"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for entry in ENTRIES:
        if entry.id in {"fuzzy", "lead", "unsolved", "cause.optimizer"}:
            assert entry.text.replace("ξ", "the sequence embedding") in printed
    assert printed.isascii()
