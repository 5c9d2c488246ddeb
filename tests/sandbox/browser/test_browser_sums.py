"""The sum that a circuit keeps, in a real browser: named at every epoch, explained, coloured."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import Opener, Sandbox, serving, tokens
from playwright.sync_api import Locator, expect
from showing import Server

import dynascope as ds
from dynascope.analysis import KeptSum, circuit, kept_sum
from dynascope.number_text import percent

THREE = {
    **{"task.vocab": 3, "task.length": 6, "task.relevant": 3},
    **{"model.dim": 8, "training.epochs": 200},
}
# name: what differs from the defaults, seed; the kind of sum it ends with, and why that is right.
RUNS: dict[str, tuple[dict[str, Any], int, str, str]] = {
    "signed": ({}, 13, "signed", "−1 is 1 modulo 2: the remainder is the same."),
    "folded": ({}, 14, "folded", "2 is 0 modulo 2: the remainder is the same."),
    "both": ({}, 18, "folded", "−1 is 1 modulo 2, and 2 is 0: the remainder is the same."),
    "split": ({}, 7, "split", "The sum and x0 together tell the remainder."),
    "plain": ({}, 15, "plain", ""),
    "three": (THREE, 2, "plain", ""),
    "chance": ({"training.epochs": 60}, 19, "unexplained", ""),
    "other": ({"task.name": "most-frequent", "training.epochs": 20}, 0, "", ""),
}
PREFIXES = (
    18  # that are shown of two tokens, each in a colour: four orderings, but where all are equal
)
SUMMED = [name for name, (*_, kind, _) in RUNS.items() if kind]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sums")


@pytest.fixture(scope="module")
def runs(folder: Path) -> dict[str, ds.Run]:
    for i, (changes, seed, *_) in enumerate(RUNS.values()):
        run = ds.train(ds.Config().replace(changes), [seed], progress=False)
        run.save(folder / "store", append=i > 0)
    ds.load(folder / "store")[:5].analyse(["kept_sum", "circuit"], progress=False)
    return dict(zip(RUNS, ds.load(folder / "store"), strict=True))


@pytest.fixture(scope="module")
def server(runs: dict[str, ds.Run], folder: Path) -> Iterator[Server]:
    with serving(folder) as running:
        yield running


def found_in(run: ds.Run, epoch: int = -1) -> KeptSum:
    found = kept_sum(run.parameters(epoch), run.config)
    assert found is not None
    return found


def printed(kept: KeptSum) -> str:
    return kept.formula().replace("- ", "− ")


def told(page: Sandbox) -> Locator:
    return page.page.locator(".kept-sum")


def sum_facts(page: Sandbox) -> tuple[str, str]:
    """What the card says of the sequence in the middle of the attention, and of its sum."""
    page.page.mouse.move(2, 2)
    page.panel("attention").locator("canvas").hover()
    expect(page.page.locator(".pointer dt").first).to_have_text("sequence")
    facts = page.facts()
    return facts["sequence"], facts.get("sum", "")


# ---- the card -----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", SUMMED)
def test_the_card_names_the_sum(page: Sandbox, runs: dict[str, ds.Run], name: str) -> None:
    run, (*_, kind, why) = runs[name], RUNS[name]
    kept = found_in(run)
    assert kept.kind == kind  # or the table above is wrong
    page.open(run, epoch=run.epochs)
    if kept.holds:
        expect(told(page).locator(".formula")).to_have_text(printed(kept))
        by = f", {kept.by}" if kept.by else ""
        expect(told(page).locator("p").first).to_have_text(f"sum that it keeps: {kind}{by}")
        expect(told(page)).to_contain_text(f"explains {percent(kept.share)} of the variance")
        expect(told(page)).to_contain_text(why)
        expect(page.page.locator(".side dt", has_text="clusters")).to_have_text(
            f"clusters (of {kept.values} values)"
        )
    else:
        expect(told(page)).to_contain_text("keeps: unexplainedNo sum explains ξ at this epoch.")
    verdict = circuit(run.parameters(), run.config).verdict.name
    expect(told(page)).to_contain_text(f"verdict, at the end: {verdict}")


def test_no_reason_is_given_where_none_is_needed(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["plain"], epoch=1000)
    expect(told(page).locator(".formula")).to_have_text("x0 + x1 + x2 + x3 + x4")
    expect(told(page)).not_to_contain_text("remainder")


def test_before_a_sum_is_kept_none_is_named(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    """The best one is not shown as if it were it; and the card follows the playhead."""
    run = runs["folded"]
    for epoch, early in ((10, True), (1000, False), (0, True)):
        page.open(run, epoch=epoch)
        kept = found_in(run, epoch)
        assert kept.holds != early
        formula = told(page).locator(".formula")
        if early:
            expect(told(page)).to_contain_text("keeps: unexplainedNo sum explains ξ at this epoch.")
            expect(told(page)).to_contain_text(f"The best reaches {percent(kept.corrected)}")
            expect(told(page)).to_contain_text("98% would be enough")
            expect(formula).to_have_count(0)
        else:
            expect(formula).to_have_text(printed(kept))


def test_a_task_without_sums_has_none(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["other"], epoch=20)
    expect(page.page.locator(".side dt", has_text="clusters")).to_contain_text("expected")
    expect(told(page)).to_have_count(0)
    expect(page.page.get_by_label("colour", exact=True)).to_have_count(0)


def test_two_runs_are_compared_by_their_sums(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["signed"], runs["folded"], epoch=1000)
    rows = page.page.locator(".compare tr")
    expect(rows.filter(has_text="sum, at end").locator("td")).to_have_text(["signed", "folded"])


# ---- colours ------------------------------------------------------------------------------------
def test_sequences_are_coloured_by_the_sum_of_the_end(
    fresh: Opener, runs: dict[str, ds.Run]
) -> None:
    page, run = fresh(), runs["folded"]
    page.open(run, epoch=1000)
    assert sum_facts(page)[1] == ""
    page.page.mouse.move(2, 2)
    before = page.pictures()
    assert len(fills(page)) == PREFIXES
    page.page.get_by_label("colour", exact=True).select_option("sum")
    page.changed(before, ["sequence", "decision_map", "output", "probabilities", "attention"])
    assert len(fills(page)) == found_in(run).values
    for epoch in (1000, 10):  # where no sum is kept yet, colours are the same
        page.open(run, epoch=epoch, more="&colour=sum")
        sequence, value = sum_facts(page)
        x = tokens([{"sequence": sequence}])[0]
        assert int(value) == x[:5].sum() + 2 * x[9]
        assert len(fills(page)) == found_in(run).values
    expect(page.page).to_have_url(re.compile("&colour=sum"))
    page.page.reload()
    page.shows(10)
    expect(page.page.get_by_label("colour", exact=True)).to_have_value("sum")
    page.page.wait_for_function("() => dynascope.slots.value[0]?.endSum.value")
    assert len(fills(page)) == found_in(run).values
    page.page.get_by_label("colour", exact=True).select_option("multiset")
    expect(page.page).not_to_have_url(re.compile("&colour="))
    assert len(fills(page)) == PREFIXES


def fills(page: Sandbox) -> set[str]:
    """The colours of the points in the saved picture of the sequence embeddings."""
    picture = page.saved("sequence", "Save as SVG")
    found = re.findall(r'<(?:circle|path|rect|polygon) [^>]*?fill="(#\w{6})"', picture)
    return {*found[1:]}  # the first is the ground


def test_a_negative_sum_has_its_sign(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    page = fresh()
    page.go(f"v=1&run={runs['signed'].id}&t=1000&colour=sum&seq=00001+0000000")
    page.shows(1000)
    page.page.wait_for_function("() => dynascope.slots.value[0]?.endSum.value")
    sequence, value = sum_facts(page)
    assert found_in(runs["signed"]).formula() == "x0 + x1 + x2 + x3 - x4"
    assert (sequence, value) == ("00001·0000000", "−1")


def test_without_a_sum_colours_stay_those_of_multisets(
    fresh: Opener, runs: dict[str, ds.Run]
) -> None:
    page = fresh().open(runs["chance"], epoch=60)
    plain = fills(page)
    page.page.get_by_label("colour", exact=True).select_option("sum")
    expect(page.page.get_by_label("colour", exact=True).locator("option:checked")).to_have_text(
        "no sum"
    )
    assert fills(page) == plain
    assert sum_facts(page)[1] == ""


# ---- the table ----------------------------------------------------------------------------------
def test_the_table_has_the_sum_before_the_verdict(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open_table()
    heads = page.page.locator("thead th").all_inner_texts()
    assert heads[:4] == ["run", "seed", "sum", "verdict"]
    field = page.page.get_by_label("Filter the runs")
    for typed in ("sum_kind = folded", "sum:folded"):
        field.fill(typed)
        expect(page.rows).to_have_count(2)
        for name in ("folded", "both"):
            row = page.rows.filter(has_text=runs[name].id[:8])
            expect(row).to_contain_text(found_in(runs[name]).formula())
    field.fill("sum_kind=signed verdict!=none")
    expect(page.rows).to_have_count(1)
    field.fill("")
