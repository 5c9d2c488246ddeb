"""The report: one page of escaped text and our own script, the same bytes for the same runs."""

import base64
import csv
import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
from small_studies import EPOCHS, HOSTILE, STUDIES

import dynascope as ds
from dynascope.printing import printable
from dynascope.studies import report_study
from dynascope.studies.claims import VERDICTS
from dynascope.studies.report_figures import DrawnFigure
from dynascope.studies.report_file import write_report
from dynascope.studies.report_page import policy
from dynascope.studies.results import StudyResults
from dynascope.version import __version__

RULES = "; ".join(policy())

Tag = tuple[str, dict[str, str | None]]


class Page(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[Tag] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, *names: str) -> Iterator[dict[str, str | None]]:
        return (attributes for tag, attributes in self.tags if tag in names)


@pytest.fixture(scope="session")
def page(studied: StudyResults) -> Page:
    return Page(studied.report.read_text(encoding="utf-8"))


def test_it_tells_every_claim_with_its_verdict(page: Page, studied: StudyResults) -> None:
    for result in studied:
        assert result.study.question.partition(" <")[0].partition(" </")[0] in page.text
        assert result.study.place in page.text
        for found in result.judgements:
            assert page.text.count(printable(found.claim.says)) >= 1
            assert found.verdict in page.text
    judged = [each.verdict for result in studied for each in result.judgements]
    assert {judged.count(each) for each in VERDICTS} == {1, 2}
    assert "16 runs; scale quick" in page.text  # what two studies share counts once
    assert f"dynascope {__version__}" in page.text
    assert "This is a rehearsal" in page.text
    assert "1000000 to 1000007 (8 seeds)" in page.text


def test_only_a_rehearsal_is_called_so(small: None, tmp_path: Path) -> None:
    ds.study("bounds", "paper", tmp_path / "paper", progress=False)
    page = Page((tmp_path / "paper/report.html").read_text(encoding="utf-8"))
    assert "This is a rehearsal" not in page.text


def test_text_is_only_ever_text(page: Page) -> None:
    """The hostile text stands in names, captions, notes: no element comes of it."""
    assert page.text.count(printable(HOSTILE)) >= 8
    assert not [*page.all("img", "iframe", "object", "embed", "base", "form")]
    assert len([*page.all("script")]) == 1
    assert not [name for _, given in page.tags for name in given if name.startswith("on")]


def test_it_asks_nobody_for_anything(page: Page) -> None:
    """What a browser fetches by itself is part of the page."""
    loaded = [
        value
        for tag, given in page.tags
        for name, value in given.items()
        if name in ("src", "srcset", "data", "action", "poster", "xlink:href")
        or (name == "href" and tag not in ("a", "use"))
    ]
    assert loaded == ["data:,"]
    links = [given["href"] or "" for given in page.all("a")]
    assert all(each.startswith(("#", "runs/", "data:text/csv")) for each in links)


def test_its_policy_allows_its_own_script_alone(page: Page, studied: StudyResults) -> None:
    text = (studied.folder / "report.html").read_text(encoding="utf-8")
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (said,) = (g["content"] for g in page.all("meta") if "http-equiv" in g)
    assert said == RULES
    assert f"script-src 'sha256-{digest}'" in RULES
    assert RULES.startswith("default-src 'none'")
    assert "unsafe" not in RULES.replace("style-src 'unsafe-inline'", "")


def test_ids_are_unique_and_every_reference_has_one(page: Page) -> None:
    ids = Counter(given["id"] for _, given in page.tags if "id" in given)
    assert max(ids.values()) == 1
    links = {given["href"] for given in page.all("a", "use") if (given["href"] or "")[0] == "#"}
    urls = {
        match
        for _, given in page.tags
        for value in given.values()
        for match in re.findall(r"url\((#[^)]*)\)", value or "")
    }
    assert links
    assert urls
    assert {each[1:] for each in links | urls if each} <= {*ids}


def test_every_point_is_a_link_to_its_run(page: Page, studied: StudyResults) -> None:
    points = [given["href"] or "" for given in page.all("a") if given.get("class") == "run"]
    found = [re.fullmatch(r"runs/([\w-]+)/#v=1&run=(\w{20})&t=(\d+)", each) for each in points]
    assert all(found)
    named = Counter((each[1], each[2], int(each[3])) for each in found if each)
    wanted = {
        (source, run.id, EPOCHS)
        for source in ("default", "width")
        for run in ds.load(studied.folder / "runs" / source)
    }
    assert {*named} == wanted
    assert {*named.values()} == {2}  # of two panels


def test_data_is_in_the_page_and_beside_it(page: Page, studied: StudyResults) -> None:
    links = {g["download"]: g["href"] for g in page.all("a") if "download" in g}
    assert {*links} == {"width-accuracy-by-seed.csv", "width-by-width.csv"}
    for name, link in links.items():
        beside = (studied.folder / "data" / str(name)).read_bytes()
        assert base64.b64decode(str(link).partition("base64,")[2]) == beside
        rows = list(csv.DictReader(StringIO(beside.decode())))
        assert len(rows) == 8
        drawing = (studied.folder / f"figures/{str(name)[:-4]}.svg").read_text(encoding="utf-8")
        assert '<svg xmlns="http://www.w3.org/2000/svg"' in drawing
        assert drawing.count('href="../runs/') == 16
    claims = json.loads((studied.folder / "claims.json").read_text(encoding="utf-8"))
    assert [each["study"] for each in claims["studies"]] == ["width", "bounds"]


def told(folder: Path) -> dict[str, bytes]:
    """All that a report is made of."""
    names = ("report.html", "claims.json", "data/*", "figures/*")
    files = [file for name in names for file in folder.glob(name)]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def test_the_same_runs_give_the_same_bytes(
    small: None, studied: StudyResults, tmp_path: Path
) -> None:
    before = told(studied.folder)
    again = ds.study(["width", "bounds"], out=tmp_path / "elsewhere", progress=False, threads=1)
    assert told(again.folder) == before
    write_report(studied)
    assert told(studied.folder) == before
    assert str(tmp_path).encode() not in b"".join(before.values())


def test_the_small_studies_are_as_the_tests_think() -> None:
    assert [len(each.figures) for each in STUDIES.values()] == [2, 0]


def test_large_data_is_compressed() -> None:
    data = "run,x\r\n" + "0f3a,0.5\r\n" * 100_000
    figure = DrawnFigure("width", "width-large", "Large.", "<svg></svg>", "<svg></svg>", data)
    section = str(report_study._figure(figure))
    found = re.search(r'href="data:application/gzip;base64,([^"]+)" download="([^"]+)"', section)
    assert found is not None
    assert found[2] == "width-large.csv.gz"
    assert gzip.decompress(base64.b64decode(found[1])).decode() == data
    assert section == str(report_study._figure(figure))  # no date in it
