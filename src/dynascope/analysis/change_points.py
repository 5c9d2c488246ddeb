"""Change points of a curve: the staircase with the least penalised squared error.

Of all ways to cut y into steps of at least `least` points, the one that minimises

    sum over steps of  sum_i (y_i - mean of its step)^2  +  penalty per step

is found by optimal partitioning (Jackson et al. 2005): with V(0) = 0,

    V(t) = min over s of  V(s) + C(s, t) + penalty,    C(s, t) = D(t) - D(s) - S(s, t) / (t - s)

where D(t) is the sum of the first t squares and S(s, t) the square of the sum of y_s .. y_{t-1}.
Beginnings s that can never be the best again are left out at the front, which keeps the result
(PELT, Killick et al. 2012). Every time t takes one pass over all s.

Sums are made in the order of `ruptures.KernelCPD(kernel="linear")` (Truong et al. 2020), so that
curves whose best staircases are equally good get the same one: tests compare the two. That package
brings SciPy along; this takes NumPy alone.
"""

from typing import Any

import numpy as np
import numpy.typing as npt


def change_points(
    curve: npt.NDArray[np.float64], penalty: float, least: int
) -> npt.NDArray[np.int64]:
    """Where the steps begin, from 0 on, and the length of the curve at the end.

    >>> change_points(np.repeat([1.0, 0.25, 0.0], [20, 30, 10]), penalty=0.01, least=5).tolist()
    [0, 20, 50, 60]
    """
    if len(curve) < 2 * least:
        raise ValueError(f"change_points: expected {2 * least} points or more, got {len(curve)}")
    before = _best_beginnings(curve, penalty, least)
    edges = [len(curve)]
    while edges[-1] > 0:
        edges.append(int(before[edges[-1]]))
    return np.array(edges[::-1], np.int64)


def _best_beginnings(y: npt.NDArray[np.float64], penalty: float, least: int) -> Any:
    """[n + 1]: where the last step of the best staircase over y_0 .. y_{t-1} begins, for each t."""
    size = len(y)
    backwards = y[::-1].copy()  # sums over y_s .. y_{t-1} are made from their end
    squares = np.concatenate([[0.0], np.cumsum(y * y)])  # D
    sums = np.zeros(size)  # S(s, t), of the current t
    best = np.zeros(size + 1)  # V
    before = np.zeros(size + 1, np.int64)
    lengths = np.arange(size, 0, -1.0)  # its last k are k, ..., 1
    first = 0  # beginnings before it are never the best again
    for t in range(1, size + 1):
        last = y[t - 1]
        added = np.cumsum(backwards[size - t : size - first] * last)
        added *= 2
        added -= last * last
        inside = sums[first:t]
        inside += added[::-1]
        if t < 2 * least:
            best[t] = squares[t] - sums[0] / t + penalty
            continue
        end = t - least + 1  # of the beginnings that leave room for a step
        cost = squares[t] - squares[first:end]
        cost -= inside[: end - first] / lengths[size - t + first : size - least + 1]
        cost += best[first:end]
        if first == 0:
            cost[1:least] = np.inf  # no room for a step before
        total = cost + penalty
        at = int(total.argmin())
        best[t], before[t] = total[at], first + at
        if cost[0] >= best[t]:
            keep = cost < best[t]
            first += int(keep.argmax()) if keep.any() else len(cost)
    return before
