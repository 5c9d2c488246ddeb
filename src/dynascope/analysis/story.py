"""The story of a run: its key moments in order, from what the other analyses find.

`story(run)` makes these analyses; `story_of` takes them from whoever has made them already. What
does not apply to a run, or could not be analysed, is left out, and `Story.left_out` says why.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from dynascope.analysis.checks import check_run
from dynascope.analysis.circuit import Circuit, circuit
from dynascope.analysis.kept_sum import KeptSum
from dynascope.analysis.phases import Phases, phases_by_multisets
from dynascope.analysis.run_drops import seen_drops
from dynascope.analysis.run_epochs import check_symmetries, last_sound_epoch
from dynascope.analysis.spikes import Spikes, spikes
from dynascope.analysis.story_moments import MOST_SPIKES as MOST_SPIKES
from dynascope.analysis.story_moments import Moment as Moment
from dynascope.analysis.story_moments import (
    accuracy_moments,
    diverged_moment,
    drop_moments,
    end_moment,
    gathering_moments,
    spike_moments,
    start_moment,
)
from dynascope.analysis.sum_progress import SumProgress, sum_progress
from dynascope.errors import DynascopeError
from dynascope.near_misses import guided
from dynascope.notebook_display import ShownInNotebooks
from dynascope.run import Run

Found = TypeVar("Found")


@dataclass(frozen=True)
class Analyses:
    """What a story is made of; None: it could not be analysed, and `left_out` says why."""

    phases: Phases | None = None
    progress: SumProgress | None = None
    spikes: Spikes | None = None
    circuit: Circuit | None = None  # after the last sound epoch
    kept: KeptSum | None = None  # then, too
    left_out: Mapping[str, str] = field(default_factory=dict)  # by analysis


@dataclass(frozen=True)
class Story(ShownInNotebooks):
    """What happened in a run, in the order of its epochs."""

    moments: tuple[Moment, ...]
    left_out: Mapping[str, str]  # by analysis: why it has no part in this

    @property
    def omissions(self) -> tuple[str, ...]:
        """What is left out, a sentence for each reason."""
        reasons = dict.fromkeys(self.left_out.values())
        by_reason = {why: [n for n, own in self.left_out.items() if own == why] for why in reasons}
        return tuple(f"Left out ({', '.join(names)}): {why}." for why, names in by_reason.items())

    def describe(self) -> str:
        """A line for each moment, then what could not be analysed."""
        return "\n".join([*(moment.describe() for moment in self.moments), *self.omissions])


@guided
def story(run: Run) -> Story:
    """The story of a run, from its phases, its sum, its spikes and its circuit.

    >>> import dynascope as ds
    >>> config = ds.Config().replace({"training.epochs": 20})
    >>> [moment.caption for moment in story(ds.train(config, progress=False)[0]).moments]
    ['The start', 'The end: unsolved']
    """
    run = check_run(run).loaded()
    attempts = _Attempts(run)
    progress = attempts.make("sum_progress", sum_progress)
    measured = attempts.make("circuit", _end_circuit)
    return story_of(
        run,
        Analyses(
            phases=attempts.make("phases", phases_by_multisets),
            progress=progress,
            spikes=attempts.make("spikes", lambda run: spikes(run, most=MOST_SPIKES)),
            circuit=measured,
            kept=measured.sum if measured else None,
            left_out=attempts.left_out,
        ),
    )


def story_of(run: Run, found: Analyses) -> Story:
    """The story of a run of which all this has been found."""
    inner = sorted(_happened(run, found), key=lambda moment: moment.epoch)
    ends = [start_moment(run)] if run.epochs else []
    if run.diverged is not None:
        last = diverged_moment(run, run.diverged)
    else:
        nothing = "" if inner else _nothing(found)
        last = end_moment(run, found.circuit, found.kept, nothing)
    return Story((*ends, *inner, last), found.left_out)


def _happened(run: Run, found: Analyses) -> Iterator[Moment]:
    """All between the start and the end; of one epoch, the cause before what follows from it."""
    yield from gathering_moments(found.progress, found.phases)
    yield from drop_moments(found.phases.drops if found.phases else seen_drops(run))
    yield from accuracy_moments(run, found.phases)
    if found.spikes:
        yield from spike_moments(found.spikes)


def _nothing(found: Analyses) -> str:
    """What was looked for, where none of it happened."""
    looked = ["no drop of the loss", *(["no spike"] if found.spikes else [])]
    looked += ["no rise of the accuracy"] if found.phases else []
    *most, last = looked
    return f"nothing stands out: {', '.join(most)} and {last}" if most else f"{last} stands out"


def _end_circuit(run: Run) -> Circuit:
    check_symmetries(run)
    return circuit(run.parameters(last_sound_epoch(run)), run.config, progress=False)


class _Attempts:
    """Makes analyses of a run, and notes why one cannot be made."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.left_out: dict[str, str] = {}

    def make(self, name: str, analysis: Callable[[Run], Found]) -> Found | None:
        try:
            return analysis(self._run)
        except DynascopeError as error:
            why = str(error).removeprefix(f"run {self._run.id}: ").removesuffix(".")
            self.left_out[name] = why
            return None
