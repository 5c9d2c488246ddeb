"""Rules: what an option accepts, and the plain value that it is stored as.

Which option has which rule follows from the kernel's table (see `option_sections`).

A rule stores Python's own int, float, bool, str and tuple, whatever number type came in: the
identity of a run is a hash of its options, and `numpy.int64(3)` must not make another run than 3.
"""

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np

from dynascope.errors import did_you_mean, expected
from dynascope.option_words import VALUES_ELSEWHERE

Stored_co = TypeVar("Stored_co", covariant=True)

_LONGEST = 1 << 16  # elements of any option; range(10**12) must not be unrolled to be refused


class RefusedError(Exception):
    """A rule's "no", with the part of the value that is to blame."""

    def __init__(self, got: object, hint: str = "") -> None:
        super().__init__(got, hint)
        self.got = got
        self.hint = hint


class Rule(ABC, Generic[Stored_co]):
    """What one option accepts."""

    @property
    @abstractmethod
    def what(self) -> str:
        """The accepted values in words, to follow "expected"."""

    @abstractmethod
    def read(self, value: object) -> Stored_co:
        """The value as it is stored; raises `RefusedError`."""

    def takes(self, value: object) -> bool:
        """Whether it is one of the accepted values."""
        try:
            self.read(value)
        except RefusedError:
            return False
        return True

    def check(self, field: str, value: object) -> Stored_co:
        """`read`, with a refusal turned into the sentence for people."""
        try:
            return self.read(value)
        except RefusedError as refused:
            raise expected(field, self.what, refused.got, refused.hint) from None


@dataclass(frozen=True)
class Whole(Rule[int]):
    """A whole number from `low` to `high`; 3.0 and True are not whole numbers."""

    low: int
    high: int

    @property
    def what(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def read(self, value: object) -> int:
        if not isinstance(value, numbers.Integral) or isinstance(value, bool):
            raise RefusedError(value)
        if not self.low <= int(value) <= self.high:
            raise RefusedError(value)
        return int(value)


@dataclass(frozen=True)
class Real(Rule[float]):
    """A finite number of at least `low` (more than it, if `above`) and less than `below`."""

    low: float
    above: bool = False
    below: float = math.inf

    @property
    def what(self) -> str:
        bounds = f"{'above' if self.above else 'of at least'} {self.low:g}"
        if self.below < math.inf:
            bounds += f" and below {self.below:g}"
        return f"a finite number {bounds}"

    def read(self, value: object) -> float:
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            raise RefusedError(value)
        try:
            number = float(value) + 0.0  # -0.0 becomes 0.0: equal numbers must have one spelling
        except OverflowError:
            raise RefusedError(value) from None
        high_enough = number > self.low if self.above else number >= self.low
        if not (math.isfinite(number) and high_enough and number < self.below):
            raise RefusedError(value)
        return number


@dataclass(frozen=True)
class Flag(Rule[bool]):
    """True or false; 0 and 1 are numbers."""

    @property
    def what(self) -> str:
        return "true or false"

    def read(self, value: object) -> bool:
        if not isinstance(value, bool | np.bool_):
            raise RefusedError(value)
        return bool(value)


@dataclass(frozen=True)
class Choice(Rule[str]):
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def what(self) -> str:
        return "one of " + ", ".join(map(repr, self.words))

    def read(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.words:
            elsewhere = VALUES_ELSEWHERE.get(value.casefold()) if isinstance(value, str) else None
            raise RefusedError(value, elsewhere or did_you_mean(value, self.words))
        return str(value)


@dataclass(frozen=True)
class Subset(Rule[tuple[str, ...]]):
    """Any of a few words, kept once each and in the order of `words`."""

    words: tuple[str, ...]

    @property
    def what(self) -> str:
        return "a list of any of " + ", ".join(map(repr, self.words))

    def read(self, value: object) -> tuple[str, ...]:
        chosen = {Choice(self.words).read(item) for item in items(value)}
        return tuple(word for word in self.words if word in chosen)


@dataclass(frozen=True)
class Positions(Rule[int | tuple[int, ...]]):
    """The first k positions, written k; or distinct positions, of which at most `most`."""

    most: int

    @property
    def what(self) -> str:
        return "a number of leading positions (1 or more) or a list of distinct 0-based positions"

    def read(self, value: object) -> int | tuple[int, ...]:
        if isinstance(value, numbers.Integral):
            return Whole(1, self.most).read(value)
        listed = tuple(sorted(Whole(0, self.most - 1).read(item) for item in items(value)))
        if not listed:
            raise RefusedError(value)
        repeated = [a for a, b in pairwise(listed) if a == b]
        if repeated:
            raise RefusedError(value, f"position {repeated[0]} is repeated")
        return len(listed) if listed == tuple(range(len(listed))) else listed


@dataclass(frozen=True)
class Span(Rule[tuple[int, int]]):
    """A pair (a, b) with 0 <= a < b <= `high`."""

    high: int

    @property
    def what(self) -> str:
        return "two whole numbers (a, b) with 0 <= a < b"

    def read(self, value: object) -> tuple[int, int]:
        ends = tuple(Whole(0, self.high).read(item) for item in items(value))
        if len(ends) != 2 or not ends[0] < ends[1]:
            raise RefusedError(value)
        return ends[0], ends[1]


@dataclass(frozen=True)
class Maybe(Rule[object]):
    """None, or what another rule accepts."""

    rule: Rule[object]

    @property
    def what(self) -> str:
        return f"none or {self.rule.what}"

    def read(self, value: object) -> object:
        return None if value is None else self.rule.read(value)


def items(value: object) -> Sequence[object]:
    """The elements of a list, tuple, set, range or vector; text and mappings are refused."""
    if isinstance(value, str | bytes | bytearray | Mapping) or not isinstance(value, Collection):
        raise RefusedError(value)
    try:
        if len(value) <= _LONGEST:
            return tuple(value)
    except (TypeError, OverflowError):  # an array of no dimensions; a range of absurd length
        pass
    raise RefusedError(value)
