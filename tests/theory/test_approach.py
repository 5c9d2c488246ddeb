"""The ideal head as a limit: the gradient falls with the doubt, and is never zero."""

import math
import sys
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import dynascope as ds
from dynascope.theory import Approach, approach, ideal_head
from dynascope.theory.approach import CONFIDENCES, _line

SHORT = {"task.length": 5, "task.relevant": 3, "model.hidden": 8}
CONFIGS: list[dict[str, Any]] = [
    {},
    {"task.length": 8, "task.relevant": [1, 4, 6]},
    {"model.activation": "relu"},
    {"model.activation": "silu", "model.norm": "smooth", "model.dim": 3},
    {"model.norm": "unit", "model.bias": False},
    {"model.norm": "none"},
    {"task.vocab": 3, "model.embeddings": 4},
]
SOME = [0.9, 0.999, 1 - 1e-5, 1 - 1e-7]


def of(changes: dict[str, Any]) -> Approach:
    return _once(ds.Config().replace({**SHORT, **changes}))


@lru_cache
def _once(config: ds.Config) -> Approach:
    return approach(config, SOME)


@pytest.mark.parametrize("changes", CONFIGS, ids=str)
def test_everything_falls_and_nothing_is_zero(changes: dict[str, Any]) -> None:
    found = of(changes)
    for name in ("doubt", "loss", "gradient_norm", "trained_gradient_norm"):
        values = [getattr(point, name) for point in found.points]
        assert sorted(values, reverse=True) == values, name
        assert values[-1] > 0, name
    for point in found.points:
        assert 0 < point.doubt <= 1 - point.confidence
        assert point.trained_gradient_norm <= point.gradient_norm * (1 + 1e-9)


@pytest.mark.parametrize("changes", CONFIGS, ids=str)
def test_the_rate_is_one_up_to_logarithms(changes: dict[str, Any]) -> None:
    """|C_x| is the doubt times a distance; all other factors grow like log(1/doubt) at most."""
    found = of(changes)
    assert 0.85 < found.rate < 1.05
    assert 0 < found.rate_error < 0.05
    ratio = found.gradient_norms / found.doubts
    logarithms = np.log(1 / found.doubts)
    assert ratio[-1] / ratio[0] < logarithms[-1] / logarithms[0]


@pytest.mark.parametrize("changes", CONFIGS, ids=str)
def test_the_hessian_falls_along_and_stays_indefinite(changes: dict[str, Any]) -> None:
    found = of(changes)
    spectra = [point.spectrum for point in found.points]
    assert all(each is not None and each.negative > 0 for each in spectra)
    for end in ("lowest", "highest"):
        slope, _ = _line(found.doubts.tolist(), [abs(getattr(each, end)) for each in spectra])
        assert 0.8 < slope < 1.05, end
    for each in spectra:
        assert each is not None
        assert -0.2 < each.lowest / each.highest < -1e-4
        assert each.zero >= 2  # E + c, P - c
        assert each.tolerance < 1e-6 * each.highest
    assert "negative eigenvalues at every one of these heads" in found.describe()


def test_against_the_models_themselves() -> None:
    found = of({})
    config = ds.Config().replace({**SHORT, "precision": "float64"})
    tokens, targets = ds.dataset(config.task, split="all")
    assert (found.sequences, found.complete) == (32, True)
    for point in found.points:
        head = ideal_head(config, point.confidence)
        loss, gradient = ds.loss_and_gradient(head.parameters, tokens, targets, head.config)
        right = ds.forward(head.parameters, tokens, head.config).probabilities[
            np.arange(32), targets
        ]
        assert point.doubt == pytest.approx(np.mean(1 - right), rel=1e-6)
        assert (point.loss, point.gradient_norm) == (loss, gradient.norm())
        own = [gradient[name] for name in ("query", "value", "receptors", "assemblers")]
        wanted = math.sqrt(sum(float((array**2).sum()) for array in own))
        assert point.trained_gradient_norm == pytest.approx(wanted, rel=1e-6)


def test_by_default_as_far_as_float64_reaches() -> None:
    found = approach(ds.Config().replace(SHORT))
    assert [point.confidence for point in found.points] == list(CONFIDENCES)
    assert found.points[-1].doubt < 1e-9
    assert f"doubt^{found.rate:.3f}" in found.describe()
    assert "never zero" in found.describe()


def test_a_head_out_of_reach_ends_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    def shy(config: ds.Config, confidence: float) -> Any:
        if confidence > limit:
            raise ds.DynascopeError("config: expected one within reach.")
        return ideal_head(config, confidence)

    module = sys.modules["dynascope.theory.approach"]  # the package has the function by that name
    monkeypatch.setattr(module, "ideal_head", shy)
    limit = 0.99999
    assert len(approach(ds.Config().replace(SHORT)).points) == 5
    limit = 0.99
    with pytest.raises(ds.DynascopeError, match="within reach"):
        approach(ds.Config().replace(SHORT))


def test_large_tasks_and_models_are_sampled_and_left_unbent() -> None:
    config = ds.Config().replace({"task.length": 20, "model.hidden": 300})
    found = approach(config, [0.9, 0.99, 0.999])
    assert (found.sequences, found.complete) == (4096, False)
    assert all(point.spectrum is None for point in found.points)
    assert "a sample of 4096 sequences" in found.describe()
    assert found.describe().endswith("The model is too large for its Hessian here.")


def test_a_line_in_logarithms() -> None:
    doubts = [1e-1, 1e-2, 1e-3, 1e-4]
    assert _line(doubts, [3 * doubt**0.7 for doubt in doubts]) == pytest.approx((0.7, 0), abs=1e-12)
    # Residuals ±1, ∓1 around slope 1, by hand: x = 1.5, 0.5, -0.5, -1.5 in decades.
    noisy = [
        10.0 ** (math.log10(x) + e) for x, e in zip(doubts, (0.1, -0.1, -0.1, 0.1), strict=True)
    ]
    slope, error = _line(doubts, noisy)
    assert slope == pytest.approx(1.0)
    assert error == pytest.approx(math.sqrt(4 * 0.01 / 2 / 5))


RISING = "confidences: expected at least 3 rising numbers, but got "


@pytest.mark.parametrize(
    ("config", "confidences", "message"),
    [
        (3, None, "config: expected a ds.Config or a dict of options, but got 3"),
        (ds.Config(model=ds.ModelConfig(dim=1)), None, "model.dim: expected at least 2"),
        (None, 0.9, RISING + "0.9."),
        (None, "0.9", RISING + "'0.9'."),
        (None, [], RISING + "[]."),
        (None, [0.9, 0.99], RISING + "[0.9, 0.99]."),
        (None, [0.9, 0.99, 0.99], RISING + "[0.9, 0.99, 0.99]."),
        (None, [0.9, 0.99, 1.0], "confidence: expected a number above 1/2 and below 1, but got 1"),
        (None, [0.9, "sure", 0.99], "confidence: expected a number above 1/2 and below 1"),
        (None, [0.9, 0.99, float("nan")], "confidence: expected a number above 1/2 and below 1"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(config: Any, confidences: Any, message: str) -> None:
    with pytest.raises(ds.DynascopeError) as caught:
        approach(config, confidences)
    assert str(caught.value).startswith(message)
