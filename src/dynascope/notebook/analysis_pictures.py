"""The small pictures of analyses: what a circuit attends to, a run's phases and spikes in time."""

import math
from typing import NamedTuple

from dynascope.analysis.circuit import Circuit
from dynascope.analysis.phases import Phases
from dynascope.analysis.spikes import Spikes
from dynascope.notebook import drawing
from dynascope.notebook.card_style import colour
from dynascope.notebook.drawing import PixelScale, pixel
from dynascope.notebook.html_tags import Html, tag
from dynascope.number_text import percent

_WIDTH = 260
_LETTER = 6.5  # pixels
_MOST_POSITIONS = 100  # that bars can be told apart of
_LARGEST_RISE = 1e6  # beyond it, a spike's line is no longer


def circuit_picture(found: Circuit) -> Html:
    """The shares of the variance in one bar, and the attention of each position."""
    parts, height = [], 0.0
    if found.embedding is not None:
        parts += _shares(found)
        height += 34
    if len(found.attention) <= _MOST_POSITIONS:
        parts += _attention(found, height)
        height += 74
    return drawing.svg(_WIDTH, height, "variance shares and attention", *parts)


def _shares(found: Circuit) -> list[Html]:
    assert found.embedding is not None
    x, parts, done = PixelScale(0, 1, 0, _WIDTH), [], 0.0
    told = {"between": "multisets", "permutation": "orderings", "suffix": "irrelevant tokens"}
    for name, what in told.items():
        share = getattr(found.embedding, name)
        hint = f"{what}: {percent(share)}"
        parts.append(drawing.box(x(done), 0, x(share), 12, name, hint))
        done += share
    places = ((0, "start"), (_WIDTH / 2 - 18, "middle"), (_WIDTH, "end"))
    return parts + [
        drawing.label(what, at, 24, anchor, name)
        for (name, what), (at, anchor) in zip(told.items(), places, strict=True)
    ]


def _attention(found: Circuit, top: float) -> list[Html]:
    """A bar for each position; those that the sum names as relevant stand out."""
    relevant = found.sum.positions if found.sum else range(len(found.attention))
    heights = [value if math.isfinite(value) else 0.0 for value in found.attention.tolist()]
    bottom = top + 58
    x, y = (
        PixelScale(0, len(heights), 0, _WIDTH),
        PixelScale(0, max(max(heights), 1e-9), bottom, top + 6),
    )
    bars = [
        drawing.box(
            x(i) + 1,
            y(height),
            max(x(1) - 2, 0.5),
            bottom - y(height),
            "accent" if i in relevant else "faint",
            f"position {i}: {percent(height)}",
        )
        for i, height in enumerate(heights)
    ]
    return [
        *bars,
        drawing.straight(0, bottom, _WIDTH, bottom, "border"),
        drawing.label("0", 0, bottom + 12),
        drawing.label("mean attention by position", _WIDTH / 2, bottom + 12, "middle"),
        drawing.label(str(len(heights) - 1), _WIDTH, bottom + 12, "end"),
    ]


def phases_picture(found: Phases) -> Html | None:
    """Phases as stretches of time, drops of the loss as triangles above them; None: neither."""
    stretches = phase_stretches(found)
    if not stretches and not found.drops:
        return None
    x = PixelScale(0, max(found.measured_to, 1), 1, _WIDTH - 1)
    size = {"x": 0.5, "y": 13.5, "width": _WIDTH - 1, "height": 23}
    return drawing.svg(
        _WIDTH,
        50,
        "phases over the epochs",
        *(part for stretch in stretches for part in _band(stretch, x)),
        tag("rect", fill="none", stroke=colour("border"), **size),
        *_drop_marks(found, x),
        *_epochs(x, 47),
    )


def _band(stretch: "PhaseStretch", x: PixelScale) -> list[Html]:
    """A phase, with its name where that fits in."""
    begin, end = x(stretch.first), x(stretch.last)
    hint = f"{stretch.name}: epochs {stretch.first} to {stretch.last}"
    band = drawing.box(begin, 14, end - begin, 22, f"phase-{stretch.phase}", hint)
    name = drawing.label(stretch.name, (begin + end) / 2, 29, "middle")
    return [band, name] if end - begin > _LETTER * len(stretch.name) else [band]


class PhaseStretch(NamedTuple):
    phase: int  # number of its colour
    name: str
    first: int  # epoch
    last: int


def phase_stretches(found: Phases) -> list[PhaseStretch]:
    """None where nothing can be told from `before`."""
    names = ("before", "clustered", "fitting", "fitted")
    starts = [
        (i, name, epoch)
        for i, (name, epoch) in enumerate(zip(names, found.snapshots, strict=True))
        if epoch is not None
    ]
    ends = [*(epoch for _, _, epoch in starts[1:]), found.measured_to]
    stretches = [PhaseStretch(*start, end) for start, end in zip(starts, ends, strict=True)]
    return stretches if len(stretches) > 1 else []


def _drop_marks(found: Phases, x: PixelScale) -> list[Html]:
    def mark(epoch: int) -> Html:
        at = x(epoch)
        corners = " ".join(f"{pixel(at + dx)},{y}" for dx, y in ((-4, 4), (4, 4), (0, 11)))
        hint = tag("title", f"drop at epoch {epoch}")
        return tag("polygon", hint, points=corners, fill=colour("train"))

    return [mark(drop.epoch) for drop in found.drops]


def spikes_picture(found: Spikes) -> Html:
    """A line at the peak of each spike, as long as the logarithm of its rise."""
    x = PixelScale(0, max(found.last_epoch, 1), 1, _WIDTH - 1)
    heights = [math.log10(min(max(spike.rise, 1), _LARGEST_RISE)) for spike in found.spikes]
    y = PixelScale(0, max(*heights, 0.3), 44, 4)
    stems = [
        drawing.straight(x(spike.peak), y(0), x(spike.peak), y(height), "bad", 1.5)
        for spike, height in zip(found.spikes, heights, strict=True)
    ]
    line = drawing.straight(x.start, y(0), x.end, y(0), "border")
    return drawing.svg(_WIDTH, 60, "spikes over the epochs", line, *stems, *_epochs(x, 57))


def _epochs(x: PixelScale, y: float) -> list[Html]:
    return [
        drawing.label("0", x.start, y),
        drawing.label(f"epoch {int(x.high)}", x.end, y, "end"),
    ]
