"""What the naming of causes says of epochs without a spike: how much is a name worth?

Every epoch has a step that raises the loss most. `null_causes` takes epochs that belong to no
spike, as many as the run has spikes and at similar levels of the loss, through the same naming as
spikes. A name that they receive as often as spikes do means nothing.

An epoch that ends low may have a spike within, which was over by its end: such a rise is named as a
spike is, and rightly so. `Cause.factor`, 1.3 or more there, tells it from an epoch that was quiet.

Limits: an epoch that matches is one of the same run, so a run that spikes all the time may have too
few of them; `batch order` and `unstable state` are what is left where nothing stands out, and so
are the rule here.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis import thresholds as th
from dynascope.analysis.amplification import TrainSet
from dynascope.analysis.checks import check_run
from dynascope.analysis.spike_detection import Event
from dynascope.analysis.spike_explanation import Cause, explain
from dynascope.analysis.spikes import Spikes, judged_losses, spikes, why_not_explained
from dynascope.near_misses import guided
from dynascope.replay import Replay
from dynascope.run import Run

Array = npt.NDArray[Any]


@guided
def null_causes(run: Run, found: Spikes | None = None) -> tuple[Cause | str, ...]:
    """The causes that matched epochs without a spike would be given, or why they have none.

    `found`: the spikes of the run, where they are known already (causes are not needed).

    >>> import dynascope as ds
    >>> config = ds.Config().replace({"training.epochs": 20})
    >>> null_causes(ds.train(config, seeds=[0], progress=False)[0])  # it has no spikes to match
    ()
    """
    run = check_run(run).loaded()
    found = spikes(run, why=False) if found is None else found
    losses = judged_losses(run, found.last_epoch)
    events = matched_events(losses, found.spikes)
    if not events or why_not_explained(run) is not None:
        return ()
    replay, train = Replay(run), TrainSet.of(run)
    return tuple(explain(run, replay, train, event, losses, found.spikes) for event in events)


def matched_events(losses: Array, events: Sequence[Event]) -> tuple[Event, ...]:
    """Epochs without a spike, as many as there are spikes or as can be, each as if it were one.

    To each spike, the highest first, the epoch whose level before is nearest by factors. None is
    taken twice, none is part of a spike or of its recovery, or too near to be free of it.
    """
    free = _free(len(losses), events)
    levels = {epoch: _level(losses, epoch) for epoch in free}
    made: list[Event] = []
    for event in sorted(events, key=lambda each: -each.rise):
        if not levels:
            break
        away = {epoch: abs(np.log(level / event.before)) for epoch, level in levels.items()}
        epoch = min(away, key=lambda each: (away[each], each))
        made.append(Event(epoch, epoch, 1, levels.pop(epoch), float(losses[epoch]), 0))
    return tuple(sorted(made, key=lambda event: event.peak))


def _free(count: int, events: Sequence[Event]) -> list[int]:
    free = np.ones(count, bool)
    free[: th.SPIKE_LEAST] = False  # nothing could be found there
    for event in events:
        back = 0 if event.recovery is None else event.recovery
        free[event.start - 1 : max(event.stop, event.peak + back) + 1] = False
    return [int(epoch) for epoch in np.flatnonzero(free)]


def _level(losses: Array, epoch: int) -> float:
    return float(np.median(losses[max(0, epoch - th.SPIKE_WINDOW) : epoch]))
