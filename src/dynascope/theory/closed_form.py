"""Gradients in closed form, as the paper has them, and the conditions of a stationary point.

Embeddings E and P count as frozen, as in the paper: gradients are those of q, V, W, U and of the
biases where the model has them. The formulas are the paper's; its norm is our `unit` without eps,
but only M knows that, so they hold for every norm:

    Delta_z A_z (V z)^T = Cov_a(z) V^T / √d   attention: z [d, N], a = softmax(z^T q / √d)
    Sigma = diag(act'(W norm(xi) + b1))       feed-forward
    M = the Jacobian of the norm at xi        unit: (I - x̂ x̂^T) / |xi|
    Q = U Sigma W M

    gradient of logit zeta_j                  ours                [shape]
    q    Delta_z A_z (V z)^T (I + Q^T) E(j)   query               [dim]
    V    (I + Q^T) E(j) (z a)^T               value               [dim, dim]
    W    Sigma U^T E(j) norm(xi)^T            receptors           [hidden, dim]
    U    E(j) act(W norm(xi) + b1)^T          assemblers          [dim, hidden]
    b1   Sigma U^T E(j)                       receptor_bias       [hidden]
    b2   E(j)                                 assembler_bias      [dim]

The gradient of the mean loss is the mean over sequences of the same with
C_x = sum_j (phat_j - 1{y=j}) E(j) in the place of E(j). It is the kernel's, found another way.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.config_input import ModelLike
from dynascope.errors import DynascopeError, expected
from dynascope.near_misses import guided
from dynascope.parameters import Parameters
from dynascope.theory._backward import EvaluatedPart, Given, given, given_with_targets, pieces
from dynascope.theory._norms import lengths

Array = npt.NDArray[Any]

MAX_NUMBERS = 2**27  # of all class gradients together: a gigabyte


@dataclass(frozen=True, eq=False)
class Stationarity:
    """How far a model is from a stationary point of the loss over q, V, W, U (b1, b2)."""

    conditions: Mapping[str, Array]  # by parameter: the mean that is 0 at a stationary point
    norms: Mapping[str, float]  # their lengths
    norm: float  # of all together: the length of the gradient
    total_variation: float  # between prediction and truth, mean over the sequences
    sequences: int

    def describe(self) -> str:
        """Two sentences.

        >>> import dynascope as ds
        >>> p = ds.initial_parameters(ds.Config(), seed=0)
        >>> print(stationarity(p, *ds.dataset(ds.TaskConfig())).describe())
        ... # doctest: +NORMALIZE_WHITESPACE
        The gradient over q, V, W, U and biases has length 0.722, most of it in the assemblers
        (0.601): no stationary point. Over 2048 sequences, predictions are 0.501 in total variation
        from the truth.
        """
        seen = (
            f"Over {self.sequences} sequence{'s' * (self.sequences > 1)}, predictions are "
            f"{self.total_variation:.3g} in total variation from the truth."
        )
        if not self.norm:
            return f"The gradient is 0 in float64: a stationary point, as far as that tells. {seen}"
        worst = max(self.norms, key=lambda name: self.norms[name])
        which = "q, V, W, U and biases" if "receptor_bias" in self.norms else "q, V, W and U"
        return (
            f"The gradient over {which} has length {self.norm:.3g}, most of it in the "
            f"{worst.replace('_', ' ')} ({self.norms[worst]:.3g}): no stationary point. {seen}"
        )


@guided
def class_gradients(
    parameters: Parameters, tokens: npt.ArrayLike, model: ModelLike = None
) -> dict[str, Array]:
    """The gradient of every logit: by parameter, [n, classes, *shape of the parameter], float64.

    >>> import dynascope as ds
    >>> p = ds.initial_parameters(ds.Config(), seed=0)
    >>> got = class_gradients(p, [[0] * 12, [1] * 12])
    >>> {name: array.shape for name, array in got.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'query': (2, 2, 2), 'value': (2, 2, 2, 2), 'receptors': (2, 2, 32, 2),
     'assemblers': (2, 2, 2, 32), 'receptor_bias': (2, 2, 32), 'assembler_bias': (2, 2, 2)}
    >>> bool((got["assembler_bias"] == p.token_embedding).all())
    True
    """
    found = given(parameters, tokens, model)
    _check_size(found)
    parts = [_of_classes(piece) for piece in pieces(found)]
    return {name: np.concatenate([part[name] for part in parts]) for name in found.names}


@guided
def gradients(
    parameters: Parameters,
    tokens: npt.ArrayLike,
    targets: npt.ArrayLike,
    model: ModelLike = None,
) -> dict[str, Array]:
    """The gradient of the mean loss over q, V, W, U (b1, b2): by parameter, float64.

    >>> import dynascope as ds
    >>> config = ds.Config(precision="float64")
    >>> p, data = ds.initial_parameters(config), ds.dataset(config.task)
    >>> kernel = ds.loss_and_gradient(p, *data, config.model)[1]
    >>> all(np.allclose(g, kernel[name], rtol=1e-10) for name, g in gradients(p, *data).items())
    True
    """
    return _means(given_with_targets(parameters, tokens, targets, model))[0]


@guided
def stationarity(
    parameters: Parameters,
    tokens: npt.ArrayLike,
    targets: npt.ArrayLike,
    model: ModelLike = None,
) -> Stationarity:
    """The paper's four conditions (six with biases): the means that are 0 at a stationary point.

    They are the blocks of the gradient, so equality is only ever met by rounding: a softmax is
    never certain. See `approach` for the limit.
    """
    examples = given_with_targets(parameters, tokens, targets, model)
    found, variation = _means(examples)
    norms = {name: float(lengths(array.ravel())) for name, array in found.items()}
    total = math.hypot(*norms.values())
    return Stationarity(found, norms, total, variation, len(examples.tokens))


def summed(piece: EvaluatedPart) -> dict[str, Array]:
    """The gradient by parameter, summed over a piece's sequences."""
    error = piece.error
    hidden = piece.at_hidden(error[:, None])
    sequence = piece.at_sequence(error[:, None], hidden)
    query = piece.at_query(sequence)[:, 0]
    hidden, sequence = hidden[:, 0], sequence[:, 0]
    sums = {
        "query": query.sum(axis=0),
        "value": sequence.T @ piece.mean,
        "receptors": hidden.T @ piece.act.sequence_normalized,
        "assemblers": error.T @ piece.act.hidden,
        "receptor_bias": hidden.sum(axis=0),
        "assembler_bias": error.sum(axis=0),
    }
    return {name: sums[name] for name in piece.given.names}


