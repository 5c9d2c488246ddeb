"""Weights: the shape and size of each parameter, and where the embeddings are."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.findings.words import many
from dynascope.notebook import drawing
from dynascope.notebook.card import Card, CardColumn, number, plain_heading
from dynascope.notebook.card_style import colour
from dynascope.notebook.drawing import PixelScale, pixel
from dynascope.notebook.html_tags import Html, tag
from dynascope.parameters import Parameters
from dynascope.projection import plane

Array = npt.NDArray[Any]

_SIZE, _ROOM, _RADIUS = 130, 8, 3.2
_MOST_POINTS = 300


def parameters_card(parameters: Parameters) -> Card:
    arrays = {name: array.astype(np.float64) for name, array in parameters.items()}
    bad = int((~np.isfinite(parameters.flat)).sum())
    return Card(
        "Parameters",
        f"{many(parameters.flat.size, 'weight')}, {parameters.flat.dtype}",
        columns=[
            CardColumn(plain_heading("parameter", "short"), list(arrays), "short"),
            CardColumn(plain_heading("shape"), [_shape(array) for array in arrays.values()]),
            CardColumn(plain_heading("norm"), [_size(np.linalg.norm, a) for a in arrays.values()]),
            CardColumn(plain_heading("lowest"), [_size(np.min, a) for a in arrays.values()]),
            CardColumn(plain_heading("highest"), [_size(np.max, a) for a in arrays.values()]),
        ],
        picture=None if bad else embeddings_picture(arrays),
        problems={f"{many(bad, 'weight')} not finite": None} if bad else {},
    )


def _shape(array: Array) -> str:
    """
    >>> _shape(np.zeros((32, 2)))
    '32 × 2'
    """
    return " × ".join(map(str, array.shape))


def _size(measure: Any, array: Array) -> str:
    return number(float(measure(array)))


def embeddings_picture(arrays: dict[str, Array]) -> Html | None:
    """Embeddings of tokens and positions, on a plane if they are longer than two."""
    tokens, positions = arrays["token_embedding"], arrays["position_embedding"]
    if len(tokens) + len(positions) > _MOST_POINTS:
        return None
    points = on_plane(np.concatenate([tokens, positions]))
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    reach = float(np.abs(points - middle).max()) or 1.0
    x, y = (
        PixelScale(float(m) - reach, float(m) + reach, *ends)
        for m, ends in zip(middle, ((_ROOM, _SIZE - _ROOM), (_SIZE - _ROOM, _ROOM)), strict=True)
    )
    places = [(x(a), y(b)) for a, b in points.tolist()]
    marks = [_token(*at, i) for i, at in enumerate(places[: len(tokens)])]
    marks += [_position(*at, i) for i, at in enumerate(places[len(tokens) :])]
    return drawing.svg(
        _SIZE,
        _SIZE + 34,
        "embeddings of tokens and positions",
        _frame(),
        *reversed(marks),
        *_legend(),
    )


def on_plane(points: Array) -> Array:
    """[n, 2]: of two coordinates themselves, of more on their plane, of one along a line."""
    if points.shape[1] > 2:
        return plane(points).project(points)
    return np.pad(points, ((0, 0), (0, 2 - points.shape[1])))


def _frame() -> Html:
    ink = colour("border")
    return tag("rect", x=0.5, y=0.5, width=_SIZE - 1, height=_SIZE - 1, fill="none", stroke=ink)


def _legend() -> list[Html]:
    left, first, second = _RADIUS + 1, _SIZE + 12, _SIZE + 28
    return [
        _token(left, first, None),
        drawing.label("token embeddings", left + 8, first + 4),
        _position(left, second, None),
        drawing.label("position embeddings", left + 8, second + 4),
    ]


def _token(x: float, y: float, which: int | None) -> Html:
    place = {"cx": pixel(x), "cy": pixel(y), "r": _RADIUS, "fill": colour("token")}
    return tag("circle", *_hint("token", which), **place)


def _position(x: float, y: float, which: int | None) -> Html:
    """A diamond, as in the sandbox where it is not known which positions are relevant."""
    r = _RADIUS + 0.6
    corners = ((x, y - r), (x + r, y), (x, y + r), (x - r, y))
    points = " ".join(f"{pixel(a)},{pixel(b)}" for a, b in corners)
    return tag("polygon", *_hint("position", which), points=points, fill=colour("position"))


def _hint(what: str, which: int | None) -> list[Html]:
    return [] if which is None else [tag("title", f"{what} {which}")]
