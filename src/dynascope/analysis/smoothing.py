"""Curves without their noise: running medians, Gaussian means, and how much noise there is."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def running_median(curve: Array, reach: int) -> Array:
    """The median of each value and `reach` on both sides; near the ends, of as many as there are
    on both sides, so that a rising curve stays as it is.

    >>> running_median(np.array([0.0, 1, 9, 2, 3, 4]), 1).tolist()
    [0.0, 1.0, 2.0, 3.0, 3.0, 4.0]
    """
    result = np.array(curve, float)
    for r in range(1, min(reach, (len(curve) - 1) // 2) + 1):
        for i in (r, len(curve) - 1 - r):
            result[i] = np.median(curve[i - r : i + r + 1])
    if len(curve) > 2 * reach:
        windows = np.lib.stride_tricks.sliding_window_view(curve, 2 * reach + 1)
        result[reach : len(curve) - reach] = np.partition(windows, reach, axis=1)[:, reach]
    return result


def gaussian_mean(curve: Array, deviation: float) -> Array:
    """The mean of each value's surroundings with Gaussian weights; the end values go on for ever.

    >>> gaussian_mean(np.ones(4), 3.0).round(12).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    reach = int(3 * deviation)
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
    longer = np.pad(curve, reach, mode="edge")
    return np.convolve(longer, weights / weights.sum(), mode="valid")


def noise_deviation(curve: Array) -> float:
    """The standard deviation of white noise on a smooth curve.

    From the median size of second differences, which a slope does not enter and spikes hardly do.

    >>> noise_deviation(np.arange(9.0))
    0.0
    """
    if len(curve) < 3:
        return 0.0
    return float(1.4826 * np.median(np.abs(np.diff(curve, 2))) / np.sqrt(6))


def block_medians(curve: Array, block: int) -> Array:
    """The medians of consecutive blocks; the last value is repeated to fill the last block."""
    if block == 1:
        return curve
    whole = np.pad(curve, (0, -len(curve) % block), mode="edge")
    return np.asarray(np.median(whole.reshape(-1, block), axis=1))
