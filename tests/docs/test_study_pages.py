"""The pages of the studies belong to the studies that there are, and to the claims kept."""

import json
from typing import Any

import pytest
from docs_pages import ROOT, anchors

from dynascope.studies.catalogue import NAMES, study_of

PAGES = ROOT / "docs/studies"
KEPT: dict[str, Any] = json.loads((PAGES / "claims.json").read_text(encoding="utf-8"))
BY_NAME = {each["study"]: each for each in KEPT["studies"]}


def test_all_studies_were_carried_out() -> None:
    assert KEPT["scale"] == "paper"
    assert tuple(BY_NAME) == NAMES
    kept = {page.name for page in PAGES.glob("*.md")}
    assert kept == {f"{name}.md" for name in (*NAMES, "claims", "times")}


@pytest.mark.parametrize("name", NAMES)
def test_claims_are_those_of_the_code(name: str) -> None:
    told = [(each["name"], each["says"], each["effect"]) for each in BY_NAME[name]["claims"]]
    assert told == [(each.name, each.says, each.effect) for each in study_of(name).claims]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_tells_what_was_kept(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    for each in BY_NAME[name]["claims"]:
        title = each["name"][0].upper() + each["name"][1:]
        assert f"### {title}: {each['verdict']}\n" in page
    for note in study_of(name).notes:
        assert note in page
    for figure in study_of(name).figures:
        assert (PAGES / f"{name}-{figure.name}.png").exists()
        assert f"({name}-{figure.name}.png)" in page
    assert "how-a-claim-is-judged" in anchors(ROOT / "docs/studies.md")
