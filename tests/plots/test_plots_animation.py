"""Films by matplotlib: artists are moved, axes stay, and a GIF has the frames asked for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.animation import AbstractMovieWriter, FuncAnimation
from matplotlib.figure import Figure
from PIL import Image
from plotted import CASES, dots, drawn_run

import dynascope as ds
from dynascope.plots.panel_registry import PANELS

MOVING = [name for name in PANELS if name not in ("hessian", "shares", "accuracy", "gradients")]


class Looking(AbstractMovieWriter):
    """A writer that looks at each frame instead of writing it."""

    def __init__(self, look: Callable[[Figure, int], None]) -> None:
        super().__init__()
        self._look, self._frames = look, 0

    def setup(self, fig: Any, outfile: Any, dpi: Any = None) -> None:
        super().setup(fig, outfile, dpi)

    def grab_frame(self, **how: Any) -> None:
        self._look(self.fig, self._frames)
        self._frames += 1

    def finish(self) -> None:
        pass


def look(film: FuncAnimation, at: Callable[[Figure, int], None]) -> None:
    film.save("nowhere", writer=Looking(at))


IN_EVERY_TEST_RUN = ("default", "five", "own data")  # the others take a minute together
MOVED = [
    case if case in IN_EVERY_TEST_RUN else pytest.param(case, marks=pytest.mark.slow)
    for case in CASES
    if case != "diverged"
]


@pytest.mark.parametrize("case", MOVED)
def test_a_moved_panel_is_as_one_drawn_there(case: str) -> None:
    run = drawn_run(case)

    def compare(figure: Figure, frame: int) -> None:
        still = ds.plots.figure("panels", run, panels=MOVING, epochs=[0, 5, 12][frame])
        for name, moved, there in zip(MOVING, figure.axes, still.axes, strict=True):
            a, b = dots(moved), dots(there)
            assert np.allclose([each[:2] for each in a], [each[:2] for each in b]), name
            assert [each[2:] for each in a] == [each[2:] for each in b], name
            if moved.images and "map" not in name:
                assert np.array_equal(
                    *(np.asarray(ax.images[0].get_array()) for ax in (moved, there))
                )

    look(ds.plots.animate(run, panels=MOVING, epochs=[0, 5, 12]), compare)


def test_artists_are_moved_and_axes_stay() -> None:
    run = drawn_run("default")
    seen: list[tuple[Any, ...]] = []

    def note(figure: Figure, frame: int) -> None:
        assert figure.texts[0].get_text() == f"seed 3, epoch {frame}"
        normalized, curves = figure.axes[0], figure.axes[2]
        assert any(set(line.get_xdata()) == {frame} for line in curves.lines)
        limits = [(ax.get_xlim(), ax.get_ylim()) for ax in figure.axes]
        (x0, x1), (y0, y1) = limits[0]
        assert all(x0 < each.x < x1 and y0 < each.y < y1 for each in dots(normalized))
        seen.append(([id(each) for each in normalized.collections], limits))

    look(ds.plots.animate(run, panels="normalized,decision_map,loss", epochs=range(13)), note)
    assert len(seen) == 13
    assert all(each == seen[0] for each in seen)


def test_a_gif(tmp_path: Path) -> None:
    film = ds.plots.animate(
        drawn_run("default"), panels="sequence", epochs=[0, 4, 8, 12], fps=10, width=1.5
    )
    film.save(tmp_path / "x.gif", writer="pillow", dpi=60)
    with Image.open(tmp_path / "x.gif") as image:
        assert image.n_frames == 4  # type: ignore[attr-defined]
        assert image.info["duration"] == 100


@pytest.mark.slow
def test_the_frames_of_a_long_run_are_spread() -> None:
    config = ds.Config().replace({"training.epochs": 300, "task.train_size": 64})
    run = ds.train(config, [1], progress=False)[0]
    epochs: list[str] = []
    look(
        ds.plots.animate(run, panels="loss"),
        lambda figure, frame: epochs.append(figure.texts[0].get_text()),
    )
    assert len(epochs) == 200
    assert (epochs[0], epochs[-1]) == ("seed 1, epoch 0", "seed 1, epoch 300")
