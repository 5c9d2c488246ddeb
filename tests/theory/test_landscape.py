"""Slices of the loss: against single evaluations, the Hessian, closed forms and a run's record."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from cases import CASES, Case
from landscapes import SIZE, SMALL, TARGETS, TOKENS, P, around, axis, flats, sliced, trained

import dynascope as ds
from dynascope.engine import Status
from dynascope.theory import landscape, landscape_around

# ---- the grid -----------------------------------------------------------------------------------
GRID_CASES = [case for case in CASES if case.ablate is None and not case.cancels]


@pytest.mark.parametrize("case", GRID_CASES, ids=lambda case: case.name)
def test_points_are_what_single_evaluations_give(case: Case) -> None:
    config, (tokens, targets) = case.config("float32"), case.examples()
    p = case.parameters("float32")
    found = landscape_around(
        p, tokens, targets, config, "random", points=4, extent=0.5, progress=False
    )
    for i, j in [(0, 0), (1, 3), (3, 2)]:
        x, y = found.along_x[j], found.along_y[i]
        steps = x * found.directions[0].flat + y * found.directions[1].flat
        there = ds.Parameters.from_flat(p.flat.astype(float) + steps, p.shapes)
        loss = ds.loss_and_gradient(there, tokens, targets, config)[0]
        right = ds.forward(there, tokens, config).logits.argmax(axis=1) == targets
        assert found.loss[i, j] == pytest.approx(loss, rel=1e-12)
        assert found.accuracy[i, j] == pytest.approx(right.mean(), abs=1e-12)
        assert found.at(x, y).flat == pytest.approx(there.flat, rel=1e-14)


@pytest.mark.parametrize("points", [3, 4, 41])
def test_the_grid_is_symmetric_and_has_its_centre(points: int) -> None:
    found = around(points=points, extent=0.3)
    assert found.loss.shape == found.accuracy.shape == (points, points)
    for along in (found.along_x, found.along_y):
        assert (along == -along[::-1]).all()
        assert along[[0, -1]].tolist() == [-0.3, 0.3]
        assert np.diff(along) == pytest.approx(0.6 / (points - 1))
    if points % 2:
        middle = points // 2
        assert found.loss[middle, middle] == found.centre_loss
    exact = P.astype("float64")
    assert found.centre == exact
    loss = ds.loss_and_gradient(exact, TOKENS, TARGETS, SMALL)[0]
    assert found.centre_loss == pytest.approx(loss, rel=1e-13)


def test_everything_is_float64_and_of_any_number_of_threads() -> None:
    one, two = around(threads=1, points=33), around(threads=2, points=33)
    assert one.loss.dtype == one.accuracy.dtype == one.along_x.dtype == np.float64
    assert one.centre.flat.dtype == flats(one).dtype == np.float64
    assert (one.loss == two.loss).all()
    assert (one.accuracy == two.accuracy).all()


@pytest.mark.parametrize("extent", [1e60, 1e200, 1e308])
@pytest.mark.parametrize("norm", ["rms", "none"])
def test_what_overflows_is_infinite_never_nan(extent: float, norm: str) -> None:
    found = landscape_around(
        P,
        TOKENS,
        TARGETS,
        replace(SMALL.model, norm=norm),
        (10 * P.astype("float64"), axis(3)),
        extent=extent,
        points=5,
        progress=False,
    )
    assert not np.isnan(found.loss).any()
    assert found.loss[:, -1].min() > 1e60
    assert np.isinf(found.loss).any() == (extent > 1e60)
    assert ((found.accuracy >= 0) & (found.accuracy <= 1)).all()
    assert found.loss[2, 2] == found.centre_loss < 2


def test_progress_is_told() -> None:
    seen: list[float] = []
    tokens, targets = ds.dataset(ds.Config().task)
    p = ds.initial_parameters(ds.Config())

    def look(status: Status) -> None:
        seen.append(status.share)

    landscape_around(p, tokens, targets, directions="random", progress=look, threads=1)
    assert seen == sorted(seen)
    assert 0 <= seen[0] < seen[-1] <= 1


# ---- eigenvectors -------------------------------------------------------------------------------
def test_curvature_along_eigenvectors_is_their_eigenvalue() -> None:
    h = 1e-3
    for kind in ("negative", "sharp"):
        found = around(kind, extent=h, points=3)
        assert found.eigenvalues is not None
        loss, (first, second) = found.loss, found.eigenvalues
        size = max(abs(first), abs(second))
        assert (loss[1] @ [1, -2, 1]) / h**2 == pytest.approx(first, abs=1e-4 * size)
        assert (loss[:, 1] @ [1, -2, 1]) / h**2 == pytest.approx(second, abs=1e-4 * size)
        mixed = loss[2, 2] - loss[2, 0] - loss[0, 2] + loss[0, 0]
        assert mixed / (4 * h**2) == pytest.approx(0, abs=1e-4 * size)


def test_eigenvectors_are_the_ones_asked_for() -> None:
    matrix = ds.hessian(P.astype("float64"), TOKENS, TARGETS, SMALL)
    values = np.sort(np.linalg.eigvalsh(matrix))
    largest = values[np.argsort(-np.abs(values))]
    assert values[1] < 0  # there are two to see
    for kind, wanted in (("negative", values[:2]), ("sharp", largest[:2])):
        found = around(kind, points=3)
        axes = flats(found)
        assert axes @ axes.T == pytest.approx(np.eye(2), abs=1e-12)
        assert found.eigenvalues == pytest.approx(tuple(wanted), rel=1e-6)
        assert matrix @ axes.T == pytest.approx(axes.T * wanted, abs=1e-6 * abs(largest[0]))
        for row in axes:  # one sign, so one picture
            assert row[np.abs(row).argmax()] > 0


def test_few_free_weights_have_both_ends_in_one() -> None:
    for count in (2, 3):
        frozen = [name for name in P if name not in ("query", "value")]
        frozen += ["value"] if count == 2 else ["value[1]", "value[0,1]"]
        for kind in ("negative", "sharp"):
            found = around(kind, frozen=frozen, points=3)
            axes = flats(found)
            assert (axes != 0).any(axis=0).sum() <= count
            assert axes @ axes.T == pytest.approx(np.eye(2), abs=1e-12)


@pytest.mark.parametrize("kind", ["negative", "sharp"])
@pytest.mark.parametrize("frozen", [(), ("receptor_bias",)])
def test_large_models_go_by_products(
    kind: str, frozen: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    dense = around(kind, points=3, frozen=frozen)
    monkeypatch.setattr(sys.modules[landscape.__module__], "DENSE_WEIGHTS", SIZE - 1)
    monkeypatch.setattr(sys.modules[landscape.__module__], "hessian", None)
    found = around(kind, points=3, frozen=frozen)
    assert flats(found) == pytest.approx(flats(dense), abs=1e-6)
    assert found.eigenvalues == pytest.approx(dense.eigenvalues, rel=1e-7)
    assert found.directions[0].receptor_bias.any() == (not frozen)


def test_extent_of_a_run_is_how_far_it_moves_nearby() -> None:
    run = trained()
    rows = run.weights.astype(float)
    for epoch, low, high in [(0, 0, 10), (15, 5, 25), (30, 20, 30)]:
        far = max(np.sqrt(((rows[e] - rows[epoch]) ** 2).sum()) for e in range(low, high + 1))
        assert sliced(run, epoch).along_x[-1] == pytest.approx(far, rel=1e-12)
    assert sliced(run, 15, extent=0.2).along_y[-1] == 0.2
    assert sliced(run, 15, directions="random").along_y[-1] == 1
    assert sliced(trained(record__weights_every=0), 15).along_y[-1] == 1
    assert sliced(trained(training__epochs=0)).along_y[-1] == 1


# ---- random directions --------------------------------------------------------------------------
@pytest.mark.parametrize("bias", [True, False])
def test_filters_are_as_long_as_the_models_own(bias: bool) -> None:
    config = SMALL.replace({"model.bias": bias, "model.dim": 3})
    p = ds.initial_parameters(config, 5).astype("float64")
    p.receptors[1] = 0
    found = landscape_around(p, TOKENS, TARGETS, config, "random", seed=7, points=3, progress=False)
    for direction in found.directions:
        for name, weights in p.items():
            rows = weights if weights.ndim == 2 else [weights]
            own = direction[name] if weights.ndim == 2 else [direction[name]]
            for row, made in zip(rows, own, strict=True):
                assert np.sqrt((made**2).sum()) == pytest.approx(np.sqrt((row**2).sum()))
        assert (direction.receptors[1] == 0).all()


def test_the_seed_says_which() -> None:
    first, again, other = (flats(around(points=3, seed=seed)) for seed in (0, 0, 1))
    assert (first == again).all()
    assert (first[0] != other[0]).all()
    # What NumPy's PCG64 draws from seed 0: the first token embedding points that way.
    drawn = np.array([0.12573021809920, -0.13210486282209])
    length = np.linalg.norm(P.token_embedding[0].astype(float))
    assert first[0, :2] == pytest.approx(drawn * length / np.linalg.norm(drawn), rel=1e-7)
    cosine = first[0] @ first[1] / np.linalg.norm(first[0]) / np.linalg.norm(first[1])
    assert abs(cosine) < 0.8


# ---- through epochs, and the path ---------------------------------------------------------------
@pytest.mark.parametrize("every", [1, 7, 0])
def test_three_epochs_lie_in_their_plane(every: int) -> None:
    run = trained(record__weights_every=every)
    found = sliced(run, 20, directions="epochs", toward=(3, 30))
    axes = flats(found)
    assert axes @ axes.T == pytest.approx(np.eye(2), abs=1e-12)
    recorded = run.curves["train_loss"].astype(float)
    corners = []
    for epoch in (20, 3, 30):
        (at,) = np.flatnonzero(found.path_epochs == epoch)
        x, y = found.path[at]
        weights = run.parameters(epoch).flat.astype(float)
        assert found.path_distance[at] < 1e-12
        assert found.at(x, y).flat == pytest.approx(weights, abs=1e-12)
        loss = ds.loss_and_gradient(found.at(x, y), TOKENS, TARGETS, SMALL)[0]
        assert loss == pytest.approx(recorded[epoch], abs=1e-6)
        corners.append((x, y))
    start, first, second = np.array(corners)
    w = {epoch: run.parameters(epoch).flat.astype(float) for epoch in (20, 3, 30)}
    assert start == pytest.approx([0, 0], abs=1e-12)
    assert first == pytest.approx([np.linalg.norm(w[3] - w[20]), 0], abs=1e-12)
    assert np.linalg.norm(second) == pytest.approx(np.linalg.norm(w[30] - w[20]))
    assert np.linalg.norm(second - first) == pytest.approx(np.linalg.norm(w[30] - w[3]))
    assert second[1] > 0


def test_the_picture_holds_its_three_epochs() -> None:
    found = sliced(trained(), 20, directions="epochs", toward=(0, 30))
    three = found.path[[0, 20, 30]]
    sides = np.array([[a[0], a[-1]] for a in (found.along_x, found.along_y)])
    widths = sides[:, 1] - sides[:, 0]
    box = three.max(axis=0) - three.min(axis=0)
    assert widths == pytest.approx(1.5 * box.max())
    assert sides.mean(axis=1) == pytest.approx((three.max(axis=0) + three.min(axis=0)) / 2)
    assert sliced(trained(), directions="epochs", toward=(0, 9), extent=2).along_x[0] == -2


def test_the_path_is_projected() -> None:
    run = trained()
    rows = run.weights.astype(float)
    first, second = 2 * axis(3), 0.5 * axis(3) + 5 * axis(8)  # not at right angles
    found = sliced(run, 12, directions=(first, second), points=3)
    apart = rows - rows[12]
    y = apart[:, 8] / 5
    x = (apart[:, 3] - 0.5 * y) / 2
    assert found.path_epochs.tolist() == list(range(31))
    assert found.path == pytest.approx(np.stack([x, y], axis=1), abs=1e-12)
    outside = np.delete(apart, [3, 8], axis=1)
    assert found.path_distance == pytest.approx(np.sqrt((outside**2).sum(axis=1)))
    steps = np.diff(rows, axis=0) ** 2
    share = np.sqrt(steps[:, [3, 8]].sum(axis=1) / steps.sum(axis=1))
    assert found.path_share == pytest.approx(share)
    assert (flats(found) == np.stack([first, second])).all()


def test_a_path_may_be_left_out_short_or_still() -> None:
    none = sliced(trained(), path=False)
    assert none.path.shape == (0, 2)
    assert len(none.path_epochs) == len(none.path_share) == len(none.path_distance) == 0
    short = sliced(trained(record__weights_every=0), 11)
    assert short.path_epochs.tolist() == [0, 11, 30]
    assert (short.path[1] == 0).all()
    still = sliced(trained(training__lr=1e-30))
    assert (still.path_share == 1).all()  # no step, so none of it outside
    assert (still.path == 0).all()
