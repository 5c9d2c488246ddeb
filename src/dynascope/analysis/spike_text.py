"""A spike in words: one sentence that says what and why, then a few short lines."""

from dataclasses import dataclass
from typing import Any

from dynascope.analysis import thresholds as th
from dynascope.analysis.spike_causes import Amplified
from dynascope.analysis.spike_detection import Event
from dynascope.analysis.spike_explanation import Cause
from dynascope.analysis.spike_interventions import Intervention, Orders
from dynascope.number_text import percent

WITHOUT = {
    "second moments": f"second moments at their largest of {th.SPIKE_HELD} epochs",
    "smooth norm": "a smooth norm",
    "clip": "steps no longer than usual (which removes nearly every spike)",
    "nudge": "nothing taken away but all weights nudged by a thousandth (the control)",
}


@dataclass(frozen=True)
class Told:
    """What people read of a spike."""

    headline: str  # peak, rise, cause and whether it is confirmed, in one sentence
    lines: tuple[str, ...]  # what was unusual; what interventions left; where; numbers

    def __str__(self) -> str:
        return "\n".join([self.headline, *(f"  {line}" for line in self.lines)])


def told(event: Event, cause: Cause | None, unexplained: str | None) -> Told:
    """Of a spike that is explained, or cannot be, or was not to be."""
    small = "small: " if event.small else ""
    rose = f"the train loss rose to {event.height:.3g}, {event.rise:.3g} times its recent median"
    headline = f"Epoch {event.peak}: {small}{rose}"
    if cause is not None:
        why = f"{headline}; cause: {cause.verdict} ({cause.tested})."
        return Told(why, (*lines(cause), f"After: {_back(event)}."))
    why = f"; not explained: {unexplained}" if unexplained else ""
    return Told(f"{headline}{why}.", (f"After: {_back(event)}.",))


def lines(cause: Cause) -> tuple[str, ...]:
    """All but the headline of an explained spike."""
    return _unusual(cause), _taken_away(cause), _where(cause), _steps(cause), _optimizer(cause)


def _unusual(cause: Cause) -> str:
    m, d = cause.mechanisms, cause.mechanisms.displacement
    return (
        f"Against the usual: the weights moved {d.ratio:.3g} times as far ({_left(d)}); the norm "
        f"of the embeddings amplified {_told(m.embeddings)}, that of the sequence embeddings "
        f"{_told(m.sequences)}, the feed-forward {_told(m.feed_forward)}. In brackets: what the "
        "usual would have left of the rise."
    )


def _taken_away(cause: Cause) -> str:
    made = "; ".join(_intervention(each) for each in cause.interventions)
    return f"Trained again, of the rise remains: {made}. {_orders(cause.orders)}"


def _intervention(made: Intervention) -> str:
    if made.remains is None:
        return f"with {made.name}, not tested ({made.why_not})"
    return f"{share(made.remains)} with {WITHOUT[made.name]}"


def _orders(orders: Orders) -> str:
    told = f"{orders.spiking} of {orders.tried} other batch orders spike"
    if orders.spiking_earlier is None:
        return f"{told}."
    return f"{told}, {orders.spiking_earlier} from {th.SPIKE_EARLIER} epochs earlier."


def _where(cause: Cause) -> str:
    parts = sorted(cause.mechanisms.attribution.items(), key=lambda part: -part[1])
    rise = cause.high - cause.low
    some = [f"{name} {share(by / rise)}" for name, by in parts[:2]]
    return f"By parameter: {' and '.join(some)} of the rise."


def _steps(cause: Cause) -> str:
    steps = "one step" if cause.steps == 1 else f"{cause.steps} steps"
    earlier = cause.aftershock_of
    after = "" if earlier is None else f" It came soon after the spike at epoch {earlier}."
    return (
        f"Steps: in epoch {cause.epoch}, after step {cause.step}, {steps} raised the loss from "
        f"{cause.low:.3g} to {cause.high:.3g}, the largest by {share(cause.largest)} of that. In "
        f"float64 it {'recurs' if cause.recurs_in_float64 else 'does not recur'}.{after}"
    )


def _optimizer(cause: Cause) -> str:
    if cause.sharpness is None:
        return f"Optimizer: {cause.adam.describe()}"
    return (
        f"Optimizer: {cause.adam.describe()} The preconditioned sharpness was "
        f"{cause.sharpness:.2g} of its limit."
    )


def _back(event: Event) -> str:
    if event.recovery is None:
        return "the loss never came back near its median"
    later = "1 epoch" if event.recovery == 1 else f"{event.recovery} epochs"
    return f"the loss was back near its median {later} later"


def _left(judged: Any) -> str:
    return share(1 - judged.removed)


def _told(stage: Amplified) -> str:
    return f"{stage.ratio:.3g} times ({_left(stage)})"


def share(value: float) -> str:
    """Taking a cause away can lower the loss, or raise it: beyond all or nothing is not told."""
    return percent(min(max(value, 0.0), 1.0), places=0)
