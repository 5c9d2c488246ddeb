"""The second half of an ideal head: a feed-forward that is a staircase along an angle.

Points in the half-plane around the first axis are told apart by their angle. Between each two
neighbours stand two receptors, whose difference is a step: it rises there and is flat elsewhere.
The assemblers are the heights of the steps; one linear system gives them.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.catalog import ACTIVATIONS
from dynascope.config import ModelConfig
from dynascope.errors import expected
from dynascope.model import forward
from dynascope.parameters import Parameters

Array = npt.NDArray[Any]


def bend_of(model: ModelConfig) -> float:
    """How far from 0 the activation is taken for a ramp: there it is 0 or the identity, but for
    0.003; the linear system takes account of the rest."""
    ramp = ACTIVATIONS[model.activation].ramp
    if not ramp:
        ramps = ", ".join(name for name, row in ACTIVATIONS.items() if row.ramp)
        raise expected("model.activation", f"one that is nearly a ramp ({ramps})", model.activation)
    return ramp


def staircase(bare: Parameters, tokens: Array, output: Array, model: ModelConfig) -> Parameters:
    """`bare` with a feed-forward that gives each sequence its `output` [n, dim], exactly.

    The sequences' embeddings must have distinct angles around the first axis, below 90 degrees.
    """
    points = forward(bare, tokens, replace(model, hidden=1)).sequence_normalized[:, :2]
    receptors, biases = _steps(points, model)
    if not model.bias:  # one more unit, about as large for all, in the place of a constant
        along = np.array([2 * bend_of(model) / points[:, 0].mean(), 0.0])
        receptors = np.vstack([receptors, along])
    units = len(receptors)
    wide = np.zeros((units, model.dim))
    wide[:, :2] = receptors
    made = {**bare, "receptors": wide, "assemblers": np.zeros((model.dim, units))}
    if model.bias:
        made["receptor_bias"] = biases
    return _solved(Parameters(made), tokens, output, replace(model, hidden=units))


def _steps(points: Array, model: ModelConfig) -> tuple[Array, Array]:
    """Receptors [2 (n-1), 2] and biases: all that rise early, then all that rise late.

    A pair looks across its boundary, steeply enough that both are past their bend at every point. A
    bias sets them apart; without one, a little of the boundary's own direction, which is a
    constant near the boundary.
    """
    bend = bend_of(model)
    ordered = points[np.argsort(np.arctan2(points[:, 1], points[:, 0]))]
    unit = ordered / np.linalg.norm(ordered, axis=1, keepdims=True)
    on = unit[1:] + unit[:-1]
    on /= np.linalg.norm(on, axis=1, keepdims=True)
    across = np.stack([-on[:, 1], on[:, 0]], axis=1)
    if model.bias:
        apart, shift = np.zeros_like(on), np.full((len(on), len(points)), bend)
    else:
        near = ((ordered[1:] + ordered[:-1]) * on).sum(axis=1, keepdims=True) / 2
        apart = bend * on / near
        shift = np.abs(apart @ ordered.T)
    steepness = ((bend + shift) / np.abs(across @ ordered.T)).max(axis=1, keepdims=True)
    biases = np.repeat([bend, -bend], len(on))
    return np.vstack([steepness * across + apart, steepness * across - apart]), biases


def _solved(head: Parameters, tokens: Array, output: Array, model: ModelConfig) -> Parameters:
    """The head with the assemblers (and their bias) that give the outputs."""
    got = forward(head, tokens, model)
    n = len(tokens)
    step = got.hidden[:, : n - 1] - got.hidden[:, n - 1 : 2 * (n - 1)]
    constant = np.ones((n, 1)) if model.bias else got.hidden[:, -1:]
    heights = np.linalg.solve(np.hstack([constant, step]), output - got.sequence)
    head.assemblers[:, : n - 1] = heights[1:].T
    head.assemblers[:, n - 1 : 2 * (n - 1)] = -heights[1:].T
    if model.bias:
        head.assembler_bias = heights[0]
    else:
        head.assemblers[:, -1] = heights[0]
    return head
