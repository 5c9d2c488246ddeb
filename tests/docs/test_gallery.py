"""The gallery is what its script makes: every panel, every layout, and figures of the paper."""

import runpy
from pathlib import Path

import pytest
from docs_pages import ROOT
from PIL import Image

from dynascope.figure_layouts import LAYOUTS
from dynascope.plots import PANELS

SCRIPT = runpy.run_path(str(ROOT / "docs/figures/gallery.py"), run_name="gallery")
FOLDER = Path(SCRIPT["FOLDER"])
NAMES = [entry.name for entry in SCRIPT["entries"]()]


def test_the_page_is_what_the_script_writes() -> None:
    assert (ROOT / "docs/gallery.md").read_text(encoding="utf-8") == SCRIPT["page"]()


def test_it_has_everything() -> None:
    wanted = {f"panel-{name}" for name in PANELS} | {f"layout-{name}" for name in LAYOUTS}
    wanted |= {f"paper-{number:02}" for number in (*range(1, 6), *range(8, 14), 15)}
    assert wanted <= set(NAMES)
    assert sorted(NAMES) == sorted(file.stem for file in FOLDER.iterdir())


def test_it_is_small() -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 3 * 2**20


@pytest.mark.parametrize("name", NAMES)
def test_every_picture_is_one(name: str) -> None:
    with Image.open(FOLDER / f"{name}.png") as image:
        assert min(image.size) > 150
        assert len(image.convert("RGB").getcolors(2**24) or []) > 8
