"""The key moments of a run, each from what an analysis has found: nothing is measured here.

A caption ends in a question mark where the analysis has doubts: a drop that not all methods see, a
cause that no intervention confirms.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dynascope.analysis.circuit import Circuit
from dynascope.analysis.drop_votes import SeenDrop
from dynascope.analysis.drops import METHODS
from dynascope.analysis.kept_sum import KeptSum
from dynascope.analysis.phases import Phases
from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.analysis.spike_text import happened
from dynascope.analysis.spikes import Spike, Spikes
from dynascope.analysis.sum_progress import Crossing, SumProgress
from dynascope.number_text import fraction, percent
from dynascope.run import SOLVED_ACCURACY, Run

# More of a kind than these are told together: the story is to be read at a glance.
MOST_DROPS = 3
MOST_SPIKES = 4


@dataclass(frozen=True)
class Moment:
    """One moment: a caption, a sentence or two with the numbers, and which panels show it."""

    epoch: int
    kind: str  # start, drop, drops, gathering, sum, accuracy, spike, spikes, diverged or end
    caption: str
    text: str
    panels: tuple[str, ...]

    def describe(self) -> str:
        """
        >>> Moment(7, "drop", "The loss drops?", "One of three methods sees it.", ()).describe()
        'Epoch 7: The loss drops? One of three methods sees it.'
        """
        caption = self.caption if self.caption.endswith("?") else f"{self.caption}."
        return f"Epoch {self.epoch}: {caption} {self.text}"


# ---- loss ---------------------------------------------------------------------------------------


def drop_moments(drops: Sequence[SeenDrop]) -> Iterator[Moment]:
    """The largest drops, and one moment for the others."""
    by_size = sorted(drops, key=lambda drop: -drop.size)
    told = sorted(by_size[:MOST_DROPS], key=lambda drop: drop.epoch)
    for i, drop in enumerate(told):
        doubt = "" if drop.votes == len(METHODS) else "?"
        text = (
            f"The train loss became {drop.factor:.3g} times smaller between epochs {drop.start} "
            f"and {drop.end}; {_VOTES[drop.votes]} this drop."
        )
        caption = f"The loss drops{' again' if i else ''}{doubt}"
        yield Moment(drop.epoch, "drop", caption, text, ("loss",))
    if others := sorted(by_size[MOST_DROPS:], key=lambda drop: drop.epoch):
        factors = _from_to(by_size[-1].factor, by_size[MOST_DROPS].factor)
        text = (
            f"Besides the {MOST_DROPS} largest drops {_there_are([d.epoch for d in others])}: "
            f"the train loss became {factors} times smaller."
        )
        caption = f"{len(others)} more drop{'' if len(others) == 1 else 's'}"
        yield Moment(others[0].epoch, "drops", caption, text, ("loss",))


def spike_moments(spikes: Spikes) -> Iterator[Moment]:
    """The highest spikes, and one moment for the others."""
    by_rise = sorted(spikes.spikes, key=lambda spike: -spike.rise)
    for spike in by_rise[:MOST_SPIKES]:
        yield Moment(spike.peak, "spike", _spike_caption(spike), _rose(spike), _felt_in(spike))
    if others := sorted(by_rise[MOST_SPIKES:], key=lambda spike: spike.peak):
        rises = _from_to(by_rise[-1].rise, by_rise[MOST_SPIKES].rise)
        text = (
            f"Besides the {MOST_SPIKES} highest spikes {_there_are([s.peak for s in others])}: the "
            f"train loss rose to {rises} times its recent median."
        )
        caption = f"{len(others)} more spike{'' if len(others) == 1 else 's'}"
        yield Moment(others[0].peak, "spikes", caption, text, ("loss",))


def _spike_caption(spike: Spike) -> str:
    name = "Small spike" if spike.small else "Spike"
    if spike.cause is None:
        return name
    causes = " and ".join(_CAUSES.get(cause, cause) for cause in spike.cause.named)
    return f"{name}: {causes}{'' if spike.cause.confirmed else '?'}"


def _rose(spike: Spike) -> str:
    told = happened(spike, spike.cause, spike.unexplained).removeprefix("small: ")
    return f"{told[0].upper()}{told[1:]}"


def _felt_in(spike: Spike) -> tuple[str, ...]:
    """The loss, and what the cause is about."""
    named = spike.cause.named if spike.cause else ()
    return ("loss", *(panel for cause in named for panel in _CAUSE_PANELS.get(cause, ())))


# ---- embeddings and accuracy --------------------------------------------------------------------


def gathering_moments(progress: SumProgress | None, phases: Phases | None) -> Iterator[Moment]:
    """By the sum that the run ends with, if it keeps one; else by multisets of relevant tokens."""
    kept = progress.sum if progress and progress.sum.holds else None
    half = progress.clustering.half if progress and kept else None
    if progress and kept and half:
        text = (
            "Sequence embeddings were halfway to the sum that the run ends with: the share of "
            "their variance between its values had done half of its rise of "
            f"{fraction(progress.clustering.size, 2)}{_for_good(half)}."
        )
        yield Moment(half.first, "gathering", "Embeddings gather", text, ("sequence",))
        yield from _sum_moments(progress)
    elif phases and phases.clustered_epoch is not None:
        text = (
            "The share of the variance of sequence embeddings that lies between groups of equal "
            f"relevant tokens passed half of its rise of {fraction(phases.between_rise, 2)}."
        )
        panels = ("sequence", "shares")
        yield Moment(phases.clustered_epoch, "gathering", "Embeddings gather", text, panels)


def _sum_moments(progress: SumProgress) -> Iterator[Moment]:
    """Not that the sum is found: from when on it explains enough, nobody has looked."""
    found = progress.clustering.nine_tenths
    if found:
        text = (
            "Sequence embeddings were nine tenths of the way to the sum that the run ends with"
            f"{_for_good(found)}: {progress.sum.formula()} ({progress.sum.kind})."
        )
        yield Moment(found.first, "sum", "Close to its sum", text, ("sequence", "decision_map"))


def accuracy_moments(run: Run, phases: Phases | None) -> Iterator[Moment]:
    """When the accuracy first passed what a solved run has; if it never did, when it rose."""
    name, curve = _accuracy(run)
    above = np.flatnonzero(curve[: last_sound_epoch(run) + 1] > SOLVED_ACCURACY)
    panels = ("accuracy", "decision_map")
    if len(above) and above[0] > 0:
        level = percent(SOLVED_ACCURACY, places=0)
        there = percent(float(curve[above[0]]))
        text = f"The {name} accuracy was above {level} for the first time: {there}."
        yield Moment(int(above[0]), "accuracy", f"Accuracy passes {level}", text, panels)
    elif phases and phases.fitted_epoch is not None:
        rise = fraction(phases.accuracy_rise, 2)
        text = f"The {phases.accuracy} accuracy passed half of its rise of {rise}."
        yield Moment(phases.fitted_epoch, "accuracy", "The accuracy rises", text, panels)


# ---- both ends ----------------------------------------------------------------------------------


def start_moment(run: Run) -> Moment:
    text = f"Before the first epoch, {_standing(run, 0) or 'nothing was recorded'}."
    return Moment(0, "start", "The start", text, ("loss", "accuracy"))


def diverged_moment(run: Run, epoch: int) -> Moment:
    text = (
        "A weight was not finite, or the train loss not a number or too large. Analyses go up to "
        f"epoch {last_sound_epoch(run)}."
    )
    return Moment(epoch, "diverged", "The run diverges", text, ("loss",))


def end_moment(run: Run, circuit: Circuit | None, kept: KeptSum | None, nothing: str) -> Moment:
    """What the run has become; `nothing` says what has not happened, where nothing has."""
    told = [f"at the end, {standing}" if (standing := _standing(run, run.epochs)) else "", nothing]
    if circuit is not None:
        told.append(f"the verdict on its circuit is {circuit.verdict.name}")
    if kept is not None:
        told.append(
            f"its sum: {kept.describe()}"
            if kept.holds
            else "no sum explains its sequence embeddings"
        )
    caption = f"The end: {circuit.verdict.name}" if circuit else "The end"
    panels = ("attention", "sequence", "decision_map") if circuit else ("loss", "accuracy")
    text = " ".join(_sentence(each) for each in told if each)
    return Moment(run.epochs, "end", caption, text, panels)


# ---- words --------------------------------------------------------------------------------------

_VOTES = {1: "one of three methods sees", 2: "two of three methods see", 3: "all methods see"}
_CAUSES = {
    "optimizer": "a long step",
    "normalisation": "a norm near zero",
    "feed-forward": "a steep feed-forward",
    "batch order": "the batch order",
    "unstable state": "an unstable state",
}
_CAUSE_PANELS = {
    "optimizer": ("gradients",),
    "normalisation": ("normalized", "sequence_normalized"),
    "feed-forward": ("feed_forward", "decision_map"),
}


def _accuracy(run: Run) -> tuple[str, np.ndarray]:
    name = "test" if "test_accuracy" in run.curves else "train"
    return name, run.curves[f"{name}_accuracy"]


def _standing(run: Run, epoch: int) -> str:
    """Loss and accuracy after an epoch, as far as they are known."""
    name, accuracy = _accuracy(run)
    loss = float(run.curves["train_loss"][epoch])
    told = [f"the train loss was {loss:.3g}"] if np.isfinite(loss) else []
    if np.isfinite(accuracy[epoch]):
        told.append(
            f"the {name} accuracy {'' if told else 'was '}{percent(float(accuracy[epoch]))}"
        )
    return " and ".join(told)


def _sentence(text: str) -> str:
    """
    >>> _sentence("the loss was 0.7")
    'The loss was 0.7.'
    """
    return f"{text[0].upper()}{text[1:]}."


def _for_good(crossing: Crossing) -> str:
    """That it was undone for a while, where it was."""
    return "" if crossing.first == crossing.last else f", for good from epoch {crossing.last} on"


def _from_to(low: float, high: float) -> str:
    """
    >>> _from_to(1.5, 2.25), _from_to(1.5, 1.5)
    ('1.5 to 2.25', '1.5')
    """
    ends = dict.fromkeys(f"{value:.3g}" for value in (low, high))
    return " to ".join(ends)


def _there_are(epochs: Sequence[int]) -> str:
    """
    >>> _there_are([300]), _there_are([300, 500, 800])
    ('there is one, at epoch 300', 'there are 3, from epoch 300 to 800')
    """
    if len(epochs) == 1:
        return f"there is one, at epoch {epochs[0]}"
    return f"there are {len(epochs)}, from epoch {epochs[0]} to {epochs[-1]}"
