"""The kernel's elementary functions against SciPy in double precision, on [-30, 30] and beyond."""

from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from dynascope import _kernel

Array = np.ndarray[Any, Any]


def logistic_slope(x: Array) -> Array:
    s = special.expit(x)
    return s * (1 + x * (1 - s))


def logistic_bend(x: Array) -> Array:
    s = special.expit(x)
    return s * special.expit(-x) * (2 + x * (1 - 2 * s))


REFERENCE = {
    "exp": np.exp,
    "log": np.log,
    "erf": special.erf,
    "gelu": lambda x: x * special.ndtr(x),
    "gelu_slope": lambda x: special.ndtr(x) + x * stats.norm.pdf(x),
    "gelu_bend": lambda x: (2 - x**2) * stats.norm.pdf(x),
    "relu": lambda x: np.maximum(x, 0),
    "relu_slope": lambda x: (x > 0).astype(float),
    "silu": lambda x: x * special.expit(x),
    "silu_slope": logistic_slope,
    "silu_bend": logistic_bend,
}
TOLERANCE = {np.float32: 2e-7, np.float64: 1e-14}


def points(dtype: type, positive: bool) -> Array:
    """A fine grid, points near 0 of all sizes, and random ones."""
    near = np.logspace(-30, 1.4, 3000)
    grid = np.concatenate([np.linspace(-30, 30, 600_001), near, -near, [0.0]])
    x = np.concatenate([grid, np.random.default_rng(0).uniform(-30, 30, 100_000)]).astype(dtype)
    return x[x > 0] if positive else x


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", REFERENCE)
def test_error_over_the_range(name: str, dtype: type) -> None:
    x = points(dtype, positive=name == "log")
    wanted = REFERENCE[name](x.astype(np.float64))
    error = np.abs(_kernel.math(name, x).astype(np.float64) - wanted) / np.maximum(
        1, np.abs(wanted)
    )
    worst = int(error.argmax())
    assert error[worst] <= TOLERANCE[dtype], f"{name}({x[worst]}) is off by {error[worst]:.2e}"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("name", "at", "wanted"),
    [
        ("exp", 0.0, 1.0),
        ("exp", -np.inf, 0.0),
        ("exp", np.inf, np.inf),
        ("exp", -1e6, 0.0),
        ("exp", 1e6, np.inf),
        ("log", 1.0, 0.0),
        ("log", 0.0, -np.inf),
        ("log", np.inf, np.inf),
        ("log", -1.0, np.nan),
        ("erf", 0.0, 0.0),
        ("erf", np.inf, 1.0),
        ("erf", -np.inf, -1.0),
        ("gelu", 0.0, 0.0),
        ("gelu", 1e20, 1e20),
        ("gelu", np.inf, np.inf),
        ("gelu_slope", 0.0, 0.5),
        ("gelu_slope", 1e20, 1.0),
        ("gelu_bend", 1e20, 0.0),
        ("silu_bend", 0.0, 0.5),
        ("relu", -0.0, 0.0),
        ("relu_slope", 0.0, 0.0),
        ("silu", 0.0, 0.0),
        ("silu", 1e20, 1e20),
        *((name, np.nan, np.nan) for name in REFERENCE if name != "relu_slope"),
    ],
)
def test_special_values(name: str, at: float, wanted: float, dtype: type) -> None:
    got = _kernel.math(name, np.array([at], dtype))[0]
    assert got == dtype(wanted) or (np.isnan(got) and np.isnan(wanted)) or abs(got - wanted) < 1e-7


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_far_negative_gelu_is_nothing(dtype: type) -> None:
    x = np.array([-1e3, -1e10, -1e30], dtype)
    assert np.abs(_kernel.math("gelu", x)).max() < 1e-15
    assert np.abs(_kernel.math("gelu_slope", x)).max() < 1e-15
    assert np.abs(_kernel.math("gelu_bend", x)).max() < 1e-15


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17])
def test_any_number_of_values(count: int) -> None:
    x = np.linspace(-2, 2, count, dtype=np.float32)
    np.testing.assert_array_equal(
        _kernel.math("exp", x), [_kernel.math("exp", x[i : i + 1])[0] for i in range(count)]
    )
