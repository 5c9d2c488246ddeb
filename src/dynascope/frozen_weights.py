"""Frozen parameters: weights that training leaves alone, written like a NumPy index.

A text names a parameter and, if only a part of it is frozen, an index of whole numbers and
slices: `query`, `position_embedding[5:]`, `value[0,1]`, `receptors[:8:2]`. The grammar needs no
model; whether an index fits is known once the parameters have shapes.

Unlike NumPy, a slice that reaches past the end is refused instead of cut, and so is one that
selects nothing: a run that freezes less than it was asked to is another experiment.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dynascope._kernel import PARAMETER_NAMES
from dynascope.errors import did_you_mean, expected
from dynascope.option_rules import RefusedError, Rule, items

_FIELD = "training.frozen"
_PART = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\[([^\[\]]*)\]\s*)?", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]{1,9}")  # nine digits: more than any axis has

Axis: TypeAlias = int | slice
PartIndex: TypeAlias = tuple[Axis, ...]  # the empty one is the whole parameter


@dataclass(frozen=True)
class Frozen(Rule[tuple[str, ...]]):
    """Parameters or parts of them; stored in one spelling, in the order of the parameters."""

    @property
    def what(self) -> str:
        return "a list of parameter names, each with an optional index as in 'value[0,1]'"

    def read(self, value: object) -> tuple[str, ...]:
        parts = [_known(item) for item in items(value)]
        whole = {name for name, index in parts if not index}
        kept = [(name, index) for name, index in parts if name not in whole or not index]
        texts = {_spelt(name, index): PARAMETER_NAMES.index(name) for name, index in kept}
        return tuple(sorted(texts, key=lambda text: (texts[text], text)))


def check_frozen(frozen: Collection[str], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise unless every part exists in parameters of these shapes."""
    for _ in _parts(frozen, shapes):
        pass


def frozen_mask(
    frozen: Collection[str], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, npt.NDArray[np.bool_]]:
    """For each parameter an array of its shape, true where a weight is frozen.

    >>> frozen_mask(["value[0,1]", "value[-1]"], {"query": (2,), "value": (2, 2)})["value"]
    array([[False,  True],
           [ True,  True]])
    """
    masks = {name: np.zeros(shape, dtype=np.bool_) for name, shape in shapes.items()}
    for name, index in _parts(frozen, shapes):
        masks[name][index] = True
    return masks


def _parts(
    frozen: Collection[str], shapes: Mapping[str, tuple[int, ...]]
) -> Iterator[tuple[str, PartIndex]]:
    for text in Frozen().check(_FIELD, frozen):
        name, index = _parsed(text)
        if name not in shapes:
            raise expected(_FIELD, f"parameters of this model ({', '.join(shapes)})", text)
        if not _fits(index, shapes[name]):
            what = f"an index that selects weights of {name}, whose shape is {shapes[name]}"
            raise expected(_FIELD, what, text)
        yield name, index


def _fits(index: PartIndex, shape: tuple[int, ...]) -> bool:
    return len(index) <= len(shape) and all(map(_fits_axis, index, shape))


def _fits_axis(axis: Axis, size: int) -> bool:
    if isinstance(axis, int):
        return -size <= axis < size
    ends = (end for end in (axis.start, axis.stop) if end is not None)
    return all(-size <= end <= size for end in ends) and len(range(size)[axis]) > 0


def _known(item: object) -> tuple[str, PartIndex]:
    name, index = _parsed(item)
    if name not in PARAMETER_NAMES:
        raise RefusedError(item, did_you_mean(name, PARAMETER_NAMES))
    return name, index


def _parsed(text: object) -> tuple[str, PartIndex]:
    match = _PART.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise RefusedError(text)
    name, index = match.groups()
    if index is None:
        return name, ()
    try:
        axes = [_axis(axis) for axis in index.split(",")]
    except ValueError:
        raise RefusedError(text) from None
    while axes and axes[-1] == slice(None):  # value[0,:] is value[0]
        axes.pop()
    return name, tuple(axes)


def _axis(text: str) -> Axis:
    ends = [end.strip() for end in text.split(":")]
    if len(ends) == 1:
        return _number(ends[0])
    if len(ends) > 3:
        raise ValueError(text)
    start, stop, step = (_number(end) if end else None for end in (*ends, "")[:3])
    if step is not None and step < 1:  # a negative step would select the same set, backwards
        raise ValueError(text)
    return slice(start or None, stop, None if step == 1 else step)


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    return int(text)


def _spelt(name: str, index: PartIndex) -> str:
    return f"{name}[{','.join(map(_spelt_axis, index))}]" if index else name


def _spelt_axis(axis: Axis) -> str:
    if isinstance(axis, int):
        return str(axis)
    start, stop, step = ("" if n is None else str(n) for n in (axis.start, axis.stop, axis.step))
    return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"
