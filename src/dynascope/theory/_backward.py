"""What one sequence adds to the gradient: the factors of the paper's formulas, by sequence.

Every closed form, condition and bound is made of these. The forward values are the kernel's, in
float64; embeddings count as frozen. Sequences come in pieces, so that memory does not grow with
their number.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope import _kernel
from dynascope.cached import cached_property
from dynascope.catalog import ACTIVATIONS
from dynascope.config import ModelConfig
from dynascope.config_input import ModelLike
from dynascope.data import Targets, Tokens
from dynascope.errors import DynascopeError
from dynascope.model import Activations, Call, forward
from dynascope.parameters import Parameters
from dynascope.theory._norms import Jacobian, jacobian

Array = npt.NDArray[Any]

TRAINED = ("query", "value", "receptors", "assemblers")  # q, V, W, U: the paper's theta
BIASES = ("receptor_bias", "assembler_bias")  # b1, b2, where the model has them
_AT_ONCE = 2**20  # numbers of one stage that are in memory together


@dataclass(frozen=True, eq=False)
class Given:
    """Parameters in float64, the model they belong to, and sequences that fit them."""

    parameters: Parameters
    model: ModelConfig
    tokens: Tokens
    targets: Targets | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that the theory is about."""
        return TRAINED + (BIASES if self.model.bias else ())


@dataclass(frozen=True, eq=False)
class EvaluatedPart:
    """Some of the sequences, n of them, on their way through the model."""

    given: Given
    act: Activations
    targets: Targets | None

    @cached_property
    def mean(self) -> Array:
        """[n, dim]: z a, the mean of z under attention."""
        return np.asarray((self.act.attention[..., None] * self.act.normalized).sum(axis=1))

    @cached_property
    def apart(self) -> Array:
        """[n, length, dim]: z_t - z a; weighted with attention, their products are Cov_a(z)."""
        return np.asarray(self.act.normalized - self.mean[:, None])

    @cached_property
    def slopes(self) -> Array:
        """[n, hidden]: the diagonal of Sigma, act'(W norm(xi) + b1)."""
        p, kind = self.given.parameters, self.given.model.activation
        at = self.act.hidden  # of relu, this tells the side of the bend, and as the kernel saw it
        if not ACTIVATIONS[kind].homogeneous:
            at = self.act.sequence_normalized @ p.receptors.T + p.get("receptor_bias", 0.0)
        return _kernel.math(f"{kind}_slope", np.ascontiguousarray(at)).reshape(at.shape)

    @cached_property
    def norm(self) -> Jacobian:
        """M, the Jacobian of the norm at the sequence embedding xi."""
        return jacobian(self.act.sequence, self.given.model)

    def at_hidden(self, output: Array) -> Array:
        """[n, k, hidden]: Sigma U^T c for each of k vectors c at the output [n, k, dim]."""
        return np.asarray((output @ self.given.parameters.assemblers) * self.slopes[:, None])

    def at_sequence(self, output: Array, hidden: Array) -> Array:
        """[n, k, dim]: (I + Q^T) c = c + M W^T (Sigma U^T c)."""
        return output + self.norm.times(hidden @ self.given.parameters.receptors)

    def at_query(self, sequence: Array) -> Array:
        """[n, k, dim]: Delta_z A_z (V z)^T s for vectors s at the sequence embedding.

        Which is Cov_a(z) V^T s / √d: with z_t - z a on both sides nothing large cancels.
        """
        along = (sequence @ self.given.parameters.value) @ self.apart.swapaxes(1, 2)
        weighted = self.act.attention[:, None] * along
        return np.asarray(weighted @ self.apart / np.sqrt(self.given.model.dim))

    @cached_property
    def variation(self) -> Array:
        """[n]: TV_x, the total variation between prediction and truth."""
        return np.asarray(self._others.sum(axis=1))

    @cached_property
    def error(self) -> Array:
        """[n, dim]: C_x = sum_j (phat_j - 1{y=j}) E(j) = sum_{j != y} phat_j (E(j) - E(y)).

        The errors sum to 0; written so, a confident prediction loses no digits.
        """
        rows = self.given.parameters.token_embedding
        error, own = np.zeros((len(self.act.logits), rows.shape[1])), rows[self.targets]
        for j, row in enumerate(rows):
            error += self._others[:, j, None] * (row - own)
        return error

    @cached_property
    def _others(self) -> Array:
        """[n, classes]: the probabilities of wrong classes, 0 for the right one."""
        others = self.act.probabilities.copy()
        others[np.arange(len(others)), self.targets] = 0.0
        return others


def given(parameters: Parameters, tokens: npt.ArrayLike, model: ModelLike) -> Given:
    """What was given, once it is sure that it goes together."""
    call = Call(parameters, model)
    return Given(parameters.astype(np.float64), call.model, call.sequences(tokens))


def given_with_targets(
    parameters: Parameters, tokens: npt.ArrayLike, targets: npt.ArrayLike, model: ModelLike
) -> Given:
    """The same with a target for each of one or more sequences."""
    call = Call(parameters, model)
    return Given(parameters.astype(np.float64), call.model, *call.examples(tokens, targets))


def pieces(given: Given) -> Iterator[EvaluatedPart]:
    """The sequences in their order, some at a time."""
    p, model, tokens, targets = given.parameters, given.model, given.tokens, given.targets
    widest = max(tokens.shape[1] * model.dim, model.hidden, len(p.token_embedding))
    size = max(1, _AT_ONCE // widest)
    for start in range(0, max(len(tokens), 1), size):
        part = slice(start, start + size)
        act = forward(p, tokens[part], model)
        if not (np.isfinite(act.logits).all() and np.isfinite(act.sequence_normalized).all()):
            raise DynascopeError(
                "parameters: expected weights whose logits are finite numbers, but they overflow; "
                "take smaller ones."
            )
        yield EvaluatedPart(given, act, None if targets is None else targets[part])
