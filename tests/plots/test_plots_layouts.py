"""Whole figures: what is in them, how they are saved, and that no two texts lie on each other."""

import csv
import io
import re
import zlib
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from plotted import CASES, drawn_run

import dynascope as ds
from dynascope.figure_layouts import LAYOUTS
from dynascope.plots._labels import PlacedLabels
from dynascope.plots.panel_registry import PANELS

POINT_PANELS = [name for name, panel in PANELS.items() if panel.drawn.square]


@pytest.fixture(scope="module")
def spiky() -> ds.Run:
    """A run that is solved and has spikes."""
    return ds.train(ds.Config().replace({"training.epochs": 500}), [15], progress=False)[0]


def made(layout: str, run: ds.Run, **how: Any) -> Any:
    return ds.plots.figure(layout, run, **({"points": 5} if layout == "landscape" else {}), **how)


def titles(figure: Figure) -> list[str]:
    return [ax.get_title("left") for ax in figure.axes if ax.get_title("left")]


# ---- what is in them ----------------------------------------------------------------------------
def test_panels_are_all_that_the_page_has() -> None:
    run = drawn_run("default")
    figure = made("panels", run)
    assert titles(figure) == [PANELS[name].title for name in PANELS if name != "hessian"]
    assert "Decision map" in titles(figure)


def test_panels_have_a_row_for_each_epoch_and_run() -> None:
    run, other = drawn_run("default"), drawn_run("no norm")
    figure = ds.plots.figure("panels", run, (other, 4), panels="tokens,loss", epochs=[0, 12])
    assert titles(figure) == ["Token embeddings", "Loss"] * 3
    named = [text.get_text() for text in figure.texts]
    assert named == ["seed 3, epoch 0", "seed 3, epoch 12", "seed 3, epoch 4"]
    tops = [ax.get_position().y1 for ax in figure.axes[::2]]
    assert tops == sorted(tops, reverse=True)


def test_epochs_of_a_run_can_share_their_axes() -> None:
    run = drawn_run("default")
    first, last = ds.plots.figure(
        "panels", run, panels="sequence", epochs=[0, 12], same_axes=True
    ).axes
    assert first.get_xlim() == last.get_xlim()
    assert first.get_ylim() == last.get_ylim()


def test_phases_are_the_analysis_own_snapshots(spiky: ds.Run) -> None:
    figure = made("phases", spiky)
    wanted = sorted({each for each in ds.analysis.phases(spiky).snapshots if each is not None})
    assert [f"({i + 1}) epoch {each}" for i, each in enumerate(wanted)] == titles(figure)[:-2]
    assert [ax.get_yscale() for ax in figure.axes[-2:]] == ["linear", "log"]
    for ax in figure.axes[-2:]:
        marked = {int(line.get_xdata()[0]) for line in ax.lines if len(set(line.get_xdata())) == 1}
        assert set(wanted) <= marked


def test_a_spike_is_seen_before_and_after(spiky: ds.Run) -> None:
    spikes = ds.analysis.spikes(spiky, why=False).spikes
    highest = max(spikes, key=lambda each: each.rise)
    figure = made("spike", spiky)
    named = [text.get_text() for text in figure.texts]
    assert named[0].startswith(f"seed 15, epoch {highest.start - 1}: before")
    assert named[1].startswith(f"seed 15, epoch {highest.peak}: ")
    first = min(spikes, key=lambda each: each.peak)
    chosen = ds.plots.figure("spike", (spiky, first.peak + 1))
    assert f"epoch {first.peak}" in chosen.texts[1].get_text()
    maps = [ax for ax in figure.axes if ax.get_title("left") == "Decision map"]
    assert maps[0].get_xlim() == maps[1].get_xlim()


def test_circuits_have_a_row_for_each_verdict(spiky: ds.Run) -> None:
    head, unsolved = ds.theory.ideal_head(ds.Config()), drawn_run("default")
    again = ds.theory.ideal_head(ds.Config(), confidence=0.99)
    figure = ds.plots.figure("circuits", unsolved, head, spiky, again)
    own = ds.analysis.circuit(spiky.parameters(), spiky.config).verdict.name
    named = [text.get_text() for text in figure.texts]
    assert named[0] == "ideal"
    assert named[-1] == "unsolved: seed 3, epoch 12"
    assert any(text.startswith(own) for text in named)


