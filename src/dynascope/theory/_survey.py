"""Many models of one plane, evaluated on one set of sequences, in threads."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope import _kernel
from dynascope.config_input import ModelLike
from dynascope.engine import Crew, count_threads
from dynascope.model import Call
from dynascope.parameters import Parameters
from dynascope.progress import Report, Status

Array = npt.NDArray[Any]

_AT_ONCE = 2**24  # weights times sequences that a thread evaluates in one go: some 20 ms
_MOST_ROWS = 256  # models in memory at once, per thread


class Centre:
    """Weights in float64, and the sequences on which they and their neighbours are evaluated."""

    def __init__(
        self,
        parameters: Parameters,
        tokens: npt.ArrayLike,
        targets: npt.ArrayLike,
        model: ModelLike,
    ) -> None:
        call = Call(parameters, model)
        self.examples = call.examples(tokens, targets)
        self.parameters, self.model = parameters.astype(np.float64), call.model
        self._shape = call.shape

    def evaluate(self, rows: Array) -> tuple[Array, Array]:
        """Loss and accuracy of each row of weights.

        NaN comes only of numbers that overflow, such as inf - inf: that loss is inf here. Logits
        that are not numbers predict nothing, so nothing right.
        """
        loss, accuracy = _kernel.evaluate(rows, self._shape, *self.examples)
        lost = np.isnan(loss)
        return np.where(lost, np.inf, loss), np.where(lost, 0.0, accuracy)


class Window(NamedTuple):
    """A square part of a plane."""

    middle: tuple[float, float]
    half: float  # from the middle to a side

    def along(self, axis: int, points: int) -> Array:
        """[points]: evenly from side to side; symmetric around the middle, bit for bit."""
        steps = np.arange(1 - points, points, 2) / (points - 1)
        return np.asarray(self.middle[axis] + self.half * steps)


class Survey(Crew):
    """A crew that evaluates a grid, some points at a time; the same bits for any number of threads.

    `axes` [2, weights] are the plane's, through `centre`; `x` and `y` the grid's.
    """

    def __init__(self, centre: Centre, axes: Array, x: Array, y: Array) -> None:
        self._centre, self._axes, self._x, self._y = centre, axes, x, y
        self.loss, self.accuracy = np.empty((2, len(y), len(x)))
        total, cost = len(x) * len(y), axes.shape[1] * len(centre.examples[1])
        self._size = min(_MOST_ROWS, max(1, _AT_ONCE // cost))
        self._pieces = -(-total // self._size)
        super().__init__(self._pieces, Status(1, total, unit="points"))

    def run(self, threads: int | None, report: Report | None) -> None:
        """Fill `loss` and `accuracy`."""
        self.work(count_threads(threads, self._pieces), report)

    def one(self, index: int) -> None:
        first, total = index * self._size, self.loss.size
        which = np.arange(first, min(first + self._size, total))
        x, y = self._x[which % len(self._x), None], self._y[which // len(self._x), None]
        with np.errstate(over="ignore", invalid="ignore"):  # far out; `evaluate` says what it means
            rows = self._centre.parameters.flat + x * self._axes[0] + y * self._axes[1]
        self.loss.flat[which], self.accuracy.flat[which] = self._centre.evaluate(rows)
        with self._lock:
            self.status.advance(index, len(which))
