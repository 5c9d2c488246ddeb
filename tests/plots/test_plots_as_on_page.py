"""Which sequences are shown and in which colours: as the page decides, for a table of tasks."""

from pathlib import Path
from typing import Any

import pytest
from page_model import ask_page

import dynascope as ds
from dynascope.plots._curves import SYMBOLS
from dynascope.plots.palette import THEMES, Palette
from dynascope.plots.panel_registry import PANELS
from dynascope.shown_sequences import MOST_SEQUENCES, ShownSequences, sequences_of_task

# Two tokens and many, few groups and too many, positions at the front and scattered, one relevant,
# all relevant, pairs, and choices that have to be drawn.
TASKS: dict[str, dict[str, Any]] = {
    "default": {},
    "three": {"vocab": 3},
    "five": {"vocab": 5},
    "ten": {"vocab": 10},
    "many tokens": {"vocab": 40, "length": 6, "relevant": 3},
    "scattered": {"relevant": (1, 4, 7, 11), "vocab": 3},
    "one relevant": {"relevant": 1},
    "all relevant": {"length": 5, "relevant": 5},
    "short": {"length": 2, "relevant": 1},
    "long": {"length": 40, "relevant": 20},
    "too many groups": {"vocab": 7, "length": 20, "relevant": 12},
    "frequent": {"name": "most-frequent", "vocab": 4, "relevant": 5},
    "products": {"name": "products", "relevant": 4},
    "products of three": {"name": "products", "relevant": 6, "vocab": 3},
    "products, many": {"name": "products", "relevant": 10, "vocab": 6, "length": 14},
}

SEQUENCES = """
import { tasks } from "./tasks";
import { chooseSequences, sequenceName } from "../src/model/sequences";
import { Palette } from "../src/model/palette";
const palettes = ["light", "dark"].map((theme) => new Palette(theme as "light"));
answer(question.map((task: any) => {
  const s = chooseSequences(tasks, task);
  return {
    tokens: Array.from(s.tokens), prefix: Array.from(s.prefix), group: Array.from(s.group),
    targets: Array.from(s.targets), groupNames: s.groupNames,
    names: Array.from(s.group, (_, i) => sequenceName(s, i)),
    styles: palettes.map((each) => each.sequences(s)),
    positions: palettes.map((each) => each.positions(task.length, task.positions)),
  };
}));
"""


def shown(name: str) -> ShownSequences:
    return sequences_of_task(ds.TaskConfig(**TASKS[name]))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the page shows of each task."""
    asked = []
    for options in TASKS.values():
        task = ds.TaskConfig(**options)
        asked.append(
            {
                "name": task.name or "modular-addition",
                "length": task.length,
                "vocab": task.vocab,
                "positions": list(task.positions),
            }
        )
    return dict(
        zip(TASKS, ask_page(SEQUENCES, asked, tmp_path_factory.mktemp("asked")), strict=True)
    )


def as_tuples(styles: list[dict[str, str]]) -> list[tuple[str, str, str]]:
    return [(style["fill"], style["stroke"], style["marker"]) for style in styles]


@pytest.mark.parametrize("name", TASKS)
def test_the_sequences_are_those_of_the_page(name: str, pages: dict[str, Any]) -> None:
    here, page = shown(name), pages[name]
    assert 0 < len(here) <= 256
    assert here.tokens.ravel().tolist() == page["tokens"]
    assert here.prefix.tolist() == page["prefix"]
    assert here.group.tolist() == page["group"]
    assert here.targets.tolist() == page["targets"]
    assert list(here.group_names) == page["groupNames"]
    assert here.names() == page["names"]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", TASKS)
def test_sequences_and_positions_look_as_on_the_page(
    name: str, theme: str, pages: dict[str, Any]
) -> None:
    here, page, palette = shown(name), pages[name], Palette(theme)
    at = THEMES.index(theme)
    assert palette.sequences(here) == as_tuples(page["styles"][at])
    length = here.tokens.shape[1]
    assert palette.positions(length, here.positions) == as_tuples(page["positions"][at])


PALETTES = """
import { Palette } from "../src/model/palette";
import { attentionShades } from "../src/panels/attention";
answer(["light", "dark"].map((theme) => {
  const palette = new Palette(theme as "light");
  const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);
  return {
    tokens: upTo(40).map((i) => palette.token(i)),
    unknown: palette.positions(40, null),
    pairs: upTo(20).map((i) => palette.pair(i, palette.position(i, true))),
    receptors: upTo(300).map((i) => palette.receptor(i)),
    assemblers: upTo(300).map((i) => palette.assembler(i)),
    groups: upTo(30).map((n) => upTo(n).map((i) => palette.group(i, n))),
    map: upTo(40).map((i) => palette.map(i)),
    shades: attentionShades(palette),
    markers: upTo(25).map((i) => palette.marker(i)).concat([palette.marker(-1)]),
  };
}));
"""


def test_colours_and_markers_are_those_of_the_page(tmp_path: Path) -> None:
    for theme, page in zip(THEMES, ask_page(PALETTES, None, tmp_path), strict=True):
        palette = Palette(theme)
        relevant = palette.positions(20, range(20))
        pairs = [palette.pair(i, style) for i, style in enumerate(relevant)]
        assert palette.tokens(range(40)) == as_tuples(page["tokens"])
        assert palette.positions(40, None) == as_tuples(page["unknown"])
        assert pairs == as_tuples(page["pairs"])
        assert palette.receptors(range(300)) == as_tuples(page["receptors"])
        assert palette.assemblers(range(300)) == as_tuples(page["assemblers"])
        groups = [[palette.group(i, n) for i in range(n)] for n in range(30)]
        assert groups == page["groups"]
        assert [list(palette.map_fill(i)) for i in range(40)] == page["map"]
        shades = palette.attention_shades()
        assert [{"fill": each, "ink": palette.ink_on(each)} for each in shades] == page["shades"]
        assert [palette.marker(i) for i in (*range(25), -1)] == page["markers"]


NAMES = """
import { PANELS } from "../src/model/types";
import { PARAMETER_SYMBOLS } from "../src/model/symbols";
import { MOST_SEQUENCES } from "../src/model/sequences";
answer({ panels: PANELS, symbols: PARAMETER_SYMBOLS, most: MOST_SEQUENCES });
"""


def test_names_are_those_of_the_page(tmp_path: Path) -> None:
    page = ask_page(NAMES, None, tmp_path)
    assert list(PANELS) == page["panels"]
    assert page["symbols"] == SYMBOLS
    assert page["most"] == MOST_SEQUENCES