def test_attention_is_that_of_start_and_end() -> None:
    run = drawn_run("default")
    figure = made("attention", run)
    assert titles(figure) == ["Sequences", "Attention, epoch 0", "Attention, epoch 12"]
    shown = ds.plots.view(run).sequences
    for ax, epoch in ((figure.axes[1], 0), (figure.axes[2], 12)):
        every = ds.forward(run.parameters(epoch), shown.tokens, run.config.model).attention
        for row in np.asarray(ax.images[0].get_array()):
            assert np.abs(every - row).max(axis=1).min() < 1e-6
    given = np.asarray(figure.axes[0].images[0].get_array())
    assert {tuple(row) for row in given} <= {tuple(row) for row in shown.tokens}


def test_gradients_mark_drops_and_spikes(spiky: ds.Run) -> None:
    figure = made("gradients", spiky)
    assert titles(figure)[2:] == ["Gradient norms, log", "Gradient norms, linear"]
    assert [ax.get_yscale() for ax in figure.axes[2:]] == ["log", "linear"]
    peaks = [each.peak for each in ds.analysis.spikes(spiky, why=False).spikes]
    drops = ds.analysis.loss_drops(spiky.curves["train_loss"])
    assert peaks
    assert drops
    for ax in figure.axes:
        assert any(list(line.get_xdata()) == peaks for line in ax.lines)
        bands = [patch.get_bbox() for patch in ax.patches]
        assert [(band.x0, band.x1) for band in bands] == [(each.start, each.end) for each in drops]
    assert len(made("gradients", spiky, scale="linear").axes) == 3


@pytest.mark.parametrize("directions", ["random", "sharp", "epochs"])
def test_a_landscape_is_that_of_theory(directions: str) -> None:
    run = drawn_run("default")
    toward = (0, 5) if directions == "epochs" else None
    how: dict[str, Any] = {"directions": directions, "points": 5, "toward": toward}
    found = ds.theory.landscape(run, 12, progress=False, **how)
    figure = ds.plots.figure("landscape", run, progress=False, **how)
    rows = list(csv.DictReader(io.StringIO(figure.numbers())))
    assert [float(row["loss"]) for row in rows] == found.loss.ravel().tolist()
    assert [float(row["x"]) for row in rows[:5]] == found.along_x.tolist()
    assert any(
        np.array_equal(np.column_stack(line.get_data()), found.path)
        for line in figure.axes[0].lines
    )


def test_a_landscape_along_the_path_holds_all_of_it() -> None:
    run = drawn_run("default")
    figure = ds.plots.figure("landscape", run, directions="path", points=5, progress=False)
    ax = figure.axes[0]
    off = run.weights.astype(float) - run.weights.astype(float).mean(axis=0)
    axes = np.linalg.svd(off, full_matrices=False)[2][:2]
    wanted = np.abs((run.weights - run.weights[-1]).astype(float) @ axes.T)
    path = next(np.abs(line.get_xydata()) for line in ax.lines if len(line.get_xdata()) == 13)
    assert np.allclose(path, wanted, atol=1e-6)
    assert path.max() < ax.get_xlim()[1]


def test_a_landscape_of_weights_alone() -> None:
    head = ds.theory.ideal_head(ds.Config())
    assert ds.plots.figure("landscape", head, points=3, progress=False).axes


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["panels", "attention", "gradients"])
@pytest.mark.parametrize("case", ["own data", "diverged", "sparse", "line", "wide", "five"])
def test_layouts_take_every_kind_of_run(layout: str, case: str) -> None:
    assert made(layout, drawn_run(case)).axes


# ---- how they look ------------------------------------------------------------------------------
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("width", "inches"), [("column", 3.25), ("page", 6.75), (5.0, 5.0)])
def test_widths(layout: str, width: Any, inches: float, spiky: ds.Run) -> None:
    how = {"panels": "tokens,sequence,loss"} if layout == "panels" else {}
    assert made(layout, spiky, width=width, **how).get_size_inches()[0] == inches


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_themes(theme: str) -> None:
    from matplotlib.colors import to_hex

    figure = made("panels", drawn_run("default"), panels="sequence", theme=theme)
    ground = ds.plots.Palette(theme)["panel"]
    assert to_hex(figure.get_facecolor()) == to_hex(figure.axes[0].get_facecolor()) == ground


