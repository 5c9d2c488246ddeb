"""Three bounds on the length of the gradient over q, V, W, U (and b1, b2), beside the gradient.

`paper`: the explicit constant at the end of the paper's proof. It is false: the proof takes M for a
projection, which it is not near |xi| = 0, and counts |W|² |U| for |W| |U|. `corrected`: the same
idea with M as it is, for every setting. `tight`: no constant where the forward pass has the number.
Proofs and counterexamples: docs/theory.md.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dynascope.analysis.checks import check_run, is_one, sound_epoch
from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.config import ModelConfig
from dynascope.config_input import ModelLike
from dynascope.errors import DynascopeError, none_given
from dynascope.model import loss_and_gradient
from dynascope.near_misses import guided
from dynascope.parameters import Parameters
from dynascope.run import Run
from dynascope.theory import bounds_thresholds as t
from dynascope.theory._backward import TRAINED, Given, given_with_targets, pieces
from dynascope.theory._norms import lengths
from dynascope.theory._terms import Sizes, corrected, paper, tight
from dynascope.theory.closed_form import summed

Array = npt.NDArray[Any]

BoundName = Literal["paper", "corrected", "tight"]
OURS: tuple[BoundName, BoundName] = ("corrected", "tight")


@dataclass(frozen=True)
class Bound:
    """A claim about the length of the gradient, and the length."""

    name: str
    value: float
    gradient_norm: float  # over what the bound is about
    holds: bool
    covered: bool  # whether the bound claims anything about this setting
    why_not: str = ""  # where it does not


@dataclass(frozen=True)
class Bounds:
    """The three bounds at one point."""

    paper: Bound
    corrected: Bound
    tight: Bound
    by_parameter: Mapping[str, tuple[float, float]]  # measured, and the part of `tight`
    total_variation: float  # mean over sequences
    shortest_sequence: float  # the least |xi|
    closed_form_difference: float  # of the gradient in closed form and the kernel's, relative

    def describe(self) -> str:
        """One sentence for each bound.

        >>> import dynascope as ds
        >>> p = ds.initial_parameters(ds.Config(), seed=0)
        >>> print(bounds(p, *ds.dataset(ds.TaskConfig())).describe().splitlines()[1])
        corrected: 0.722 <= 11.
        """
        return "\n".join(_sentence(each) for each in (self.paper, self.corrected, self.tight))


@dataclass(frozen=True, eq=False)
class BoundCurves:
    """The three bounds along a run, on its train set; arrays by epoch."""

    epochs: npt.NDArray[np.int64]
    paper: Array
    corrected: Array
    tight: Array
    gradient_norm: Array  # over q, V, W, U and the biases that there are
    paper_gradient_norm: Array  # over q, V, W, U
    closed_form_difference: Array  # of the gradient in closed form and the kernel's, relative
    paper_covered: bool
    paper_why_not: str

    @property
    def paper_fails(self) -> tuple[int, ...]:
        """The epochs at which the paper's number is below the gradient, claimed or not."""
        return self.fails("paper")

    def fails(self, name: BoundName) -> tuple[int, ...]:
        """The epochs at which a bound is below the gradient."""
        below = _exceeds(self._bounded(name), getattr(self, name))
        return tuple(int(epoch) for epoch in self.epochs[below])

    def over_gradient(self, name: BoundName) -> Array:
        """How many times the gradient a bound is, at the epochs that have one above 0."""
        bounded = self._bounded(name)
        return np.asarray(getattr(self, name)[bounded > 0] / bounded[bounded > 0])

    def _bounded(self, name: BoundName) -> Array:
        return self.paper_gradient_norm if name == "paper" else self.gradient_norm

    def describe(self) -> str:
        """How loose the bounds are, and where the paper's fails."""
        corrected, tight = (_median(self.over_gradient(name)) for name in OURS)
        fails = self.paper_fails
        where = f"at {len(fails)} of them, first at {fails[0]}" if fails else "at none of them"
        why_not = f" (which it does not claim to bound: {self.paper_why_not})"
        claim = "" if self.paper_covered else why_not
        return (
            f"At {len(self.epochs)} epochs from {self.epochs[0]} to {self.epochs[-1]}, the bounds "
            f"are in the median {corrected:.3g} (corrected) and {tight:.3g} (tight) times the "
            f"gradient; the paper's is below the gradient {where}{claim}."
        )


@guided
def bounds(
    parameters: Parameters,
    tokens: npt.ArrayLike,
    targets: npt.ArrayLike,
    model: ModelLike = None,
) -> Bounds:
    """The bounds at these weights, over these sequences, and the gradient that they bound.

    Everything is computed in float64, the gradient in closed form: it keeps its digits where
    predictions are so confident that 1 - phat has none. Where a norm has no derivative (a sequence
    embedding of 0, eps = 0) the last two are infinite.

    >>> import dynascope as ds
    >>> config = ds.Config(model=ds.ModelConfig(norm="unit", bias=False))
    >>> p = ds.initial_parameters(config)
    >>> p.value *= 1e-4  # sequence embeddings near the origin
    >>> got = bounds(p, *ds.dataset(config.task), config)
    >>> got.paper.holds, got.corrected.holds, got.tight.holds
    (False, True, True)
    """
    return _bounds(given_with_targets(parameters, tokens, targets, model))


