"""The phases of a run: when its loss dropped, its embeddings clustered and its accuracy rose.

The claim to be checked is that learning has two phases: at a first drop of the loss the sequence
embeddings cluster, at a second one the feed-forward is fitted to the clusters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope.analysis import run_epochs
from dynascope.analysis import thresholds as t
from dynascope.analysis.checks import check_run
from dynascope.analysis.drops import Drop as Drop
from dynascope.analysis.drops import LossCurve
from dynascope.analysis.drops import loss_drops as loss_drops
from dynascope.analysis.rises import Series
from dynascope.analysis.sum_progress import from_the_start
from dynascope.near_misses import guided
from dynascope.run import Run

Array = npt.NDArray[Any]


class Counts(NamedTuple):
    """How many drops each method finds with the thresholds for size and rate times `scale`."""

    scale: float
    by_change: int
    by_slope: int


class Snapshots(NamedTuple):
    """The epochs of the four pictures that tell the story; None for what never happened.

    - `before`: 0.
    - `clustered`: the between share has done half of its rise.
    - `partly_classified`: the accuracy has done half of its rise.
    - `fitted`: the accuracy has done `RISE_DONE` of its rise.

    Each is the first epoch, not before the one to its left, from which on this holds: where the
    accuracy rose first, its pictures wait for the clusters (`Phases.lead` tells the true order).
    """

    before: int
    clustered: int | None
    partly_classified: int | None
    fitted: int | None


@dataclass(frozen=True)
class Phases:
    """What the curves of a run say about its phases; thresholds are in `analysis.thresholds`.

    - `by_change`, `by_slope`: drops of the train loss by two methods (see `analysis.drops`);
      `agreement` is 2 matched / (all drops of both), 1 where neither finds any, and `agree` says
      that there are equally many and all are matched: each lies within the other or they are at
      most `DROP_APART` epochs apart. `sensitivity`: the counts with other thresholds.
    - `clustered_epoch`: when the share of the variance of the sequence embeddings that lies between
      groups of equal relevant tokens passed half of its rise, `between_rise`; at the resolution of
      the kept weights. `fitted_epoch`: when the accuracy did, `accuracy_rise`; `accuracy` names the
      set, "train" where there is no other. A rise is from epoch 0 to the level at the end; None
      where it is less than `RISE_SIZE`.
    - `lead`: `fitted_epoch - clustered_epoch`; positive where the embeddings clustered first.
    - `measured_to`: the last epoch looked at, which is before the run `diverged`, if it did.
    """

    by_change: tuple[Drop, ...]
    by_slope: tuple[Drop, ...]
    agreement: float
    agree: bool
    sensitivity: tuple[Counts, ...]
    between_rise: float
    accuracy_rise: float
    accuracy: Literal["test", "train"]
    clustered_epoch: int | None
    fitted_epoch: int | None
    lead: int | None
    snapshots: Snapshots
    measured_to: int
    diverged: int | None

    def describe(self) -> str:
        """The phases in plain sentences; epochs of drops are by slope where the methods agree."""
        sentences = [self._drops_sentence(), self._order_sentence()]
        if self.diverged is not None:
            sentences.append(
                f"Measured to epoch {self.measured_to}: the run diverged at epoch {self.diverged}."
            )
        return " ".join(sentences)

    def _drops_sentence(self) -> str:
        if self.agree:
            return f"{_listed(self.by_slope).capitalize()} (both methods agree)."
        change, slope = _listed(self.by_change), _listed(self.by_slope)
        return f"The methods disagree: {change} by change points; {slope} by slope."

    def _order_sentence(self) -> str:
        clustered, fitted, lead = self.clustered_epoch, self.fitted_epoch, self.lead
        accuracy, least = f"{self.accuracy} accuracy", t.RISE_SIZE
        if clustered is None and fitted is None:
            return f"Neither the between share nor the {accuracy} rose by {least} or more."
        if clustered is None:
            return (
                f"The {accuracy} rose at epoch {fitted}; the between share never rose by {least}."
            )
        if lead is None:
            never = f"the {accuracy} never rose by {least}"
            return f"Embeddings clustered at epoch {clustered}; {never}."
        order = "before" if lead > 0 else "after"
        when = f"{abs(lead)} epoch{'' if abs(lead) == 1 else 's'} {order}" if lead else "when"
        return f"Embeddings clustered at epoch {clustered}, {when} the {accuracy} rose."


@guided
def phases(run: Run) -> Phases:
    """The phases of a run, up to its divergence if it diverged.

    >>> import dynascope as ds
    >>> config = ds.Config().replace({"training.epochs": 20})
    >>> phases(ds.train(config, progress=False)[0]).by_slope  # too few epochs for a drop
    ()
    """
    run = check_run(run)
    epochs = np.unique(run_epochs.kept_epochs(run, "phases")).tolist()
    return phases_from(run, epochs, lambda asked: run_epochs.shares(run, asked)[:, 0])


def phases_from(
    run: Run, epochs: Sequence[int], between: Callable[[Sequence[int]], Array]
) -> Phases:
    """`phases` with the between share given: a function of some of the rising `epochs`."""
    last = run_epochs.last_sound_epoch(run)
    curve = LossCurve(run.curves["train_loss"][: last + 1], run.task.chance_loss)
    found = [(curve.drops("change", scale), curve.drops("slope", scale)) for scale in t.DROP_SCALES]
    by_change, by_slope = found[t.DROP_SCALES.index(1.0)]
    matched = _matched(by_change, by_slope)
    drops = len(by_change) + len(by_slope)
    tested: Literal["test", "train"] = "test" if "test_accuracy" in run.curves else "train"
    accuracy = from_the_start(run.curves[f"{tested}_accuracy"][: last + 1])
    share = Series(lambda places: between([epochs[i] for i in places]), len(epochs))
    fit = Series(lambda places: accuracy[places], last + 1, coarse=last + 1)
    place, fitted = share.passed(0.5), fit.passed(0.5)
    clustered = None if place is None else epochs[place]
    return Phases(
        by_change=by_change,
        by_slope=by_slope,
        agreement=2 * matched / drops if drops else 1.0,
        agree=2 * matched == drops,
        sensitivity=tuple(
            Counts(scale, *map(len, pair)) for scale, pair in zip(t.DROP_SCALES, found, strict=True)
        ),
        between_rise=share.rise,
        accuracy_rise=fit.rise,
        accuracy=tested,
        clustered_epoch=clustered,
        fitted_epoch=fitted,
        lead=None if clustered is None or fitted is None else fitted - clustered,
        snapshots=_snapshots(clustered, fitted, fit.passed(t.RISE_DONE)),
        measured_to=last,
        diverged=run.diverged,
    )


def _matched(first: Sequence[Drop], second: Sequence[Drop]) -> int:
    """How many pairs of drops are the same one; both are in the order of their epochs."""
    i = j = pairs = 0
    while i < len(first) and j < len(second):
        a, b = first[i], second[j]
        within = a.start <= b.epoch <= a.end and b.start <= a.epoch <= b.end
        if within or abs(a.epoch - b.epoch) <= t.DROP_APART:
            i, j, pairs = i + 1, j + 1, pairs + 1
        elif a.epoch < b.epoch:
            i += 1
        else:
            j += 1
    return pairs


def _snapshots(clustered: int | None, partly: int | None, fitted: int | None) -> Snapshots:
    epochs: list[int | None] = []
    latest = 0
    for epoch in (clustered, partly, fitted):
        latest = latest if epoch is None else max(latest, epoch)
        epochs.append(None if epoch is None else latest)
    return Snapshots(0, *epochs)


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


def _listed(drops: Sequence[Drop]) -> str:
    """Drops in words.

    >>> _listed([Drop(120, 110, 130, 0.5), Drop(410, 400, 450, 1.5)])
    'two drops, at epochs 120 and 410'
    """
    number = len(drops)
    words = _NUMBERS[number] if number < len(_NUMBERS) else str(number)
    what = f"{words} drop{'' if number == 1 else 's'}"
    if not drops:
        return what
    *most, last = (str(drop.epoch) for drop in drops)
    at = f"{', '.join(most)} and {last}" if most else last
    return f"{what}, at epoch{'' if number == 1 else 's'} {at}"
