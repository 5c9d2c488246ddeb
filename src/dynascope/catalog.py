"""The kernel's table: names, shapes, curves, update rules and options, read from the extension.

What stands here has no second place: `kernel/catalog.hpp` and `kernel/options.hpp` are the source,
and `scripts/generate` writes the types that mypy and TypeScript see.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from dynascope import _kernel


class Parameter(NamedTuple):
    name: str
    symbol: str  # in formulas
    shape: tuple[str, ...]  # axes: embeddings, length, dim, hidden
    part: str  # embedding, attention or feed_forward
    bias: bool  # there only with model.bias


class Quantity(NamedTuple):
    """A stage between tokens and probabilities (shaped as of one sequence), or a measure."""

    name: str
    shape: tuple[str, ...]  # axes; measures also have `relevant` and `4`
    meaning: str


class Curve(NamedTuple):
    name: str
    each: bool  # one for each parameter
    needs: str  # a test set, or an option of `record`; "": nothing
    meaning: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(f"{self.name}/{p}" for p in PARAMETERS) if self.each else (self.name,)


class Activation(NamedTuple):
    name: str
    steepest: float  # max |f'|, rounded up
    ramp: float  # how far from 0 it is a ramp, but for 0.003; 0: it is none
    homogeneous: bool  # f(a x) = a f(x) for a > 0


class UpdateRule(NamedTuple):
    name: str
    slots: tuple[str, str]  # what its state holds besides the weights; "": nothing
    metric: str  # in which it follows the gradient: plain, second_moment or nonlinear
    decoupled_decay: bool  # weight decay is apart from the gradient


class Schedule(NamedTuple):
    name: str
    ends: bool  # with the run: then a longer run is another run


class Option(NamedTuple):
    """An option under its dotted name; of limits and words only what its kind has."""

    name: str
    kind: str
    optional: bool
    default: Any
    kept: bool  # the kernel takes it
    meaning: str
    low: float = 0
    high: float | None = None
    above: bool = False  # `low` itself is not allowed
    words: tuple[str, ...] = ()
    as_before: Any = None
    later: bool = False  # added after the first format: `as_before` is what runs did without it

    @property
    def section(self) -> str:
        return self.name.rpartition(".")[0]

    @property
    def short(self) -> str:
        """The name within its section."""
        return self.name.rpartition(".")[2]


_TABLE: dict[str, Any] = json.loads(_kernel.catalog())


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}


def _option(row: Mapping[str, Any]) -> Option:
    return Option(**_plain(row), later="as_before" in row)


PARAMETERS = {row["name"]: Parameter(**_plain(row)) for row in _TABLE["parameters"]}
STAGES = {row["name"]: Quantity(**_plain(row)) for row in _TABLE["stages"]}
MEASURES = {row["name"]: Quantity(**_plain(row)) for row in _TABLE["measures"]}
CURVES = tuple(Curve(**row) for row in _TABLE["curves"])
STEP_CURVES = tuple(Curve(**row) for row in _TABLE["step_curves"])
ACTIVATIONS = {row["name"]: Activation(**row) for row in _TABLE["activations"]}
UPDATE_RULES = {row["name"]: UpdateRule(**_plain(row)) for row in _TABLE["rules"]}
SCHEDULES = {row["name"]: Schedule(**row) for row in _TABLE["schedules"]}
TASKS: Mapping[str, str] = {row["name"]: row["grouping"] for row in _TABLE["tasks"]}
OPTIONS = {row["name"]: _option(row) for row in _TABLE["options"]}
LIMITS: Mapping[str, int] = _TABLE["limits"]
SUM_KINDS: tuple[str, ...] = tuple(_TABLE["sum_kinds"])  # the simplest first


def parameter_shapes(sizes: Mapping[str, int], bias: bool) -> dict[str, tuple[int, ...]]:
    """The shape of each parameter, in the kernel's order, from the sizes of the axes.

    >>> sizes = {"embeddings": 3, "length": 12, "dim": 2, "hidden": 32}
    >>> list(parameter_shapes(sizes, bias=False).values())
    [(3, 2), (12, 2), (2,), (2, 2), (32, 2), (2, 32)]
    """
    return {
        row.name: tuple(sizes[axis] for axis in row.shape)
        for row in PARAMETERS.values()
        if bias or not row.bias
    }


def curve_listing() -> str:
    """What each curve is, a line each, to end a docstring with."""
    lines = (
        f"- `{c.name}{'/NAME' if c.each else ''}`: {c.meaning}"
        + (f" (needs {c.needs.replace('_', ' ')})" if c.needs else "")
        for c in CURVES
    )
    return "\n".join(["Curves, a value per epoch; NAME is a parameter:", *lines])
