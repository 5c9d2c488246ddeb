"""When a run found the sum that it ends with, and when it fitted: against its own end.

`phases` asks when embeddings gathered by multisets. A run that ends with another sum never does
that; here the yardstick is the sum that the run keeps at its end, whatever it is, so that nearly
every solved run can be dated.

Both rises are from epoch 0 to the level at the end: of the share of the variance that lies between
values of the sum, and of the accuracy. Each is dated at half and at nine tenths of its way, by the
first and by the last time that its running median passes there: a dip later on moves the last
crossing, not the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope.analysis import run_epochs
from dynascope.analysis import thresholds as th
from dynascope.analysis.checks import check_run
from dynascope.analysis.kept_sum import KeptSum, check_summed, kept_sum, sum_shares
from dynascope.analysis.rises import Series
from dynascope.near_misses import guided
from dynascope.run import Run

Array = npt.NDArray[Any]


class Crossing(NamedTuple):
    """When a rise passed one height: for the first time, and from when on it stayed above."""

    first: int
    last: int


class DatedRise(NamedTuple):
    """A rise and when it had come so far; None where it is less than `RISE_SIZE`."""

    size: float
    tenth: Crossing | None
    half: Crossing | None
    nine_tenths: Crossing | None


class Lead(NamedTuple):
    """By how many epochs clustering came before fitting, if both are taken at these heights."""

    clustering: float  # of the rise of the share
    accuracy: float  # of the rise of the accuracy
    epochs: int  # positive: clustering first


@dataclass(frozen=True)
class SumProgress:
    """How a run came to the sum that it ends with."""

    sum: KeptSum  # that it ends with
    clustering: DatedRise  # of the share of the variance between its values
    fitting: DatedRise  # of the accuracy
    accuracy: Literal["test", "train"]  # which one: train where there is no other
    leads: tuple[Lead, ...]  # by first crossings, at the pairs of heights LEAD_PAIRS; those dated
    measured_to: int  # the last epoch looked at

    @property
    def lead(self) -> int | None:
        """By how many epochs half of the clustering came before half of the accuracy, by their
        first crossings; None where one of them did not rise."""
        return next((lead.epochs for lead in self.leads if lead[:2] == (0.5, 0.5)), None)

    def describe(self) -> str:
        """The order of clustering and fitting, with the heights that it depends on."""
        clustered, fitted = self.clustering.half, self.fitting.half
        what = f"the sum that the run ends with ({self.sum.formula()}, {self.sum.kind})"
        if clustered is None or fitted is None:
            never = "embeddings" if clustered is None else f"{self.accuracy} accuracy"
            return f"Against {what}, the {never} never rose by {th.RISE_SIZE}."
        order = " ".join(
            f"{_height(lead.clustering).capitalize()} of clustering came {_apart(lead.epochs)} "
            f"{_height(lead.accuracy)} of the accuracy."
            for lead in self.leads
        )
        return (
            f"Against {what}, embeddings were halfway at epoch {clustered.first}, the "
            f"{self.accuracy} accuracy at epoch {fitted.first}. {order}"
        )


@guided
def sum_progress(run: Run) -> SumProgress | None:
    """When a run found its final sum; None where it has none, because nothing varies.

    >>> import dynascope as ds
    >>> config = ds.Config().replace({"training.epochs": 20})
    >>> sum_progress(ds.train(config, progress=False)[0]).lead is None  # nothing has risen yet
    True
    """
    run = check_run(run)
    check_summed(run)
    epochs = np.unique(run_epochs.kept_epochs(run, "sums over time")).tolist()
    last = run_epochs.last_sound_epoch(run)
    kept = kept_sum(run.parameters(last), run.config)
    if kept is None:
        return None
    share = Series(
        lambda places: sum_shares(
            run_epochs.weights_at(run, [epochs[i] for i in places]), run.config, kept
        ),
        len(epochs),
    )
    tested: Literal["test", "train"] = "test" if "test_accuracy" in run.curves else "train"
    curve = from_the_start(run.curves[f"{tested}_accuracy"][: last + 1])
    fit = Series(lambda places: curve[places], last + 1, coarse=last + 1)
    clustering, fitting = _rise(share, epochs), _rise(fit, range(last + 1))
    return SumProgress(kept, clustering, fitting, tested, _leads(clustering, fitting), last)


def from_the_start(curve: Array) -> Array:
    """A curve whose first values are missing, as an imported run's may be, begins as it goes on."""
    known = np.flatnonzero(np.isfinite(curve))
    first = known[0] if len(known) else 0
    return np.concatenate([np.full(first, curve[first]), curve[first:]])


def _rise(series: Series, epochs: Sequence[int]) -> DatedRise:
    def crossing(part: float) -> Crossing | None:
        first, last = series.first_passed(part), series.passed(part)
        return None if first is None or last is None else Crossing(epochs[first], epochs[last])

    return DatedRise(series.rise, *(crossing(part) for part in (0.1, 0.5, 0.9)))


def _leads(clustering: DatedRise, fitting: DatedRise) -> tuple[Lead, ...]:
    heights = {0.1: "tenth", 0.5: "half", 0.9: "nine_tenths"}
    found = []
    for one, other in th.LEAD_PAIRS:
        first, second = getattr(clustering, heights[one]), getattr(fitting, heights[other])
        if first is not None and second is not None:
            found.append(Lead(one, other, second.first - first.first))
    return tuple(found)


def _height(part: float) -> str:
    return {0.1: "a tenth", 0.5: "half", 0.9: "nine tenths"}[part]


def _apart(epochs: int) -> str:
    if epochs == 0:
        return "together with"
    count = f"{abs(epochs)} epoch{'' if abs(epochs) == 1 else 's'}"
    return f"{count} {'before' if epochs > 0 else 'after'}"
