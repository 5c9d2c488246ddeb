"""Colour arithmetic: sRGB hex <-> Oklab (Björn Ottosson's perceptual space), WCAG contrast.

web/src/model/colour-space.ts is the same for the page; a test compares them.
"""

import math
from collections.abc import Sequence

Triple = tuple[float, float, float]


def rgb(colour: str) -> Triple:
    """Red, green, blue from 0 to 255.

    >>> rgb("#ff8000")
    (255, 128, 0)
    """
    value = int(colour[1:], 16)
    return value >> 16 & 255, value >> 8 & 255, value & 255


def hex_of(colour: Sequence[float]) -> str:
    """
    >>> hex_of((255, 128, 0))
    '#ff8000'
    """
    parts = (min(255, max(0, math.floor(part + 0.5))) for part in colour)
    return "#" + "".join(f"{part:02x}" for part in parts)


def contrast(a: str, b: str) -> float:
    """WCAG 2's contrast ratio, from 1 to 21.

    >>> round(contrast("#000000", "#ffffff"), 6)
    21.0
    """
    low, high = sorted((_luminance(a), _luminance(b)))
    return (high + 0.05) / (low + 0.05)


def mix(a: str, b: str, share: float) -> str:
    """Between two colours, evenly to the eye."""
    return _unlab(
        tuple(x + (y - x) * share for x, y in zip(_lab(a), _lab(b), strict=True))  # type: ignore[arg-type]
    )


def ramp(stops: Sequence[str], place: float) -> str:
    """A place from 0 to 1 on a ramp of evenly spaced stops."""
    at = min(1.0, max(0.0, place)) * (len(stops) - 1)
    below = min(math.floor(at), max(0, len(stops) - 2))
    return mix(stops[below], stops[min(below + 1, len(stops) - 1)], at - below)


def lch(lightness: float, chroma: float, hue: float) -> str:
    """Lightness (0 to 1), chroma, hue in turns; out of gamut, chroma gives way."""
    while True:
        angle = 2 * math.pi * hue
        lab = (lightness, chroma * math.cos(angle), chroma * math.sin(angle))
        if chroma <= 0.01 or all(-0.001 <= part <= 1.001 for part in _linear(lab)):
            return _unlab(lab)
        chroma -= 0.01


def lighter(colour: str, by: float) -> str:
    """The colour with its lightness changed by so much."""
    light, a, b = _lab(colour)
    hue = math.atan2(b, a) / (2 * math.pi)
    return lch(min(1.0, max(0.0, light + by)), math.hypot(a, b), hue)


def readable(colour: str, background: str, least: float) -> str:
    """The colour, moved away from the background until it has this contrast with it."""
    step = -0.01 if _luminance(background) > 0.18 else 0.01
    out = colour
    for i in range(1, 101):
        if contrast(out, background) >= least:
            break
        out = lighter(colour, step * i)
    return out


def _luminance(colour: str) -> float:
    r, g, b = map(_expand, rgb(colour))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def _expand(part: float) -> float:
    x = part / 255
    return x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4


def _compress(x: float) -> float:
    return float(255 * (12.92 * x if x <= 0.0031308 else 1.055 * x ** (1 / 2.4) - 0.055))


def _lab(colour: str) -> Triple:
    r, g, b = map(_expand, rgb(colour))
    l = math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)  # noqa: E741
    m = math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
    s = math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
    return (
        0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    )


def _linear(colour: Triple) -> Triple:
    light, a, b = colour
    l = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3  # noqa: E741
    m = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3
    s = (light - 0.0894841775 * a - 1.291485548 * b) ** 3
    return (
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
    )


def _unlab(colour: Triple) -> str:
    return hex_of([_compress(min(1.0, max(0.0, x))) for x in _linear(colour)])
