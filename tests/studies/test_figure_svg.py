"""Drawings that can stand in one page: ids of their own, links to runs, nothing else changed."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynascope.plots._look import PublicationFigure, new_figure, style
from dynascope.plots.palette import palette_of
from dynascope.studies.figure_svg import svg_file, svg_of

LIGHT = palette_of("light")


def drawn(points: int, link: str = "#run=default#{:020x}@7", title: str = "") -> PublicationFigure:
    with style(LIGHT):
        figure = new_figure(3.25, 2, LIGHT)
        ax = figure.subplots()
        dots = ax.scatter(np.arange(points), np.arange(points))
        dots.set_urls([link.format(i) for i in range(points)])
        ax.set_title(title)
        ax.imshow(np.eye(2), extent=(0, 1, 0, 1), aspect="auto")
    return figure


def test_links_lead_to_runs_beside_the_page() -> None:
    text = svg_of(drawn(3), "one")
    assert re.findall(r'<a href="([^"]*)" class="run">', text) == [
        f"runs/default/#v=1&amp;run={i:020x}&amp;t=7" for i in range(3)
    ]
    assert "target=" not in text
    assert "xlink" not in text
    assert "<metadata" not in text
    assert "<style" not in text


@pytest.mark.parametrize(
    "link",
    [
        *("javascript:alert(1)", "#run=default#short@7", "#run=../up#" + "0" * 20 + "@7"),
        *("#run=a/b#" + "0" * 20 + "@7", "#run=default#" + "0" * 20 + "@x", "#run=default"),
    ],
)
def test_what_is_no_run_becomes_no_link_to_one(link: str) -> None:
    text = svg_of(drawn(1, link), "one")
    assert 'class="run"' not in text
    assert "<a>" in text
    assert link not in text


@settings(max_examples=15)
@given(st.integers(0, 4), st.integers(0, 4), st.text("<>&\"'ax", max_size=5))
def test_two_drawings_share_no_id_and_refer_to_their_own(one: int, other: int, title: str) -> None:
    ids: list[str] = []
    for name, points in (("one", one), ("other", other)):
        root = ElementTree.fromstring(svg_of(drawn(points, title=title), name))
        own = [e.attrib["id"] for e in root.iter() if "id" in e.attrib]
        used = {
            match
            for e in root.iter()
            for key, value in e.attrib.items()
            for match in re.findall(r"url\(#([^)]*)\)" if key != "href" else r"^#(.*)", value)
        }
        assert {*own} == used
        ids += own
        assert title.strip() in "".join(root.itertext()) or "$" in title
    assert len({*ids}) == len(ids)


def test_the_same_drawing_has_the_same_bytes() -> None:
    assert svg_file(drawn(4), "x") == svg_file(drawn(4), "x")