@pytest.mark.slow
def test_the_users_settings_stay_as_they_are(spiky: ds.Run, tmp_path: Path) -> None:
    before = mpl.rcParams.copy()
    for layout in LAYOUTS:
        made(layout, spiky).savefig(tmp_path / "x.svg")
    ds.plots.band(ds.Runs([spiky]))
    assert mpl.rcParams.copy() == before


LEGENDS = {
    "default": {"relevant position", "irrelevant position", "class 0", "class 1", "0×1", "5×1"},
    "own data": {"position", "class 0", "class 2"},
}


@pytest.mark.parametrize("case", LEGENDS)
def test_legends_explain_markers(case: str) -> None:
    figure = made("panels", drawn_run(case), panels="positions,sequence")
    texts = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    assert LEGENDS[case] <= texts


def boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    """Every text that is drawn, and where."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    texts = [*figure.texts, *(text for each in figure.legends for text in each.get_texts())]
    found: list[tuple[str, Bbox]] = []
    for ax in figure.findobj(Axes):
        texts += _texts_of(ax)  # type: ignore[arg-type]
        for names in ax.get_children():
            if isinstance(names, PlacedLabels):
                found += [(each.text, each.box) for each in names.placed]
    for text in texts:
        if text.get_visible() and text.get_text().strip():
            found.append((text.get_text(), text.get_window_extent(renderer)))
    return found


def _texts_of(ax: Axes) -> list[Text]:
    texts = [*ax.texts, ax.title, ax._left_title, ax._right_title]  # type: ignore[attr-defined]
    if legend := ax.get_legend():
        texts += legend.get_texts()
    for axis in (ax.xaxis, ax.yaxis) if ax.axison else ():
        texts.append(axis.label)
        texts += [label for tick in axis._update_ticks() for label in (tick.label1, tick.label2)]  # type: ignore[attr-defined]
    return texts


def overlaps(found: list[tuple[str, Bbox]]) -> list[tuple[str, str]]:
    """Pairs of texts that lie on each other by more than a hair."""
    return [
        (a, b)
        for i, (a, one) in enumerate(found)
        for b, other in found[i + 1 :]
        if min(one.x1, other.x1) - max(one.x0, other.x0) > 1.0
        and min(one.y1, other.y1) - max(one.y0, other.y0) > 1.5
    ]


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_text_lies_on_another(layout: str, width: str, spiky: ds.Run) -> None:
    assert overlaps(boxes(made(layout, spiky, width=width))) == []


@pytest.mark.parametrize("case", CASES)
def test_no_text_lies_on_another_in_any_panel(case: str) -> None:
    assert overlaps(boxes(made("panels", drawn_run(case)))) == []


@pytest.mark.parametrize("panel", POINT_PANELS)
def test_names_stay_off_the_points_and_inside(panel: str, spiky: ds.Run) -> None:
    ax = getattr(ds.plots, panel)(spiky, all_labels=True)
    ax.figure.canvas.draw()
    (names,) = [each for each in ax.get_children() if isinstance(each, PlacedLabels)]
    points = ax.transData.transform(names.obstacles)
    for name in names.placed:
        inside = (points > name.box.p0) & (points < name.box.p1)
        assert not inside.all(axis=1).any(), name.text
        assert ax.bbox.x0 <= name.box.x0
        assert name.box.x1 <= ax.bbox.x1
        assert ax.bbox.y0 <= name.box.y0
        assert name.box.y1 <= ax.bbox.y1
    if panel in ("tokens", "normalized", "sequence"):
        assert names.placed


# ---- files --------------------------------------------------------------------------------------
def test_text_stays_text_in_svg(spiky: ds.Run, tmp_path: Path) -> None:
    made("panels", spiky).savefig(tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text(encoding="utf-8")
    for words in ("Token embeddings", "relevant position", "train", "epoch", ">q<", "5×1"):
        assert words in text
    assert "<text" in text


def test_text_stays_text_in_pdf(spiky: ds.Run, tmp_path: Path) -> None:
    """Letters of a TrueType font (Type 42), not drawings of them (Type 3)."""
    made("panels", spiky, panels="tokens,loss").savefig(tmp_path / "x.pdf")
    raw = (tmp_path / "x.pdf").read_bytes()
    parts = [raw]
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", raw, re.DOTALL):
        try:
            parts.append(zlib.decompress(stream))
        except zlib.error:
            continue
    everything = b"".join(parts)
    assert b"/FontFile2" in everything
    assert b"/Type3" not in everything
    assert b"Tj" in everything or b"TJ" in everything


@pytest.mark.parametrize("panel", [name for name in PANELS if name != "hessian"])
def test_the_numbers_are_those_that_are_drawn(panel: str) -> None:
    run = drawn_run("wide")
    figure = made("panels", run, panels=[panel], epochs=5)
    rows = list(csv.DictReader(io.StringIO(figure.numbers())))
    assert {row["panel"] for row in rows} == {panel}
    assert {row["run"] for row in rows} == {run.id}
    seen = ds.plots.view(run, 5)
    if panel == "neurons":
        ends = np.concatenate([seen.units("receptors"), seen.units("assemblers")])
        found = [[float(row["x"]), float(row["y"])] for row in rows]
        assert found == ends.tolist()
    elif panel in POINT_PANELS and "map" not in panel:
        points = np.array([[float(row["x"]), float(row["y"])] for row in rows])
        count = len(seen.points(panel))
        assert np.array_equal(points[:count], seen.points(panel))
        assert {row["epoch"] for row in rows} == {"5"}
    elif panel in ("loss", "accuracy"):
        assert [float(row[f"test_{panel}"]) for row in rows] == run.curves[f"test_{panel}"].tolist()
        assert [int(row["epoch"]) for row in rows] == list(range(13))
    elif panel in ("attention", "probabilities"):
        name = {"attention": "attention", "probabilities": "probability"}[panel]
        wanted = getattr(seen.activations, panel).ravel().astype(float).tolist()
        assert [float(row[name]) for row in rows] == wanted


def test_files_are_the_same_each_time(tmp_path: Path) -> None:
    run = drawn_run("default")
    for name in ("a.svg", "b.svg"):
        made("panels", run, panels="sequence,decision_map").savefig(
            tmp_path / name, metadata={"Date": None}
        )
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_images_are_few(spiky: ds.Run) -> None:
    """A picture of many sequences is a few collections, not an artist for each."""
    figure = made("panels", spiky)
    for ax in figure.axes:
        assert len(ax.collections) <= 12
        assert len([each for each in ax.get_children() if isinstance(each, AxesImage)]) <= 1


def test_views_stay_at_their_own_epochs() -> None:
    before = ds.plots.view(drawn_run("default"), 3)
    figure = ds.plots.figure("panels", before, before.at(5), panels="tokens", same_axes=True)
    assert [text.get_text() for text in figure.texts] == ["seed 3, epoch 3", "seed 3, epoch 5"]
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim()
    again = ds.plots.figure("panels", before, panels="tokens", epochs=[0, 12])
    assert [text.get_text() for text in again.texts] == ["seed 3, epoch 0", "seed 3, epoch 12"]


def test_maps_name_their_classes() -> None:
    """The number of a class stands where the model gives that class, off the points."""
    head = ds.theory.ideal_head(ds.Config())
    ax = ds.plots.output_map(head)
    numbers = {text.get_text(): text.get_position() for text in ax.texts if text.get_visible()}
    assert set(numbers) == {"0", "1"}
    for c, place in numbers.items():
        rest = ds.forward(
            head.parameters, [[0] * 12], head.config.model, patch={"output": [list(place)]}
        )
        assert rest.logits[0].argmax() == int(c)


def test_sets_are_told_apart_without_colours() -> None:
    ax = ds.plots.loss(drawn_run("default"))
    assert ax.lines[0].get_linestyle() == "-"
    assert ax.lines[1].get_linestyle() == "--"
