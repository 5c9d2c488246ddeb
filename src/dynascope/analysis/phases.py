"""The phases of a run: when its loss dropped, its embeddings clustered and its accuracy rose.

The claim to be checked is that learning has two phases: at a first drop of the loss the sequence
embeddings cluster, at a second one the feed-forward is fitted to the clusters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope.analysis import run_epochs
from dynascope.analysis import thresholds as t
from dynascope.analysis.checks import check_run
from dynascope.analysis.drop_votes import SeenDrop as SeenDrop
from dynascope.analysis.drop_votes import drop_pairs, with_votes
from dynascope.analysis.drops import Drop as Drop
from dynascope.analysis.drops import LossCurve
from dynascope.analysis.drops import loss_drops as loss_drops
from dynascope.analysis.kept_sum import is_summed
from dynascope.analysis.rises import Series
from dynascope.analysis.sum_progress import SumProgress, from_the_start, sum_progress
from dynascope.near_misses import guided
from dynascope.notebook_display import ShownInNotebooks
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
class Phases(ShownInNotebooks):
    """What the curves of a run say about its phases; thresholds are in `analysis.thresholds`.

    - `drops`: drops of the train loss, each with the other methods that see it (`seen_by`): of
      drops with three `votes`, 94% were marked by eye too, of those with a single one about half.
    - `by_change`, `by_slope`: the drops by these two methods (see `analysis.drops`); `agreement` is
      2 matched / (all drops of both), 1 where neither finds any, and `agree` says that there are
      equally many and all are matched: each lies within the other or they are at most `DROP_APART`
      epochs apart. `sensitivity`: the counts with other thresholds.
    - `clustered_epoch`: when the share of the variance of the sequence embeddings that lies between
      groups of equal relevant tokens passed half of its rise, `between_rise`; at the resolution of
      the kept weights. `fitted_epoch`: when the accuracy did, `accuracy_rise`; `accuracy` names the
      set, "train" where there is no other. A rise is from epoch 0 to the level at the end; None
      where it is less than `RISE_SIZE`.
    - `lead`: `fitted_epoch - clustered_epoch`; positive where the embeddings clustered first.
    - `sum`: the same against the sum that the run ends with, which dates nearly every solved run;
      `sum_lead` is its lead at half and half. None where sums are not looked for.
    - `measured_to`: the last epoch looked at, which is before the run `diverged`, if it did.
    """

    drops: tuple[SeenDrop, ...]
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
    sum: SumProgress | None = None

    @property
    def sum_lead(self) -> int | None:
        """By how many epochs embeddings were halfway to the run's own sum before the accuracy was
        halfway up; None where one of them did not rise."""
        return self.sum.lead if self.sum else None

    def describe(self) -> str:
        """The phases in plain sentences."""
        sentences = [self._drops_sentence(), self._order_sentence()]
        if self.sum is not None:
            sentences.append(self.sum.describe())
        if self.diverged is not None:
            sentences.append(
                f"Measured to epoch {self.measured_to}: the run diverged at epoch {self.diverged}."
            )
        return " ".join(sentences)

    def _drops_sentence(self) -> str:
        listed = _listed(self.drops).capitalize()
        doubted = {
            told: [drop.epoch for drop in self.drops if drop.votes == votes]
            for votes, told in _DOUBTED.items()
        }
        doubts = [f"{_joined(epochs)} {told}" for told, epochs in doubted.items() if epochs]
        more = [self._more(self.by_change, "change points"), self._more(self.by_slope, "slope")]
        doubts += [told for told in more if told]
        return f"{listed} ({'; '.join(doubts) or 'all three methods agree'})."

    def _more(self, others: Sequence[Drop], method: str) -> str:
        """The drops that another method has and `drops` has not."""
        known = {j for _, j in drop_pairs(self.drops, others)}
        epochs = [drop.epoch for j, drop in enumerate(others) if j not in known]
        return f"also {_joined(epochs)} by {method}" if epochs else ""

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
    found = phases_by_multisets(run)
    return replace(found, sum=sum_progress(run)) if is_summed(run.config) else found


def phases_by_multisets(run: Run) -> Phases:
    """`phases` without what is found against the run's own sum."""
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
    matched = len(drop_pairs(by_change, by_slope))
    drops = len(by_change) + len(by_slope)
    tested: Literal["test", "train"] = "test" if "test_accuracy" in run.curves else "train"
    accuracy = from_the_start(run.curves[f"{tested}_accuracy"][: last + 1])
    share = Series(lambda places: between([epochs[i] for i in places]), len(epochs))
    fit = Series(lambda places: accuracy[places], last + 1, coarse=last + 1)
    place, fitted = share.passed(0.5), fit.passed(0.5)
    clustered = None if place is None else epochs[place]
    return Phases(
        drops=with_votes(curve.drops("shelves"), {"change": by_change, "slope": by_slope}),
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


def _snapshots(clustered: int | None, partly: int | None, fitted: int | None) -> Snapshots:
    epochs: list[int | None] = []
    latest = 0
    for epoch in (clustered, partly, fitted):
        latest = latest if epoch is None else max(latest, epoch)
        epochs.append(None if epoch is None else latest)
    return Snapshots(0, *epochs)


_DOUBTED = {1: "seen by one method of three", 2: "seen by two methods of three"}  # by votes
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
    return f"{what}, at epoch{'' if number == 1 else 's'} {_joined([d.epoch for d in drops])}"


def _joined(epochs: Sequence[int]) -> str:
    """
    >>> _joined([120, 410, 700])
    '120, 410 and 700'
    """
    *most, last = map(str, epochs)
    return f"{', '.join(most)} and {last}" if most else last
