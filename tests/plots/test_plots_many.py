"""Many runs in one picture: the median and its band, and the sparsity of each."""

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

import dynascope as ds


@pytest.fixture(scope="module")
def runs() -> ds.Runs:
    config = ds.Config().replace({"training.epochs": 10, "task.train_size": 128})
    return ds.train(config, seeds=5, progress=False)


@pytest.mark.parametrize("between", [(0.25, 0.75), (0.0, 1.0)])
@pytest.mark.parametrize("curve", ["test_accuracy", "train_loss", "grad_norm/query"])
def test_a_band_is_between_the_quantiles(
    curve: str, between: tuple[float, float], runs: ds.Runs
) -> None:
    ax = ds.plots.band(runs, curve, between=between)
    values = np.stack([run.curves[curve] for run in runs]).astype(float)
    (line,) = ax.lines
    first = 1 if np.isnan(values[:, 0]).all() else 0  # norms begin with the first step
    middle, low, high = (np.quantile(values[:, first:], q, axis=0) for q in (0.5, *between))
    assert np.allclose(line.get_ydata()[first:], middle)
    (band,) = [each for each in ax.collections if isinstance(each, PolyCollection)]
    corners = np.concatenate([path.vertices for path in band.get_paths()])
    for epoch, (bottom, top) in enumerate(zip(low, high, strict=True), first):
        heights = corners[corners[:, 0] == epoch, 1]
        assert np.isclose(heights.min(), bottom)
        assert np.isclose(heights.max(), top)


def test_two_bands_share_an_axes(runs: ds.Runs) -> None:
    ax = ds.plots.band(runs, "train_loss", label="a")
    assert ds.plots.band(runs, "test_loss", ax, colour="#d55e00", label="b", scale="log") is ax
    assert [line.get_label() for line in ax.lines] == ["a", "b"]
    assert ax.get_yscale() == "log"


def test_sparsity_is_that_of_the_analysis(runs: ds.Runs) -> None:
    head = ds.theory.ideal_head(ds.Config())
    ax = ds.plots.sparsity([*runs, head])
    weights = [(run.parameters(), run.config) for run in runs] + [tuple(head)]
    thin = [line for line in ax.lines if line.get_label().startswith("_")]
    for line, (parameters, config) in zip(thin, weights, strict=True):
        found = ds.analysis.sparsity(parameters, config)
        assert np.array_equal(line.get_xdata(), found.eps)
        assert np.array_equal(line.get_ydata(), found.share)
    solved = ds.plots.Palette("light").colours["curves"]["train"]
    assert [line.get_color() == solved for line in thin] == [False] * 5 + [True]
    means = {line.get_label(): line.get_ydata() for line in ax.lines if line not in thin}
    others = np.mean([line.get_ydata() for line in thin[:5]], axis=0)
    assert np.allclose(means["not solved"], others)
    assert np.allclose(means["accuracy above 0.9"], thin[5].get_ydata())
    rows = ax.figure.numbers().splitlines()  # type: ignore[union-attr]
    assert rows[0] == "run,epoch,panel,eps,share"
    assert rows[1].startswith(f"{runs[0].id},10,sparsity,")
