"""What panels draw, read from the artists: positions, colours and markers are those of the data."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.quiver import Quiver
from plotted import CASES, Dot, dots, drawn_run

import dynascope as ds
from dynascope.plots.palette import Palette, PointStyle
from dynascope.projection import plane

Array = npt.NDArray[Any]
POINTS = ("tokens", "positions", "embeddings", "normalized", "values", "sequence")
POINTS += ("sequence_normalized", "receptors", "assemblers", "feed_forward", "output")
STAGES = {"embeddings": "embedding"}


def vectors(run: ds.Run, epoch: int, panel: str) -> Array:
    """What a panel shows, by the formulas of the docs, one vector after another."""
    p, config = run.parameters(epoch), run.config
    if panel == "tokens":
        return p.token_embedding
    if panel == "positions":
        return p.position_embedding
    if panel == "receptors":
        return p.receptors
    if panel == "assemblers":
        return p.assemblers.T
    if panel in ("embeddings", "normalized", "values"):
        rows = [[token] * config.task.length for token in range(config.task.vocab)]
        found = getattr(ds.forward(p, rows, config.model), STAGES.get(panel, panel))
        return np.concatenate(list(found))
    shown = ds.plots.view(run, epoch).sequences
    return np.asarray(getattr(ds.forward(p, shown.tokens, config.model), panel))


def places(run: ds.Run, epoch: int, panel: str, on: str | None = None) -> Array:
    """The same on the panel's plane, or on another's: for d > 2 that of the points at the last
    sound kept epoch."""
    here = np.asarray(vectors(run, epoch, panel), float)
    if here.shape[1] == 1:
        return np.column_stack([here, 0 * here])
    if here.shape[1] == 2:
        return here
    last = run.epochs if run.diverged is None else run.diverged - 1
    kept = int(run.weight_epochs[run.weight_epochs <= last][-1])
    return here @ plane(np.asarray(vectors(run, kept, on or panel), float)).axes.T


def styles(run: ds.Run, epoch: int, panel: str) -> list[PointStyle]:
    palette, task, model = Palette("light"), run.config.task, run.config.model
    at = palette.positions(task.length, None if run.data else task.positions)
    return {
        "tokens": lambda: palette.tokens(range(run.config.embeddings)),
        "positions": lambda: at,
        "receptors": lambda: palette.receptors(range(model.hidden)),
        "assemblers": lambda: palette.assemblers(range(model.hidden)),
        **dict.fromkeys(
            ("embeddings", "normalized", "values"),
            lambda: [palette.pair(token, each) for token in range(task.vocab) for each in at],
        ),
    }.get(panel, lambda: palette.sequences(ds.plots.view(run, epoch).sequences))()


def expected_dots(run: ds.Run, epoch: int, panel: str, on: str | None = None) -> list[Dot]:
    pairs = zip(places(run, epoch, panel, on), styles(run, epoch, panel), strict=True)
    return sorted(Dot(float(x), float(y), s.fill, s.marker) for (x, y), s in pairs)


def assert_same(found: list[Dot], wanted: list[Dot]) -> None:
    """The same points, each with its own colour and marker; rounding may exchange neighbours."""
    assert len(found) == len(wanted)
    scale = max(1.0, max(abs(each.x) + abs(each.y) for each in wanted))
    for kind in {each[2:] for each in (*found, *wanted)}:
        a = np.array([each[:2] for each in found if each[2:] == kind])
        b = np.array([each[:2] for each in wanted if each[2:] == kind])
        assert a.shape == b.shape, kind
        far = np.abs(a[:, None] - b[None]).max(axis=2)
        assert far.min(axis=1).max() < 1e-9 * scale
        assert far.min(axis=0).max() < 1e-9 * scale


def drawn_on(panel: str, run: Any, **how: Any) -> Any:
    ax = Figure(figsize=(3, 3)).add_subplot()
    assert getattr(ds.plots, panel)(run, ax, **how) is ax
    return ax


def epoch_of(run: ds.Run) -> int:
    """One in the middle that was not kept, where there are such."""
    return 0 if run.diverged is not None else 7


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("panel", POINTS)
def test_points(panel: str, case: str) -> None:
    run = drawn_run(case)
    epoch = epoch_of(run)
    ax = drawn_on(panel, run, epoch=epoch)
    wanted = expected_dots(run, epoch, panel)
    assert_same(dots(ax), wanted)
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    assert all(x0 < each.x < x1 and y0 < each.y < y1 for each in wanted)
    assert math.isclose(x1 - x0, y1 - y0)  # one unit has one length
    assert ax.get_title("left")


@pytest.mark.parametrize("case", CASES)
def test_hidden_units_over_the_sequences_that_they_meet(case: str) -> None:
    run = drawn_run(case)
    epoch, over = epoch_of(run), "sequence_normalized"
    ax = drawn_on("neurons", run, epoch=epoch)
    wanted = [
        each
        for panel in (over, "receptors", "assemblers")
        for each in expected_dots(run, epoch, panel, over)
    ]
    assert_same(dots(ax), wanted)
    lines = [each for each in ax.collections if isinstance(each, LineCollection)]
    for end, line in zip(("receptors", "assemblers"), lines, strict=True):
        segments = np.array(line.get_segments())
        assert not segments[:, 0].any()  # from the origin
        np.testing.assert_allclose(segments[:, 1], places(run, epoch, end, over), atol=1e-9)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("panel", ["decision_map", "output_map"])
def test_maps(panel: str, case: str) -> None:
    """Each place has the colour of the class that the model gives there."""
    run, palette = drawn_run(case), Palette("light")
    epoch, points = epoch_of(run), {"decision_map": "sequence", "output_map": "output"}[panel]
    ax = drawn_on(panel, run, epoch=epoch)
    assert_same(dots(ax), expected_dots(run, epoch, points))
    (image,) = ax.images
    assert image.origin == "lower"
    colours = np.asarray(image.get_array())
    height, width = colours.shape[:2]
    x0, x1, y0, y1 = image.get_extent()
    if run.config.model.dim > 2:
        return  # which places these are is the view's own affair; the page's test looks at them
    chance = np.random.default_rng(0)
    for row, column in zip(
        chance.integers(0, height, 40), chance.integers(0, width, 40), strict=True
    ):
        x, y = x0 + (column + 0.5) * (x1 - x0) / width, y0 + (row + 0.5) * (y1 - y0) / height
        place = np.array([[x, y]])[:, : run.config.model.dim]
        rest = ds.forward(
            run.parameters(epoch),
            [[0] * run.config.task.length],
            run.config.model,
            patch={points: place},
        )
        order = np.argsort(-rest.logits[0], kind="stable")
        best, next_ = (np.array(palette.map_fill(int(c))) / 255 for c in order[:2])
        lead = float(rest.logits[0, order[0]]) - float(rest.logits[0, order[1]])
        share = 1 / (1 + math.exp(-lead))
        assert np.allclose(colours[row, column], best * share + next_ * (1 - share), atol=1e-4)


@pytest.mark.parametrize("case", CASES)
def test_attention(case: str) -> None:
    run = drawn_run(case)
    epoch = epoch_of(run)
    ax = drawn_on("attention", run, epoch=epoch)
    shown = ds.plots.view(run, epoch).sequences
    found = np.asarray(ax.images[0].get_array())
    attention = ds.forward(run.parameters(epoch), shown.tokens, run.config.model).attention
    texts = [text.get_text() for text in ax.texts]
    length = shown.tokens.shape[1]
    written = np.array(texts, int).reshape(-1, length) if texts else None
    rows = [int(np.abs(attention - row).max(axis=1).argmin()) for row in found]
    assert np.allclose(found, attention[rows], rtol=1e-6)
    assert len(rows) >= min(8, len(shown))
    groups = shown.group[rows]
    if written is not None:
        assert len(written) == len(found)
        for tokens, row in zip(written, found, strict=True):  # the sequence of its own attention
            same = (shown.tokens == tokens).all(axis=1)
            assert np.abs(attention[same] - row).max(axis=1).min() < 1e-6
        assert len(set(groups.tolist())) >= min(len(shown.group_names), len(rows)) // 2


@pytest.mark.parametrize("case", CASES)
def test_probabilities(case: str) -> None:
    run, palette = drawn_run(case), Palette("light")
    epoch = epoch_of(run)
    ax = drawn_on("probabilities", run, epoch=epoch)
    shown = ds.plots.view(run, epoch).sequences
    p = ds.forward(run.parameters(epoch), shown.tokens, run.config.model).probabilities
    if run.config.embeddings > 3:
        heat = np.asarray(ax.images[0].get_array())
        assert np.allclose(heat, p[np.argsort(shown.group, kind="stable")])
        return
    looks = [(style.fill, style.marker) for style in palette.sequences(shown)]
    found = dots(ax)
    assert sorted(each[2:] for each in found) == sorted(looks)
    for look in set(looks):
        rows = [i for i, each in enumerate(looks) if each == look]
        here = np.array([each[:2] for each in found if each[2:] == look])
        if run.config.embeddings == 2:
            assert np.allclose(np.sort(here[:, 0]), np.sort(p[rows, 1]))
            assert set(np.floor(here[:, 1]).astype(int)) == {int(shown.group[i]) for i in rows}
        else:
            corners = np.array([[0, 0], [1, 0], [0.5, math.sqrt(0.75)]])
            wanted = p[rows].astype(float) @ corners
            order = [np.lexsort(np.round(each, 7).T) for each in (here, wanted)]
            assert np.allclose(here[order[0]], wanted[order[1]], atol=1e-6)


CURVES = {
    "loss": [("train_loss", "curves.train"), ("test_loss", "curves.test")],
    "accuracy": [("train_accuracy", "curves.train"), ("test_accuracy", "curves.test")],
    "gradients": [
        (f"grad_norm/{name}", f"parameters.{name}")
        for name in ("token_embedding", "query", "value", "receptors", "assembler_bias")
    ],
}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("scale", ["log", "linear"])
@pytest.mark.parametrize("panel", CURVES)
def test_curves(panel: str, scale: str, theme: str) -> None:
    run, palette = drawn_run("default"), Palette(theme)
    ax = drawn_on(panel, run, epoch=5, scale=scale, theme=theme)
    assert ax.get_yscale() == ("linear" if panel == "accuracy" else scale)
    for curve, where in CURVES[panel]:
        section, name = where.split(".")
        colour = palette.colours[section][name]
        assert any(
            line.get_color() == colour
            and np.array_equal(line.get_xdata(), np.arange(run.epochs + 1))
            and np.array_equal(line.get_ydata(), run.curves[curve], equal_nan=True)
            for line in ax.lines
        ), curve
    assert any(set(line.get_xdata()) == {5} for line in ax.lines)  # the epoch that is looked at


def test_shares() -> None:
    from dynascope.analysis.run_epochs import shares

    run, palette = drawn_run("default"), Palette("light")
    ax, found = drawn_on("shares", run), shares(run, range(13))
    for i, name in enumerate(("between", "permutation", "suffix")):
        (line,) = [each for each in ax.lines if each.get_color() == palette.colours["shares"][name]]
        assert np.array_equal(line.get_ydata(), found[:, i])


def test_spectrum() -> None:
    run, palette = drawn_run("default"), Palette("light")
    found = ds.theory.curvature(run, 7, progress=False).spectrum
    ax = drawn_on("hessian", run, epoch=7)
    (bars,) = [each for each in ax.collections if isinstance(each, LineCollection)]
    ends = np.array([segment[1] for segment in bars.get_segments()])
    assert np.array_equal(ends[:, 0], np.arange(len(found.eigenvalues)))
    assert np.array_equal(ends[:, 1], found.eigenvalues)
    from matplotlib.colors import to_hex

    colours = [to_hex(each) for each in bars.get_colors()]
    assert colours.count(palette["bad"]) == found.negative
    assert colours.count(palette["accent"]) == found.positive
    assert f"{found.negative} negative" in ax.texts[0].get_text()


def test_the_query_is_an_arrow_from_the_origin() -> None:
    run = drawn_run("default")
    ax = drawn_on("normalized", run, epoch=4)
    (arrow,) = [each for each in ax.collections if isinstance(each, Quiver)]
    assert np.allclose([arrow.U[0], arrow.V[0]], run.parameters(4).query)
    assert np.allclose(arrow.get_offsets(), 0)


def test_arrows_lead_from_where_things_were() -> None:
    run = drawn_run("wide")
    before = ds.plots.view(run, 2)
    ax = drawn_on("sequence", before.at(9), before=before)
    (arrows,) = [each for each in ax.collections if isinstance(each, Quiver)]
    assert np.allclose(arrows.get_offsets(), before.points("sequence"))
    moved = before.at(9).points("sequence") - before.points("sequence")
    assert np.allclose(np.column_stack([arrows.U, arrows.V]), moved)
    assert np.abs(moved).max() > 0


def test_weights_without_a_run() -> None:
    head = ds.theory.ideal_head(ds.Config())
    for source, how in ((head, {}), (head.parameters, {"config": head.config})):
        ax = drawn_on("sequence", source, **how)
        assert len({(round(each.x, 3), round(each.y, 3)) for each in dots(ax)}) == 6


def test_given_sequences_are_shown() -> None:
    run = drawn_run("default")
    rows = [[1] * 12, [0] * 12]
    found = dots(drawn_on("output", run, sequences=rows))
    wanted = ds.forward(run.parameters(), rows, run.config.model).output
    assert np.allclose(sorted(each.x for each in found), np.sort(wanted[:, 0]))
