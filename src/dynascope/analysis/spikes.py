"""Loss spikes of a run: where they are by three definitions, and why.

`spikes(run)` is the way in. Definitions are in `spike_detection`. A spike is explained from an
exact replay of the steps around it: `spike_rise` finds them, `spike_causes` names a cause,
`spike_interventions` tests it, `spike_text` tells it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis import thresholds as th
from dynascope.analysis.amplification import TrainSet
from dynascope.analysis.checks import check_run
from dynascope.analysis.correlation import correlation, rank_correlation
from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.analysis.spike_detection import Detected, Event, robust, skip_step, spike_score
from dynascope.analysis.spike_explanation import Cause, explain
from dynascope.analysis.spike_text import Told, told
from dynascope.errors import expected
from dynascope.near_misses import guided
from dynascope.notebook_display import ShownInNotebooks
from dynascope.replay import Replay
from dynascope.run import Run

Array = npt.NDArray[Any]

_LEAST_PAIRS = 8  # epochs to correlate: of fewer, any correlation is chance


@dataclass(frozen=True)
class Spike(Event):
    """A spike of the train loss (our definition), with its cause or the reason why it has none."""

    cause: Cause | None = None
    unexplained: str | None = None

    @property
    def told(self) -> Told:
        """What happened: a sentence, then a few lines."""
        return told(self, self.cause, self.unexplained)

    def describe(self) -> str:
        """The same as text."""
        return str(self.told)


@dataclass(frozen=True)
class Definitions:
    """What three definitions find in one series."""

    spike_score: Detected  # OLMo 2
    skip_step: Detected  # OLMo-core
    robust: Detected  # ours


@dataclass(frozen=True)
class Tandem:
    """Whether loss and gradient norm rise together.

    Of their changes from epoch to epoch, as logarithms, within ten epochs of a spike, or over the
    whole run where there is none: the rank correlation, and the lag with the highest
    cross-correlation (not of ranks: the spike itself is to decide). Above 0, the gradient norm
    follows the loss by so many epochs.
    """

    correlation: float
    lag: int
    cross_correlation: float  # at that lag
    around_spikes: bool


@dataclass(frozen=True)
class Spikes(ShownInNotebooks):
    """The spikes of a run. `spikes` are ours on the train loss, in order."""

    spikes: tuple[Spike, ...]
    loss: Definitions
    gradient_norm: Definitions | None  # None: not recorded
    tandem: Tandem | None  # None: no gradient norms, or too few epochs
    last_epoch: int  # analysed up to here
    diverged: int | None

    @property
    def causes(self) -> dict[str, int]:
        """How many spikes have each verdict; the unexplained are left out."""
        found = [spike.cause.verdict for spike in self.spikes if spike.cause is not None]
        return {verdict: found.count(verdict) for verdict in sorted(set(found))}

    def describe(self) -> str:
        """What happened, in sentences."""
        count = len(self.spikes)
        told = [f"{count or 'No'} loss {'spike' if count == 1 else 'spikes'}."]
        if self.diverged is not None:
            told.append(
                f"The run diverged at epoch {self.diverged}; it was analysed up to epoch "
                f"{self.last_epoch}."
            )
        told.append(
            f"OLMo 2's spike score of the loss is {100 * self.loss.spike_score.score:.2g}%; "
            f"OLMo-core would have skipped {_epochs(len(self.loss.skip_step.epochs))}."
        )
        if self.gradient_norm is None:
            told.append("Gradient norms were not recorded.")
        elif self.tandem is not None:
            where = "around the spikes" if self.tandem.around_spikes else "over the whole run"
            told.append(
                f"Loss and gradient norm change together with a rank correlation of "
                f"{self.tandem.correlation:.2f} {where}; their cross-correlation is highest "
                f"({self.tandem.cross_correlation:.2f}) at a lag of {_epochs(self.tandem.lag)}."
            )
        return "\n".join([" ".join(told), *(spike.describe() for spike in self.spikes)])


@guided
def spikes(run: Run, why: bool = True, most: int | None = None) -> Spikes:
    """The spikes of a run and, with `why`, their causes; `most`: only of the so many highest rises.

    >>> import dynascope as ds
    >>> config = ds.Config().replace({"training.epochs": 20})
    >>> print(spikes(ds.train(config, seeds=[0], progress=False)[0]).describe().split(".")[0])
    No loss spikes
    """
    run = check_run(run)
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
        raise expected("most", "None or a whole number of at least 0", most)
    run = run.loaded()
    last = last_sound_epoch(run)
    losses, norms = run.curves["train_loss"][: last + 1].astype(float), gradient_norms(run, last)
    judged = judged_losses(run, last)
    loss = _definitions(losses, _floor(run))
    found = [Spike(**vars(event)) for event in loss.robust.spikes]
    return Spikes(
        spikes=tuple(_explained(run, found, judged, most) if why else found),
        loss=loss,
        gradient_norm=None if norms is None else _definitions(norms, 0.0),
        tandem=None if norms is None else tandem(judged, norms, found),
        last_epoch=last,
        diverged=run.diverged,
    )


def judged_losses(run: Run, last: int) -> Array:
    """The train loss by epoch up to `last`, values below the floor raised to it."""
    losses = run.curves["train_loss"][: last + 1].astype(float)
    return np.asarray(np.maximum(losses, _floor(run)))


def _floor(run: Run) -> float:
    """Of one sequence's loss: less is rounding."""
    return float(np.finfo(run.config.precision).eps)


