"""A spike in words: one sentence that says what and why, then a few short lines."""

from dataclasses import dataclass

from dynascope.analysis import thresholds as th
from dynascope.analysis.spike_causes import Amplified, Displacement
from dynascope.analysis.spike_detection import Event
from dynascope.analysis.spike_explanation import Cause
from dynascope.analysis.spike_interventions import Intervention, Orders
from dynascope.number_text import percent


@dataclass(frozen=True)
class Told:
    """What people read of a spike."""

    headline: str  # peak, rise, cause and whether it is confirmed, in one sentence
    lines: tuple[str, ...]  # what was unusual; what interventions left; where; numbers

    def __str__(self) -> str:
        return "\n".join([self.headline, *(f"  {line}" for line in self.lines)])


def told(event: Event, cause: Cause | None, unexplained: str | None) -> Told:
    """Of a spike that is explained, or cannot be, or was not to be."""
    headline = f"Epoch {event.peak}: {happened(event, cause, unexplained)}"
    return Told(headline, (*(lines(cause) if cause else ()), _after(event, cause)))


def happened(event: Event, cause: Cause | None, unexplained: str | None) -> str:
    """Rise, cause and whether it is confirmed; of whoever knows the epoch."""
    small = "small: " if event.small else ""
    rose = f"the train loss rose to {event.height:.3g}, {event.rise:.3g} times its recent median"
    if cause is not None:
        return f"{small}{rose}; cause: {cause.verdict} ({cause.tested})."
    why = f"; not explained: {unexplained}" if unexplained else ""
    return f"{small}{rose}{why}."


def lines(cause: Cause) -> tuple[str, ...]:
    """What was unusual; what interventions left; where it was felt; numbers."""
    return (
        _unusual(cause),
        _remains(cause),
        _orders(cause.orders),
        _where(cause),
        _steps(cause),
        _optimizer(cause),
    )


def _unusual(cause: Cause) -> str:
    m, d = cause.mechanisms, cause.mechanisms.displacement
    return (
        f"Times the usual: weights moved {d.ratio:.3g} ({_left(d)}); amplified were embeddings "
        f"{_told(m.embeddings)}, sequence embeddings {_told(m.sequences)}, the feed-forward's "
        f"input {_told(m.feed_forward)}. In brackets: what the usual would have left of the rise."
    )


def _remains(cause: Cause) -> str:
    """`clip` and `nudge` belong to no cause: they are told as what they are, comparisons."""
    by = {made.name: _intervention(made) for made in cause.interventions}
    return (
        f"Remains of the rise: with held second moments, {by['second moments']}; with a smooth "
        f"norm, {by['smooth norm']}. For comparison: with short steps, as of most spikes, "
        f"{by['clip']}; after a random nudge, {by['nudge']}."
    )


def _intervention(made: Intervention) -> str:
    return f"not tested ({made.why_not})" if made.remains is None else share(made.remains)


def _orders(orders: Orders) -> str:
    told = f"Other batch orders: {orders.spiking} of {orders.tried} spike"
    if orders.spiking_earlier is None:
        return f"{told}."
    return f"{told}; from {th.SPIKE_EARLIER} epochs earlier, {orders.spiking_earlier}."


def _where(cause: Cause) -> str:
    parts = sorted(cause.mechanisms.attribution.items(), key=lambda part: -part[1])
    rise = cause.high - cause.low
    some = [f"{name} {share(by / rise)}" for name, by in parts[:2]]
    return f"By parameter: {' and '.join(some)} of the rise."


def _steps(cause: Cause) -> str:
    steps = "one step" if cause.steps == 1 else f"{cause.steps} steps"
    return (
        f"Steps: in epoch {cause.epoch}, after step {cause.step}, {steps} raised the loss from "
        f"{cause.low:.3g} to {cause.high:.3g}; the largest made {share(cause.largest)} of that."
    )


def _optimizer(cause: Cause) -> str:
    sharp = cause.sharpness
    more = "" if sharp is None else f" The sharpness in its metric was {sharp:.2g} of its limit."
    return f"Optimizer: {cause.adam.describe()}{more}"


def _after(event: Event, cause: Cause | None) -> str:
    later = "1 epoch" if event.recovery == 1 else f"{event.recovery} epochs"
    back = "never" if event.recovery is None else f"{later} later"
    told = [f"After: the loss was back near its median {back}."]
    if cause is not None and cause.aftershock_of is not None:
        told.append(f"It came soon after the spike at epoch {cause.aftershock_of}.")
    if cause is not None:
        again = "recurs" if cause.recurs_in_float64 else "does not recur"
        told.append(f"In float64 it {again}.")
    return " ".join(told)


def _left(judged: Amplified | Displacement) -> str:
    return share(1 - judged.removed)


def _told(stage: Amplified) -> str:
    return f"{stage.ratio:.3g} ({_left(stage)})"


def share(value: float) -> str:
    """Taking a cause away can lower the loss, or raise it: beyond all or nothing is not told."""
    return percent(min(max(value, 0.0), 1.0), places=0)
