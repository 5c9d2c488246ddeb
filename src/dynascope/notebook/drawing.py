"""Small SVGs by hand: scales, lines and marks. No plotting library is needed to look at a run."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope.notebook.card_style import colour
from dynascope.notebook.html_tags import Child, Html, tag

Array = npt.NDArray[Any]
_MOST_POINTS = 240  # of a line: about one per pixel


class PixelScale(NamedTuple):
    """Numbers from `low` to `high` to pixels."""

    low: float
    high: float
    start: float
    end: float

    @property
    def span(self) -> float:
        return self.high - self.low

    def __call__(self, value: float) -> float:
        share = (value - self.low) / self.span if self.span else 0.5
        return float(self.start + share * (self.end - self.start))


def svg(width: float, height: float, label: str, *children: Child) -> Html:
    """A picture; `label` says what it shows to those who cannot see it."""
    return tag(
        "svg",
        *children,
        width=pixel(width),
        height=pixel(height),
        viewBox=f"0 0 {pixel(width)} {pixel(height)}",
        role="img",
        aria_label=label,
    )


def pixel(value: float) -> str:
    """
    >>> pixel(3.14159), pixel(200.0)
    ('3.1', '200')
    """
    return f"{value:.1f}".removesuffix(".0")


def label(text: str, x: float, y: float, anchor: str = "start", ink: str = "quiet") -> Html:
    """Words in a picture; `style`, since a card's own rule for text comes before an attribute."""
    style = f"fill:{colour(ink)}"
    return tag("text", text, x=pixel(x), y=pixel(y), text_anchor=anchor, style=style)


def straight(x1: float, y1: float, x2: float, y2: float, ink: str, width: float = 1) -> Html:
    """A line from one point to another."""
    ends = {"x1": pixel(x1), "y1": pixel(y1), "x2": pixel(x2), "y2": pixel(y2)}
    return tag("line", stroke=colour(ink), stroke_width=width, **ends)


def box(x: float, y: float, width: float, height: float, ink: str, hint: str = "") -> Html:
    """A filled rectangle, with words on hover."""
    size = {"x": pixel(x), "y": pixel(y), "width": pixel(width), "height": pixel(height)}
    return tag("rect", *([tag("title", hint)] if hint else ()), fill=colour(ink), **size)


def curve(values: Array, x: PixelScale, y: PixelScale, ink: str) -> Html:
    """A line through the values at 0, 1, ...; broken where one is not finite."""
    parts = []
    for at, height in _unbroken(*thinned(values)):
        pairs = zip(at.tolist(), height.tolist(), strict=True)
        points = [f"{pixel(x(a))},{pixel(y(b))}" for a, b in pairs]
        parts.append("M" + "L".join(points if len(points) > 1 else points * 2))
    return tag(
        "path",
        d="".join(parts),
        fill="none",
        stroke=colour(ink),
        stroke_width=1.2,
        stroke_linejoin="round",
        stroke_linecap="round",
    )


def thinned(values: Array, most: int = _MOST_POINTS) -> tuple[Array, Array]:
    """Places and values of a curve of at most about so many points: lowest and highest of each
    stretch, so that no spike is lost."""
    if len(values) <= most:
        return np.arange(len(values)), values
    chosen: list[int] = []
    for places in np.array_split(np.arange(len(values)), most // 2):
        part = values[places]
        if np.isfinite(part).all():
            chosen += sorted({int(places[part.argmin()]), int(places[part.argmax()])})
        else:
            chosen += places.tolist()[:: max(1, len(places) // 2)]
    ends = sorted({0, *chosen, len(values) - 1})
    return np.array(ends), values[ends]


def _unbroken(at: Array, height: Array) -> Iterator[tuple[Array, Array]]:
    """The stretches in which all values are finite."""
    sound = np.isfinite(height)
    cuts = np.flatnonzero(np.diff(sound.astype(np.int8))) + 1
    for where in np.split(np.arange(len(height)), cuts):
        if len(where) and sound[where[0]]:
            yield at[where], height[where]