@guided
def bounds_along(run: Run, epochs: Iterable[int] | None = None) -> BoundCurves:
    """The bounds after each of these epochs (None: about 100 of them), on the run's train set.

    Weights that were not kept are computed again, exactly; -1 is the last epoch.
    """
    run = check_run(run)
    sound_epoch(run, -1)
    tokens, targets = run.examples()
    asked = _some(run) if epochs is None else epochs
    each_asked: list[Any] = [asked] if is_one(asked) else list(asked)
    wanted = [run.checked_epoch(sound_epoch(run, epoch)) for epoch in each_asked]
    if not wanted:
        raise none_given("epochs", "epoch")
    each = [bounds(run.parameters(epoch), tokens, targets, run.config) for epoch in wanted]
    return BoundCurves(
        epochs=np.array(wanted, np.int64),
        paper=np.array([b.paper.value for b in each]),
        corrected=np.array([b.corrected.value for b in each]),
        tight=np.array([b.tight.value for b in each]),
        gradient_norm=np.array([b.tight.gradient_norm for b in each]),
        paper_gradient_norm=np.array([b.paper.gradient_norm for b in each]),
        closed_form_difference=np.array([b.closed_form_difference for b in each]),
        paper_covered=each[0].paper.covered,
        paper_why_not=each[0].paper.why_not,
    )


def _bounds(given: Given) -> Bounds:
    sizes, count = Sizes(given), len(given.tokens)
    gradient = {name: np.zeros(given.parameters.shapes[name]) for name in given.names}
    parts = dict.fromkeys(given.names, 0.0)
    by_sequence, variation, shortest = [], 0.0, math.inf
    with np.errstate(over="ignore", invalid="ignore"):
        for piece in pieces(given):
            variation += float(piece.variation.sum()) / count
            shortest = min(shortest, float(lengths(piece.act.sequence).min()))
            by_sequence.append(corrected(piece, sizes))
            for name, each in summed(piece).items():
                gradient[name] += each / count
            for name, limits in tight(piece, sizes).items():
                parts[name] += float((limits / count).sum())
    measured = {name: float(lengths(array.ravel())) for name, array in gradient.items()}
    ours, theirs = (math.hypot(*(measured[n] for n in names)) for names in (given.names, TRAINED))
    return Bounds(
        paper=_bound("paper", paper(sizes, given, variation), theirs, _uncovered(given.model)),
        corrected=_bound("corrected", _root_mean_square(np.concatenate(by_sequence)), ours),
        tight=_bound("tight", math.hypot(*parts.values()), ours),
        by_parameter={name: (measured[name], parts[name]) for name in given.names},
        total_variation=variation,
        shortest_sequence=shortest,
        closed_form_difference=_from_kernel(given, gradient),
    )


def _from_kernel(given: Given, gradient: Mapping[str, Array]) -> float:
    """How far the closed form is from the kernel's gradient, over the length of that."""
    assert given.targets is not None
    kernel = loss_and_gradient(given.parameters, given.tokens, given.targets, given.model)[1]
    apart = math.hypot(*(float(lengths((g - kernel[n]).ravel())) for n, g in gradient.items()))
    length = math.hypot(*(float(lengths(kernel[n].ravel())) for n in gradient))
    return apart / length if length else (math.inf if apart else 0.0)


def _root_mean_square(values: Array) -> float:
    top = float(values.max())
    if top == 0 or math.isinf(top):
        return top
    return top * float(np.sqrt(np.mean((values / top) ** 2)))


def _bound(name: str, value: float, gradient_norm: float, why_not: str = "") -> Bound:
    if math.isnan(value) or math.isnan(gradient_norm):
        raise DynascopeError(
            "parameters: expected weights whose gradient and bounds are numbers, but they "
            "overflow; take smaller ones."
        )
    holds = not _exceeds(gradient_norm, value)
    return Bound(name, value, gradient_norm, bool(holds), not why_not, why_not)


def _exceeds(gradient_norm: Any, value: Any) -> Any:
    return gradient_norm > value * (1 + t.ROUNDING)


def _uncovered(model: ModelConfig) -> str:
    """Why the paper's bound claims nothing about a model, or nothing."""
    other = [
        f"{name} {getattr(model, name)}"
        for name, theirs in (("activation", "gelu"), ("norm", "unit"))
        if getattr(model, name) != theirs
    ]
    other += ["biases"] if model.bias else []
    return f"it is about gelu, norm unit and no biases, not {' and '.join(other)}" if other else ""


def _sentence(bound: Bound) -> str:
    sign = "<=" if bound.holds else ">"
    why = "" if bound.covered else f" ({bound.why_not})"
    false = "" if bound.holds else ": false" if bound.covered else ": false here"
    return f"{bound.name}: {bound.gradient_norm:.3g} {sign} {bound.value:.3g}{false}{why}."


def _median(values: Array) -> float:
    return float(np.median(values)) if len(values) else math.nan


def _some(run: Run) -> list[int]:
    """At most about `EPOCHS` of the kept ones (of all, where hardly any were kept), evenly, the
    first and the last among them."""
    last = last_sound_epoch(run)
    kept = [int(epoch) for epoch in np.unique(run.weight_epochs) if epoch <= last]
    epochs = kept if len(kept) >= t.FEW else list(range(last + 1))
    at = np.linspace(0, len(epochs) - 1, min(len(epochs), t.EPOCHS)).round().astype(int)
    return [epochs[i] for i in np.unique(at)]
