"""Pictures against stored ones, of weights that are the same everywhere.

`python tests/plots/test_plots_pictures.py` draws them anew. Look at them before you commit.
"""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

import dynascope as ds

FOLDER = Path(__file__).parent / "pictures"
_DOTS = 100  # per inch
# Of the 255 levels, on the mean over all pixels and colours: text may be smoothed differently, but
# a point that is missing, or has another colour, is more than this.
TOLERANCE = 0.35


def head() -> Any:
    return ds.theory.ideal_head(ds.Config())


def trained(**changes: Any) -> ds.Run:
    named = {name.replace("__", "."): value for name, value in changes.items()}
    config = ds.Config().replace({"training.epochs": 30, **named})
    return ds.train(config, [15], progress=False)[0]


PICTURES = {
    "head": lambda: ds.plots.figure(
        "panels", head(), panels="tokens,normalized,sequence,decision_map", width=5.2
    ),
    "curves": lambda: ds.plots.figure("gradients", trained(), width=5.2, scale="log"),
    "three": lambda: ds.plots.figure(
        "panels",
        trained(task__vocab=3, model__dim=3),
        panels="attention,output_map,probabilities,assemblers",
        theme="dark",
        width=5.2,
    ),
}


def drawn(name: str) -> npt.NDArray[np.uint8]:
    file = BytesIO()
    PICTURES[name]().savefig(file, format="png", dpi=_DOTS)
    return np.asarray(Image.open(file).convert("RGB"))


def difference(a: npt.NDArray[np.uint8], b: npt.NDArray[np.uint8]) -> float:
    return float(np.abs(a.astype(float) - b.astype(float)).mean())


@pytest.mark.parametrize("name", PICTURES)
def test_picture(name: str) -> None:
    wanted = np.asarray(Image.open(FOLDER / f"{name}.png").convert("RGB"))
    found = drawn(name)
    assert found.shape == wanted.shape
    assert difference(found, wanted) <= TOLERANCE


def test_the_tolerance_sees_a_panel_in_other_colours() -> None:
    head_, other = (
        drawn("head"),
        ds.plots.figure(
            "panels", head(), panels="tokens,normalized,output,decision_map", width=5.2
        ),
    )
    file = BytesIO()
    other.savefig(file, format="png", dpi=_DOTS)
    assert difference(head_, np.asarray(Image.open(file).convert("RGB"))) > TOLERANCE


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in PICTURES:
        Image.fromarray(drawn(each)).save(FOLDER / f"{each}.png", optimize=True)