def _means(examples: Given) -> tuple[dict[str, Array], float]:
    """Of the gradient by parameter, and of TV_x."""
    totals = {name: np.zeros(examples.parameters.shapes[name]) for name in examples.names}
    count, variation = len(examples.tokens), 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for piece in pieces(examples):
            variation += float(piece.variation.sum()) / count
            for name, array in summed(piece).items():
                totals[name] += array / count
    if not all(np.isfinite(array).all() for array in totals.values()):
        raise DynascopeError(
            "parameters: expected weights whose gradient is finite, but it overflows; take smaller "
            "ones."
        )
    return totals, variation


def _of_classes(piece: EvaluatedPart) -> dict[str, Array]:
    act = piece.act
    rows = piece.given.parameters.token_embedding
    output = np.broadcast_to(rows, (len(act.logits), *rows.shape))
    hidden = piece.at_hidden(output)
    sequence = piece.at_sequence(output, hidden)
    return {
        "query": piece.at_query(sequence),
        "value": sequence[..., :, None] * piece.mean[:, None, None, :],
        "receptors": hidden[..., :, None] * act.sequence_normalized[:, None, None, :],
        "assemblers": output[..., :, None] * act.hidden[:, None, None, :],
        "receptor_bias": hidden,
        "assembler_bias": output,
    }


def _check_size(found: Given) -> None:
    shapes = found.parameters.shapes
    each = sum(math.prod(shapes[name]) for name in found.names) * shapes["token_embedding"][0]
    if each * len(found.tokens) > MAX_NUMBERS:
        what = f"at most {MAX_NUMBERS // each} sequences (a gigabyte of class gradients)"
        raise expected("tokens", what, len(found.tokens), "pass fewer at a time")
