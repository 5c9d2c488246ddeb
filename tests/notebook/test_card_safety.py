"""Cards are well-formed and harmless, whatever people wrote; only they themselves are styled."""

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from notebook_cases import CASES, solved, spiking, train
from parsed_html import ParsedHtml, check_harmless, parsed

import dynascope as ds
from dynascope._kernel import CURVE_NAMES
from dynascope.analysis import spikes
from dynascope.notebook.card_style import colours
from dynascope.notebook.html_tags import tag
from dynascope.notebook.show import html_of
from dynascope.printing import printable

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</div></td></style><img src=x onerror='window.hacked=1'>",
    '"><svg onload="window.hacked=1">',
    "{{ 7 * 7 }} &lt;b&gt; \u202e \x1b[31m \ud800",
    "a" * 5000,
]


@pytest.mark.parametrize("name", CASES)
def test_everything_shows_itself(name: str) -> None:
    shown = CASES[name]()
    html = shown._repr_html_()
    assert html == html_of(shown)
    page = ParsedHtml(html)
    check_harmless(page)
    assert not re.search(r"\bnan\b|\bNone\b|\binf\b|NaN", page.text() + str(page.named("path")))
    assert len(html) < 60_000
    used = set(re.findall(r"var\(--dynascope-([\w-]+)\)", html)) - {"text"}
    assert used <= colours("light").keys() == colours("dark").keys()


def test_the_colours_are_the_themes() -> None:
    theme = json.loads(Path(ds.__file__).with_name("theme.json").read_text(encoding="utf-8"))
    for scheme in ("light", "dark"):
        assert colours(scheme)["train"] == theme[scheme]["curves"]["train"]
        assert colours(scheme)["panel"] == theme[scheme]["panel"]
        assert f"--dynascope-panel:{theme[scheme]['panel']}" in html_of(ds.Runs([]))


def test_rules_reach_into_cards_only() -> None:
    (style,) = [text for where, text in parsed(solved()).texts if where[-1] == "style"]
    without_media = re.sub(r"@media[^{]*\{(.*?\})\}", r"\1", style)
    hosts = re.sub(r":is\([^{]*\) ", "", without_media)  # pages that say whether they are dark
    for selectors in re.findall(r"([^{}]+)\{[^{}]*\}", hosts):
        for selector in selectors.split(","):
            assert selector.strip().startswith(".dynascope-card"), selector


# ---- text stays text -----------------------------------------------------------------------------
@given(st.text(st.characters(), max_size=40))
def test_text_is_what_it_was(text: str) -> None:
    page = ParsedHtml(tag("span", text, title=text))
    assert page.faults == []
    assert page.text() == printable(text)
    assert page.elements == [("span", {"title": printable(text)})]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_notes_are_text(text: str, tmp_path: Path) -> None:
    note = text[:900].encode("utf-8", "ignore").decode()
    train().save(tmp_path / "store")
    runs = ds.load(tmp_path / "store")
    runs.note(note)
    runs.tag("a.tag:of_64+letters-" + "x" * 44)
    for shown in (runs, runs[0], ds.load(tmp_path / "store")[:1]):
        page = parsed(shown)
        check_harmless(page)
        assert printable(note)[:20] in page.text()
        assert "a.tag:of_64+letters-" in page.text()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_origins_and_reasons_are_text(text: str) -> None:
    run = dataclasses.replace(solved(), origin=ds.Origin(text, "0" * 16, text, 3, 9))
    check_harmless(parsed(run))
    found = spikes(spiking(), why=False)
    told = tuple(dataclasses.replace(spike, unexplained=text) for spike in found.spikes)
    page = parsed(dataclasses.replace(found, spikes=told))
    check_harmless(page)
    assert printable(text)[:20] in page.text()


# ---- whatever the numbers are --------------------------------------------------------------------
NUMBERS = st.floats(width=32) | st.sampled_from([0.0, -0.0, 1e-45, 3e38, float("nan")])


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=600))
def test_any_curve_can_be_drawn(rows: list[tuple[float, float, float]]) -> None:
    """Losses and accuracies of any size, infinite ones too: pixels are numbers within the card."""
    table = np.ones((len(rows), len(CURVE_NAMES)), np.float32)
    for i, name in enumerate(("train_loss", "test_loss", "test_accuracy")):
        table[:, CURVE_NAMES.index(name)] = [row[i] for row in rows]
    run = dataclasses.replace(solved(), table=table)
    for shown in (run, ds.Runs([run, run])):
        page = parsed(shown)
        check_harmless(page)
        for path in page.named("path"):
            pixels = [float(part) for part in re.split("[ML,]", path["d"]) if part]
            assert all(-1 <= pixel <= 300 for pixel in pixels)


@given(st.lists(NUMBERS, min_size=196, max_size=196))
def test_any_weights_can_be_shown(flat: list[float]) -> None:
    shapes = ds.initial_parameters(ds.Config(), 0).shapes
    page = parsed(ds.Parameters.from_flat(np.array(flat, np.float32), shapes))
    check_harmless(page)
    dots = [float(dot[axis]) for dot in page.named("circle") for axis in ("cx", "cy")]
    assert all(0 <= pixel <= 200 for pixel in dots)