def why_not_explained(run: Run) -> str | None:
    """Why no spike of a run can be explained; None: they can be."""
    if run.origin is not None and run.origin.kind == "import":
        return "an imported run cannot be replayed, since its data and moments were not kept"
    if run.edits or not run.replayable:
        return "its options changed during training, or are not known"
    return None


def gradient_norms(run: Run, last: int) -> Array | None:
    """The largest gradient of each epoch's steps, all parameters together; None: not recorded.

    The parameters' maxima need not be of one step: an upper bound, and the same in every epoch.
    """
    parts = [run.curves[name] for name in run.curves if name.startswith("grad_norm_max/")]
    norms = (
        np.sqrt((np.array(parts)[:, : last + 1].astype(float) ** 2).sum(axis=0)) if parts else None
    )
    return norms if norms is not None and np.isfinite(norms).any() else None


def tandem(losses: Array, norms: Array, found: list[Spike]) -> Tandem | None:
    """Whether two series rise together, near these spikes or, without any, everywhere."""
    tiny = np.finfo(float).tiny
    loss, norm = (np.diff(np.log(np.maximum(series, tiny))) for series in (losses, norms))
    near = np.zeros(len(loss), bool)
    for spike in found:
        near[max(0, spike.start - 1 - th.TANDEM_REACH) : spike.peak + th.TANDEM_REACH] = True
    near |= not found
    lags = sorted(range(-th.TANDEM_LAGS, th.TANDEM_LAGS + 1), key=abs)  # of equals, the nearest
    by_lag = {lag: _enough(correlation, *_paired(loss, norm, near, lag)) for lag in lags}
    of_ranks = _enough(rank_correlation, *_paired(loss, norm, near, 0))
    best = max(lags, key=lambda lag: np.nan_to_num(by_lag[lag], nan=-1))
    if np.isnan(of_ranks):
        return None
    return Tandem(of_ranks, best, by_lag[best], bool(found))


def _definitions(series: Array, floor: float) -> Definitions:
    return Definitions(spike_score(series), skip_step(series), robust(series, floor))


def _explained(run: Run, found: list[Spike], losses: Array, most: int | None) -> list[Spike]:
    """The spikes with their causes, the highest rises first in the claim on `most`."""
    order = sorted(range(len(found)), key=lambda i: -found[i].rise)
    chosen = set(order[:most])
    if not chosen:
        return found
    why_not = why_not_explained(run)
    if why_not is not None:
        return [Spike(**{**vars(spike), "unexplained": why_not}) for spike in found]
    replay, train = Replay(run), TrainSet.of(run)

    def explained(spike: Spike) -> Spike:
        others = [other for other in found if other is not spike]
        cause = explain(run, replay, train, spike, losses, others)
        name = "unexplained" if isinstance(cause, str) else "cause"
        return Spike(**{**vars(spike), name: cause})

    return [explained(spike) if i in chosen else spike for i, spike in enumerate(found)]


def _paired(loss: Array, norm: Array, near: Array, lag: int) -> tuple[Array, Array]:
    at = np.flatnonzero(near)
    at = at[(at + lag >= 0) & (at + lag < len(norm))]
    pairs = np.array([loss[at], norm[at + lag]])
    a, b = pairs[:, np.isfinite(pairs).all(axis=0)]
    return a, b


def _enough(measure: Callable[[Array, Array], float], a: Array, b: Array) -> float:
    """NaN for too few pairs."""
    return measure(a, b) if len(a) >= _LEAST_PAIRS else float("nan")


def _epochs(count: int) -> str:
    return f"{count} epoch" if abs(count) == 1 else f"{count} epochs"
