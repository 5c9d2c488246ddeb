"""Clamps: what training holds at fixed values for a while, whatever the model would compute.

A clamp is (site, mask, value, epochs), written `attention[0:5]=0.2@100:200`: from the end of epoch
100 to that of epoch 200 the positions 0 to 4 get a fifth of the attention each, in every sequence,
and the others none. Weights are relative: they are divided by their sum. The scores get no gradient
meanwhile. `attention` is the only site.

The curves of these epochs are those of the clamped model.
"""

import math
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope.catalog import OPTIONS
from dynascope.errors import expected
from dynascope.option_rules import RefusedError, Rule, Span, Whole, items

_FIELD = "training.clamps"
_SITE = "attention"
_PARTS = ("site", "mask", "value", "epochs")
_TEXT = re.compile(
    r"\s*(\w+)\s*\[([^\[\]]*)\]\s*=([^@=]*)@\s*(\d{1,9})\s*:\s*(\d{1,9})\s*", re.ASCII
)
_NUMBER = re.compile(r"\s*\d{1,9}\s*", re.ASCII)
_MOST = 64
_LONGEST, _LAST = (int(OPTIONS[name].high or 0) for name in ("task.length", "training.epochs"))


class Clamp(NamedTuple):
    """One of them; `value` has a weight for each position of `mask`."""

    site: str
    mask: tuple[int, ...]
    value: tuple[float, ...]
    epochs: tuple[int, int]

    def __str__(self) -> str:
        same = len({*self.value}) == 1
        weights = ",".join(map(repr, self.value[:1] if same else self.value))
        return f"{self.site}[{_spelt(self.mask)}]={weights}@{self.epochs[0]}:{self.epochs[1]}"

    def attention(self, length: int) -> npt.NDArray[np.float64]:
        """[length]: what each position gets, 1 in all."""
        held = np.zeros(length)
        held[list(self.mask)] = self.value
        return np.asarray(held / held.sum())


@dataclass(frozen=True)
class Clamps(Rule[tuple[str, ...]]):
    """Clamps as texts or as (site, mask, value, epochs); stored in one spelling, in time's order.

    >>> Clamps().read([("attention", [0, 1], 0.5, (10, 20)), "attention[3]=1@0:5"])
    ('attention[3]=1.0@0:5', 'attention[0:2]=0.5@10:20')
    """

    @property
    def what(self) -> str:
        return "a list of clamps such as 'attention[0:5]=0.2@100:200', one after the other"

    def read(self, value: object) -> tuple[str, ...]:
        given = [_clamp(item) for item in items(value)]
        found = sorted(given, key=lambda clamp: clamp.epochs)
        if len(found) > _MOST:
            raise RefusedError(f"{len(found)} of them", f"{_MOST} are possible")
        for one, other in pairwise(found):
            if other.epochs[0] < one.epochs[1]:
                raise RefusedError(str(other), f"it begins before {one} ends")
        return tuple(map(str, found))


def clamps_of(texts: Collection[object], length: int) -> list[Clamp]:
    """The clamps of a config whose sequences have so many positions."""
    found = [_clamp(text) for text in texts]
    for clamp in found:
        if max(clamp.mask) >= length:
            raise expected(_FIELD, f"positions below task.length = {length}", str(clamp))
    return found


def held_attention(texts: Collection[object], length: int, epoch: int) -> Any:
    """The attention that is held at the end of an epoch; None: it is free."""
    for clamp in clamps_of(texts, length):
        if clamp.epochs[0] < epoch <= clamp.epochs[1]:
            return clamp.attention(length)
    return None


def _clamp(item: object) -> Clamp:
    if isinstance(item, Clamp):
        return _checked(item, *item)
    if isinstance(item, str):
        match = _TEXT.fullmatch(item)
        if not match:
            raise RefusedError(item)
        site, mask, value, first, last = match.groups()
        try:
            weights = [float(each) for each in value.split(",")]
        except ValueError:
            raise RefusedError(item) from None
        return _checked(item, site, _positions(mask, item), weights, (int(first), int(last)))
    named = isinstance(item, Mapping) and {*item} == {*_PARTS}
    parts = [item[name] for name in _PARTS] if named else items(item)  # type: ignore[index]
    if len(parts) != len(_PARTS):
        raise RefusedError(item, f"it has {', '.join(_PARTS)}")
    return _checked(item, *parts)


def _checked(item: object, site: object, mask: object, value: object, epochs: object) -> Clamp:
    if site != _SITE:
        raise RefusedError(item, f"the site is {_SITE!r}")
    chosen = tuple(Whole(0, _LONGEST - 1).read(each) for each in items(mask))
    if not chosen or len({*chosen}) < len(chosen):
        raise RefusedError(item, "its positions are distinct")
    given = [value] if isinstance(value, int | float) else [*items(value)]
    weights = [_weight(each) for each in given] * (len(chosen) if len(given) == 1 else 1)
    if len(weights) != len(chosen) or not 0 < sum(weights) < math.inf:
        raise RefusedError(
            item, "it has one weight of at least 0 for each position, and not only 0"
        )
    span = Span(_LAST).read(epochs)
    order = sorted(range(len(chosen)), key=chosen.__getitem__)
    return Clamp(_SITE, tuple(chosen[i] for i in order), tuple(weights[i] for i in order), span)


def _weight(value: object) -> float:
    """NaN: not one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    return float(value) if 0 <= value <= sys.float_info.max else math.nan


def _positions(text: str, item: object) -> list[int]:
    """`0:5` or `0, 3, 7`."""
    if match := re.fullmatch(r"\s*(\d{1,9})\s*:\s*(\d{1,9})\s*", text, re.ASCII):
        first, end = int(match[1]), int(match[2])
        if not first < end <= _LONGEST:
            raise RefusedError(item)
        return [*range(first, end)]
    parts = text.split(",")
    if not all(map(_NUMBER.fullmatch, parts)):
        raise RefusedError(item)
    return [int(part) for part in parts]


def _spelt(mask: Sequence[int]) -> str:
    in_a_row = len(mask) > 1 and mask[-1] - mask[0] == len(mask) - 1
    return f"{mask[0]}:{mask[-1] + 1}" if in_a_row else ",".join(map(str, mask))
